package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// stacks has a project for each stack of recipes.md: the programs that its check needs, the id of a feature, and the
// files of the project. The first file is the feature's test.
var stacks = map[string]struct {
	programs, feature string
	files             [][2]string
}{
	"Node": {"node", "hello", [][2]string{
		{"test/hello.test.js", "require('node:test')('greets', () => {})\n"}, {"package.json", "{}\n"},
	}},
	"Python": {"pytest", "hello", [][2]string{
		{"tests/test_hello.py", "def test_greets():\n    pass\n"}, {"tests/test_other.py", "def test_other():\n    pass\n"},
	}},
	"Go": {"go", "hello", [][2]string{
		{"hello_test.go", "package shop\n\nimport \"testing\"\n\nfunc TestShop(t *testing.T) {\n" +
			"\tt.Run(\"hello\", func(*testing.T) {})\n}\n"},
		{"go.mod", "module shop\n"}, {"shop.go", "package shop\n"},
	}},
	"Rust": {"cargo cc", "hello", [][2]string{
		{"tests/hello.rs", "#[test]\nfn greets() {}\n"},
		{"Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"}, {"src/lib.rs", ""},
	}},
	"Monorepo": {"node", "api/login", [][2]string{
		{"packages/api/test/login.test.js", "require('node:test')('logs in', () => {})\n"}, {"package.json", "{}\n"},
	}},
}

// TestStacks runs the check that recipes.md shows for each stack, with the stack's own programs: it fails as long as
// the feature has no test, and passes with one.
func TestStacks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents' commands are for a POSIX shell")
	}
	text, err := os.ReadFile("recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, stack := range stacks {
		t.Run(name, func(t *testing.T) {
			for _, program := range strings.Fields(stack.programs) {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip(err)
				}
			}
			_, section, _ := strings.Cut(string(text), "\n### "+name+"\n")
			section, _, _ = strings.Cut(section, "\n#")
			check := ""
			for _, m := range regexp.MustCompile(`--check '([^']*)'`).FindAllStringSubmatch(section, -1) {
				if strings.Contains(m[1], "RALPH_FEATURE") {
					check = m[1]
				}
			}
			if check == "" {
				t.Fatalf("recipes.md shows no check for each feature of %s", name)
			}
			dir := t.TempDir()
			run := func() ([]byte, error) {
				cmd := exec.Command("sh", "-c", check)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "RALPH_FEATURE="+stack.feature, "GOFLAGS=")
				return cmd.CombinedOutput()
			}
			write := func(file [2]string) {
				path := filepath.Join(dir, filepath.FromSlash(file[0]))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(file[1]), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range stack.files[1:] {
				write(file)
			}
			if out, err := run(); err == nil {
				t.Errorf("without a test, %s passes:\n%s", check, out)
			}
			write(stack.files[0])
			if out, err := run(); err != nil {
				t.Errorf("with a test, %s: %v\n%s", check, err, out)
			}
		})
	}
}
