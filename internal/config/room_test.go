package config

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

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
	for name := range strings.FieldsSeq(`CMakeCache.txt a/CTestCustom.cmake CMakePresets.json Rakefile.rb gems.rb
		build.ninja lib/dune x.cabal cabal.project.local phpunit.dist.xml phpunit.xml.dist phpstan-x.neon
		phpstan.neon.dist tsconfig.base.json Taskfile.dist.yml hatch.toml npm-shrinkwrap.json playwright.config.ts
		a/karma.conf.js spec/spec_helper.rb rebar.config build.sbt project/plugins.sbt settings.gradle.kts
		.mvn/extensions.xml meson.options build.zig.zon a/x.vcxproj App.sln nuget.config
		NuGet.Config global.json unittest.py unittest.cfg revive.toml tslint.json compose.override.yml
		unittest/__main__.py .pytest.toml usercustomize.py`) {
		if !BuildFile(name) {
			t.Errorf("%s is no build file", name)
		}
	}
	for name := range strings.FieldsSeq(`locales/global.json src/spec_helper.rb src/unittest/a.c src/dune/a.c
		wscript/x a/wrapper/b README.cabal.md tsconfig.md tests/unittest_a.py next.config.js src/gradle/x`) {
		if BuildFile(name) {
			t.Errorf("%s is a build file", name)
		}
	}
	for text := range strings.FieldsSeq(buildTable) {
		names, err := expand(text)
		for _, name := range names {
			if !doublestar.ValidatePattern(name) || err != nil {
				t.Errorf("%s cannot be read: %v", text, err)
			}
		}
	}
}

// TestBuilds has settings in the root, which "work" has to spell.
func TestBuilds(t *testing.T) {
	with, without := Config{}, Config{}
	pattern, err := ParsePattern("**")
	if err != nil {
		t.Fatal(err)
	}
	with.Work = []Pattern{pattern}
	for name, want := range map[string][2]bool{
		"unheard-of.json": {true, false}, "a.yml": {true, false}, "a/unheard-of.json": {}, "a.csv": {},
		"a/go.sum": {true, false},
		"Makefile": {true, true},
	} {
		if got := [2]bool{with.Builds(name), without.Builds(name)}; got != want {
			t.Errorf("%s: %v with work and without, want %v", name, got, want)
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
		"lib.go": {false, false}, "src/": {true, false}, "docs/": {true, false}, "src": {false, false},
	} {
		if got := [2]bool{c.IsWork(name), c.Spells(name)}; got != want {
			t.Errorf("%s: work and spelled are %v, want %v", name, got, want)
		}
	}
	if !(Config{}).IsWork("x") {
		t.Error(`without "work" not every file is work`)
	}
}
