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

// TestManPages compares the commands of each program, of which a release makes man pages, with the pages that the file
// for goreleaser lists for the cask.
func TestManPages(t *testing.T) {
	programs := build(t)
	release, err := os.ReadFile(filepath.Join("..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var pages, cask []string
	var visit func(words ...string)
	visit = func(words ...string) {
		pages = append(pages, strings.Join(words, "-"))
		args := append([]string{"__complete"}, words[1:]...)
		out, err := exec.Command(filepath.Join(programs, words[0]), append(args, "")...).Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", words, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if name, _, is := strings.Cut(line, "\t"); is {
				visit(append(slices.Clip(words), name)...)
			}
		}
	}
	visit("ralph-stop-hook")
	visit("ralph-runner")
	for _, m := range regexp.MustCompile(`- man/(.*)\.1\.gz`).FindAllStringSubmatch(string(release), -1) {
		cask = append(cask, m[1])
	}
	slices.Sort(pages)
	slices.Sort(cask)
	if !slices.Equal(pages, cask) {
		t.Errorf("the pages are %q, and .goreleaser.yaml lists %q for the cask", pages, cask)
	}
	if len(pages) < 20 {
		t.Errorf("control: only the pages %q", pages)
	}
}
