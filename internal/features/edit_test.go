package features

import (
	"bytes"
	"strings"
	"testing"
)

// quirks change a text into forms that real files have. A write must keep them.
var quirks = map[string]func(string) string{
	"as it is":         func(s string) string { return s },
	"CRLF":             func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"byte order mark":  func(s string) string { return "\xef\xbb\xbf" + s },
	"no final newline": func(s string) string { return strings.TrimSpace(s) },
	"tabs":             func(s string) string { return strings.ReplaceAll(s, "  ", "\t") },
	"four spaces":      func(s string) string { return strings.ReplaceAll(s, "\n  ", "\n    ") },
	"escapes, numbers, a key that is there twice": func(s string) string {
		more := `"\u00a7": "\u00a7 \/ é \"passes\": true", "n": 1.50E+02, "n": -0.0, `
		return strings.ReplaceAll(s, `"title":`, more+`"title":`)
	},
}

// TestRoundTrip reopens an item and claims it again, in each shape with each quirk. No other
// byte may change.
func TestRoundTrip(t *testing.T) {
	for _, tc := range samples {
		for name, quirk := range quirks {
			claimed, reopened := split(t, quirk(tc.text))
			l, err := Parse([]byte(claimed))
			if err != nil {
				t.Fatalf("%s, %s: %v", tc.name, name, err)
			}
			got, err := l.Reopen([]byte(claimed), l, []string{tc.reopened})
			if err != nil || string(got) != reopened {
				t.Errorf("%s, %s: %v\ngot  %s\nwant %s", tc.name, name, err, got, reopened)
			}
			again, err := l.Restore([]byte(reopened))
			if err != nil || string(again) != claimed {
				t.Errorf("%s, %s: set again: %v\ngot  %s\nwant %s", tc.name, name, err, again, claimed)
			}
			// The control: the comparison must see a lost byte.
			if bad := strings.Replace(string(got), "\n", "", 1); strings.Contains(reopened, "\n") && bad == reopened {
				t.Error("control: the comparison does not see a lost byte")
			}
		}
	}
}

// TestMoved reopens an item in a list that was edited meanwhile. The item is found by its
// text. If it cannot be told from another one, Reopen fails.
func TestMoved(t *testing.T) {
	const was = "- [x] a\n- [x] b\n- [x] b\n"
	before, err := Parse([]byte(was))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ id, now, want string }{
		{"a", "- [ ] new\n- [x] b\n- [x] a\n- [x] b\n", "- [ ] new\n- [x] b\n- [ ] a\n- [x] b\n"},
		{"#3", "- [x] b\n- [x] a\n", ""}, // there were two items b, and it is unknown which one is left
		{"a", "- [x] other\n", ""},
	} {
		now, err := Parse([]byte(tc.now))
		if err != nil {
			t.Fatal(err)
		}
		got, err := now.Reopen([]byte(tc.now), before, []string{tc.id})
		if string(got) != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s in %q: %q, %v", tc.id, tc.now, got, err)
		}
	}
	harness := `[{"description":"a","passes":true},{"description":"b","passes":true}]`
	before, _ = Parse([]byte(harness))
	moved := `[{"description":"new","passes":true},{"description":"a","passes":true},{"description":"b","passes":true}]`
	now, _ := Parse([]byte(moved))
	got, err := now.Reopen([]byte(moved), before, []string{"#2"})
	if want := strings.Replace(moved, `"b","passes":true`, `"b","passes":false`, 1); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

// asClaimed removes the marks of a sample so that the marked item is claimed.
var asClaimed = strings.NewReplacer(
	"«", "", `|false»`, "", `|"pending"»`, "", `|"todo"»`, "", `|"open"»`, "", "|  »", "",
)

// FuzzSet reopens one item. Only the bytes of its mark may change, and the item must be
// open afterwards.
func FuzzSet(f *testing.F) {
	for _, tc := range samples {
		text := asClaimed.Replace(tc.text)
		f.Add([]byte(text), uint(0))
		f.Add([]byte("\xef\xbb\xbf"+strings.ReplaceAll(text, "\n", "\r\n")), uint(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, pick uint) {
		l, err := Parse(data)
		if err != nil {
			return
		}
		item := l.Items[pick%uint(len(l.Items))]
		if !item.Passes {
			return
		}
		out, err := l.Reopen(data, l, []string{item.ID})
		if err != nil {
			t.Fatal(err)
		}
		at := l.bom + int(item.markAt)
		if !bytes.Equal(out[:at], data[:at]) || !bytes.HasSuffix(out[at:], data[at+int(item.markLen):]) {
			t.Fatalf("%q became %q", data, out)
		}
		after, err := Parse(out)
		if err != nil || len(after.Items) != len(l.Items) || after.Passed() != l.Passed()-1 {
			t.Fatalf("%q became %q: %v", data, out, err)
		}
		if now, has := after.Find(item.ID); !has || now.Passes {
			t.Fatalf("%s passes in %q", item.ID, out)
		}
	})
}
