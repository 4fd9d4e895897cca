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
