package config

import "testing"

// TestBuildFile has files that decide what a check does, wherever they are.
func TestBuildFile(t *testing.T) {
	for name, want := range map[string]bool{
		"Makefile": true, "src/GNUmakefile": true, "a/go.mod": true, "Cargo.toml": true, "src/conftest.py": true,
		"evil-1.0.dist-info/entry_points.txt": true, "node_modules/.bin/node": true, "test/node_modules/x/index.js": true,
		".cargo/config.toml": true, "jest.config.js": true, "src/package.json": true, "x.pth": true, "lib/rules.mk": true,
		"src/app.config.ts": false, "src/main.go": false, "src/makefile.go": false, "package.json.md": false,
		"info/x": false, ".eslintrc": true, "a/.eslintrc.json": true, ".mocharc.yml": true, ".rc": true,
		".pytest.ini": true,
		"a/.gitkeep":  false, ".github/x.yml": false,
		"eslint.config.mjs": true,
		"tsconfig.json":     true, "src/search.rc": false, ".gitignore": false,
	} {
		if got := BuildFile(name); got != want {
			t.Errorf("BuildFile(%q) = %v", name, got)
		}
	}
}

// TestWork has files, and whether "work" names them, and spells them.
func TestWork(t *testing.T) {
	c, err := Parse([]byte(`{"room": true, "work": ["src/**", "package.json", "**/go.{mod,sum}", "docs/", "lib"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]bool{
		"src/a.go": {true, false}, "src/Makefile": {true, false}, "package.json": {true, true},
		"x/package.json": {false, false},
		"go.mod":         {true, true}, "a/b/go.sum": {true, true}, "docs/x": {true, false}, "docs": {false, false},
		"Makefile": {false, false}, "lib": {true, true}, "lib/a/b": {true, false}, "lib/Makefile": {true, false},
		"lib.go": {false, false},
	} {
		if got := [2]bool{c.IsWork(name), c.Spells(name)}; got != want {
			t.Errorf("%s: work and spelled are %v, want %v", name, got, want)
		}
	}
	if !(Config{}).IsWork("x") {
		t.Error(`without "work" not every file is work`)
	}
}
