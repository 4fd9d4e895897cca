package config

import (
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, text string) Config {
	t.Helper()
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

func TestProtected(t *testing.T) {
	for text, want := range map[string]Protected{
		"verify.sh":                    {},
		"tests/**":                     {},
		"+**/conftest.py":              {KeepsOut: true},
		"+.github/":                    {KeepsOut: true},
		"package.json#scripts":         {Key: "scripts"},
		"**/package.json#jest.roots":   {Key: "jest.roots"},
		"{a,b}/package.json#x#y":       {Key: "x#y"},
		"./composer.json#scripts":      {Key: "scripts"},
		"a+b.json":                     {},
		"++x":                          {KeepsOut: true},
		"web/tsconfig.json#compiler 1": {Key: "compiler 1"},
	} {
		got, err := parseProtected(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got.Text != text || got.KeepsOut != want.KeepsOut || got.Key != want.Key {
			t.Errorf("%s: text %q, keeps new files out %v, key %q", text, got.Text, got.KeepsOut, got.Key)
		}
	}
	for text, want := range map[string]string{
		"":                      "is not a path below",
		"+":                     "is not a path below",
		"#scripts":              "is not a path below",
		"../x":                  "is not a path below",
		"+../x":                 "is not a path below",
		`tests\x`:               "has a backslash",
		"package.json#":         "FILE.json#KEY",
		"+package.json#scripts": "FILE.json#KEY",
		"pyproject.toml#tool":   "FILE.json#KEY",
		"Makefile#all":          "FILE.json#KEY",
		"**#scripts":            "FILE.json#KEY",
		"src/#scripts":          "FILE.json#KEY",
	} {
		if got, err := parseProtected(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"protect": "x"}`:         `"protect" must be a list of patterns`,
		`{"protect": {"x": true}}`: `"protect" must be a list of patterns`,
		`{"protect": [1]}`:         `"protect" must be text`,
		`{"protect": ["a", "["]}`:  "line 1, column 19",
		`{"protect": ["x#y"]}`:     "FILE.json#KEY",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestProtectsNew has files, and whether a change of each counts: of one that is there, and of a new one.
func TestProtectsNew(t *testing.T) {
	c := parsed(t, `{"protect": ["tests/**", "verify.sh", "+**/conftest.py", "+.ci/", "package.json#scripts"]}`)
	for name, want := range map[string][2]bool{
		"tests/a.py":        {true, false},
		"tests/conftest.py": {true, true},
		"conftest.py":       {true, true},
		"a/b/conftest.py":   {true, true},
		"verify.sh":         {true, false},
		"a/verify.sh":       {},
		".ci/x/y.yml":       {true, true},
		".ci/":              {true, true},
		"package.json":      {},
		"tests":             {},
	} {
		if got := [2]bool{c.Protects(name, false), c.Protects(name, true)}; got != want {
			t.Errorf("%s: protected as it is, and as a new file: %v, want %v", name, got, want)
		}
	}
	if (Config{}).Protects("x", false) {
		t.Error("something is protected that nobody named")
	}
}

func TestProtectedKeys(t *testing.T) {
	c := parsed(t, `{"protect": ["package.json#scripts", "**/package.json#jest", "+other.json", "package.json#a.b",
		"a.json"]}`)
	for name, want := range map[string][]string{
		"package.json":   {"scripts", "jest", "a.b"},
		"a/package.json": {"jest"},
		"other.json":     nil,
		"a.json":         nil,
	} {
		if got := c.ProtectedKeys(name); !slices.Equal(got, want) {
			t.Errorf("%s: the keys %q, want %q", name, got, want)
		}
	}
}

// TestCopyOwns has files and folders that git ignores, and whether the copy has its own of them.
func TestCopyOwns(t *testing.T) {
	const outputs = `{"outputs": ["build", "**/coverage/", "*.log", "dist"],
		"link": ["dist", "**/__pycache__", "build/keep"]}`
	const prepare = `{"prepare": [{"command": "npm ci"}], "link": ["tools/venv"]}`
	for name, want := range map[string][3]bool{ // without settings, with outputs, with prepare
		"__pycache__":              {true, true, true}, // caches are nobody's work, whatever "link" says
		"a/__pycache__":            {true, true, true},
		"a/x.pyc":                  {true, true, true},
		"web/tsconfig.tsbuildinfo": {true, true, true},
		".pytest_cache":            {true, true, true},
		"build":                    {false, true, false},
		"build/a.o":                {false, true, false},
		"build/keep":               {},
		"a/build":                  {},
		"coverage":                 {false, true, false},
		"web/coverage/x.html":      {false, true, false},
		"x.log":                    {false, true, false},
		"a/x.log":                  {},
		"dist":                     {},
		"dist/x.js":                {},
		"node_modules":             {false, false, true},
		"web/node_modules":         {false, false, true},
		".venv":                    {false, false, true},
		"tools/venv":               {},
		"node_modules/x":           {},
		".env":                     {},
	} {
		got := [3]bool{Config{}.CopyOwns(name), parsed(t, outputs).CopyOwns(name), parsed(t, prepare).CopyOwns(name)}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestIsWork has files, and whether "work" names them.
func TestIsWork(t *testing.T) {
	c := parsed(t, `{"work": ["src/**", "package.json", "**/go.{mod,sum}", "docs/", "lib"]}`)
	for name, want := range map[string]bool{
		"src/a.go": true, "src/Makefile": true, "package.json": true, "x/package.json": false, "go.mod": true,
		"a/b/go.sum": true, "docs/x": true, "docs": false, "Makefile": false, "lib": true, "lib/a/b": true,
		"lib.go": false, "src/": true, "docs/": true, "src": false,
	} {
		if got := c.IsWork(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if !(Config{}).IsWork("x") {
		t.Error(`without "work" not every file is work`)
	}
}

// TestNeedsBaseline has configurations, and whether something of them needs the project as it was trusted.
func TestNeedsBaseline(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`:                 false,
		`{"protect": ["a"]}`: true,
		`{"work": ["a"]}`:    true,
		`{"outputs": ["c"], "prepare": [{"command": "npm ci"}]}`:                               false,
		`{"checks": [{"command": "make test"}]}`:                                               true,
		`{"checks": [{"command": "make test", "in": "copy"}]}`:                                 true,
		`{"checks": [{"command": "make test", "in": "project"}]}`:                              false,
		`{"checks": [{"command": "a", "in": "project"}, {"command": "b"}]}`:                    true,
		`{"checks": [{"file_exists": "a"}]}`:                                                   true,
		`{"checks": [{"file_contains": {"file": "a", "pattern": "b"}}]}`:                       true,
		`{"checks": [{"file_exists": "a", "in": "project"}]}`:                                  false,
		`{"checks": [{"last_message": "a"}]}`:                                                  false,
		`{"evaluate": ["default"]}`:                                                            false,
		`{"evaluate": [{"command": "review"}]}`:                                                true,
		`{"on_complete": ["./notify.sh"]}`:                                                     true,
		`{"on_complete": [["scripts/notify.sh", "x"]]}`:                                        true,
		`{"on_complete": ["notify-send done", ["curl", "-d", "./x", "https://example.org/"]]}`: false,
		`{"on_complete": ["/usr/bin/notify"]}`:                                                 false,
		`{"source": {"list": ["./list.sh"]}}`:                                                  false,
	} {
		if got := parsed(t, text).NeedsBaseline(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestCheckIn has where a check runs. Receipts of a check that ran elsewhere are of another check.
func TestCheckIn(t *testing.T) {
	digests := map[string]string{}
	for _, in := range []string{"", InCopy, InProject} {
		text := `{"checks": [{"command": "make test"}]}`
		if in != "" {
			text = `{"checks": [{"command": "make test", "in": "` + in + `"}]}`
		}
		check := parsed(t, text).Checks[0]
		if check.In != in {
			t.Errorf("%s: it runs in %q", text, check.In)
		}
		digests[in] = check.Digest
	}
	if digests[""] != digests[InCopy] || digests[""] == digests[InProject] {
		t.Errorf("the digests are %q", digests)
	}
	for in, want := range map[string]string{
		`"room"`: `"in" must be "copy" or "project"`,
		`""`:     `"in" must be "copy" or "project"`,
		`true`:   `"in" must be text`,
	} {
		_, err := Parse([]byte(`{"checks": [{"command": "x", "in": ` + in + `}]}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}
