// Package clitest tests what programs made with package cli have in common.
package clitest

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
)

// ManPages compares the man pages that a release makes of a program with the program's commands, and with those of its
// pages that the file goreleaser lists for the cask.
func ManPages(t *testing.T, app *cli.App, goreleaser string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "man")
	if err := app.Execute(io.Discard, []string{"man", dir}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range app.Commands {
		if !c.Hidden && !c.Shared {
			want = append(want, strings.ReplaceAll(strings.TrimSpace(app.Name+" "+c.Name), " ", "-")+".1")
		}
	}
	slices.Sort(want)
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("the pages are %q, want one of each command: %q", got, want)
	}
	if got := caskPages(t, goreleaser, app.Name); !slices.Equal(got, want) {
		t.Errorf("%s lists %q among the cask's manpages, want %q", goreleaser, got, want)
	}
}

// files returns the names of the files in dir, sorted.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// caskPages returns the pages of a program that .goreleaser.yaml lists for the cask, sorted. A release compresses them.
func caskPages(t *testing.T, goreleaser, program string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(goreleaser)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, found := strings.CutPrefix(strings.TrimSpace(line), "- man/")
		name = strings.TrimSuffix(name, ".gz")
		if found && (name == program+".1" || strings.HasPrefix(name, program+"-")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
