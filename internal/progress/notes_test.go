package progress

import "testing"

func TestAdded(t *testing.T) {
	const given = "Status: IN_PROGRESS\nIteration: 3\n\n## a\n```\nx\n```\n"
	for name, tc := range map[string]struct{ given, now, want string }{
		"nothing":          {given, given, ""},
		"at the end":       {given, given + "- b\n", "- b\n"},
		"no line end":      {given, given + "- b", "- b\n"},
		"below the header": {given, "Status: IN_PROGRESS\nIteration: 3\n- b\n\n## a\n```\nx\n```\n", "- b\n"},
		"two places":       {given, "Status: IN_PROGRESS\nIteration: 3\n- b\n\n## a\n```\nx\n```\n- c\n", "- b\n- c\n"},
		"a fence":          {given, given + "\n## b\n```\ny\n```\n", "\n## b\n```\ny\n```\n"},
		"only blank":       {given, given + "\n\n", ""},
		"header":           {given, "Status: COMPLETE\nIteration: 9\n\n## a\n```\nx\n```\n", ""},
		"header and note":  {given, "**Status**: COMPLETE\nIteration: 3\n\n## a\n```\nx\n```\nb\n", "b\n"},
		"deleted":          {given, "", ""},
		"no file before":   {"", "b\n", "b\n"},
		"plus signs":       {"a\n", "a\n+++ b\n", "+++ b\n"},
	} {
		notes := NewNotes([]byte(tc.given), []byte(tc.now))
		if string(notes) != tc.want {
			t.Errorf("%s: %q, want %q", name, notes, tc.want)
		}
		const others = "Status: IN_PROGRESS\n- others"
		once := Append([]byte(others), notes)
		if want := others + "\n" + tc.want; tc.want != "" && string(once) != want {
			t.Errorf("%s: %q, want %q", name, once, want)
		}
		if twice := Append(once, notes); string(twice) != string(once) {
			t.Errorf("%s: added twice: %q", name, twice)
		}
	}
}
