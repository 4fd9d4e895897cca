package loop

import (
	"runtime"
	"slices"
	"testing"
)

// PATH is replaced, and no other variable.
func TestWithPath(t *testing.T) {
	got := withPath([]string{"PATH=/session", "path=/zsh", "Path=x", "PATHEXT=.exe", "PATH", "odd"}, "/trusted")
	want := []string{"path=/zsh", "Path=x", "PATHEXT=.exe", "odd", "PATH=/trusted"}
	if runtime.GOOS == "windows" {
		want = slices.Delete(want, 0, 2)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
