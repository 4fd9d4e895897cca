//go:build unix

package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWriteFile writes the list into a worktree whose folders an agent has replaced. Nothing outside is written, and
// nothing hangs.
func TestWriteFile(t *testing.T) {
	for _, below := range []string{"", "packages/shop é"} {
		w := newWorld(t, below)
		w.open()
		lane, outside := w.lane("lane-1"), t.TempDir()
		plans := filepath.Join(lane.Project(), "plans")
		for what, row := range map[string]struct {
			plant func() error
			err   string // "": it is written
		}{
			"nothing":            {func() error { return nil }, ""},
			"a folder":           {func() error { return os.MkdirAll(filepath.Join(plans, "shop"), 0o755) }, ""},
			"a link out":         {func() error { return os.Symlink(outside, plans) }, "escapes"},
			"a link to a folder": {func() error { return os.Symlink("sub", plans) }, ""},
			"a pipe":             {func() error { return syscall.Mkfifo(plans, 0o644) }, "not a directory"},
			"a pipe below": {func() error {
				return errors.Join(os.Mkdir(plans, 0o755), syscall.Mkfifo(filepath.Join(plans, "shop"), 0o644))
			}, "file exists"},
			"a link out below": {func() error {
				return errors.Join(os.Mkdir(plans, 0o755), os.Symlink(outside, filepath.Join(plans, "shop")))
			}, "escapes"},
			"a folder for the file": {func() error {
				return os.MkdirAll(filepath.Join(plans, "shop", "list.json"), 0o755)
			}, "not a regular file"},
			"a link for the file": {func() error {
				return errors.Join(os.MkdirAll(filepath.Join(plans, "shop"), 0o755),
					os.Symlink(filepath.Join(outside, "list.json"), filepath.Join(plans, "shop", "list.json")))
			}, "not a regular file"},
		} {
			w.ok(os.RemoveAll(plans))
			w.ok(row.plant())
			done := make(chan error, 1)
			go func() { done <- lane.WriteFile(filepath.Join("plans", "shop", "list.json"), []byte(what)) }()
			select {
			case err := <-done:
				if row.err == "" {
					w.ok(err)
					w.want(what, w.read(plans, "shop/list.json"), what)
				} else if err == nil || !strings.Contains(err.Error(), row.err) {
					t.Errorf("%s: the error is %v, want one with %q", what, err, row.err)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: it hangs", what)
			}
			if all, _ := os.ReadDir(outside); len(all) > 0 {
				t.Fatalf("%s: %v is outside", what, all)
			}
		}
	}
}
