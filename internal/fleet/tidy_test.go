package fleet

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
)

// Only folders that a worker has made for a run, long ago, are removed, and none with work that was not handed in.
func TestTidy(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	file := func(path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	age := func(path string, days int) {
		at := time.Now().AddDate(0, 0, -days)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, files := range map[string][]string{
		"old":       {"used", "repo/HEAD", "lane-1/a.txt", "lane-12/a.txt"},
		"recent":    {"used", "repo/HEAD", "lane-1/a.txt"},
		"open":      {"used", "repo/HEAD", "lane-1/a.txt", "open-1"},
		"person's":  {"used", "repo/HEAD", "thesis.txt"},
		"unmarked":  {"repo/HEAD", "lane-1/a.txt"},
		"gone-half": {"lane-1/a.txt"},
	} {
		for _, one := range files {
			file(filepath.Join(dir, name, one))
		}
		if slices.Contains(files, "used") {
			age(filepath.Join(dir, name, "used"), map[bool]int{true: 6, false: 8}[name == "recent"])
		}
	}
	file(filepath.Join(elsewhere, "used"))
	age(filepath.Join(elsewhere, "used"), 8)
	file(filepath.Join(dir, "base-123"))
	file(filepath.Join(dir, "base-mine"))
	link := filepath.Join(dir, "link")
	_ = os.Symlink(elsewhere, link) // not everybody may on Windows, and Wine makes none
	_, unlinked := os.Lstat(link)
	var said []string
	Tidy(dir, func(text string) { said = append(said, text) })
	if want := filepath.Join(dir, "open") + " has work of an old run that was not handed in; "; len(said) != 1 ||
		!strings.HasPrefix(said[0], want) {
		t.Errorf("it says %q", said)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	want := []string{"base-mine", "link", "open", "person's", "recent", "unmarked"}
	if unlinked != nil {
		want = slices.Delete(want, 1, 2)
	}
	if !slices.Equal(names, want) {
		t.Errorf("there are %q, want %q", names, want)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "used")); err != nil {
		t.Error(err)
	}
}

// A folder of a run is known as one from the moment that it is made, so that a worker that is killed before it has all
// leaves nothing for good. One that is opened again after long stays while another lane tidies.
func TestTidyWhileFetching(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	say := func(text string) { t.Log(text) }
	l := &lane{Worker: &Worker{Dir: t.TempDir(), Env: loop.Env{Vars: os.Environ()}, Say: func(e Event) { say(e.Text) }}}
	dir := filepath.Join(l.Dir, "run")
	used := filepath.Join(dir, usedFile)
	killed, kill := context.WithCancel(t.Context())
	kill()
	o := order{Run: "run", Folder: ".", List: "list.json", Commit: strings.Repeat("0", 40)}
	if _, err := l.fetch(killed, nil, dir, o); err == nil {
		t.Fatal("a lane that ends has fetched all")
	}
	if _, err := os.Stat(used); err != nil {
		t.Error(err)
	}
	repo, err := l.fetch(t.Context(), nil, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().AddDate(0, 0, -8)
	if err := os.Chtimes(used, long, long); err != nil {
		t.Fatal(err)
	}
	again, err := l.fetch(t.Context(), nil, dir, o)
	if err != nil || again != repo {
		t.Fatalf("the repository is not the one that is open, %v", err)
	}
	Tidy(l.Dir, say)
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
