package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestManPages compares the pages that a release makes with the list in .goreleaser.yaml.
func TestManPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "man")
	app := newApp(readEnv())
	if err := app.Execute(io.Discard, []string{"man", dir}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range app.Commands {
		if !c.Hidden {
			want = append(want, strings.TrimSpace(program+" "+c.Name))
		}
	}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], " ", "-") + ".1"
	}
	slices.Sort(want)
	if got := manFiles(t, dir); !slices.Equal(got, want) {
		t.Errorf("the pages are %q, want one of each command: %q", got, want)
	}
	if got := caskPages(t); !slices.Equal(got, want) {
		t.Errorf(".goreleaser.yaml lists %q among the cask's manpages, want %q", got, want)
	}
}

// manFiles returns the names of the files in dir, sorted.
func manFiles(t *testing.T, dir string) (names []string) {
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

// caskPages returns the pages that .goreleaser.yaml lists for the cask, sorted. A release
// compresses them.
func caskPages(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "- man/"); found {
			names = append(names, strings.TrimSuffix(name, ".gz"))
		}
	}
	slices.Sort(names)
	return names
}
