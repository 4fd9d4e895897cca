package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// TestManPages holds docs/man to the commands; -update writes it anew. It is
// here because the generator must not be part of the hook's binary.
func TestManPages(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "man")
	date := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	root := newRoot()
	root.DisableAutoGenTag = true
	want := map[string]bool{}
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		if cmd.Hidden {
			continue
		}
		var page bytes.Buffer
		if err := doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Date: &date, Source: "ralph-stop-hook"}, &page); err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		want[name] = true
		file := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, page.Bytes()) {
			t.Errorf("%s is not what the commands say (%v); run: go test ./cmd/ralph-stop-hook -run TestManPages -update", file, err)
		}
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !want[filepath.Base(page)] {
			t.Errorf("%s is of a command that is gone", page)
		}
	}
}
