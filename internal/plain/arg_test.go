package plain

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestArg has a shell read what is written for it, alone and in the quotes of a sentence.
func TestArg(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for _, word := range []string{
		"", "plain", "two words", "it's", "$HOME", "`id`", "a\nb", "*", "-n", "\\", "é 🎉", "~", "=x", "a=b", "e\u0301",
		"a;>pwned;", "a';>pwned;'b", "a'';>pwned;''b", "a'\n>pwned\n'b", "a\n\n>pwned\n", "$(>pwned)", "`>pwned`",
		"\xff;>pwned", "a\\';>pwned;", "a\";>pwned;\"", "a'\";>pwned;'\"", "#", "a\u00a0>pwned", "!x", "{a,b}",
	} {
		dir := t.TempDir()
		run := func(line string) (string, error) {
			cmd := exec.Command(sh, "-c", line)
			cmd.Dir = dir
			out, err := cmd.Output()
			return string(out), err
		}
		arg := posixArg(word)
		if out, err := run("printf %s " + arg); err != nil || out != word {
			t.Errorf("%q is written %s, which a shell reads as %q (%v)", word, arg, out, err)
		}
		_, _ = run("'printf %s " + arg + "'") // no such command, or a quote without its end
		if made, _ := os.ReadDir(dir); len(made) > 0 {
			t.Errorf("%q is written %s, which runs something in quotes", word, arg)
		}
	}
	if got := posixArg("a-b_c.d/e"); got != "a-b_c.d/e" {
		t.Errorf("%s is escaped without need", got)
	}
}

// TestWindowsArg compares words with how they are written for Windows.
func TestWindowsArg(t *testing.T) {
	for word, want := range map[string]string{
		"plain": "plain", `C:\a\b.md`: `C:\a\b.md`, "two words": `"two words"`, "": `""`, "é": "é", "-x": "-x",
		"R&D": `"R&D"`, "a;calc": `"a;calc"`, "it's": `"it?s"`, "’;calc;’": `"?;calc;?"`, "a\"&calc&\"": `"a?&calc&?"`,
		"$(calc)": `"?(calc)"`, "`n": `"?n"`, "%PATH%": `"?PATH?"`, "a\nb": `"a?b"`, "@x": `"@x"`, "\xff": "\"\uFFFD\"",
	} {
		if got := windowsArg(word); got != want {
			t.Errorf("%q is written %s, want %s", word, got, want)
		}
	}
}

// FuzzArg checks the forms of a word: what is special is escaped, or in double quotes.
func FuzzArg(f *testing.F) {
	f.Add("a';touch pwned;'b")
	f.Add("a\n$(x)")
	f.Fuzz(func(t *testing.T, word string) {
		got := []rune(strings.ReplaceAll(posixArg(word), "\"\n\"", ""))
		for i := 0; word != "" && i < len(got); i++ {
			if got[i] == '\\' {
				i++ // what follows is escaped
			} else if slices.Contains([]rune(" \t\n;&|<>()$`\"'*?[]#~!{}"), got[i]) {
				t.Errorf("%q is written %q, with a bare %q", word, string(got), got[i])
			}
		}
		if in := windowsArg(word); strings.ContainsAny(strings.Trim(in, `"`), "\"'$`%\n") {
			t.Errorf("%q is written %q", word, in)
		}
	})
}
