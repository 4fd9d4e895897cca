package locked

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// project has the files of the rows below. What they name beside it is not there. A name that ends with "!" is of a
// program.
var project = map[string]string{
	"v.sh!": "false", "my v.sh": "false", "my scripts": "",
	"sub/v.sh": "false", "sub/Makefile": "all:\n\tfalse\n", "sub/app": "a\x00b",
	"Makefile": "all:\n\tsh v.sh\n", "t.py": "", "setup.js": "", "t.js": "", "data": "", "app!": "a\x00b",
	"tests/test_a.py": "assert", "tests/b_test.txt": "assert", "out.log": "", "list.json": "[]", "main.c": "",
	"package.json":   `{"name": "x", "scripts": {"test": "sh v.sh"}}`,
	"pyproject.toml": "[project]\n[tool.pytest.ini_options]\nx = 1\n",
}

// find finds what a check locks in a project. Git ignores *.log there.
func find(t *testing.T, dir, line, more string) *Finder {
	t.Helper()
	c, err := config.Parse([]byte(`{"list": "list.json"` + more + `}`))
	if err != nil {
		t.Fatal(err)
	}
	f := New(dir, "", c)
	f.Git = func(args ...string) int {
		if strings.HasSuffix(args[len(args)-1], ".log") {
			return 0
		}
		return 1
	}
	f.Command(config.Command{Shell: line})
	files := tree.Tree{Dir: dir, Top: dir, Except: filepath.Join(dir, ".claude")}
	if err := f.Protect(files); err != nil {
		t.Fatal(err)
	}
	f.Finish()
	return f
}

// TestFind has commands, and what they lock: "-x" is a file that must not appear.
func TestFind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the paths are those of Linux")
	}
	dir := write(t, project)
	const (
		npm    = "-.npmrc -.pnpmfile.cjs -.yarnrc -.yarnrc.yml -bunfig.toml -pnpm-workspace.yaml package.json scripts"
		make   = "-GNUmakefile -makefile Makefile"
		pytest = "-.pytest.ini -.pytest.toml -pytest.ini -pytest.toml -setup.cfg sections for pytest " +
			"-tox.ini sections for pytest " +
			"pyproject.toml sections for pytest"
	)
	for line, want := range map[string]string{
		"sh v.sh":                                 "v.sh",
		"./v.sh -x data":                          "data v.sh",
		`sh "my v.sh"; bash -c 'sh my\ v.sh'`:     "my v.sh v.sh",
		"sh 'my scripts'":                         "my scripts",
		"cd sub && sh v.sh":                       "sub/v.sh v.sh",
		"env -C sub sh ./v.sh":                    "sub/v.sh v.sh",
		"sh sub/../v.sh":                          "sub/../v.sh",
		"sh " + dir + "/v.sh":                     "v.sh",
		"sh < v.sh; cat sub/v.sh | sh":            "sub/v.sh v.sh",
		"node -r ./setup.js t.js":                 "setup.js t.js",
		"check --rules=data":                      "data",
		"./later; sh later.sh":                    "-later",
		"cd sub && ./later.sh":                    "-sub/later.sh",
		"sh -c 'cat pyproject.toml package.json'": "",
		"head -1 data | grep x; git diff data":    "",
		"sh later.sh list.json":                   "-later.sh",
		"make && ./app && ./built":                make,
		"./app":                                   "app",
		"sh out.log; ./late.log":                  "",
		"grep -q x data && cc main.c":             "",
		"sh v.sh > data; cp data main.c":          "v.sh",
		"make":                                    make,
		"make -C sub": "-GNUmakefile -makefile -sub/GNUmakefile -sub/makefile Makefile " +
			"sub/Makefile",
		"make -f data all":                 "-GNUmakefile -makefile Makefile data",
		"npm test":                         npm,
		"node --check t.js; npx pnpm test": npm,
		"pytest":                           pytest,
		"python3 -m pytest tests/test_a.py": "-.pytest.ini -.pytest.toml -conftest.py -pytest.ini -pytest.toml " +
			"-setup.cfg sections for pytest -tests/conftest.py " +
			"-tox.ini sections for pytest pyproject.toml sections for pytest tests/test_a.py",
		"go test ./...":        "-go.work",
		"sh configure && just": "",
		"cargo test":           "-.cargo/config -.cargo/config.toml -rust-toolchain -rust-toolchain.toml",
		"gradle test": "-gradle.properties -gradle/wrapper/gradle-wrapper.jar " +
			"-gradle/wrapper/gradle-wrapper.properties",
		"mvn test": "-.mvn/extensions.xml -.mvn/jvm.config -.mvn/maven.config " +
			"-.mvn/wrapper/maven-wrapper.properties",
		"tox":   "-tox.ini -tox.toml",
		"rspec": "-.rspec",
		"just":  "-.justfile -Justfile -justfile",
		"rake":  "-Rakefile -Rakefile.rb -rakefile -rakefile.rb -rakelib",
		"sh -c 'task test'": "-Taskfile.dist.yaml -Taskfile.dist.yml -Taskfile.yaml -Taskfile.yml " +
			"-taskfile.dist.yaml -taskfile.dist.yml -taskfile.yaml -taskfile.yml",
	} {
		f := find(t, dir, line, "")
		var got []string
		for _, key := range slices.Sorted(maps.Keys(f.Sums)) {
			if f.Sums[key] == "" {
				key = "-" + key
			}
			got = append(got, key)
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want || f.Err != nil {
			t.Errorf("%s\n locks %s\n want  %s (%v)", line, text, want, f.Err)
		}
	}
	if f := find(t, dir, "sh v.sh", `, "not_held": ["v.*"]`); len(f.Sums) > 0 {
		t.Errorf("not_held: %v", f.Sums)
	}
	if f := find(t, dir, "sh out.log", `, "protect": ["*.log"]`); f.Sums["out.log"] == "" {
		t.Errorf("protect: %v", f.Sums)
	}
	if f := find(t, dir, "make later", ""); len(f.Missing) > 0 {
		t.Errorf("missing: %v", f.Missing)
	}
	if f := find(t, dir, "just && sh later.sh", ""); !slices.Equal(f.Missing, []string{"justfile"}) || len(f.Open) != 1 {
		t.Errorf("missing: %v, open: %v", f.Missing, f.Open)
	}
}

// TestPrograms has commands of notifiers: only what runs is locked.
func TestPrograms(t *testing.T) {
	dir := write(t, project)
	f := New(dir, "", config.Config{})
	f.Programs(config.Command{Shell: "sh ./v.sh data >> out.log && notifier main.c; ./later"}, f.Scripts)
	if got := slices.Sorted(maps.Keys(f.Scripts)); !slices.Equal(got, []string{"later", "v.sh"}) || f.Err != nil {
		t.Errorf("%q, %v", got, f.Err)
	}
}

// TestAttacks changes one thing of the project, in the way of an agent that wants a check to pass.
func TestAttacks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	const gone, folder, noExec, link = "-", "/", "chmod", "-> "
	for line, attacks := range map[string][]string{ // each: a path, and what is there then
		"sh v.sh":           {"v.sh", "true", "v.sh", gone, "v.sh", folder, "v.sh", noExec, "v.sh", link + "data"},
		"cd sub && sh v.sh": {"sub/v.sh", "true", "sub", link + "tests"},
		"sh later.sh":       {"later.sh", "true", "later.sh", link + "v.sh"},
		"make":              {"Makefile", "all:", "GNUmakefile", "all:", "makefile", "all:"},
		"rake":              {"rakelib/x.rake", "x", "Rakefile", "x"},
		"pytest tests/test_a.py": {
			"tests/test_a.py", "pass", "tests/conftest.py", "x", "conftest.py", "x", "pytest.ini", "x",
			"tox.ini", "[pytest]\nx = 1", "setup.cfg", "[tool:pytest]\nx = 1",
			"pyproject.toml", "[tool.pytest.ini_options]\nx = 2", "pyproject.toml", "tool.pytest.ini_options = {x = 2}",
			"pyproject.toml", "[tool]\npytest.ini_options = {x = 2}", "pyproject.toml", "[\"tool\".'pyt\\u0065st']\nx = 2",
		},
		"npm test": {
			"package.json", `{"scripts": {"test": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh"}, "scripts": {"test": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh"}, "scr\u0069pts": {"test": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh", "te\u0073t": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh", "pretest": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh"}`, "package.json", `{}`, "package.json", gone,
			"package.json", `{"scripts": ["sh v.sh"]}`, ".npmrc", "script-shell=x", "pnpm-workspace.yaml", "x",
		},
		"true": {
			"tests/b_test.txt", "", "tests/b_test.txt", gone, "tests/b_test.txt", link + "../data",
			"tests/b_test.txt", folder, "tests/e_test.txt", "new", "tests/new/e_test.txt", "new", "tests/new",
			link + "../sub",
		},
	} {
		for attack := range slices.Chunk(attacks, 2) {
			dir := write(t, project)
			f := find(t, dir, line, `, "protect": ["tests/**/*_test.txt"], "protect_new": true`)
			if f.Err != nil {
				t.Fatal(f.Err)
			}
			if changed := changes(dir, f); len(changed) > 0 {
				t.Errorf("%s: %q before the attack", line, changed)
			}
			path, text := filepath.Join(dir, filepath.FromSlash(attack[0])), attack[1]
			err := os.MkdirAll(filepath.Dir(path), 0o755)
			if text == gone || text == folder || strings.HasPrefix(text, link) {
				err = os.RemoveAll(path)
			}
			switch to, isLink := strings.CutPrefix(text, link); {
			case err != nil || text == gone:
			case isLink:
				err = os.Symlink(to, path)
			case text == folder:
				err = os.Mkdir(path, 0o755)
			case text == noExec:
				err = os.Chmod(path, 0o644)
			default:
				err = os.WriteFile(path, []byte(text), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(changes(dir, f)) == 0 {
				t.Errorf("%s: %s as %q is not seen; locked: %v", line, attack[0], text, f.Sums)
			}
		}
	}
}

// changes returns what has changed of what is locked.
func changes(dir string, f *Finder) (changed []string) {
	for key, sum := range f.Sums {
		if Changed(dir, key, sum) {
			changed = append(changed, key)
		}
	}
	files := tree.Tree{Dir: dir, Top: dir, Except: filepath.Join(dir, ".claude")}
	return append(changed, Added(files, f.Config, f.Sums)...)
}

// TestKeys has the keys that a command names.
func TestKeys(t *testing.T) {
	sums := map[string]string{"v.sh": "", "sub/v.sh": "", "sub/deep/w.sh": "", "Makefile": "", "sub/../x.sh": ""}
	for line, want := range map[string]string{
		"sh ./v.sh": "v.sh", "cd sub && sh v.sh": "sub/v.sh v.sh", "env -C sub/deep sh w.sh": "sub/deep/w.sh",
		"make": "", "sh sub/../x.sh": "sub/../x.sh",
	} {
		if got := strings.Join(Keys("/p", "", config.Command{Shell: line}, sums), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestTargets has makefiles, and which targets make would take for done.
func TestTargets(t *testing.T) {
	for _, row := range []struct{ makefile, line, want string }{
		{"test:\n\tgo test\n", "make test", "test"},
		{"test:\n\tgo test\n", "make", "test"},
		{"all: test\ntest:\n\tgo test\n.PHONY: all\n", "make -s test all", "test"},
		{"all: lint test\nlint test:\n\tgo test\n.PHONY: all lint\n", "make", "test"},
		{"test:\n", "make -f Makefile test", "test"},
		{"all:\ntest:\n", "go test ./... && make", "all"},
		{"all:\ntest:\n", "make && go test", "all"},
		{"all:\ntest:\n", "cd . && make test", "test"},
		{".PHONY: test lint\ntest lint:\n\tgo test\n", "make test && make lint", ""},
		{"test: build/app\nbuild/app: a.c\n\tcc a.c\n", "make build/app", ""},
		{"test: FORCE\nFORCE:\n", "make test", ""},
		{"test: a\na:\n.PHONY: a\n", "make test", ""},
		{"X := a:b\ntest::\n\tgo test\n", "make test", "test"},
		{"test:\n", "make -B test", ""},
		{"test:\n", "sh test", ""},
		{"built: a.c\n\tcc -o built a.c\n", "make && ./built", ""},
		{"", "make test", ""},
	} {
		dir := write(t, map[string]string{"Makefile": row.makefile})
		f := New(dir, "", config.Config{})
		f.Command(config.Command{Shell: row.line})
		var names []string
		for _, target := range f.Believed {
			names = append(names, target.Name)
		}
		got := strings.Join(names, " ")
		if got != row.want {
			t.Errorf("%q, %s: %q, want %q", row.makefile, row.line, got, row.want)
		}
	}
}
