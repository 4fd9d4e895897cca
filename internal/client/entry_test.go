package client

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestEntryName has PATHs that find the program, another one of its name, none, and a link to itself.
func TestEntryName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links")
	}
	const name = "ralph-stop-hook"
	program := func(text string) (folder string) {
		folder = t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	ours, other, empty, broken := program("ours"), program("other"), t.TempDir(), t.TempDir()
	self := filepath.Join(ours, name)
	if err := os.Symlink(name, filepath.Join(broken, name)); err != nil { // to itself
		t.Fatal(err)
	}
	for _, test := range []struct{ path, want, err string }{
		{path: empty + ":" + ours + ":" + other, want: name},
		{path: broken + ":" + ours, want: name},
		{path: other + ":" + ours, want: self},
		{path: empty + ":" + filepath.Join(self, "below"), want: self},
		{path: empty + ":" + broken, err: filepath.Join(broken, name)},
	} {
		got, err := EntryName(name, self, test.path)
		told := err != nil && test.err != "" && strings.Contains(err.Error(), test.err)
		if got != test.want || (err != nil) != told {
			t.Errorf("%s: %q, %v, want %q and an error with %q", test.path, got, err, test.want, test.err)
		}
	}
}
