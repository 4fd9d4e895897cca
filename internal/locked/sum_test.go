package locked

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// write makes the files of a project: a name that ends with "!" is one that may be run.
func write(t *testing.T, files map[string]string) (project string) {
	project = t.TempDir()
	fill(t, project, files)
	return project
}

func fill(t *testing.T, project string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if name[len(name)-1] == '!' {
			name, mode = name[:len(name)-1], 0o755
		}
		path := filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChanged changes what a key names, and looks whether that is seen.
func TestChanged(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	const pytest = "pyproject.toml sections for pytest"
	set := func(name, text string) func(string) error {
		return func(p string) error { return os.WriteFile(filepath.Join(p, name), []byte(text), 0o644) }
	}
	mode := func(name string, mode os.FileMode) func(string) error {
		return func(p string) error { return os.Chmod(filepath.Join(p, name), mode) }
	}
	link := func(name, to string) func(string) error {
		return func(p string) error {
			_ = os.Remove(filepath.Join(p, name))
			return os.Symlink(to, filepath.Join(p, name))
		}
	}
	for _, row := range []struct {
		what, key string
		does      func(project string) error
		changed   bool
	}{
		{"a text", "a", set("a", "other"), true},
		{"the same text", "a", set("a", "a"), false},
		{"a file that goes", "a", func(p string) error { return os.Remove(filepath.Join(p, "a")) }, true},
		{"a file that appears", "new", set("new", ""), true},
		{"a folder that appears", "new",
			func(p string) error { return os.Mkdir(filepath.Join(p, "new"), 0o755) }, true},
		{"the right to run, taken", "run", mode("run", 0o644), true},
		{"the right to run, taken from the owner", "run", mode("run", 0o655), true},
		{"the right to run, given", "a", mode("a", 0o755), false},
		{"rights of others", "run", mode("run", 0o700), false},
		{"a link to the same text", "a", link("a", "same"), false},
		{"a link to what may not be run", "run", link("run", "a"), true},
		{"a script", "package.json scripts", set("package.json", `{"scripts": {"test": "true"}}`), true},
		{"another script", "package.json scripts", set("package.json", `{"scripts": {"test": "x", "a": "true"}}`), false},
		{"a script that runs before another", "package.json scripts",
			set("package.json", `{"scripts": {"test": "x", "pretest": "true"}}`), true},
		{"a script that runs unasked", "package.json scripts",
			set("package.json", `{"scripts": {"test": "x", "postinstall": "true"}}`), true},
		{"what is no script", "package.json scripts", set("package.json", `{"a": 1, "scripts": {"test": "x"}}`), false},
		{"a script that is there twice", "package.json scripts",
			set("package.json", `{"scripts": {"test": "x"}, "scripts": {"test": "true"}}`), true},
		{"a section for pytest", pytest, set("pyproject.toml", "[tool.pytest.ini_options]\n"), true},
		{"a section for another program", pytest, set("pyproject.toml", "[project]\n"), false},
	} {
		project := write(t, map[string]string{
			"a": "a", "same": "a", "run!": "run", "package.json": `{"scripts": {"test": "x"}}`,
		})
		was := Sum(project, row.key)
		if Changed(project, row.key, was) {
			t.Errorf("%s: changed from the beginning", row.what)
		}
		if err := row.does(project); err != nil {
			t.Fatal(err)
		}
		if got := Changed(project, row.key, was); got != row.changed {
			t.Errorf("%s: changed is %v", row.what, got)
		}
	}
}

// TestOldRecord compares with hashes that say nothing of modes.
func TestOldRecord(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	project := write(t, map[string]string{"run!": "run", "a": "a"})
	if err := os.Symlink("run", filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	sum, old := linkSum(project, "link"), Digest([]byte("run"))
	oldLink := sum[:len(sum)-len("x ")-len(old)] + old
	if TextSum(sum) != old || TextSum(Sum(project, "run")) != old || TextSum("") != "" || sum == oldLink {
		t.Errorf("the text of %q", sum)
	}
	if Changed(project, "run", old) || Changed(project, "link", oldLink) || Changed(project, "link", sum) {
		t.Error("an old record does not hold any more")
	}
	if !Changed(project, "a", old) || !Changed(project, "run", Digest([]byte("a"))) {
		t.Error("an edit is not seen")
	}
	if err := os.Chmod(filepath.Join(project, "run"), 0o644); err != nil {
		t.Fatal(err)
	}
	if Changed(project, "link", oldLink) || !Changed(project, "link", sum) {
		t.Error("the right to run what a link leads to")
	}
}

// TestBelow has a row for each kind of word.
func TestBelow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of another system")
	}
	project := write(t, map[string]string{"sub/v.sh": ""})
	home := filepath.Dir(project)
	name := filepath.Base(project)
	for word, want := range map[string]string{
		"v.sh": "v.sh", "./sub/v.sh": "./sub/v.sh", "../v.sh": "", "../" + name + "/v.sh": "v.sh", "/etc/passwd": "",
		"~/" + name + "/v.sh": "v.sh", "~/v.sh": "", "a\x00b": "", filepath.ToSlash(project) + "/sub/v.sh": "sub/v.sh",
	} {
		if got := Below(project, home, word); got != want {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
}
