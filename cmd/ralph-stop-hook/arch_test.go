package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the layers of ARCHITECTURE.md, the lowest first. A package may import the
// packages of lower floors, and those that are listed with it.
var floors = []map[string][]string{
	{
		"chain": nil, "chart": nil, "jsontext": nil, "markdown": nil, "plain": nil,
		"wordlist": nil,
	},
	{"features": nil, "progress": nil},
	{"decide": nil},
	{
		"agenthook": nil, "proc": nil, "confine": nil, "config": nil,
		"tree":    {"proc"},
		"loopdir": {"config", "proc"}, "client": {"loopdir", "proc"},
	},
	{"proof": nil, "suggest": nil, "worktree": nil, "jobs": nil},
	{"loop": nil},
	{"say": nil, "agent": nil},
	{"cli": nil, "roster": nil, "record": nil},
	{"verb": nil, "boot": nil},
	{"run": nil, "mcp": nil, "newloop": nil, "fleet": {"run"}},
	{"watch": nil},
	{"report": nil},
	{"page": nil, "screen": nil},
	{"gittest": nil, "hostile": nil, "seeds": nil, "run/runtest": nil, "watch/watchtest": nil}, // for tests alone
}

// never lists imports that the floors would allow, but that must not be: the spine knows
// no client.
var never = map[string][]string{
	"loop": {"client", "suggest"}, "say": {"client"}, "verb": {"client"}, "cli": {"loop", "say", "client"},
	"mcp": {"client"}, "proof": {"client"}, "agent": {"loop", "proof"},
}

// impure lists the imports that a pure package must not have.
var impure = []string{"os", "os/exec", "syscall", "net", "net/http", "io/ioutil"}

var pure = []string{
	"chain", "jsontext", "markdown", "plain", "features", "progress", "decide", "config",
	"wordlist", "chart",
}

// modules lists the only modules that every program may be linked from, in addition to the
// standard library and this one.
var modules = []string{
	"github.com/tidwall/gjson", "github.com/tidwall/sjson", "github.com/tidwall/match", "github.com/tidwall/pretty",
	"github.com/bmatcuk/doublestar/v4", "github.com/google/renameio/v2", "golang.org/x/sys", "golang.org/x/term",
	"github.com/spf13/cobra", "github.com/spf13/pflag",
	"github.com/clipperhouse/displaywidth", "github.com/clipperhouse/uax29", // how wide a text is in a terminal
	"github.com/rogpeppe/go-internal/diff", // shows what changed in ralph.json since it was trusted
}

// programs lists the folders of the programs, and the modules that each of them may be linked from in addition.
var programs = map[string][]string{
	".": nil,
	"../ralph-runner": {
		// the SDK of the Model Context Protocol, and what it needs
		"github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go", "github.com/segmentio/encoding",
		"github.com/segmentio/asm", "github.com/yosida95/uritemplate/v3", "golang.org/x/oauth2", "golang.org/x/sync",
		"golang.org/x/time",
		// shows loops and runs in the terminal
		"charm.land/bubbletea/v2", "github.com/mattn/go-runewidth", "github.com/rivo/uniseg",
		"github.com/charmbracelet/colorprofile", "github.com/charmbracelet/ultraviolet",
		"github.com/charmbracelet/x",
		"github.com/lucasb-eyer/go-colorful", "github.com/muesli/cancelreader", "github.com/xo/terminfo",
		"golang.org/x/sync",
		// carries work to other machines
		"github.com/nats-io", "github.com/klauspost/compress", "github.com/minio/highwayhash", "golang.org/x/crypto",
		"github.com/antithesishq/antithesis-sdk-go",
	},
}

// onWindows lists the modules that only programs for Windows may be linked from in addition: cobra looks whether it was
// started from the desktop, and the server that carries work could use the machine's TPM.
var onWindows = map[string][]string{
	".":               {"github.com/inconshreveable/mousetrap"},
	"../ralph-runner": {"github.com/inconshreveable/mousetrap", "github.com/google/go-tpm"},
}

// heavy lists packages of the standard library that would make each start of the hook slower. The runner starts once
// for a run, and needs them for pages. The hook has net, net/url and text/template from cobra, which all cost 0.06 ms.
var heavy = []string{"net/http", "html", "encoding/xml", "encoding/gob", "go/ast"}

// TestLinked compares the packages that are linked with an allow-list, on each system that a release is for.
func TestLinked(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			for dir, linked := range dependencies(t, system) {
				checkLinked(t, system, dir, linked)
			}
		})
	}
}

// checkLinked compares what the program of a folder is linked from with the allow-list.
func checkLinked(t *testing.T, system, dir string, linked []string) {
	own := programs[dir]
	if system == "windows" {
		own = slices.Concat(own, onWindows[dir])
	}
	allowed := slices.Concat(modules, own)
	if got := strangers(linked, allowed); len(got) > 0 {
		t.Errorf("%s: linked, and not on the list: %q", dir, got)
	}
	if got := strangers(append(linked, "example.com/more", "golang.org/x/system"), allowed); len(got) != 2 {
		t.Errorf("control: found %q, want two", got)
	}
	for _, m := range own {
		if len(strangers(linked, []string{m})) == len(strangers(linked, nil)) {
			t.Errorf("%s: %s is on the list, and not linked", dir, m)
		}
	}
	if dir != "." {
		return
	}
	for _, path := range heavy {
		if slices.Contains(linked, path) {
			t.Errorf("%s: %s is linked", dir, path)
		}
	}
}

// TestInstallable checks that `go install PATH@latest` takes this module: Go refuses one that replaces others.
func TestInstallable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	refused := regexp.MustCompile(`(?m)^\s*(replace|exclude)\b`)
	if found := refused.Find(text); found != nil {
		t.Errorf("go.mod has %q", found)
	}
	if !refused.MatchString("module x\nreplace a => b\n") {
		t.Error("control: a replacement is not seen")
	}
}

// dependencies returns what is linked into each program.
func dependencies(t *testing.T, system string) map[string][]string {
	t.Helper()
	dirs := slices.Sorted(maps.Keys(programs))
	cmd := exec.Command("go", append([]string{"list", "-f", `{{join .Deps " "}}`}, dirs...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(dirs) {
		t.Fatalf("go list tells of %d programs, want %d", len(lines), len(dirs))
	}
	all := map[string][]string{}
	for i, dir := range dirs {
		all[dir] = strings.Fields(lines[i])
	}
	return all
}

// strangers returns the packages that are of neither the standard library, nor this module, nor an allowed one.
func strangers(packages, allowed []string) []string {
	return slices.DeleteFunc(slices.Clone(packages), func(path string) bool {
		host, _, _ := strings.Cut(path, "/")
		return !strings.Contains(host, ".") || strings.HasPrefix(path, module) ||
			slices.ContainsFunc(allowed, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
	})
}

const module = "github.com/ralph-stop-hook/ralph-stop-hook/"

func TestImports(t *testing.T) {
	const prefix = module + "internal/"
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
	for name, without := range never {
		allowed[name] = slices.DeleteFunc(allowed[name],
			func(other string) bool { return slices.Contains(without, other) })
	}
	internal := filepath.Join("..", "..", "internal")
	err := filepath.WalkDir(internal, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		dir, _ := filepath.Rel(internal, filepath.Dir(path))
		name := filepath.ToSlash(dir)
		if _, known := allowed[name]; !known {
			t.Errorf("internal/%s stands on no floor", name)
			return nil
		}
		for _, problem := range checkImports(t, path, name, prefix, allowed[name]) {
			t.Errorf("%s: %s", path, problem)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The control: the test must find a bad import.
	bad := filepath.Join(t.TempDir(), "bad.go")
	text := "package decide\nimport \"os\"\nimport \"time\"\nimport _ \"" + prefix + "loopdir\"\nvar _ = time.Now()\n" +
		"var e = regexp.MustCompile(`x`)\n"
	if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := checkImports(t, bad, "decide", prefix, allowed["decide"]); len(got) != 4 {
		t.Errorf("control: found %q, want an impure import, a clock, an arrow up and an expression", got)
	}
}

// atStart matches a variable of a package that is a regular expression.
var atStart = regexp.MustCompile(`(?m)^(var |\t)\w+ *= regexp\.MustCompile`)

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
	}
	if slices.Contains(pure, name) && strings.Contains(string(text), "time.Now(") {
		problems = append(problems, "is to be pure and looks at the clock")
	}
	if atStart.Match(text) {
		problems = append(problems, "compiles an expression at each start; use sync.OnceValue")
	}
	return problems
}
