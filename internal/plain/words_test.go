package plain

import (
	"os/exec"
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

// TestArg has a shell read what Arg quotes.
func TestArg(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	words := []string{"", "plain", "two words", "it's", "$HOME", "`id`", "a\nb", "*", "-n", "\\", "é 🎉", "~"}
	for _, word := range words {
		out, err := exec.Command(sh, "-c", "printf %s "+Arg(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is quoted %s, which a shell reads as %q (%v)", word, Arg(word), out, err)
		}
	}
	if got := Arg("a-b_c.d/e"); got != "a-b_c.d/e" {
		t.Errorf("%s is quoted without need", got)
	}
}

func TestPath(t *testing.T) {
	project := filepath.FromSlash("/home/dev/project")
	for path, want := range map[string]string{
		"/home/dev/project/a/b.json":    "a/b.json",
		"/home/dev/projects/b.json":     "/home/dev/projects/b.json",
		"/home/dev/project/x\x1b[2J\ny": "x[2J y",
	} {
		if got := Path(project, filepath.FromSlash(path)); got != want {
			t.Errorf("%q is shown as %q, want %q", path, got, want)
		}
	}
}
