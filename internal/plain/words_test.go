package plain

import (
	"path/filepath"
	"testing"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 features", 1: "1 feature", 2: "2 features"} {
		if got := Count(n, "feature"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPath(t *testing.T) {
	project := filepath.FromSlash("/home/dev/project")
	for path, want := range map[string]string{
		"/home/dev/project/a/b.json":    "a/b.json",
		"/home/dev/projects/b.json":     "/home/dev/projects/b.json",
		"/home/dev/project/x\x1b[2J\ny": "x y",
	} {
		if got := Path(project, filepath.FromSlash(path)); got != want {
			t.Errorf("%q is shown as %q, want %q", path, got, want)
		}
	}
}
