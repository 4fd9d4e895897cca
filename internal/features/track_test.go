package features

import (
	"strings"
	"testing"
)

func TestTrack(t *testing.T) {
	show := func(id string) []byte {
		return []byte(map[string]string{
			"b": "{\n  \"id\": \"b\",\n  \"status\": \"closed\"\n}\n",
			"c": `[{"id":"c","status":"open"}]`,
			"d": `{"error":"no such issue"}`,
			"e": `{"id":"a","status":"closed"}`,
			"f": "gone",
		}[id])
	}
	for _, tc := range []struct{ name, known, printed, want string }{
		{"first", "", `[{"id":"a","status":"open"}]`, "a open"},
		{"one object a line", "", "{\"id\":\"a\",\"status\":\"open\"}\n{\"id\":2,\"status\":\"closed\"}\n",
			"a open 2 done"},
		{"a single line", "", "{\"id\":\"a\",\"title\":\"t\",\"status\":\"open\"}\n", "a open"},
		{"nothing", "", "\n", "it printed no items"},
		{"an empty array", "", "[]", "it printed no items"},
		{"an error", "", `{"error": "locked"}`, "is not a list"},
		{"cut off", "", `[{"id":"a"},{"i`, "is not a list"},
		{"text", "", "no issues found", "is not a list"},
		{"checkboxes", "", "- [x] a", "item 1 has no id"},
		{"an item without an id", "", `[{"id":"a"},{"title":"t"}]`, "item 2 has no id"},
		{"an id twice", "", `[{"id":"a"},{"id":"a"}]`, "is not a list"},
		{"shown: closed", `[{"id":"b","status":"open"}]`, "[]", "b done"},
		{"shown: open", `[{"id":"c","status":"closed"}]`, "", "c open"},
		{
			"not shown",
			`[{"id":"d","passes":true},{"id":"e","completed":true,"status":"closed"},{"id":"f","title":"é"}]`,
			`[{"id":"a"}]`, "a open d gone e gone f gone",
		},
		{"there again", `[{"id":"d","status":"gone"}]`, `[{"id":"d","status":"open"}]`, "d open"},
		{"still gone", `[{"id":"d","title":"t","status":"gone"}]`, `[]`, "d gone"},
		{
			"with its subtasks", `[{"id":"d","status":"open","subtasks":[{"id":1,"status":"open"}]}]`, `[{"id":"a"}]`,
			"a open d.1 gone d gone",
		},
	} {
		text, err := Track([]byte(tc.known), []byte(tc.printed), show)
		var got []string
		if err != nil {
			got = []string{err.Error()}
		} else {
			l, err := Parse(text)
			if err != nil {
				t.Fatalf("%s: %s: %v", tc.name, text, err)
			}
			for _, item := range l.Items {
				state := map[bool]string{true: "done", false: "open"}[item.Passes]
				if item.Blocked {
					state = "gone"
				}
				got = append(got, item.ID+" "+state)
			}
		}
		if s := strings.Join(got, " "); s != tc.want && (err == nil || !strings.Contains(s, tc.want)) {
			t.Errorf("%s: %q, want %q", tc.name, s, tc.want)
		}
	}
	// What a tracker says beside the keys that are read may change.
	first, err := Track(nil,
		[]byte(`[{"id":"a","title":"t","comments":1,"dependents":[],"subtasks":[{"id":1,"x":1}]}]`), show)
	again, err2 := Track(first, []byte(`[{"id":"a","title":"t","subtasks":[{"id":1,"x":2}],"labels":[]}]`), show)
	if err != nil || err2 != nil || string(first) != string(again) {
		t.Errorf("%s, %v, then %s, %v", first, err, again, err2)
	}
	// An item that is gone keeps the text of the trusted list.
	before, _ := Parse([]byte(`[{"id":"f","title":"é","steps":[1],"passes":true}]`))
	text, err := Track([]byte(`[{"id":"f","title":"é","steps":[1],"passes":true}]`), []byte("[]"), show)
	after, err2 := Parse(text)
	if err != nil || err2 != nil || asks(after.Items[0]) != asks(before.Items[0]) {
		t.Errorf("%s, %v, %v", text, err, err2)
	}
}
