package client

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestQuietWords(t *testing.T) {
	for _, args := range [][]string{
		nil, {"hook"}, {"hook", "--timeout", "660s"},
		{"hook", "--on-complete", "./notify.sh 'a b' \"$HOME\" `x` \\"}, {"", "größe", "a'b"},
	} {
		got, is := quietWords(quietLine(args))
		if !is || !slices.Equal(got, args) {
			t.Errorf("%q: read as %q, %v", args, got, is)
		}
	}
	for line, want := range map[string]string{
		quiet + ` hook --timeout "9s" a\ b`: "hook|--timeout|9s|a b",
		quiet + "  hook  ":                  "hook",
	} {
		if got, is := quietWords(line); !is || strings.Join(got, "|") != want {
			t.Errorf("%s: %q, %v", line, got, is)
		}
	}
	for _, line := range []string{
		"ralph-stop-hook hook", quiet + "x", quiet + " hook; rm x", quiet + " hook $HOME", quiet + ` hook "$HOME"`,
		quiet + " 'hook", quiet + " hook\nrm x", quiet + " hook `rm x`", "true; " + quiet + " hook",
	} {
		if got, is := quietWords(line); is {
			t.Errorf("%q is read as %q", line, got)
		}
	}
}

// TestQuietLine has a shell run the line: where the program is missing, and where it is not.
func TestQuietLine(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	line := quietLine([]string{"hook", "--on-complete", "a 'b'"})
	missing := exec.Command(sh, "-c", line)
	missing.Env = []string{"PATH=" + t.TempDir()}
	if out, err := missing.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("without the program: %v, %q", err, out)
	}
	dir := t.TempDir()
	text := []byte("#!" + sh + "\nprintf '<%s>' \"$@\"\n")
	if err := os.WriteFile(filepath.Join(dir, program), text, 0o755); err != nil {
		t.Fatal(err)
	}
	there := exec.Command(sh, "-c", line)
	there.Env = []string{"PATH=" + dir}
	if out, err := there.CombinedOutput(); err != nil || string(out) != "<hook><--on-complete><a 'b'>" {
		t.Errorf("with the program: %v, %q", err, out)
	}
}
