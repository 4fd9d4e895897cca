package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

func TestLine(t *testing.T) {
	for _, tc := range []struct {
		in    string
		limit int
		want  string
	}{
		{"a\r\nb\tc", 100, "a b c"},
		{"\x1b[31mred\x1b[0m", 100, "red"},
		{"\x1b]0;title\a", 100, ""},
		{"c1 \u009b31m", 100, "c1"},
		{"bidi \u202eevil\u202c \u200bzw", 100, "bidi evil zw"},
		{"bad \xff utf8", 100, "bad utf8"},
		{"äöü 漢字 🚀", 100, "äöü 漢字 🚀"},
		{"line\u2028separator", 100, "line separator"},
		{"hidden \ufe0f\U000e0101bytes, \u3164\uffa0\u115ffillers, \u034fjoiner, \u2800blank", 100,
			"hidden bytes, fillers, joiner, blank"},
		{"👩‍👩‍👧 👩🏽‍💻 ❤️‍🔥 ✔️", 100, "👩‍👩‍👧 👩🏽‍💻 ❤️‍🔥 ✔️"},
		{"a\u200db 🚀\u200d\u200d🚀 🚀\ufe0f\ufe0f\u200dx \u200d🚀", 100, "ab 🚀\u200d🚀 🚀\ufe0fx 🚀"},
		{"0123456789", 10, "0123456789"},
		{"0123456789x", 10, "012345678…"},
	} {
		if got := Line(tc.in, tc.limit); got != tc.want {
			t.Errorf("Line(%q, %d) = %q, want %q", tc.in, tc.limit, got, tc.want)
		}
	}
	if got, want := Text("a\r\nb\x1b\n", 10), "a\nb\n"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}

// FuzzClean checks that clean text has no character that a terminal acts on.
func FuzzClean(f *testing.F) {
	for _, seed := range seeds.Files(f, "*.json", "*.txt", "*.sh") {
		f.Add(string(seed), 200)
	}
	f.Add("\x1b[2J\u009b\u202e\r\n\xff", 20)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 1 || limit > 1<<16 {
			return
		}
		for _, got := range []string{Line(s, limit), Text(s, limit)} {
			if !utf8.ValidString(got) || utf8.RuneCountInString(got) > limit {
				t.Fatalf("%q", got)
			}
			before := rune(0)
			for i, r := range got {
				inEmoji := joins(before, r, got[i:]) || r == joiner && strings.HasPrefix(got[i:], "\u200d…") // cut there
				before = r
				if inEmoji {
					continue
				}
				unseen := unicode.In(r, unicode.Bidi_Control, unicode.Cf, unicode.Zl, unicode.Zp,
					unicode.Variation_Selector)
				if r != '\n' && r != '\t' && (unseen || unicode.IsControl(r)) {
					t.Fatalf("%q holds %U", got, r)
				}
			}
		}
		if once := Line(s, limit); Line(once, limit) != once {
			t.Fatalf("not idempotent: %q", once)
		} else if strings.ContainsAny(once, "\n\t") {
			t.Fatalf("more than one line: %q", once)
		}
		if once := Text(s, limit); Text(once, limit) != once {
			t.Fatalf("not idempotent: %q", once)
		}
	})
}

// TestTokens shows numbers in short, and none that is a thousand off.
func TestTokens(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 9999: "9999", 10_000: "10k", 47_600: "47.6k", 999_949: "999.9k", 999_950: "1.0M", 1_904_000: "1.9M",
	} {
		if got := Tokens(n); got != want {
			t.Errorf("Tokens(%d) = %q, want %q", n, got, want)
		}
	}
}
