package main

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the layers of ARCHITECTURE.md: a package may import those of
// floors below its own, and of its own where it is named behind it.
var floors = []map[string][]string{
	{"jsontext": nil, "plain": nil},
	{"features": nil, "progress": nil},
	{"decide": nil},
	{"hookio": nil, "proc": nil, "settings": nil, "config": nil, "tree": {"proc"}, "loopdir": {"config"}},
	{"seeds": nil}, // for tests alone
}

// impure are the imports that pure packages do without.
var impure = []string{"os", "os/exec", "syscall", "net", "net/http", "io/ioutil"}

var pure = []string{"jsontext", "plain", "features", "progress", "decide", "hookio", "config", "settings"}

// heavy are packages that would make the program larger, and each start slower.
var heavy = []string{"net", "net/http", "net/url", "text/template", "html", "encoding/xml", "encoding/gob", "go/ast"}

func TestNothingHeavyIsLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, "encoding/json") {
		t.Errorf("control: %d packages, without encoding/json", len(linked))
	}
	for _, path := range heavy {
		if slices.Contains(linked, path) {
			t.Errorf("%s is linked", path)
		}
	}
}

func TestImports(t *testing.T) {
	const prefix = "github.com/ralph-stop-hook/ralph-stop-hook/internal/"
	allowed := map[string][]string{}
	var below []string
	for _, floor := range floors {
		for name, beside := range floor {
			allowed[name] = slices.Concat(below, beside)
		}
		for name := range floor {
			below = append(below, name)
		}
	}
	dirs, err := os.ReadDir(filepath.Join("..", "..", "internal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		name := dir.Name()
		if _, known := allowed[name]; !known {
			t.Errorf("internal/%s stands on no floor", name)
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", "..", "internal", name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, problem := range checkImports(t, file, name, prefix, allowed[name]) {
				t.Errorf("%s: %s", file, problem)
			}
		}
	}
	// The control: this test must see what it exists to see.
	bad := filepath.Join(t.TempDir(), "bad.go")
	if err := os.WriteFile(bad, []byte("package decide\nimport \"os\"\nimport \"time\"\nimport _ \""+prefix+"loopdir\"\nvar _ = time.Now()\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := checkImports(t, bad, "decide", prefix, allowed["decide"]); len(got) != 3 {
		t.Errorf("control: found %q, want an impure import, a clock and an arrow up", got)
	}
}

func checkImports(t *testing.T, file, name, prefix string, allowed []string) (problems []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if inner, ours := strings.CutPrefix(path, prefix); ours && !slices.Contains(allowed, inner) {
			problems = append(problems, "imports "+inner)
		}
		if slices.Contains(pure, name) && slices.Contains(impure, path) {
			problems = append(problems, "is to be pure and imports "+path)
		}
		if path == "net/http" {
			problems = append(problems, "imports net/http, which a hook does not need")
		}
	}
	if slices.Contains(pure, name) && strings.Contains(string(text), "time.Now(") {
		problems = append(problems, "is to be pure and looks at the clock")
	}
	return problems
}
