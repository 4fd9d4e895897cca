package locked

import (
	"strings"
	"testing"
)

// TestOnlyNeeds has manifests and edits of them, and whether those are edits of what the project needs.
func TestOnlyNeeds(t *testing.T) {
	const (
		goMod  = "module x\n\ngo 1.21\n\nrequire a.b/c v1.0.0\n"
		cargo  = "[package]\nname = \"x\"\ndescription = \"\"\"\ntext\n\"\"\"\n\n[dependencies]\na = \"1\"\n"
		python = "[project]\nname = \"x\"\ndependencies = [\"a\"]\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n"
		npm    = `{"name": "x", "dependencies": {"a": "^1"}}`
	)
	for _, row := range []struct {
		name, was, is string
		same          bool
	}{
		{"go.mod", goMod, goMod + "require d.e/f v1.0.0\n", true},
		{"go.mod", goMod, goMod + "// more\nrequire (\n\td.e/f v1.0.0 // indirect\n\n\tg.h/i v1.0.0\n)\n", true},
		{"a/go.mod", goMod, "module x\ngo 1.22\ntoolchain go1.25.0\n", true},
		{"go.mod", goMod, goMod + "ignore ./check\n", false},
		{"go.mod", goMod, goMod + "require (\n)\nignore (\n./check\n)\n", false},
		{"go.mod", goMod, goMod + "require()\nignore ./check\n", false},
		{"go.mod", goMod, goMod + "replace a.b/c => ./mine\n", false},
		{"go.mod", goMod, goMod + "require d.e/f v0.0.0\nreplace d.e/f => ./f\n", true},
		{"go.mod", goMod, goMod + "replace \"a.b/c\" => ./mine\n", false},
		{"go.mod", goMod, goMod + "replace (\n\ta.b/c => ./mine\n)\n", false},
		{"go.mod", goMod, "module y\ngo 1.21\n", false},
		{"Cargo.toml", cargo, cargo + "b = \"2\"\n[dev-dependencies.c]\nversion = \"1\"\n[features]\nd = []\n", true},
		{"Cargo.toml", cargo, cargo + "[target.'cfg(unix)'.dependencies]\nb = \"2\"\n", true},
		{"Cargo.toml", cargo, cargo + "[lib]\ntest = false\n", false},
		{"Cargo.toml", cargo, cargo + "  [ lib ]\ntest = false\n", false},
		{"Cargo.toml", cargo, "package.autotests = false\n" + cargo, false},
		{
			"Cargo.toml", cargo,
			"[package]\nname = \"x\"\ndescription = \"\"\"\ntext\n[dependencies]\n\"\"\"\nautotests = false\n" +
				"[dependencies]\n", false,
		},
		{"Cargo.toml", cargo, "[package] # [dependencies]\nautotests = false\n", false},
		{"Cargo.toml", cargo, strings.Replace(cargo, `"1"`, `"2"`, 1), true},
		{"Cargo.toml", cargo, strings.Replace(cargo, `"1"`, `{ path = "mine" }`, 1), false},
		{"Cargo.toml", cargo, strings.Replace(cargo, `"1"`, `{ "path" = "mine" }`, 1), false},
		{"Cargo.toml", cargo, strings.Replace(cargo, `"1"`, "{\npath = \"mine\"\n}", 1), false},
		{"Cargo.toml", cargo, strings.Replace(cargo, `"1"`, `{ version = "1", package = "b" }`, 1), false},
		{"Cargo.toml", cargo, cargo + "[dependencies.a]\ngit = \"x\"\n", false},
		{"Cargo.toml", cargo, cargo + "[workspace.dependencies]\na = { path = \"mine\" }\n", false},
		{"Cargo.toml", cargo, cargo + "[patch.crates-io]\nb = { path = \"mine\" }\n", false},
		{"Cargo.toml", cargo, cargo + "new = { path = \"new\", features = [\n\"d\",\n] }\n", true},
		{"Cargo.toml", cargo + "[features]\ndefault = [\"t\"]\n", cargo + "[features]\ndefault = []\n", false},
		{"Cargo.toml", cargo, cargo + "text = \"\"\"\n", false},
		{"pyproject.toml", python, strings.Replace(python, `"a"`, `"a", "d>=2; python_version<'4'"`, 1), true},
		{"pyproject.toml", python, strings.Replace(python, `"a"`, "\n  'd', # more\n  \"a >= 2\"\n", 1), true},
		{"pyproject.toml", python, python + "[dependency-groups]\ntest = [\"b\"]\n", true},
		{"pyproject.toml", python, python + "[tool.poetry.dependencies]\nd = { git = \"x\" }\n", true},
		{"pyproject.toml", python, python + "[tool.poetry.dependencies]\nA = { git = \"x\" }\n", false},
		{"pyproject.toml", python, strings.Replace(python, `"a"`, `"a @ file:mine"`, 1), false},
		{"pyproject.toml", python, strings.Replace(python, `"a"`, `"a", "\u0061 @ file:mine"`, 1), false},
		{"pyproject.toml", python, strings.Replace(python, `"a"`, `"a", "new @ file:mine"`, 1), false},
		{"pyproject.toml", python, strings.Replace(python, `"a"`, "\n\"a\",\n\"new @ ./mine\"\n", 1), false},
		{"pyproject.toml", python, python + "[dependency-groups]\ntest = [\n\"b\",\n'c>=2' # more\n]\n", true},
		{"pyproject.toml", python, python + "[dependency-groups]\nmine = [\"a @ git+file:///mine\"]\n", false},
		{"pyproject.toml", python, python + "[dependency-groups]\ntest = [{include-group = \"mine\"}]\n", false},
		{"pyproject.toml", python, python + "[dependency-groups]\ntest = [\n{'include-group' = \"mine\"},\n]\n", false},
		{"pyproject.toml", python, python + "[project.optional-dependencies]\nmine = [\"a @ ./mine\"]\n", false},
		{"pyproject.toml", python, strings.Replace(python, `"a"]`, `"a"] # entry-points.pytest11.x = "y"`, 1), true},
		{"pyproject.toml", python, strings.Replace(python, `"a"]`, "\"a\"\nentry-points.pytest11.x = \"y\" # ]", 1), false},
		{"pyproject.toml", python, strings.Replace(python, "-q", "--collect-only", 1), false},
		{"pyproject.toml", python, python + "[tool.other]\nx = 1\n", false},
		{
			"pyproject.toml", python,
			"[dependency-groups]\nx = \"\"\"\n" + python + "[dependency-groups]\ny = \"\"\"\n", false,
		},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `"^2", "b": "1"`, 1), true},
		{"package.json", npm, strings.Replace(npm, `{`, `{"type": "module", "devDependencies": {"c": "*"},`, 1), true},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `"file:mine"`, 1), false},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `"e.tgz"`, 1), false},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `"^1", "b": "e.TAR.gz"`, 1), false},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `"^1", "b": "e.tar "`, 1), false},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `".."`, 1), false},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `"~2.1 || >=3 <4-beta.tar.1", "b": "next"`, 1), true},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `"npm:b@1"`, 1), false},
		{"package.json", npm, strings.Replace(npm, `{`, `{"jest": {"testMatch": []},`, 1), false},
		{"package.json", npm, strings.Replace(npm, `{`, `{"overrides": {"a": "2"},`, 1), false},
		{"package.json", npm, strings.Replace(npm, `"x"`, `"a"`, 1), false},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `"^1", "new": "file:new"`, 1), true},
		{"package.json", npm, strings.Replace(npm, `"^1"`, `"^1", "new": "file:new.tgz"`, 1), false},
		{"package.json", npm, strings.Replace(npm, `{`, `{"bin": {"a": "x"},`, 1), false},
		{"package.json", npm, `{"dependencies": {}}`, true},
		{"package.json", npm, npm[1:], false},
	} {
		only, known := OnlyNeeds(row.name, []byte(row.was), []byte(row.is))
		if !known || only != row.same {
			t.Errorf("%s: %q and %q: %v, want %v", row.name, row.was, row.is, only, row.same)
		}
	}
	for text, is := range map[string]bool{
		`{"name": "x", "main": "a.js", "dependencies": {"a": "1"}}`: true,
		`{"name": "x", "bin": {"node": "a.js"}}`:                    false,
		`{"main": "a.js"}`:                                          true,
		`{`:                                                         false,
	} {
		if NewPackage([]byte(text)) != is {
			t.Errorf("%s: want %v", text, is)
		}
	}
	if _, known := OnlyNeeds("pom.xml", nil, nil); known {
		t.Error("pom.xml is known")
	}
}
