package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestManPages compares the man pages that a release makes of each program with the commands that its help lists, and
// with the pages that the file for goreleaser lists for the cask.
func TestManPages(t *testing.T) {
	programs := build(t)
	release, err := os.ReadFile(filepath.Join("..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"ralph-stop-hook", "ralph-runner"} {
		dir := filepath.Join(t.TempDir(), "new", "man")
		run := func(args ...string) string {
			out, err := exec.Command(filepath.Join(programs, program), args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%s %q: %v\n%s", program, args, err, out)
			}
			return string(out)
		}
		run("man", dir)
		var pages, cask []string
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			pages = append(pages, entry.Name())
		}
		listed := regexp.MustCompile(`(?m)- man/(` + program + `(-[a-z-]+)?\.1)(\.gz)?$`) // a release compresses them
		for _, m := range listed.FindAllStringSubmatch(string(release), -1) {
			cask = append(cask, m[1])
		}
		slices.Sort(cask)
		if !slices.Equal(pages, cask) {
			t.Errorf("the pages are %q, and .goreleaser.yaml lists %q for the cask", pages, cask)
		}
		_, help, _ := strings.Cut(run("--help"), "\nCommands:\n")
		help, _, _ = strings.Cut(help, "\n\n")
		for line := range strings.Lines(help) {
			if page := program + "-" + strings.Fields(line)[0] + ".1"; !slices.Contains(pages, page) {
				t.Errorf("no page %s", page)
			}
		}
		if len(pages) < 10 {
			t.Errorf("control: only the pages %q", pages)
		}
	}
}
