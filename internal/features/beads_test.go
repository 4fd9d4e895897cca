package features

import (
	"strings"
	"testing"
	"time"
)

func dep(on, kind string) string {
	return `"dependencies":[{"depends_on_id":"` + on + `","type":"` + kind + `"}]`
}

// beads are issues, in the order in which they are handed out, with why others wait, and
// those that are no work.
var beads = map[string]struct{ text, order, waits, dropped string }{
	"memories": {
		`{"_type":"memory","key":"k","value":"v"}
{"_type":"issue","id":"a","title":"A","status":"open"}
{"_type":"memory","key":"l","value":"w"}`, "a", "", "",
	},
	"children of a blocked epic": {
		`{"id":"b","title":"B","status":"open","priority":3}
{"id":"c","title":"C","status":"open",` + dep("e", "parent-child") + `}
{"id":"e","title":"E","status":"open","issue_type":"epic",` + dep("b", "blocks") + `}
{"id":"g","title":"G","status":"open",` + dep("c", "parent-child") + `}`,
		"b c e g", "c needs b, e needs b, g needs b", "",
	},
	"children of an epic that is on hold": {
		`{"id":"c","title":"C","status":"open",` + dep("e", "parent-child") + `}
{"id":"e","title":"E","status":"blocked"}`,
		"", "c is part of e, which nobody can work on, e is blocked, as the list says", "",
	},
	"an epic that waits for its child": {
		`{"id":"c","title":"C","status":"open",` + dep("e", "parent-child") + `}
{"id":"e","title":"E","status":"open",` + dep("c", "blocks") + `}`,
		"c e", "e needs c", "",
	},
	"parents in a circle": {
		`{"id":"c","title":"C","status":"open",` + dep("e", "parent-child") + `}
{"id":"e","title":"E","status":"open",` + dep("c", "parent-child") + `}`,
		"c e", "", "",
	},
	"the kinds that block": {
		`{"id":"a","title":"A","status":"open","priority":4}
{"id":"b","title":"B","status":"open",` + dep("a", "conditional-blocks") + `}
{"id":"c","title":"C","status":"open",` + dep("a", "waits-for") + `}
{"id":"d","title":"D","status":"open","priority":9,` + dep("a", "related") + `}
{"id":"e","title":"E","status":"open","priority":9,` + dep("a", "discovered-from") + `}`,
		"a d e b c", "b needs a, c needs a", "",
	},
	"what is no work": {
		`{"id":"a","title":"A","status":"open"}
{"id":"b","title":"B","status":"open","pinned":true}
{"id":"c","title":"C","status":"open","ephemeral":true}
{"id":"d","title":"D","status":"open","is_template":true}
{"id":"e","title":"E","status":"open","issue_type":"gate"}
{"id":"f","title":"F","status":"open","issue_type":"molecule"}
{"id":"g","title":"G","status":"open","issue_type":"message"}
{"id":"h","title":"H","status":"open","issue_type":"agent"}
{"id":"i","title":"I","status":"open","issue_type":"role"}
{"id":"j","title":"J","status":"pinned"}
{"id":"k","title":"K","status":"open","issue_type":"bug","pinned":false}`, "a k", "", "b c d e f g h i j",
	},
	"a gate blocks until it is closed": {
		`{"id":"a","title":"A","status":"open",` + dep("g", "blocks") + `}
{"id":"b","title":"B","status":"open",` + dep("h", "blocks") + `}
{"id":"g","title":"G","status":"open","issue_type":"gate"}
{"id":"h","title":"H","status":"closed","issue_type":"gate"}`, "b", "a needs g, which will not be done", "g h",
	},
	"put off": {
		`{"id":"a","title":"A","status":"open","defer_until":"2026-11-23T00:00:00Z"}
{"id":"b","title":"B","status":"open","defer_until":"2026-11-22T09:00:00Z"}
{"id":"c","title":"C","status":"open",` + dep("a", "parent-child") + `}
{"id":"d","title":"D","status":"open","defer_until":"2027-01-01"}
{"id":"e","title":"E","status":"open",` + dep("a", "blocks") + `}
{"id":"f","title":"F","status":"open","defer_until":"soon"}
{"id":"g","title":"G","status":"open","defer_until":null}`,
		"b f g", "a is put off until 2026-11-23T00:00:00Z, c is part of a, which nobody can work on, " +
			"d is put off until 2027-01-01, e needs a", "",
	},
	"ids that are numbers": {
		`[{"id":1.1,"title":"A","passes":true},{"id":1.10,"title":"B"},{"id":2,"title":"C","dependencies":[1.10,true,""]}]`,
		"1.10 2", "2 needs 1.10", "",
	},
	"a circle that ends at an item which passes": {
		`[{"id":"a","title":"A","dependsOn":["b"]},{"id":"b","title":"B","dependsOn":["c"]},
{"id":"c","title":"C","dependsOn":["a"],"passes":true}]`, "b a", "a needs b", "",
	},
	"a fraction": {
		`[{"id":"a","title":"A","status":"open","priority":1.75},{"id":"b","title":"B","status":"open","priority":1.5},
{"id":"c","title":"C","status":"open","priority":2},{"id":"d","title":"D","status":"open","priority":"P0.5"}]`,
		"d b a c", "", "",
	},
}

// TestBeads reads issues as beads does: which are work, in which order, and why others wait.
func TestBeads(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for name, tc := range beads {
		l, err := Reading{Now: now}.Parse([]byte(tc.text))
		if err != nil {
			t.Fatal(name, err)
		}
		ids := func(items []Item) string {
			var ids []string
			for _, item := range items {
				ids = append(ids, item.ID)
			}
			return strings.Join(ids, " ")
		}
		var waits []string
		for _, item := range l.Items {
			if why := l.Why(item); why != "" {
				waits = append(waits, item.ID+" "+why)
			}
		}
		if next, open := l.Next(); open != (tc.order != "") || open && !strings.HasPrefix(tc.order, next.ID) {
			t.Errorf("%s: %q is next", name, next.ID)
		}
		for _, check := range [][2]string{
			{ids(l.Order()), tc.order}, {strings.Join(waits, ", "), tc.waits}, {ids(l.Dropped), tc.dropped},
		} {
			if check[0] != check[1] {
				t.Errorf("%s: %q, want %q", name, check[0], check[1])
			}
		}
	}
}
