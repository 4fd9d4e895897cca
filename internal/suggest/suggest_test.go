package suggest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

// write writes the files of an archive. TOP in a text stands for the folder.
func write(t *testing.T, top string, files []txtar.File) {
	t.Helper()
	for _, file := range files {
		name := filepath.Join(top, filepath.FromSlash(file.Name))
		text := strings.ReplaceAll(string(file.Data), "TOP", filepath.ToSlash(top))
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// text returns a suggestion as the tables have it.
func (s Suggestion) text() string {
	b := strings.Builder{}
	say := func(key string, words ...string) {
		if len(words) > 0 {
			b.WriteString(key + ": " + strings.Join(words, " ") + "\n")
		}
	}
	say("protect", slices.Concat(s.Tests, s.Protect)...)
	say("outputs", s.Outputs...)
	if s.Git {
		say("git", "true")
	}
	for _, p := range s.Prepare {
		say("prepare", p.Command+" <- "+strings.Join(p.WhenChanged, " "))
	}
	if len(s.InProject) > 0 {
		b.WriteString("in project:")
		for _, i := range s.InProject {
			b.WriteString(" " + string(rune('0'+i)))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// valid sees that a configuration can have what a suggestion says.
func valid(t *testing.T, s Suggestion) {
	t.Helper()
	lines := s.Lines()
	if len(lines) > 4 {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for _, text := range slices.Concat(s.Tests, s.Protect, s.Outputs) {
		bare, _, _ := strings.Cut(strings.TrimPrefix(text, "+"), "#")
		_, err := config.ParsePattern(bare)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestFor compares suggestions for ordinary projects with what a person would write. The comment of an archive has the
// checks, and the folder in which they run if it is not the top, and one with packages of Python; "want" has the
// suggestion.
func TestFor(t *testing.T) {
	for name, text := range projects {
		t.Run(name, func(t *testing.T) {
			archive := txtar.Parse([]byte(text))
			top := t.TempDir()
			want := ""
			var files []txtar.File
			for _, file := range archive.Files {
				if file.Name == "want" {
					want = string(file.Data)
				} else {
					files = append(files, file)
				}
			}
			write(t, top, files)
			dir := "."
			checks := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
			first, isDir := strings.CutPrefix(checks[0], "in ")
			if isDir {
				dir = first
				checks = checks[1:]
			}
			var sites []string
			last, isSite := strings.CutPrefix(checks[len(checks)-1], "sites ")
			if isSite {
				sites = []string{filepath.Join(top, last), filepath.Join(top, "none")}
				checks = checks[:len(checks)-1]
			}
			s := For(top, dir, checks, sites...)
			valid(t, s)
			if s.text() != strings.ReplaceAll(want, "\n  ", " ") {
				t.Errorf("got\n%swant\n%s", s.text(), want)
			}
		})
	}
}

// TestLines sees what a person reads.
func TestLines(t *testing.T) {
	top := t.TempDir()
	write(t, top, []txtar.File{
		{Name: ".gitignore", Data: []byte("/vendor\nbuild\n")},
		{Name: "Makefile", Data: []byte("test:\n\tphpunit\n\tgit diff --exit-code\n")},
		{Name: "composer.json", Data: []byte("{}")},
		{Name: "vendor/composer/autoload_real.php"},
		{Name: "tests/a.php"},
	})
	got := strings.Join(For(top, ".", []string{"make test", "docker exec app make test"}).Lines(), "\n")
	want := `protected tests; the agent may add more: tests/**
protected (+ also keeps new files out): +GNUmakefile, +makefile, +Makefile, +phpunit.xml*
the copy has its own of these, not the project's: vendor with ` + "`composer install`" + `, build
the copy has a repository, as a check uses git`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLinkedScript follows the links of scripts. One that leads out is protected itself.
func TestLinkedScript(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there, links say where they lead in another way")
	}
	top := t.TempDir()
	write(t, top, txtar.Parse([]byte("-- src/real.sh --\nexit 1\n-- other --\n")).Files)
	for link, to := range map[string]string{
		"link.sh": "scripts/other.sh", "scripts/other.sh": "../src/real.sh", "away.sh": "/bin/true", "round.sh": "round.sh",
	} {
		err := os.MkdirAll(filepath.Join(top, "scripts"), 0o755)
		if err == nil {
			err = os.Symlink(filepath.FromSlash(to), filepath.Join(top, filepath.FromSlash(link)))
		}
		if err != nil {
			t.Skip(err) // not everybody may make links on Windows
		}
	}
	want := "protect: link.sh scripts/other.sh src/real.sh away.sh round.sh\n"
	if got := For(top, ".", []string{"sh link.sh", "sh away.sh; sh round.sh"}).text(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSites finds packages of the Python that a PATH finds first, and of the user.
func TestSites(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("packages are elsewhere here")
	}
	top := t.TempDir()
	write(t, top, []txtar.File{
		{Name: "one/bin/python3"}, {Name: "one/lib/python3.12/site-packages/x"}, {Name: "two/bin/python3"},
		{Name: "two/lib/python3.11/site-packages/x"}, {Name: "pyenv/shims/python"},
		{Name: "pyenv/versions/3.9/lib/python3.9/site-packages/x"},
		{Name: "home/.local/lib/python3.12/site-packages/x"},
	})
	search := filepath.Join(top, "one/bin") + ":" + filepath.Join(top, "two/bin") + ":" + filepath.Join(top, "pyenv/shims")
	got := strings.ReplaceAll(strings.Join(Sites(search, filepath.Join(top, "home")), " "), top+"/", "")
	want := "home/.local/lib/python3.12/site-packages one/lib/python3.12/site-packages " +
		"pyenv/versions/3.9/lib/python3.9/site-packages"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestNowhere sees that a folder that is not in the project has no suggestion.
func TestNowhere(t *testing.T) {
	for _, dir := range []string{"..", "../x", "/etc", "a/../..", "missing"} {
		s := For(t.TempDir(), dir, []string{"npm test"})
		if s.text() != "" {
			t.Errorf("in %s: %s", dir, s.text())
		}
	}
}

// TestBounds sees that a large folder, and a deep one, are read in part, and what is beside them is read, too.
func TestBounds(t *testing.T) {
	top := t.TempDir()
	files := []txtar.File{{Name: "tests/a.py"}, {Name: "go.mod"}, {Name: strings.Repeat("b/", maxDepth+1) + "a_test.go"}}
	for i := range maxFolder + 10 {
		files = append(files, txtar.File{Name: fmt.Sprintf("a/%d.txt", i)})
	}
	write(t, top, files)
	tree, err := openTree(top, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.root.Close()
	if len(tree.files) != maxFolder+2 {
		t.Errorf("%d files", len(tree.files))
	}
	want := "protect: tests/**\n"
	got := For(top, ".", []string{"go test ./..."}).text()
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzFor sees that no check, makefile or rules make For fail, or say what a configuration cannot have.
func FuzzFor(f *testing.F) {
	for _, text := range projects {
		f.Add(text, text, text)
	}
	f.Fuzz(func(t *testing.T, check, text, rules string) {
		top := t.TempDir()
		write(t, top, []txtar.File{
			{Name: "Makefile", Data: []byte(text)}, {Name: "a.sh", Data: []byte(text)}, {Name: "tests/a_test.go"},
			{Name: "package.json", Data: []byte(text)}, {Name: ".gitignore", Data: []byte(rules)}, {Name: "a.py"},
		})
		valid(t, For(top, ".", []string{check, "make " + check, "npm test", "sh a.sh"}))
	})
}
