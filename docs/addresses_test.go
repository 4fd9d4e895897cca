package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAddresses compares the addresses for programs in watch.md with those that the page answers.
func TestAddresses(t *testing.T) {
	find := func(path, pattern string) (all []string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			all = append(all, strings.ReplaceAll(match[1], "{key}", "KEY"))
		}
		slices.Sort(all)
		return all
	}
	told := find("watch.md", "(?m)^\\| `(/[^`]+)` \\|")
	known := find("../internal/page/page.go", `HandleFunc\("GET (/api/[^"]+|/metrics)"`)
	if len(known) < 3 || !slices.Equal(told, known) {
		t.Errorf("watch.md has %q, and the page answers %q", told, known)
	}
}
