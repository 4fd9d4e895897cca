package features

import (
	"strings"
	"testing"
)

// TestBoxMarks reads checkboxes. Wanted are the titles of the open items, those of the dropped ones, and what is said
// of boxes that are left out, and of those that are not written as usual.
func TestBoxMarks(t *testing.T) {
	for text, want := range map[string][4]string{
		"- [ ] a\n- [x] b\n- [X] c\n": {"a", "", "", ""},
		"- [ x] a\n- [x ] b\n- [ X ] c ": {
			"", "", "", "line 1, [ x] read as done: a/line 2, [x ] read as done: b/line 3, [ X ] read as done: c",
		},
		"- [✓] a\n- [✔] b\n- [✔️] c\n": {
			"", "", "", "line 1, [✓] read as done: a/line 2, [✔] read as done: b/line 3, [✔️] read as done: c",
		},
		"- [] a\n- [  ] b\n- [\u3000] c\n": {
			"a b c", "", "", "line 1, [] read as open: a/line 2, [  ] read as open: b/line 3, [␣] read as open: c",
		},
		"- [-] a\n- [~] ~~b~~\n- [❌] c\n": {
			"a b c", "", "", "line 1, [-] read as open: a/line 2, [~] read as open: ~~b~~/line 3, [❌] read as open: c",
		},
		"- [x] a\n- [ ]b\n- [x]**c**\n": {
			"b", "", "", "line 2, [ ] without a space read as open: b/line 3, [x] without a space read as done: **c**",
		},
		"- [ ] a\n- [P] b\n- [1] c\n- [x](d)\n- []byte\n- [ab] e\n- [~]f\n- [x], y\n- [^1]: g\n": {"a", "", "", ""},
		"- [ ]* a\n  - [ ] b\n\n  c\n- [x]* d\n- [ ]*e* f\n": {
			"e-f", "a b d", "line 1, optional: a/line 2, optional: b/line 5, optional: d",
			"line 6, [ ] without a space read as open: *e* f",
		},
		"# Later (optional)\n- [] a\n# Now\n- [ ] b\n": {"b", "a", `line 2, below "Later (optional)": a`, ""},

		// A bullet of a word processor, and blanks that are no spaces.
		"- [x] a\n• [ ] b\n  ◦ [x] c\n– [] d\n> • [ ] e\nsome text — [ ] no\n": {
			"b d e", "", "", "line 2, • [ ] read as open: b/line 3, ◦ [x] read as done: c/line 4, – [] read as open: d/" +
				"line 5, > • [ ] read as open: e",
		},
		"\u00a0- [ ] a\n-\u00a0[x] b\n- [ ]\u00a0c\n\u200b* [ ] d\n": {
			"a c d", "", "", "line 1, ␣- [ ] read as open: a/line 2, -␣[x] read as done: b/line 3, [ ]␣ read as open: c/" +
				"line 4, ␣* [ ] read as open: d",
		},

		// What a legend says of a mark counts for nothing, and its entries are no items.
		"Key: [x] done, [~] skipped\n\n- [~] a\n": {
			"a", "", "", "line 3, [~] read as open: a",
		},
		"## Legend\n- [ ] Not started\n- [~] Won't do\n- [x] Done\n\n## Work\n- [ ] a\n": {"a", "", "", ""},
		"Key:\n[ ] open\n[x] done\n\n- [ ] a\n":                                          {"a", "", "", ""},
		"**Legend:**\n- [ ] open\n- [x] done\n- [ ] Build it\n- [ ] done\n":              {"build-it done", "", "", ""},

		// Boxes that are no items.
		"# A\n\n    - [ ] no\n\n- [ ] a\n":             {"a", "", "line 3, indented as code: no", ""},
		"<details>\n- [ ] no\n</details>\n\n- [ ] a\n": {"a", "", "line 2, inside HTML: no", ""},
		"Text\n2. [ ] no\n\n- [ ] a\n":                 {"a", "", "line 2, not a list item: no", ""},
		"- [ ] a\n[ ] no\n-[x] no\n•[] no\n": {
			"a", "", "line 2, not a list item: no/line 3, not a list item: no/line 4, not a list item: no", "",
		},
		"| | |\n|-|-|\n| [ ] | no |\n| [x] | done |\n\n- [ ] a\n\n(2) [ ] no\n": {
			"a", "", "line 3, in a table: | no |/line 8, not a list item: no", "",
		},
		"## [ ] Part\n- [ ] a\n":                                   {"a", "", "line 1, a heading: Part", ""},
		"[x] is done, [ ] is open\n\n- [ ] a\n":                    {"a", "", "", ""},
		"[x] is done\n\n[~] is begun\n\n- [ ] a":                   {"a", "", "", ""},
		"<!--\n- [ ] no\n-->\n```\n- [ ] no\n```\n- [ ] a [x] b\n": {"a-x-b", "", "", ""},
	} {
		l, problems, remarks := Reading{}.Check([]byte(text))
		var dropped []string
		for _, item := range l.Dropped {
			dropped = append(dropped, item.ID)
		}
		got := [4]string{strings.Join(l.Open(), " "), strings.Join(dropped, " "), strings.Join(l.LeftOut.First, "/"),
			strings.Join(l.Slips.First, "/")}
		if got != want || len(problems) > 0 || l.Passed() < len(l.Items) && len(remarks) > 0 {
			t.Errorf("%q:\n%q, want\n%q (%v, %v)", text, got, want, problems, remarks)
		}
	}
}

// TestMarkBoxes claims all items and opens them again: only the boxes change.
func TestMarkBoxes(t *testing.T) {
	text := "\ufeff- [] a\r\n* [✔️]\tb\r\n1. [ ]c\n> - [ X ] d\n- [-] e"
	for passes, want := range map[bool]string{
		true:  "\ufeff- [x] a\r\n* [✔️]\tb\r\n1. [x]c\n> - [ X ] d\n- [x] e",
		false: "\ufeff- [] a\r\n* [ ]\tb\r\n1. [ ]c\n> - [ ] d\n- [-] e",
	} {
		l, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out, err := l.Mark([]byte(text), l, []string{"a", "b", "c", "d", "e"}, passes)
		if err != nil || string(out) != want {
			t.Errorf("%q, want %q, %v", out, want, err)
		}
		after, err := Parse(out)
		if err != nil || passes != (after.Passed() == 5) || len(l.TakeFlags(after).Changes) > 0 {
			t.Errorf("%d pass, %v", after.Passed(), err)
		}
	}
}

// TestConflict refuses a list that has the markers of a merge conflict.
func TestConflict(t *testing.T) {
	const conflict = "an unresolved merge conflict: "
	for text, want := range map[string]string{
		"- [x] a\n<<<<<<< HEAD\n- [x] b\n=======\n>>>>>>> c\n": "line 2, column 1: " + conflict + "<<<<<<< HEAD",
		"<<<<<<<\r\n[]\r\n=======\r\n>>>>>>>\r\n":              "line 1, column 1: " + conflict + "<<<<<<< ",
		"- [x] a\n  - b\n||||||| base\n":                       "line 3, column 1: " + conflict + "||||||| base",
		"- [x] a\n>>>>>>> d\n":                                 "line 2, column 1: " + conflict + ">>>>>>> d",
		"<!--\n<<<<<<< HEAD\n-->\n- [x] a\n":                   "line 2, column 1",
		"A\n=======\n\n- [x] a\n|||||||\n":                     "",
		"- [x] a\n  <<<<<<< HEAD\n<<<<<<<<\n<<<<<<<a\n":        "",
		"~~~\n<<<<<<< HEAD\n~~~\n- [x] a\n":                    "",
	} {
		_, err := Parse([]byte(text))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
