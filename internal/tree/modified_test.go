package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestModified(t *testing.T) {
	dir := t.TempDir()
	since := time.Now().Add(-time.Minute)
	for name, old := range map[string]bool{
		"a.txt": false, "old.txt": true, "sub/é x.txt": false, "sub/old.txt": true, "loops/a": false, "gone.txt": false,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		if old {
			if err := os.Chtimes(path, since, since.Add(-time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{"a.txt", "gone.txt", "sub/é x.txt"}
	tree := Tree{Dir: dir, Except: filepath.Join(dir, "loops")}
	if got := tree.Modified(t.Context(), since); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, got, _ := tree.Fingerprint(t.Context(), since, nil, nil); got != nil {
		t.Errorf("without a repository, %q beside the fingerprint", got)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.Remove(filepath.Join(dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	want = []string{"a.txt", "sub/é x.txt"}
	tree.Env, tree.Top = os.Environ(), dir
	if got := tree.Modified(t.Context(), since); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, got, _ := tree.Fingerprint(t.Context(), since, nil, nil); !slices.Equal(got, want) {
		t.Errorf("beside the fingerprint %q, want %q", got, want)
	}
	if _, got, _ := tree.Fingerprint(t.Context(), time.Now().Add(time.Hour), nil, nil); got == nil || len(got) > 0 {
		t.Errorf("beside the fingerprint %#v, want an empty list", got)
	}
	if _, got, _ := tree.Fingerprint(t.Context(), time.Time{}, nil, nil); got != nil {
		t.Errorf("since no time, %q beside the fingerprint", got)
	}
}
