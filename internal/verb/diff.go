package verb

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// diffLines returns what makes now of was: lines that are gone after "- ", new ones
// after "+ ".
func diffLines(was, now string) (lines []string) {
	// The first three lines of a unified diff name the files.
	for n, line := range strings.SplitAfter(string(diff.Diff("was", []byte(was), "now", []byte(now))), "\n") {
		if n > 2 && line != "" && (line[0] == '-' || line[0] == '+') {
			lines = append(lines, line[:1]+" "+line[1:])
		}
	}
	return lines
}
