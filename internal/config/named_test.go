package config

import (
	"strings"
	"testing"
)

// TestFiles has a row for each way in which a command names the file that says what it does.
func TestFiles(t *testing.T) {
	for line, want := range map[string]string{
		"sh -eu ./x.sh log":                "x.sh",
		"/usr/bin/python3.12 a.py":         "/usr/bin/python3.12 a.py",
		"tee log":                          "",
		"a | bash b":                       "b",
		"node":                             "",
		"sh -c 'go test'":                  "",
		"A=b.txt sh ./x.sh >out; ./w 2>&1": "x.sh w",
		"cd sub && sh v.sh":                "sub/v.sh",
		"(cd a; cd b; ./run)":              "a/b/run",
		`sh "$PWD/v.sh"; sh ${PWD}/w.sh`:   "v.sh w.sh",
		"sh ./sub/../v.sh":                 "v.sh",
		". ./env.sh && go test ./...":      "env.sh",
		"make -s test":                     "GNUmakefile makefile Makefile",
		"make -f other.mk -C sub test":     "sub/other.mk",
		"make --file=x.mk":                 "x.mk",
		"make -fx.mk -j4":                  "x.mk",
		"cd sub && /usr/bin/make":          "/usr/bin/make sub/GNUmakefile sub/makefile sub/Makefile",
		"CI=1 npm --prefix web test":       "web/package.json web/.npmrc",
		"go test ./...":                    "",
		"/abs/check.sh x":                  "/abs/check.sh",
	} {
		var text []string
		for _, f := range (Command{Shell: line}).Files() {
			if f.Decides {
				text = append(text, f.Path)
			}
		}
		if got := strings.Join(text, " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	var all []string
	for _, f := range (Command{Argv: []string{"bash", "-lc", "cd sub && sh v.sh > log", "a b.txt"}}).Files() {
		all = append(all, f.Path)
	}
	want := "bash|-lc|cd sub && sh v.sh > log|a b.txt|sh|sub/sh|sub/v.sh|a|sub/a|b.txt|sub/b.txt"
	if got := strings.Join(all, "|"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
