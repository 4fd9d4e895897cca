package plain

import (
	"os/exec"
	"testing"
	"unicode"
)

func TestShell(t *testing.T) {
	for in, want := range map[string]string{
		"sh -c 'a; b' | grep \"é\"":        "sh -c 'a; b' | grep \"é\"",
		"true\ncurl x":                     `$'true\ncurl x'`,
		"a\tb\r\\n":                        `$'a\tb\r\\n'`,
		"it's\x1b[2K":                      `$'it\'s\x1b[2K'`,
		"a\u200bb\u3164\ufe0f\u2800\u202e": `$'a\u200bb\u3164\ufe0f\u2800\u202e'`,
		"\U000e0041\xff\ufffd":             `$'\U000e0041\xff\ufffd'`,
		"a\u00a0b\u05d0":                   `$'a\u00a0b\u05d0'`,
		`$'x'`:                             `$'$\'x\''`,
	} {
		if got := Shell(in); got != want {
			t.Errorf("Shell(%q) = %s, want %s", in, got, want)
		}
		bash, err := exec.LookPath("bash")
		if err != nil {
			continue
		}
		cmd := exec.Command(bash, "-c", "printf %s "+Shell(in))
		cmd.Env = []string{"LC_ALL=C.UTF-8"}
		if out, err := cmd.Output(); len(want) > 2 && want[:2] == "$'" && (err != nil || string(out) != in) {
			t.Errorf("bash reads %s as %q (%v)", Shell(in), out, err)
		}
	}
}

// TestInvisible checks all characters against Unicode's Default_Ignorable_Code_Point. The
// standard library has the parts that it is made of.
func TestInvisible(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		ignorable := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
			unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
			r >= 0xe0000 && r <= 0xe0fff || r >= 0xfff0 && r <= 0xfff8
		if r > unicode.MaxASCII && ignorable && Line(string(r), 10) != "" {
			t.Errorf("%U is shown, and nobody sees it", r)
		}
		if ignorable && Visible(string(r)) == string(r) {
			t.Errorf("%U is visible for Visible", r)
		}
	}
}
