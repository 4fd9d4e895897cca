package locked

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// OnlyNeeds reports whether an edit of a manifest changes nothing but what the project needs. Other lines of go.mod and
// Cargo.toml decide, for example, which tests there are. known is false if it is another file.
func OnlyNeeds(name string, was, is []byte) (only, known bool) {
	beside := besideGo
	switch path.Base(name) {
	case "go.mod":
	case "Cargo.toml":
		beside = besideCargo
	default:
		return false, false
	}
	return beside(string(was), string(was)) == beside(string(is), string(was)), true
}

// besideGo returns the directives of a go.mod but for requirements, the version of Go, and replacements of modules that
// the trusted text does not name. The format is that of https://go.dev/ref/mod#go-mod-file.
func besideGo(text, trusted string) string {
	var kept strings.Builder
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(strings.ReplaceAll(line, "(", " ( "))
		switch {
		case len(words) == 0:
			continue
		case block != "" && words[0] == ")":
			block = ""
			continue
		case block != "":
			words = append([]string{block}, words...)
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		}
		newModule := len(words) > 1 && !strings.Contains(trusted, words[1])
		if words[0] == "replace" && newModule || slices.Contains(needs, words[0]) {
			continue
		}
		kept.WriteString(strings.Join(words, " ") + "\n")
	}
	return kept.String()
}

var needs = []string{"require", "go", "toolchain"}

// besideCargo returns the lines of a Cargo.toml outside of the tables of dependencies and features. A line that could
// begin a table ends the one before.
func besideCargo(text, _ string) string {
	var kept strings.Builder
	within := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			within = cargoNeeds().MatchString(line)
		}
		if !within {
			kept.WriteString(line + "\n")
		}
	}
	return kept.String()
}

var cargoNeeds = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^\[(workspace\.|target\.('[^']*'|[\w-]+)\.)?((dev-|build-)?dependencies(\.[\w-]+)?|features)\]$`)
})
