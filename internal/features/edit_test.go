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

// TestReopenQuirks reopens an item, in each shape with each quirk. No other byte may change.
func TestReopenQuirks(t *testing.T) {
	for _, tc := range samples {
		for name, quirk := range quirks {
			claimed, reopened := split(t, quirk(tc.text))
			l, err := Parse([]byte(claimed))
			if err != nil {
				t.Fatalf("%s, %s: %v", tc.name, name, err)
			}
			got, err := l.Mark([]byte(claimed), l, []string{tc.reopened}, false)
			if err != nil || string(got) != reopened {
				t.Errorf("%s, %s: %v\ngot  %s\nwant %s", tc.name, name, err, got, reopened)
			}
			// The control: the comparison must see a lost byte.
			if bad := strings.Replace(string(got), "\n", "", 1); strings.Contains(reopened, "\n") && bad == reopened {
				t.Error("control: the comparison does not see a lost byte")
			}
		}
	}
}

// TestMoved reopens an item in a list that was edited meanwhile. The item is found by its
// text. If it cannot be told from another one, Mark fails.
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
		got, err := now.Mark([]byte(tc.now), before, []string{tc.id}, false)
		if string(got) != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s in %q: %q, %v", tc.id, tc.now, got, err)
		}
	}
	harness := `[{"description":"a","passes":true},{"description":"b","passes":true}]`
	before, _ = Parse([]byte(harness))
	moved := `[{"description":"new","passes":true},{"description":"a","passes":true},{"description":"b","passes":true}]`
	now, _ := Parse([]byte(moved))
	got, err := now.Mark([]byte(moved), before, []string{"#2"}, false)
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
		out, err := l.Mark(data, l, []string{item.ID}, false)
		if err != nil {
			t.Fatal(err)
		}
		at := l.bom + item.markAt
		if !bytes.Equal(out[:at], data[:at]) || !bytes.HasSuffix(out[at:], data[at+item.markLen:]) {
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

// asks returns what an item says, without what an agent may write there.
func asks(i Item) string { return List{all: []Item{i}}.Wording() }

// TestPass has each open item of many lists pass, one by one. Nothing else may change, however the list says it.
func TestPass(t *testing.T) {
	texts := []string{
		`[{"id":"a","title":"x"}]`, `[{ "title": "x" }, {"id": "b", "status": "done"}]`,
		`[{"title":"x","state":"CA"},{"title":"y","state":"todo"}]`, `{"features":[{"id":"a","completed":null,"title":"x"},
			{"id":"b","completed":false}]}`,
		`[{"id":"a","passes":null}]`,
	}
	for _, sample := range samples {
		text := asClaimed.Replace(sample.text)
		texts = append(texts, text, "\xef\xbb\xbf"+strings.ReplaceAll(text, "\n", "\r\n"))
	}
	tried := 0
	for _, text := range texts {
		l, err := Parse([]byte(text))
		if err != nil {
			continue
		}
		for _, item := range l.Items {
			if item.Passes || item.Blocked {
				continue
			}
			tried++
			out, err := l.Mark([]byte(text), l, []string{item.ID}, true)
			if err != nil {
				t.Errorf("%s in %q: %v", item.ID, text, err)
				continue
			}
			after, err := Parse(out)
			if err != nil || len(after.Items) != len(l.Items) || after.Passed() <= l.Passed() {
				t.Errorf("%s in %q: %q, %v", item.ID, text, out, err)
				continue
			}
			if now, has := after.Find(item.ID); !has || !now.Passes || asks(now) != asks(item) {
				t.Errorf("%s in %q: %q", item.ID, text, out)
			}
		}
	}
	if tried < len(texts) {
		t.Errorf("only %d items were open in %d lists", tried, len(texts))
	}
	if out, err := (List{}).Mark(nil, List{}, []string{"a"}, true); err == nil {
		t.Errorf("what is not there passes: %q", out)
	}
}
