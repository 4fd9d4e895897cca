package mutations

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// row is a promise of a document, the test that shows it, and a change of the product that breaks it.
type row struct {
	promise string // a part of the document's text
	test    test

	file     string // of the product
	old, new string // a text that is there once, and what takes its place
}

// table has the rows of each document.
var table = map[string][]row{
	"README.md": readme, "SECURITY.md": security,
	"docs/assurance/PROOF.md": proof, "docs/assurance/RELIABILITY.md": reliability,
}

// test is what `go test` is asked to run.
type test struct{ pkg, run string }

// hook is a script of ralph-stop-hook.
func hook(script string) test { return test{"./cmd/ralph-stop-hook", "^TestScripts$/^" + script + "$"} }

// runner is a script of ralph-runner.
func runner(script string) test { return test{"./cmd/ralph-runner", "^TestScripts$/^" + script + "$"} }

// unit is a test of a package in internal.
func unit(pkg, run string) test { return test{"./internal/" + pkg, run} }

// root is the repository's.
var root, _ = filepath.Abs("..")

// changed returns the text of the product's file with the change.
func (r row) changed() (string, error) {
	text, err := os.ReadFile(filepath.Join(root, r.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), r.old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, want once", r.file, r.old, n)
	}
	return strings.Replace(string(text), r.old, r.new, 1), nil
}

// flat has a space where a document may begin a new line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// items matches what a document numbers, and the rows of its tables but for those with figures: a promise each.
var (
	items = regexp.MustCompile(`(?m)^\d\. .*(?:\n   .*)*|^\|[^|]*\|[^|]*\|(?: \[[^|]*\|)?$`)
	shown = regexp.MustCompile(`\| \[([^\]]+)\]\([^)]*\) \|$`) // by which test
	heads = regexp.MustCompile(`(?m)^\|.*\n\|--.*\n`)
)

// TestTable checks that the documents make the promises, and that the product can be changed so.
func TestTable(t *testing.T) {
	for document, rows := range table {
		text, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if !strings.Contains(flat(string(text)), r.promise) {
				t.Errorf("%s does not say %q", document, r.promise)
			}
			if _, err := r.changed(); err != nil {
				t.Errorf("%q: %v", r.promise, err)
			}
		}
		for _, item := range items.FindAllString(heads.ReplaceAllString(string(text), ""), -1) {
			named := ""
			if m := shown.FindStringSubmatch(item); m != nil {
				named = m[1]
			}
			has := func(r row) bool {
				return strings.Contains(flat(item), r.promise) && strings.Contains(r.test.run, named)
			}
			if document != "README.md" && !slices.ContainsFunc(rows, has) {
				t.Errorf("%s: no change breaks %q, and has the test %s fail", document, flat(item), named)
			}
		}
	}
}
