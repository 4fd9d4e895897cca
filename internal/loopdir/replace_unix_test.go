//go:build linux || darwin

package loopdir

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReplaceKeeps replaces a file and checks that the new one is whose the old one was.
func TestReplaceKeeps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "list.json")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		uid, gid = 12345, 54321
		if err := os.Chown(path, uid, gid); err != nil {
			t.Skip(err)
		}
	}
	attribute := unix.Setxattr(path, "user.kept", []byte("value"), 0) == nil // not every file system has them
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := Replace(root, "list.json", []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	if int(stat.Uid) != uid || int(stat.Gid) != gid || info.Mode().Perm() != 0o640 {
		t.Errorf("the file is of %d:%d with mode %v, want %d:%d and 0640", stat.Uid, stat.Gid, info.Mode(), uid, gid)
	}
	value := make([]byte, 10)
	if n, err := unix.Getxattr(path, "user.kept", value); attribute && (err != nil || string(value[:n]) != "value") {
		t.Errorf("the attribute is %q, %v", value[:max(n, 0)], err)
	}
}

func TestReplaceIf(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, tc := range []struct {
		was  []byte
		ours string
		want error
	}{
		{nil, "a", nil}, {nil, "b", ErrChanged}, {[]byte("a"), "b", nil}, {[]byte("a"), "c", ErrChanged},
		{[]byte("bb"), "c", ErrChanged}, {[]byte("b"), "", nil}, {nil, "c", ErrChanged}, {[]byte{}, "c", nil},
	} {
		before, _ := root.ReadFile("f")
		err := ReplaceIf(filepath.Join(root.Name(), "f"), tc.was, []byte(tc.ours))
		if !errors.Is(err, tc.want) {
			t.Errorf("%q to %q: %v, want %v", tc.was, tc.ours, err, tc.want)
		}
		if now, _ := root.ReadFile("f"); tc.want != nil && string(now) != string(before) || tc.want == nil &&
			string(now) != tc.ours {
			t.Errorf("%q to %q: the file has %q", tc.was, tc.ours, now)
		}
	}
}
