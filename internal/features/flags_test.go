package features

import (
	"strings"
	"testing"
)

// TestPassIn marks a feature of a trusted list in other versions of its file.
func TestPassIn(t *testing.T) {
	const list = `[{"id": "a", "title": "One", "passes": false}, {"title": "Two words", "passes": false}]`
	for name, tc := range map[string]struct{ tag, data, id, want string }{
		"as it was": {"", list, "a", strings.Replace(list, "false", "true", 1)},
		"a derived id, in another place": {"", `[{"title": "Two words", "passes": false}, {"id": "a", "passes": false}]`,
			"two-words", `[{"title": "Two words", "passes": true}, {"id": "a", "passes": false}]`},
		"another wording": {"", `[{"id": "a", "title": "Other", "passes": false}]`, "a",
			`[{"id": "a", "title": "Other", "passes": true}]`},
		"it passes":       {"", `[{"id": "a", "passes": true}]`, "a", `[{"id": "a", "passes": true}]`},
		"without a mark":  {"", `[{"id": "a"}]`, "a", `[{"passes": true,"id": "a"}]`},
		"without it":      {"", `[{"id": "b", "passes": false}]`, "a", `[{"id": "b", "passes": false}]`},
		"no such feature": {"", list, "c", list},
		"not JSON":        {"", `[{"id": "a", `, "a", `[{"id": "a", `},
		"empty":           {"", "", "a", ""},
		"Markdown":        {"", "- [ ] One\r\n- [ ] Two words\r\n", "two-words", "- [ ] One\r\n- [x] Two words\r\n"},
		"a tag": {"ui", `{"b": {"tasks": [{"id": "a", "status": "todo"}]}, "ui": {"tasks": [{"id": "a", "status": "todo"}]}}`,
			"a", `{"b": {"tasks": [{"id": "a", "status": "todo"}]}, "ui": {"tasks": [{"id": "a", "status": "done"}]}}`},
		"without that tag": {"ui", list, "a", list},
	} {
		l, err := Parse([]byte(list))
		if err != nil {
			t.Fatal(err)
		}
		l.Tag = tc.tag
		if got := string(l.PassIn([]byte(tc.data), tc.id)); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestMergeFlags merges what a run has marked into what a person has made of the list.
func TestMergeFlags(t *testing.T) {
	const base = `[{"id": "a", "passes": false}, {"id": "b", "passes": true}, {"title": "Third one", "passes": false}]`
	run := strings.ReplaceAll(base, "false", "true")
	for name, tc := range map[string]struct{ base, run, data, want string }{
		"as it was":      {base, run, base, run},
		"without a base": {"", run, base, run},
		"what a person reopens": {base, run, strings.ReplaceAll(base, "true", "false"),
			strings.Replace(run, `"b", "passes": true`, `"b", "passes": false`, 1)},
		"other titles, a new item and another order": {base, run,
			`[{"title": "Third one", "passes": false}, {"id": "c", "passes": false}, {"id": "a", "name": "A", "passes": false}]`,
			`[{"title": "Third one", "passes": true}, {"id": "c", "passes": false}, {"id": "a", "name": "A", "passes": true}]`},
		"one without an id, reworded": {`[{"title": "One", "passes": false}, {"title": "Two", "passes": false}]`,
			`[{"title": "One", "passes": false}, {"title": "Two", "passes": true}]`,
			`[{"title": "One", "passes": false}, {"title": "The second", "passes": false}]`,
			`[{"title": "One", "passes": false}, {"title": "The second", "passes": true}]`},
		"one that is no work any more": {base, run, `[{"id": "a", "status": "cancelled"}, {"id": "c", "passes": false}]`,
			`[{"id": "a", "status": "cancelled"}, {"id": "c", "passes": false}]`},
		"Markdown": {"- [ ] a\n- [ ] b\n", "- [ ] a\n- [x] b\n", "# Mine\n\n- [ ] b\n- [ ] c\n",
			"# Mine\n\n- [x] b\n- [ ] c\n"},
		"half saved":              {base, run, base[:40], "error"},
		"the run's is half saved": {base, run[:40], base, "error"},
	} {
		got, err := Reading{}.MergeFlags([]byte(tc.base), []byte(tc.run), []byte(tc.data))
		if err != nil {
			got = []byte("error")
		}
		if string(got) != tc.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, tc.want)
		}
	}
}
