package config

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// show shows what a command names. A file that counts even if it is absent has a "!", one
// that is only looked at a "?", one that may be built a "+", and a pattern a "*".
func show(c Command) string {
	var shown []string
	named := c.Named()
	for _, f := range named.Files {
		text := f.Path
		for _, mark := range []struct {
			is   bool
			text string
		}{{f.Decides, "!"}, {f.Looked, "?"}, {f.Pattern, "*"}} {
			if mark.is {
				text = mark.text + text
			}
		}
		if f.Built {
			text = "+" + text
		}
		if f.Set == "" && !f.Beside && !f.Section && !strings.ContainsAny(f.Path, " ;") && f.Path != "." &&
			!slices.Contains(shown, text) {
			shown = append(shown, text)
		}
	}
	slices.Sort(shown)
	text := strings.Join(shown, " ")
	if len(named.Open) > 0 {
		text += " OPEN " + strings.Join(named.Open, "; ")
	}
	return strings.TrimSpace(text)
}

// TestNamed has a row for each way in which a command names a file that says what it does.
func TestNamed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for another shell")
	}
	for line, want := range map[string]string{
		// The script of an interpreter.
		"sh -eu ./x.sh log":                        "!x.sh log x.sh",
		"/usr/bin/python3.12 a.py":                 "!/usr/bin/python3.12 !a.py a.py",
		"bash -euo pipefail v.sh":                  "!v.sh pipefail v.sh",
		"bash --norc -o pipefail -x v.sh":          "!v.sh pipefail v.sh",
		"python3 -W error t.py":                    "!t.py error t.py",
		"python3 -X dev -W error -u t.py":          "!t.py dev error t.py",
		"node -r ./setup.js t.js":                  "!setup.js !t.js setup.js t.js",
		"node --require=./setup.js t.js":           "!setup.js !t.js setup.js t.js",
		"perl -I lib t.pl":                         "!t.pl lib t.pl",
		"perl -Ilib t.pl":                          "!t.pl t.pl",
		`sh "my tests/v.sh"`:                       "tests/v.sh",
		`sh -c 'sh "ab.sh"'`:                       "!ab.sh ab.sh",
		`bash -lc "cd sub && sh v.sh"`:             "!sub/v.sh sub/v.sh v.sh",
		"timeout 5 sh v.sh":                        "!v.sh v.sh",
		"env -i X=1 sh v.sh":                       "!v.sh 1 v.sh",
		"a | bash b":                               "!b b",
		"node":                                     "",
		"sh < v.sh":                                "!v.sh v.sh",
		"cat v.sh | sh":                            "v.sh OPEN sh",
		"cat v.sh | sh -s x":                       "v.sh x OPEN sh -s x",
		`sh -c "$(cat v.sh)"`:                      "v.sh OPEN sh -c $…",
		"sh <(cat v.sh)":                           "v.sh OPEN sh $…",
		"eval \"$(cat v.sh)\"":                     "v.sh OPEN eval $…",
		"eval sh v.sh; eval 'sh w.sh'":             "!v.sh !w.sh sh v.sh w.sh",
		"find t -name '*.sh' | xargs sh":           "*.sh sh t OPEN xargs sh",
		"find t -exec sh {} ;":                     "sh t OPEN find t -exec sh {}",
		"cat a.sh > b.sh; sh b.sh":                 "a.sh OPEN sh b.sh",
		"sh <<E\nsh v.sh\nE":                       "!v.sh v.sh",
		"cat <<E\nsh v.sh\nE":                      "",
		"sh <<< 'sh v.sh'":                         "!v.sh v.sh",
		"python3 -c \"exec(open('v.py').read())\"": ".read exec(open('v.py').read()) v.py",
		"node -e \"require('./x.js')\"":            "require('./x.js') x.js",
		"node -r ./setup t.js": "!setup !setup.cjs !setup.js !setup.json !setup.mjs !setup.node !setup.ts " +
			"!setup/index.js !setup/package.json !t.js setup t.js",
		"python3 -m checks.all":     "!checks/all.py !checks/all/__init__.py !checks/all/__main__.py checks.all",
		"awk -f v.awk out":          "out v.awk",
		"sudo -u me ./verify":       "me verify",
		". ./env.sh; source lib.sh": "!env.sh !lib.sh env.sh lib.sh",

		// Variables, loops and other folders.
		"cd sub && sh v.sh":                            "!sub/v.sh sub/v.sh v.sh",
		"(cd a; cd b; ./run)":                          "!a/b/run",
		`sh "$PWD/v.sh"; sh ${PWD}/w.sh`:               "!v.sh !w.sh v.sh w.sh",
		`sh "$(pwd)/v.sh" $HOME/x`:                     "!v.sh v.sh ~/x",
		"sh ./sub/../v.sh":                             "!sub/../v.sh sub/../v.sh",
		"V=v.sh; sh $V":                                "!v.sh v.sh",
		"export V=v.sh W=w.sh; sh ${W}":                "!w.sh V=v.sh W=w.sh v.sh w.sh",
		"sh ${V:-v.sh}":                                "!v.sh v.sh OPEN sh $…",
		"for t in tests/*.sh; do sh \"$t\"; done":      "*!tests/*.sh *tests/*.sh",
		"for t in a.sh b.sh; do sh $t; done":           "!a.sh !b.sh a.sh b.sh",
		`for p in g/*.md; do head "$p" | grep x; done`: "*?g/*.md ?x",
		"sh checks/$RALPH_FEATURE.sh":                  "*!checks/*.sh OPEN sh checks/$….sh",
		"while read t; do sh $t; done < list":          "list OPEN sh $…",
		"cd \"$(mktemp -d)\"; sh v.sh":                 "v.sh OPEN cd $…",
		"sh t/{a,b}.sh":                                "!t/a.sh !t/b.sh !t/{a,b}.sh t/a.sh t/b.sh t/{a,b}.sh",
		"if true; then ./v; fi":                        "!v",
		"! ./v && X=1 ./w 2>&1 # ./u":                  "!v !w 1",

		// What a command writes or only looks at.
		"A=b.txt sh ./x.sh >out; ./w 2>&1":     "!w !x.sh b.txt x.sh",
		"cc -o app main.c && ./app":            "?main.c",
		"make && ./app":                        "!GNUmakefile !Makefile !makefile +!app",
		"rm -rf build; mkdir build; build/run": "",
		"tee log":                              "",
		"grep -q done notes.md":                "?done ?notes.md",
		"grep -q -f rules notes.md":            "?notes.md rules",
		"test -e built/x":                      "?built/x",

		"node --check src/x.js":                        "?src/x.js",
		"node --check -r ./e.js x.js":                  "!e.js !x.js e.js x.js",
		"bash -n x.sh && bash x.sh":                    "!x.sh ?x.sh x.sh",
		"find src -exec node --check {} ;":             "node src",
		"for f in src/*.js; do php -l $f; done":        "*?src/*.js",
		"python3 -m flake8 src/x.py":                   "?src/x.py flake8 flake8.py flake8/__init__.py flake8/__main__.py",
		"npx --yes eslint --rulesdir r -c e.json a.js": "!.npmrc !binding.gyp !package.json ?a.js e.json r",
		"poetry run mypy --config-file m.ini a.py":     "?a.py m.ini",
		"uv run v.py a.py":                             "a.py v.py",
		"python3 pylint a.py":                          "!pylint a.py pylint",
		"python3 -m json.tool <a.json": "?a.json json.tool json/tool.py json/tool/__init__.py " +
			"json/tool/__main__.py",
		"go vet a.go && go build -toolexec ./t -o x a.go": "!go.work +?a.go +t ?a.go",
		"go run a.go": "!go.work a.go",
		"gcc -Wall -c a.c && test -f b && grep -c x c": "+?b +?c +?x ?a.c",
		"cargo test --manifest-path x/Cargo.toml": "!.cargo/config !.cargo/config.toml !rust-toolchain " +
			"!rust-toolchain.toml ?x/Cargo.toml",
		"pip install -q -r requirements-dev.txt": "?requirements-dev.txt",
		"perl -lane 'exit 1 if /a/' x.md":        "/a 1 if x.md",
		"./configure && make":                    "!GNUmakefile !configure !makefile +!Makefile",
		"npm ci && pytest": "!.npmrc !.pytest.ini !.pytest.toml !binding.gyp !package.json " +
			"!pytest.ini !pytest.toml",
		"npm run build -- --x && yarn t": "!.npmrc !.pnp.cjs !.pnp.js !.pnp.loader.mjs !.yarnrc " +
			"!.yarnrc.yml !binding.gyp !package.json",
		"grep -qf rules notes.md": "?notes.md rules",
		"grep -frules notes.md":   "?notes.md rules",
		"sha256sum -c sums":       "sums",

		// What programs read without being told.
		"make -s test":                          "!GNUmakefile !Makefile !makefile",
		"make -f other.mk -C sub all":           "!sub/other.mk other.mk",
		"make --file=x.mk":                      "!x.mk x.mk",
		"make -fx.mk -f y.mk -j4":               "!x.mk !y.mk x.mk y.mk",
		"CI=1 npm --prefix web test":            "!web/.npmrc !web/binding.gyp !web/package.json 1",
		"go test ./...":                         "!go.work ...",
		"make -sC sub":                          "!sub/GNUmakefile !sub/Makefile !sub/makefile",
		"make -f x.mk -ksCsub all":              "!sub/x.mk x.mk",
		"go test -coverprofile=c.out":           "!go.work c.out overprofile=c.out",
		"mvn -q -Dtest=A test":                  "!.mvn/extensions.xml !.mvn/jvm.config !.mvn/maven.config A",
		"python3 -c 'import os, sys; import t'": "os, sys t OPEN python3 -c import os, sys; import t",
		"node --run test":                       "!package.json test",
		"npm test -w packages/a":                "!.npmrc !binding.gyp !package.json !packages/a/package.json packages/a",
		"npm -w a test":                         "!.npmrc !binding.gyp !package.json OPEN npm -w a test",
		"yarn workspaces run test": "!.npmrc !.pnp.cjs !.pnp.js !.pnp.loader.mjs !.yarnrc !.yarnrc.yml !binding.gyp " +
			"!package.json OPEN yarn workspaces run test",
		"perl -Ilib -I t/lib -MMy::Mod=x t.pl": "!lib/My/Mod.pm !t.pl !t/lib/My/Mod.pm t.pl t/lib x",
		"ruby -I lib -r./setup -rmine t.rb":    "!lib/mine.rb !setup !setup.rb !t.rb lib setup t.rb",
	} {
		if got := show(Command{Shell: line}); got != want {
			t.Errorf("%s:\n got %s\nwant %s", line, got, want)
		}
	}
	if got := show(Command{Argv: []string{"bash", "-lc", "cd sub && sh v.sh > log", "a.txt"}}); got !=
		"!sub/v.sh a.txt sub/v.sh v.sh" {
		t.Error(got)
	}
	if got := show(Command{Argv: []string{"sh", "v$x.sh", "*.c"}}); got != `!v$x.sh *.c v$x.sh` {
		t.Error(got)
	}
}
