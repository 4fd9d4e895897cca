package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// printed lists what programs can read: what prints it, and the type of the object, or of each object of a list.
var printed = []struct{ what, pkg, of string }{
	{"`status --json`, and each loop of `status --all --json`", "internal/verb", "Status"},
	{"each feature of `list --json`", "internal/verb", "Item"},
	{"each finding of `doctor --json`", "cmd/ralph-stop-hook", "finding"},
	{"each agent of `agents --json`", "cmd/ralph-runner", "agentInfo"},
	{"each line of `log --json`", "internal/loop", "iteration"},
	{"each line of `worker --json`, with its time", "internal/fleet", "Event"},
	{"`engine status --json`", "internal/fleet", "Status"},
	{"each loop of `/api/loops`", "internal/watch", "Loop"},
	{"`/api/loops/KEY`", "internal/watch", "Detail"},
	{"`report --format json`", "internal/report", "Report"},
}

// TestJSON compares docs/json.md with the types that are printed.
func TestJSON(t *testing.T) {
	text, err := os.ReadFile("json.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin = "<!-- generated -->\n"
	before, _, ok := strings.Cut(string(text), begin)
	if !ok {
		t.Fatalf("json.md has no line %q", begin)
	}
	r := jsonReference{t: t, files: map[string][]*ast.File{}, done: map[string]bool{}}
	for _, one := range printed {
		fmt.Fprintf(&r.b, "\n## %s: %s\n\n```text\n", one.of, one.what)
		r.object(one.pkg, one.of)
		r.b.WriteString("```\n")
	}
	want := before + begin + r.b.String()
	if *update {
		if err := os.WriteFile("json.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("json.md is not what the types say; run: go test ./docs -run TestJSON -update")
	}
}

// nothing is what a comment says about a value that json.md says of all: it is empty, missing or null if there is none.
var nothing = regexp.MustCompile(
	`(^|; )(""|zero|null): (none|not known|unknown|there is none|it (has not|need not|had none|is not over))$`)

// jsonReference writes a block for each type.
type jsonReference struct {
	t     *testing.T
	files map[string][]*ast.File // by package
	done  map[string]bool
	b     strings.Builder
}

// object writes the block of a struct, and those of the structs in it.
func (r *jsonReference) object(pkg, name string) {
	r.done[pkg+"."+name] = true
	of, in := r.find(pkg, name)
	if of == nil {
		r.t.Errorf("%s has no struct %s", pkg, name)
		return
	}
	for _, one := range r.fields(pkg, of, in) {
		if !r.done[one[0]+"."+one[1]] {
			fmt.Fprintf(&r.b, "\n%s:\n", one[1])
			r.object(one[0], one[1])
		}
	}
}

// fields writes a line for each field, and one for successive fields of one kind without a comment. It returns the
// structs that they hold, each with its package.
func (r *jsonReference) fields(pkg string, of *ast.StructType, in *ast.File) (inner [][2]string) {
	var bare []string // the fields of the line that is not written yet
	last := ""        // their kind
	write := func() {
		if len(bare) > 0 {
			fmt.Fprintf(&r.b, "%-18s  %s\n", strings.Join(bare, ", "), last)
		}
		bare = nil
	}
	for _, f := range of.Fields.List {
		at, name := r.typeOf(pkg, in, f.Type)
		if len(f.Names) == 0 {
			write()
			fmt.Fprintf(&r.b, "the fields of %s\n", name)
			inner = append(inner, [2]string{at, name})
			continue
		}
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		}
		key, _, _ := strings.Cut(tag, ",")
		if key == "" || key == "-" {
			continue
		}
		said := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
		said = nothing.ReplaceAllString(said, "")
		kind := r.kind(f.Type)
		if more, _ := r.find(at, name); more != nil {
			kind = strings.Replace(kind, "object", name, 1)
			inner = append(inner, [2]string{at, name})
		}
		if said != "" || kind != last {
			write()
		}
		bare, last = append(bare, key), kind
		if said != "" {
			last = strings.TrimPrefix(last+": "+said, "text: ")
			write()
		}
	}
	write()
	return inner
}

// kind says what JSON has for a type of Go.
func (r *jsonReference) kind(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return r.kind(t.X) + " or null"
	case *ast.ArrayType:
		return "list of " + r.kind(t.Elt)
	case *ast.MapType:
		return "object"
	case *ast.SelectorExpr:
		switch t.Sel.Name {
		case "Time":
			return "time"
		case "Duration":
			return "nanoseconds"
		case "Status", "Class", "Phase":
			return "text"
		}
		return "object"
	case *ast.Ident:
		switch {
		case strings.HasPrefix(t.Name, "int"), strings.HasPrefix(t.Name, "float"):
			return "number"
		case t.Name == "bool":
			return "boolean"
		case t.Name == "string", t.Name == "Phase", t.Name == "Status":
			return "text"
		}
	}
	return "object"
}

// typeOf returns the package and the name of what a type holds.
func (r *jsonReference) typeOf(pkg string, in *ast.File, t ast.Expr) (at, name string) {
	switch t := t.(type) {
	case *ast.StarExpr:
		return r.typeOf(pkg, in, t.X)
	case *ast.ArrayType:
		return r.typeOf(pkg, in, t.Elt)
	case *ast.Ident:
		return pkg, t.Name
	case *ast.SelectorExpr:
		from := t.X.(*ast.Ident).Name
		for _, i := range in.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if strings.HasSuffix(path, "/"+from) && strings.Contains(path, "/ralph-stop-hook/internal/") {
				return "internal/" + from, t.Sel.Name
			}
		}
	}
	return "", ""
}

// find returns a struct of a package, and its file.
func (r *jsonReference) find(pkg, name string) (*ast.StructType, *ast.File) {
	if pkg == "" {
		return nil, nil
	}
	if r.files[pkg] == nil {
		paths, _ := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				r.t.Fatal(err)
			}
			r.files[pkg] = append(r.files[pkg], file)
		}
	}
	for _, file := range r.files[pkg] {
		if o := file.Scope.Lookup(name); o != nil {
			if spec, ok := o.Decl.(*ast.TypeSpec); ok {
				of, _ := spec.Type.(*ast.StructType)
				return of, file
			}
		}
	}
	return nil, nil
}
