package held

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// attacked is the project of the rows below. What they name beside it is not there.
var attacked = map[string]string{
	"v.sh!": "false", "my v.sh": "false", "sub/v.sh": "false", "sub/Makefile": "all:\n\tfalse\n",
	"Makefile": "all:\n\tsh v.sh\n",
	"t.py":     "", "t.js": "", "setup.js": "", "t.pl": "", "lib/Check.pm": "", "v.awk": "", "v.sed": "", "v.jq": "",
	"checks/all.py": "", "tests/test_a.py": "assert", "tests/b_test.txt": "assert", "tests/deep/c_test.txt": "assert",
	"rules.mk": "all:\n\tfalse\n", "gradlew!": "", "data": "", "list": "", "Rakefile": "",
	"package.json":           `{"name": "x", "scripts": {"test": "sh v.sh", "build": "make"}}`,
	"web/package.json":       `{"scripts": {"test": "sh t.sh"}}`,
	"web/t.sh":               "false",
	"pyproject.toml":         "[project]\n[tool.pytest.ini_options]\nx = 1\n",
	"gradle/wrapper/w":       "",
	"tests/.deep/d_test.txt": "assert",
}

// TestAttacks changes one thing of the project, in the way of an agent that wants a check to pass. The
// check must rest on it, so that the loop ends BLOCKED.
func TestAttacks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for another shell")
	}
	const (
		gone   = "-"
		folder = "/"
		noExec = "chmod"
		link   = "-> "
	)
	project := t.TempDir()
	fill(t, project, attacked)
	for line, attacks := range map[string][]string{ // each: a path, and what is there then
		// A script, in all the ways to name it.
		"sh v.sh": {
			"v.sh", "true", "v.sh", gone, "v.sh", folder, "v.sh", noExec, "v.sh", link + "data",
		},
		"./v.sh -x":                              {"v.sh", "true", "v.sh", noExec},
		"sh \"my v.sh\"; bash -c 'sh my\\ v.sh'": {"my v.sh", "true"},
		"bash -euo pipefail v.sh":                {"v.sh", "true"},
		"bash --norc +o posix -x v.sh a b":       {"v.sh", "true"},
		"nice -n 5 sh v.sh":                      {"v.sh", "true"},
		"timeout -k 1 5 sh v.sh":                 {"v.sh", "true"},
		"env -i A=b sh v.sh":                     {"v.sh", "true"},
		"env -S 'sh v.sh'":                       {"v.sh", "true"},
		"env -C sub sh v.sh":                     {"sub/v.sh", "true"},
		"command exec sh v.sh":                   {"v.sh", "true"},
		". ./v.sh; source sub/v.sh":              {"v.sh", "true", "sub/v.sh", "true"},
		"eval 'sh v.sh'":                         {"v.sh", "true"},
		"sh < v.sh":                              {"v.sh", "true"},
		"cat v.sh | sh":                          {"v.sh", "true"},
		"sh -c \"$(cat v.sh)\"":                  {"v.sh", "true"},
		"sh <<E\nsh v.sh\nE":                     {"v.sh", "true"},
		"sh <<< 'sh v.sh'":                       {"v.sh", "true"},
		"V=v.sh; W=$V; sh $W":                    {"v.sh", "true"},
		"for s in v.sh sub/v.sh; do sh $s; done": {"v.sh", "true", "sub/v.sh", "true"},
		"sh ${X:-v.sh}":                          {"v.sh", "true"},
		"sh \"$PWD/v.sh\" && sh ./sub/../v.sh":   {"v.sh", "true"},
		"cd sub && sh v.sh":                      {"sub/v.sh", "true", "sub", link + "tests"},
		"(cd sub; sh v.sh)":                      {"sub/v.sh", "true"},
		"if true; then ! sh v.sh; fi":            {"v.sh", "true"},
		"test \"$(sh v.sh)\" = x":                {"v.sh", "true"},
		"test `sh v.sh` = x":                     {"v.sh", "true"},
		"diff <(sh v.sh) list":                   {"v.sh", "true"},
		"true & sh v.sh >log 2>&1 & wait":        {"v.sh", "true"},
		"find . -name x -exec ./v.sh {} ;":       {"v.sh", "true"},
		"xargs -a list -n1 sh v.sh":              {"v.sh", "true", "list", "x"},
		"sh {v,w}.sh":                            {"v.sh", "true", "w.sh", "true"},
		"awk -f v.awk data; sed -f v.sed data":   {"v.awk", "x", "v.sed", "x"},
		"jq -e -f v.jq data":                     {"v.jq", "x"},
		"for s in sub/*.sh; do sh \"$s\"; done":  {"sub/v.sh", "true"},
		"sh later.sh":                            {"later.sh", "true", "later.sh", link + "v.sh"},
		"python3 -W error -X dev t.py":           {"t.py", "x", "json.py", "", "json/__init__.py", "", "re.so", ""},
		"python3 -m checks.all":                  {"checks/all.py", "x", "checks/all/__main__.py", ""},
		"python3 -m pytest tests":                {"pytest.py", "", "pytest/__init__.py", "", "pytest.ini", ""},
		"node -r ./setup.js t.js":                {"setup.js", "x", "t.js", "x"},
		"node -r ./setup t":                      {"setup.cjs", "", "t/index.js", "", "setup", ""},
		"perl -Ilib -MCheck t.pl":                {"lib/Check.pm", "x", "t.pl", "x"},
		"./gradlew -q test":                      {"gradlew", "true", "gradle.properties", "x"},

		// What runners read unasked, and what they call.
		"make": {"Makefile", "all:", "GNUmakefile", "all:", "makefile", "all:", "Makefile.sh", "x", "Makefile,v", "x",
			"RCS/Makefile,v", "x", "SCCS/s.Makefile", "x", "v.sh", "true"},
		"make -sC sub":                {"sub/Makefile", "all:", "sub/GNUmakefile", "all:"},
		"make -frules.mk":             {"rules.mk", "all:", "rules.mk", link + "Makefile"},
		"cd sub; make; cd ..; make":   {"sub/makefile", "all:", "makefile", "all:"},
		"rake":                        {"rakelib/x.rake", "x", "rakefile", "x", "Rakefile", "x"},
		"just test":                   {"justfile", "x", ".justfile", "x"},
		"cargo test":                  {".cargo/config.toml", "x", ".cargo/config", "x", "rust-toolchain", "x"},
		"go test ./...":               {"go.work", "x"},
		"go test -coverprofile=x ./a": {"go.work", "x"},
		"mvn -q -Dx=y test":           {".mvn/maven.config", "x", ".mvn/jvm.config", "x"},
		"rspec":                       {".rspec", "x"},
		"tox":                         {"tox.toml", "x"},
		"pytest -q tests/test_a.py": {"tests/test_a.py", "pass", "tests/conftest.py", "x", "conftest.py", "x",
			"pytest.ini", "x", "tox.ini", "[pytest]\nx = 1", "setup.cfg", "[tool:pytest]\nx = 1", "pyproject.toml",
			"[tool.pytest.ini_options]\nx = 2", "pyproject.toml", "tool.pytest.ini_options = {x = 2}", "pyproject.toml",
			"[tool]\npytest.ini_options = {x = 2}", "pyproject.toml", "[\"tool\".'pyt\\u0065st']\nx = 2"},

		// Two readers of one package.json, and what is added to it.
		"npm test": {
			"package.json", `{"scripts": {"test": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh"}, "scripts": {"test": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh"}, "scr\u0069pts": {"test": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh", "test": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh", "te\u0073t": "true"}}`,
			"package.json", `{"a": {"b": 1, "b": 2}, "scripts": {"test": "sh v.sh"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh", "pretest": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh", "posttest": "true"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh"}`, "package.json", `{}`, "package.json", gone,
			"package.json", `{"scripts": ["sh v.sh"]}`, "package.json", `{"Scripts": {"test": "sh v.sh"}}`,
			".npmrc", "script-shell=x", "binding.gyp", "x", "v.sh", "true",
		},
		"npm t": {"package.json", `{"scripts": {"test": "true"}}`, "package.json",
			`{"scripts": {"test": "sh v.sh", "build": "make", "pretest": "x"}}`},
		"npm ci && sh v.sh": {"package.json", `{"scripts": {"test": "sh v.sh", "build": "make", "prepare": "x"}}`,
			"package.json", `{"scripts": {"test": "sh v.sh", "build": "make", "postinstall": "x"}}`},
		"npm run build --if-present": {"Makefile", "all:", "v.sh", "true"},
		"npm --prefix web test":      {"web/t.sh", "true", "web/.npmrc", "x"},
		"npm test -w ./web":          {"web/t.sh", "true", "web/package.json", "{}"},
		"node --run test":            {"package.json", `{"scripts": {"test": "true"}}`, "v.sh", "true"},
		"pnpm test":                  {"pnpm-workspace.yaml", "x", ".pnpmfile.cjs", "x", "v.sh", "true"},
		"yarn test":                  {".yarnrc", "x", ".yarnrc.yml", "x", ".pnp.cjs", "x", "v.sh", "true"},
		"bun run test":               {"bunfig.toml", "x", "v.sh", "true"},

		// What "protect" names.
		"true": {"tests/b_test.txt", "", "tests/b_test.txt", gone, "tests/b_test.txt", link + "../data",
			"tests/b_test.txt", folder, "tests/deep/c_test.txt", "", "tests/.deep/d_test.txt", "",
			"tests/e_test.txt", "new", "tests/deep/e_test.txt", link + "../b_test.txt", "tests/new/e_test.txt", "new",
			"tests/new", link + "deep", "tests/deep", link + "../sub"},
	} {
		h, changed := holds(t, project, line)
		for attack := range slices.Chunk(attacks, 2) {
			path, text := attack[0], attack[1]
			if key := changed(); key != "" {
				t.Errorf("%s: %s has changed before the attack", line, key)
			}
			full := filepath.Join(project, filepath.FromSlash(path))
			err := os.MkdirAll(filepath.Dir(full), 0o755)
			if text == gone || text == folder || strings.HasPrefix(text, link) {
				err = os.RemoveAll(full)
			}
			switch to, isLink := strings.CutPrefix(text, link); {
			case err != nil || text == gone:
			case isLink:
				err = os.Symlink(to, full)
			case text == folder:
				err = os.Mkdir(full, 0o755)
			case text == noExec:
				err = os.Chmod(full, 0o644)
			default:
				err = os.WriteFile(full, []byte(text), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if changed() == "" {
				t.Errorf("%s: %s as %q is not seen; held: %v, open: %q", line, path, text, h.Sums, h.Open)
			}
			undo(t, project, path)
		}
	}
}

// undo makes the files of the project again that lie in the same folder of its root as path.
func undo(t *testing.T, project, path string) {
	top, _, _ := strings.Cut(path, "/")
	if err := os.RemoveAll(filepath.Join(project, top)); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, text := range attacked {
		if first, _, _ := strings.Cut(strings.TrimSuffix(name, "!"), "/"); first == top {
			files[name] = text
		}
	}
	fill(t, project, files)
}

// holds holds what a check rests on, and what "protect" names. changed returns what has changed of it.
func holds(t *testing.T, project, line string) (h *Holder, changed func() string) {
	t.Helper()
	c, err := config.Parse([]byte(`{"protect": ["tests/**/*_test.txt"], "protect_new": true}`))
	if err != nil {
		t.Fatal(err)
	}
	files := tree.Tree{Dir: project, Top: project, Except: filepath.Join(project, ".claude")}
	h = New(project, "", c)
	h.Command(config.Command{Shell: line}, true)
	if err := h.Protect(files); err != nil {
		t.Fatal(err)
	}
	if h.Finish(); h.Err != nil {
		t.Fatal(h.Err)
	}
	return h, func() string {
		for _, key := range Keys(project, "", h.Sums, h.Calls, config.Command{Shell: line}) {
			if Changed(project, key, h.Sums[key]) {
				return key
			}
		}
		for key, sum := range h.Sums {
			if c.Protects(key) && Changed(project, key, sum) {
				return key
			}
		}
		return Added(files, c, h.Sums)
	}
}

// TestHonest changes what an agent works at. No check may rest on it.
func TestHonest(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for another shell")
	}
	project := t.TempDir()
	fill(t, project, attacked)
	for line, edits := range map[string][]string{
		"make": {"data", "list", "sub/v.sh", "t.py", "lib/Check.pm", "Makefile.md", "src/new.c", "package.json"},
		"npm test": {"package-lock.json", "node_modules/x/package.json", "t.js", "dist/index.js", "web/package.json",
			"Makefile"},
		"pytest tests":                        {"tests/test_a.py", "src/a.py", ".coverage", "requirements.txt", "conf.py"},
		"python3 -m unittest":                 {"tests/test_a.py", "shop.py", "tests/__init__.py"},
		"node --check t.js; sh v.sh":          {"t.js", "data"},
		"go vet ./... && go test -race ./...": {"go.mod", "go.sum", "main.go", "vendor/modules.txt"},
		"cargo test":                          {"Cargo.toml", "Cargo.lock", "src/lib.rs", "target/debug/x"},
		"./gradlew test":                      {"build.gradle", "settings.gradle", "gradle.lockfile", "build/x"},
		"grep -q done list":                   {"list", "data"},
		"cc -o app main.c && ./app":           {"main.c", "app"},
	} {
		_, changed := holds(t, project, line)
		for _, path := range edits {
			full := filepath.Join(project, filepath.FromSlash(path))
			text := []byte("worked at")
			if path == "package.json" || path == "web/package.json" {
				text = []byte(`{"version": "2", "scripts": {"test": "sh v.sh", "build": "make", "lint": "eslint"}}`)
			}
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, text, 0o644); err != nil {
				t.Fatal(err)
			}
			if key := changed(); key != "" {
				t.Errorf("%s: an edit of %s changes %s", line, path, key)
			}
			undo(t, project, path)
		}
	}
}
