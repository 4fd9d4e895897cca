package client

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestChangeLinked removes all of a file to which a link leads: the link still leads to a file that the client can
// read.
func TestChangeLinked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a link there needs a right")
	}
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "settings.json")
	err := os.WriteFile(target, []byte("ours"), 0o644)
	if err == nil {
		err = os.Symlink(target, link)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := PlanChange(link, func([]byte) ([]byte, error) { return nil, nil })
	if err == nil {
		err = f.Make()
	}
	text, unread := os.ReadFile(link)
	if err != nil || unread != nil || string(text) != "{}\n" {
		t.Errorf("%q, %v, %v", text, err, unread)
	}
}
