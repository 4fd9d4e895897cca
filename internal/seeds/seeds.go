// Package seeds gives fuzz targets the project's own test data as seeds: the files inside
// the scripts, the recorded payloads and transcripts, and the examples. So each new script
// feeds the fuzzers. Only tests import it.
package seeds

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// folders are the folders with seeds, relative to the repository's root.
var folders = []string{"cmd/ralph-stop-hook/testdata", "e2e/testdata", "internal/client/testdata", "examples", "hooks"}

// Files returns the contents of the files whose base name matches one of the patterns, in
// the syntax of path.Match. Equal contents are returned once. It fails the test if no file
// matches.
func Files(tb testing.TB, patterns ...string) (found [][]byte) {
	tb.Helper()
	seen := map[string]bool{}
	add := func(name string, data []byte) {
		matches := func(pattern string) bool { is, _ := path.Match(pattern, path.Base(name)); return is }
		if slices.ContainsFunc(patterns, matches) && !seen[string(data)] {
			seen[string(data)] = true
			found = append(found, data)
		}
	}
	for _, folder := range folders {
		dir := filepath.Join(root(tb), folder)
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			add(name, data)
			if strings.HasSuffix(name, ".txtar") {
				for _, f := range txtar.Parse(data).Files {
					add(f.Name, f.Data)
				}
			}
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if len(found) == 0 {
		tb.Fatalf("no seeds match %q", patterns)
	}
	return found
}

// Add adds the files that match the patterns as seeds to a fuzz target that takes one
// []byte.
func Add(f *testing.F, patterns ...string) {
	f.Helper()
	for _, data := range Files(f, patterns...) {
		f.Add(data)
	}
}

// root returns the folder of go.mod: the nearest one above the test's working folder.
func root(tb testing.TB) string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	tb.Fatalf("no go.mod above the test: %v", err)
	return ""
}
