package locked

import "testing"

// TestOnlyNeeds has manifests and edits of them, and whether those are edits of what the project needs.
func TestOnlyNeeds(t *testing.T) {
	const (
		goMod = "module x\n\ngo 1.21\n\nrequire a.b/c v1.0.0\n"
		cargo = "[package]\nname = \"x\"\ndescription = \"\"\"\ntext\n\"\"\"\n\n[dependencies]\na = \"1\"\n"
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
	} {
		only, known := OnlyNeeds(row.name, []byte(row.was), []byte(row.is))
		if !known || only != row.same {
			t.Errorf("%s: %q and %q: %v, want %v", row.name, row.was, row.is, only, row.same)
		}
	}
	if _, known := OnlyNeeds("pom.xml", nil, nil); known {
		t.Error("pom.xml is known")
	}
}
