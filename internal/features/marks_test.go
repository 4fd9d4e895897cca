package features

import (
	"strings"
	"testing"
)

// TestBoxMarks reads marks other than x. Wanted are the titles of the open items, those of
// the dropped ones, and the first remark.
func TestBoxMarks(t *testing.T) {
	for text, want := range map[string][3]string{
		"- [~] a\n- [ ] b\n": {
			"a b", "", "line 1, column 1: [~] is taken for work that is not done; items with it: 1",
		},
		"- [~] ~~a~~\n- [ ] b\n":                              {"b", "a", ""},
		"Legend: [x] done, [~] skipped\n\n- [~] a\n- [ ] b\n": {"b", "a", ""},
		"- [~] a\n- [ ] b\n\n`[~]` = deferred\n":              {"b", "a", ""},
		"- [~] a\n- [ ] b\n\nThe [~] mark is done by hand.\n": {"a b", "", "line 1, column 1: [~] is taken for work"},
		"[~] partially done\n\n- [~] a\n":                     {"a", "", "line 3, column 1: [~] is taken for work"},
		"[!] blocked | [/] complete\n\n- [!] a\n- [/] b\n":    {"a", "", ""},
		"- [-] a\n- [ ] b\n":                                  {"b", "a", ""},
		"[-] in progress\n\n- [-] a\n":                        {"a", "", "line 3, column 1: [-] is taken for work"},

		"## Legend\n- [ ] Not started\n- [~] Won't do\n- [x] Done\n\n## Work\n- [~] a\n- [ ] b\n": {"b", "a", ""},

		"**Legend:**\n- [ ] open\n- [x] done\n- [ ] Build it\n- [ ] done\n": {"build-it done", "", ""},
		"# A\n\n    - [ ] no\n\n- [ ] a\n": {"a", "", "line 3, column 7: this checkbox is no item: " +
			"Markdown takes the line for code, since it is indented by four columns or more"},
		"<details>\n- [ ] no\n</details>\n\n- [ ] a\n": {"a", "", "line 2, column 3: this checkbox is no item: " +
			"Markdown takes the line for HTML"},
		"Text\n2. [ ] no\n\n- [ ] a\n": {
			"a", "", "line 2, column 4: this checkbox is no item: Markdown takes the line for text",
		},
		"<!--\n- [ ] no\n-->\n```\n- [ ] no\n```\n- [ ] a [x] b\n": {"a-x-b", "", ""},
	} {
		l, problems, remarks := Reading{}.Check([]byte(text))
		var dropped []string
		for _, item := range l.Dropped {
			dropped = append(dropped, item.ID)
		}
		remark := ""
		if len(remarks) > 0 {
			remark = remarks[0].Error()
		}
		if strings.Join(l.Open(), " ") != want[0] || strings.Join(dropped, " ") != want[1] ||
			!strings.HasPrefix(remark, want[2]) || (remark == "") != (want[2] == "") {
			t.Errorf("%q: open %q, dropped %q, %q (%v)", text, l.Open(), dropped, remark, problems)
		}
	}
}
