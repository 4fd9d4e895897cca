package loopdir

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestReplaceIfLate has an editor write a file after the last look at it, and before ours has its name.
func TestReplaceIfLate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	write := func(text string) {
		if err := os.WriteFile(path+".editor", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".editor", path); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, late := range []bool{false, true} {
		write("was")
		err := replace(root, "settings.json", []byte("ours"), 0o644, false, func(file string) error {
			text, err := root.ReadFile(file)
			if err == nil && !bytes.Equal(text, []byte("was")) {
				err = ErrChanged
			}
			if late && file == "settings.json" {
				write("theirs")
			}
			return err
		})
		text, unread := os.ReadFile(path)
		want := "ours"
		if late {
			want = "theirs"
		}
		if errors.Is(err, ErrChanged) != late || unread != nil || string(text) != want {
			t.Errorf("late %v: %q, %v, %v", late, text, err, unread)
		}
		left, _ := filepath.Glob(filepath.Join(dir, ".*"))
		if len(left) > 0 {
			t.Errorf("late %v: left behind: %q", late, left)
		}
	}
}

// TestPutBack puts a file back that somebody may replace once more meanwhile. The newest text stays.
func TestPutBack(t *testing.T) {
	for _, want := range []string{"theirs", "newest"} {
		dir := t.TempDir()
		write := func(name, text string) os.FileInfo {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			return info
		}
		ours := write("settings.json", "ours")
		if want == "newest" {
			write("new", want)
			if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "settings.json")); err != nil {
				t.Fatal(err)
			}
		}
		write("temp", "theirs")
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		folder, err := root.Open(".")
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		putBack(root, folder, "temp", "settings.json", ours)
		text, err := root.ReadFile("settings.json")
		if err != nil || string(text) != want {
			t.Errorf("%q, %v, want %q", text, err, want)
		}
	}
}
