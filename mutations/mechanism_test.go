package mutations

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// mechanism is the file that names the scripts of withdrawn mechanisms.
const mechanism = "testdata/mechanism.txt"

// TestMechanism checks that the scripts of a mechanism exist as long as it does, and that no line outlives it.
func TestMechanism(t *testing.T) {
	tree := os.DirFS(root)
	text, err := fs.ReadFile(tree, mechanism)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range checkMechanisms(tree, string(text)) {
		t.Errorf("%s, line %s", mechanism, p)
	}
	t.Run("control", func(t *testing.T) {
		tree := fstest.MapFS{
			"a.go": {Data: []byte("func there() {}\n")},
			"s":    {Data: []byte("# The first part.\n# The second part.\n")},
		}
		text := "here: a.go there(\n\ts # The second part.\n\tno\n\ts # The third part.\n" +
			"gone: a.go away(\n\ts\n\n# comment\nno file: b.go there(\nempty: a.go\n"
		want := []string{"3: no is gone", "4: s has no", "5: a.go has no", "9: b.go is gone", "10: want"}
		begins := func(got, want string) bool { return strings.HasPrefix(got, want) }
		if got := checkMechanisms(tree, text); !slices.EqualFunc(got, want, begins) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// checkMechanisms returns what is wrong with the lines of a mechanism.txt.
func checkMechanisms(tree fs.FS, text string) (problems []string) {
	there := false // the mechanism above the line
	for i, line := range strings.Split(text, "\n") {
		problem := func(what, todo string) {
			problems = append(problems, fmt.Sprintf("%d: %s; %s", i+1, what, todo))
		}
		script, indented := strings.CutPrefix(line, "\t")
		if line == "" || strings.HasPrefix(line, "#") || indented && !there {
			continue
		}
		if indented {
			path, part, _ := strings.Cut(script, " ")
			if missing := lacks(tree, path, part); missing != "" {
				problem(missing, "delete it in the commit that withdraws its mechanism")
			}
			continue
		}
		_, marker, _ := strings.Cut(line, ": ")
		path, word, _ := strings.Cut(marker, " ")
		there = false
		if word == "" {
			problem("want NAME: FILE TEXT", "a mechanism is known by a text in a file")
		} else if missing := lacks(tree, path, word); missing != "" {
			problem(missing, "delete the lines of this mechanism, or name a text that it still has")
		} else {
			there = true
		}
	}
	return problems
}

// lacks says that a file, or the text in it, is gone.
func lacks(tree fs.FS, path, text string) string {
	data, err := fs.ReadFile(tree, path)
	if err != nil {
		return path + " is gone"
	}
	if !strings.Contains(string(data), text) {
		return fmt.Sprintf("%s has no %q", path, text)
	}
	return ""
}
