package features

import (
	"strings"
	"testing"
)

// TestWords reads items that say in many ways how they stand. Each text has one item, or
// several and then the one with the id x.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		`[{"id":"x","status":"pass"}]`:                     "done",
		`[{"id":"x","status":"Passing"}]`:                  "done",
		`[{"id":"x","status":"✅ Done"}]`:                   "done",
		`[{"id":"x","status":true}]`:                       "done",
		`[{"id":"x","status":"not done"}]`:                 "open",
		`[{"id":"x","status":"whatever"}]`:                 "open",
		`[{"id":"x","state":"completed"}]`:                 "done",
		`[{"id":"x","state":"COMPLETED"}]`:                 "done",
		`[{"id":"x","state":"California"}]`:                "open",
		`[{"id":"x","state":"completed","status":"open"}]`: "open",
		`[{"id":"x","status":"open","state":"completed"}]`: "open",
		`[{"id":"x","complete":true}]`:                     "done",
		`[{"id":"x","complete":80}]`:                       "open",
		`[{"id":"x","done":true}]`:                         "done",
		`[{"id":"x","finished":true,"passes":false}]`:      "open",
		`[{"id":"x","passing":true}]`:                      "done",
		`[{"id":"x","passed":true}]`:                       "done",
		`[{"id":"x","deprecated":true,"passes":false}]`:    "dropped",
		`[{"id":"x","deprecated":false,"passes":false}]`:   "open",
		`[{"id":"x","archived":true,"status":"open"}]`:     "dropped",
		`[{"id":"x","status":"won't fix"}]`:                "dropped",
		`[{"id":"x","status":"✅"}]`:                        "done",
		// What a list says of its own words counts for nothing.
		`{"status_legend":{"wibble":"completed and verified"},"features":[{"id":"x","status":"wibble"}]}`: "open",
		`{"features":[{"id":"x","status":"dropt"}],"rules":{"valid_status":["open","dropt"]}}`:            "open",
		`{"tasks":[{"id":"x","status":"done","subtasks":[{"id":1,"status":"pending"}]}]}`:                 "done",
		`{"tasks":[{"id":1,"status":"done","subtasks":[{"id":"x","status":"pending"}]}]}`:                 "done",
		`{"tasks":[{"id":1,"status":"done","subtasks":[{"id":"x","status":"cancelled"}]}]}`:               "dropped",
		`{"tasks":[{"id":1,"status":"done","subtasks":[{"id":7,"subtasks":[{"id":"x"}]}]}]}`:              "done",
		`{"tasks":[{"id":1,"status":"pending","subtasks":[{"id":"x","status":"pending"}]}]}`:              "open",
		`{"tasks":[{"id":"x","status":"pending","subtasks":["write","test"]},{"id":2}]}`:                  "open",
		`{"tasks":[{"id":"x","status":"done","subtasks":["write",{"id":2}]},{"id":2}]}`:                   "done",
	} {
		l, problems := Reading{}.parse([]byte(text))
		got := ""
		for _, item := range l.all {
			if item.ID == "x" || strings.HasSuffix(item.ID, ".x") {
				switch {
				case item.dropped:
					got = "dropped"
				case item.Passes:
					got = "done"
				case item.Blocked:
					got = "blocked"
				default:
					got = "open"
				}
			}
		}
		if got != want || len(problems) > 0 {
			t.Errorf("%s: %s, want %s (%v)", text, got, want, problems)
		}
	}
}

// TestOwnWords checks that a claim, and its undoing, are written in the words of the file.
func TestOwnWords(t *testing.T) {
	for text, want := range map[string]struct{ claim, reopened string }{
		`[{"id":"a","state":"completed"},{"id":"b","state":"open"}]`: {`state "completed"`,
			`[{"id":"a","state":"open"},{"id":"b","state":"open"}]`},
		`[{"id":"a","complete":true},{"id":"b","complete":false}]`: {`complete true`,
			`[{"id":"a","complete":false},{"id":"b","complete":false}]`},
		`[{"id":"a","status":true},{"id":"b","status":false}]`: {`status true`,
			`[{"id":"a","status":false},{"id":"b","status":false}]`},
		`[{"id":"a","status":"pass"},{"id":"b","status":"fail"}]`: {`status "pass"`,
			`[{"id":"a","status":"pending"},{"id":"b","status":"fail"}]`},
		`{"stories":[{"id":"a","status":"shipped"},{"id":"b","status":"todo"}]}`: {
			`status "shipped"`, `{"stories":[{"id":"a","status":"todo"},{"id":"b","status":"todo"}]}`,
		},
		`{"tasks":[{"id":1,"status":"done","subtasks":[{"id":1,"status":"pending"}]}]}`: {`status "done"`,
			`{"tasks":[{"id":1,"status":"pending","subtasks":[{"id":1,"status":"pending"}]}]}`},
	} {
		l, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(text, err)
		}
		key, value := l.Claim(l.Items[len(l.Items)-1], true)
		out, err := l.Mark([]byte(text), l, []string{l.Items[0].ID}, false)
		if key+" "+value != want.claim || err != nil || string(out) != want.reopened {
			t.Errorf("%s\nis claimed by %s %s, want %s; opened again:\n%s, %v", text, key, value, want.claim, out, err)
		}
	}
}

// TestTitles checks that no item is shown without what it says.
func TestTitles(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":1,"title":"a","name":"b"}`:                                    "a",
		`{"id":1,"name":"b","title":""}`:                                     "b",
		`{"id":1,"behavior":"Logs in"}`:                                      "Logs in",
		`{"id":1,"requirement":"Logs in","status":"open"}`:                   "Logs in",
		`{"id":1,"requirement":{"text":"Logs in"}}`:                          "Logs in",
		`{"id":1,"feature":"Login","description":"Logs in"}`:                 "Login",
		`{"id":1,"category":"style","user_story":"As a user"}`:               "As a user",
		`{"id":1,"task":"Log in"}`:                                           "Log in",
		`{"id":"F1","category":"style","erwartung":"Es geht","passes":true}`: "Es geht",
		`{"id":1,"status":"open","phase":"one","notes":"later"}`:             "",
		`{"id":1,"description":"a","erwartung":"b"}`:                         "",
		`{"id":1,"steps":[{"text":"a"}],"erwartung":"b"}`:                    "",
	} {
		l, err := Parse([]byte("[" + text + "]"))
		if err != nil {
			t.Fatal(text, err)
		}
		if got := l.Items[0].Title(); got != want {
			t.Errorf("%s has the title %q, want %q", text, got, want)
		}
	}
	l, _ := Parse([]byte(`[{"id":1,"acceptance_criteria":[{"id":"AC1","text":"a"},"b"]}]`))
	if got := strings.Join(l.Items[0].Acceptance(), ","); got != "a,b" {
		t.Errorf("%s", got)
	}
}
