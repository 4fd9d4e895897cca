package features

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// samples are lists of every shape, as found in public repositories. What stands
// between « and | claims an item; what is between | and » opens it again.
var samples = []struct {
	name, text string
	items      string // ids of the work in list order; x before what passes, ! before what is blocked
	dropped    string
	order      string // in which they are handed out
	claim      string // what the agent sets
	reopened   string // the item between the marks
}{
	{
		name: "Anthropic harness",
		text: `[
  {
    "category": "functional",
    "description": "New chat button starts a conversation",
    "steps": ["Click", "Look"],
    "passes": «true|false»
  },
  {
    "category": "style",
    "description": "It is § blue",
    "steps": [],
    "passes": false
  }
]
`,
		items: "x#1 #2", order: "#2", claim: "passes true", reopened: "#1",
	},
	{
		name: "wrapped",
		text: `{
  "project": "p",
  "features": [
    {"id": 2, "description": "b", "steps": ["s"], "passes": false, "model": "opus", "priority": 2, "complexity": "high"},
    {"id": 1, "description": "a", "passes": «true|false», "priority": 1}
  ],
  "passes": true
}
`,
		items: "2 x1", order: "2", claim: "passes true", reopened: "1",
	},
	{
		name: "status only",
		text: `{
  "project": "p",
  "rules": {"valid_status": ["todo", "in_progress", "done", "blocked", "cancelled"], "one": true},
  "features": [
    {"id": "F1", "name": "a", "title": "A", "acceptance": ["x"], "status": «"done"|"todo"», "verification": ["make test", "Manual: look"]},
    {"id": "F2", "name": "b", "status": "spec_ready"},
    {"id": "F3", "name": "c", "status": "review"},
    {"id": "F4", "name": "d", "status": "blocked"},
    {"id": "F5", "name": "e", "status": "cancelled"}
  ]
}
`,
		items: "xF1 F2 F3 !F4", dropped: "F5", order: "F2 F3", claim: `status "done"`, reopened: "F1",
	},
	{
		name: "its rules behind it",
		text: `{"features": [
    {"id": "F1", "title": "A", "status": «"completed"|"planned"»},
    {"id": "F2", "title": "B", "status": "in_progress"}
  ],
  "rules": {"tasks": [{"id": "F3"}], "valid_status": ["planned", "in_progress", "completed"]}
}
`,
		items: "xF1 F2", order: "F2", claim: `status "completed"`, reopened: "F1",
	},
	{
		name: "typed verification",
		text: `[
  {"id": "a", "description": "a", "priority": "low", "passes": false, "verification": [{"type": "source_contains", "file": "x", "pattern": "y"}]},
  {"id": "b", "description": "b", "priority": "high", "test_file": "b_test.go", "target_files": ["b.go"], "passes": «true|false»},
  {"id": "c", "description": "c", "priority": "medium", "passes": false}
]
`,
		items: "a xb c", order: "c a", claim: "passes true", reopened: "b",
	},
	{
		name: "dependencies",
		text: `{"features": [
	{"id": "a", "name": "A", "status": "pending", "blocked_by": "b", "priority": "P0", "acceptance_criteria": ["x"]},
	{"id": "b", "name": "B", "status": "in_progress", "blocked_by": ["c", "d"], "priority": "P3"},
	{"id": "c", "name": "C", "status": «"completed"|"pending"», "completed_at": "2026-01-01"},
	{"id": "d", "name": "D", "status": "pending", "priority": "P1"},
	{"id": "e", "name": "E", "status": "pending", "priority": "CANCELLED"},
	{"id": "f", "name": "F", "status": "pending", "priority": "P2", "blocked_by": ["e"]}
]}`,
		items: "a b xc d f", dropped: "e", order: "d b a", claim: `status "completed"`, reopened: "c",
	},
	{
		name: "prd.json",
		text: `{
  "project": "p", "branchName": "ralph/p", "description": "d",
  "userStories": [
    {"id": "US-002", "title": "b", "acceptanceCriteria": ["x"], "priority": 2, "passes": false, "notes": "", "dependsOn": ["US-001"]},
    {"id": "US-001", "title": "a", "acceptanceCriteria": ["y"], "priority": 1, "passes": «true|false», "notes": "done"},
    {"id": "US-003", "title": "c", "priority": 3}
  ]
}
`,
		items: "US-002 xUS-001 US-003", order: "US-002 US-003", claim: "passes true", reopened: "US-001",
	},
	{
		name: "stories",
		text: `{"version": 1, "project": "p", "qualityGates": ["make test"], "stories": [
  {"id": "S1", "title": "a", "status": «"done"|"open"», "startedAt": "", "completedAt": "2026"},
  {"id": "S2", "title": "b", "status": "in_progress", "completed": null, "dependsOn": ["S1"]},
  {"id": "S3", "title": "c", "status": "open", "dependsOn": ["S2"]}
]}
`,
		items: "xS1 S2 S3", order: "S2 S3", claim: `status "done"`, reopened: "S1",
	},
	{
		name: "ralphy",
		text: `{"tasks": [
  {"title": "Create user authentication", "completed": «true|false», "parallel_group": 1},
  {"title": "Add login page (OAuth)", "completed": false, "parallel_group": 1, "description": "d"}
]}
`,
		items: "xcreate-user-authentication add-login-page-oauth", order: "add-login-page-oauth", claim: "completed true", reopened: "create-user-authentication",
	},
	{
		name: "Task Master",
		text: `{
  "other": {"tasks": [{"id": 1, "title": "not in this tag", "status": "pending"}], "metadata": {}},
  "master": {
    "tasks": [
      {"id": 1, "title": "a", "status": «"done"|"pending"», "dependencies": [], "priority": "high", "details": "d", "testStrategy": "t", "subtasks": []},
      {"id": 2, "title": "b", "status": "in-progress", "dependencies": [1], "priority": "low", "subtasks": [
        {"id": 1, "title": "b1", "status": "pending", "dependencies": [2]},
        {"id": 2, "title": "b2", "status": "pending", "dependencies": ["1"]}
      ]},
      {"id": 3, "title": "c", "status": "pending", "dependencies": ["2.2"], "priority": "medium", "subtasks": []},
      {"id": 4, "title": "d", "status": "deferred", "dependencies": [], "subtasks": [{"id": 1, "title": "d1", "status": "pending"}]},
      {"id": 5, "title": "e", "status": "blocked", "dependencies": [], "subtasks": [{"id": 1, "title": "e1", "status": "pending"}]}
    ],
    "metadata": {"created": "2026"}
  }
}
`,
		items: "x1 2.1 2.2 2 3 !5.1 !5", dropped: "4.1 4", order: "", claim: `status "done"`, reopened: "1",
	},
	{
		name: "older Task Master",
		text: `{"tasks": [
  {"id": 1, "title": "a", "status": «"done"|"pending"», "dependencies": []},
  {"id": 2, "title": "b", "status": "pending", "dependencies": [1, 3]},
  {"id": 3, "title": "c", "status": "review", "dependencies": [1]}
], "metadata": {}}`,
		items: "x1 2 3", order: "3 2", claim: `status "done"`, reopened: "1",
	},
	{
		name: "bd ready --json",
		text: `[
  {"id": "bd-a1b2", "title": "a", "description": "d", "acceptance_criteria": "x", "status": "open", "priority": 2},
  {"id": "bd-c3d4", "title": "b", "status": «"closed"|"open"», "priority": 0},
  {"id": "bd-e5f6", "title": "c", "status": "in_progress", "priority": 1, "dependencies": [{"issue_id": "bd-e5f6", "depends_on_id": "bd-gone", "type": "blocks"}]}
]
`,
		items: "bd-a1b2 xbd-c3d4 bd-e5f6", order: "bd-e5f6 bd-a1b2", claim: `status "closed"`, reopened: "bd-c3d4",
	},
	{
		name: "issues.jsonl",
		text: `{"id":"bd-1","title":"a","status":"open","priority":1,"dependencies":[{"issue_id":"bd-1","depends_on_id":"bd-2","type":"blocks"},{"issue_id":"bd-1","depends_on_id":"bd-4","type":"parent-child"}]}
{"id":"bd-2","title":"b","status":"open","priority":4}
{"id":"bd-3","title":"c","status":«"closed"|"open"»,"priority":0}
{"id":"bd-4","title":"d","status":"deferred","priority":0}
`,
		items: "bd-1 bd-2 xbd-3", dropped: "bd-4", order: "bd-2 bd-1", claim: `status "closed"`, reopened: "bd-3",
	},
	{
		name: "checkboxes",
		text: `# Fix plan [2026-01-29]

- [«x|  »] Log in with a password
  POST /login answers 204
    - [ ] and with a passkey
- [2026-01-29] is no checkbox
1. [ ] Log out

` + "```\n- [ ] not this\n```" + `

## Nice to have

- [ ] Dark mode
### Sub
* [ ] Light mode

## Also

+ [ ] Log out
+ [-] Kerberos
`,
		items: "xlog-in-with-a-password and-with-a-passkey log-out #6", dropped: "dark-mode light-mode kerberos", order: "and-with-a-passkey log-out #6", claim: " [x]", reopened: "log-in-with-a-password",
	},
}

// split returns a sample's text as it is claimed, and as it is open.
func split(t *testing.T, text string) (claimed, reopened string) {
	before, rest, ok := strings.Cut(text, "«")
	claim, rest, ok2 := strings.Cut(rest, "|")
	open, after, ok3 := strings.Cut(rest, "»")
	if !ok || !ok2 || !ok3 {
		t.Fatal("a sample without marks")
	}
	if claim == "x" {
		open = " "
	}
	return before + claim + after, before + open + after
}

func TestShapes(t *testing.T) {
	for _, tc := range samples {
		t.Run(tc.name, func(t *testing.T) {
			text, _ := split(t, tc.text)
			l, err := Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			var items, dropped, order []string
			for _, item := range l.Items {
				mark := ""
				if item.Passes {
					mark = "x"
				} else if item.Blocked {
					mark = "!"
				}
				items = append(items, mark+item.ID)
			}
			for _, item := range l.Dropped {
				dropped = append(dropped, item.ID)
			}
			for _, item := range l.Order() {
				order = append(order, item.ID)
			}
			next, _ := l.Next()
			key, value := l.Claim(next)
			if tc.name == "Task Master" { // 2.1 and 2.2 wait for each other
				if circle := l.Why(l.Items[1]); circle != "needs itself: 2.1 → 2.2 → 2.1" || !strings.Contains(l.Stuck(), "5.1 is part of a task that is blocked") || l.Why(l.Items[6]) != "is blocked, as the list says" {
					t.Errorf("%q, %q", circle, l.Stuck())
				}
			}
			for _, check := range [][2]string{
				{strings.Join(items, " "), tc.items}, {strings.Join(dropped, " "), tc.dropped},
				{strings.Join(order, " "), tc.order}, {key + " " + value, tc.claim},
			} {
				if check[0] != check[1] {
					t.Errorf("got  %s\nwant %s", check[0], check[1])
				}
			}
		})
	}
}

// quirks are what real files have that a write must leave as it is.
var quirks = map[string]func(string) string{
	"as it is":         func(s string) string { return s },
	"CRLF":             func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"byte order mark":  func(s string) string { return "\xef\xbb\xbf" + s },
	"no final newline": func(s string) string { return strings.TrimSpace(s) },
	"tabs":             func(s string) string { return strings.ReplaceAll(s, "  ", "\t") },
	"four spaces":      func(s string) string { return strings.ReplaceAll(s, "\n  ", "\n    ") },
	"escapes, numbers, a key that is there twice": func(s string) string {
		return strings.ReplaceAll(s, `"title":`, `"\u00a7": "\u00a7 \/ é \"passes\": true", "n": 1.50E+02, "n": -0.0, "title":`)
	},
}

// TestRoundTrip takes a claim back and sets it again, in every shape with every
// quirk: no other byte changes.
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
			// The control: a byte that is lost is seen.
			if bad := strings.Replace(string(got), "\n", "", 1); strings.Contains(reopened, "\n") && bad == reopened {
				t.Error("the comparison sees nothing")
			}
		}
	}
}

// TestMoved takes a claim back in a list that was edited meanwhile: it is known by
// what it asks for, or it is given up.
func TestMoved(t *testing.T) {
	const was = "- [x] a\n- [x] b\n- [x] b\n"
	before, err := Parse([]byte(was))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ id, now, want string }{
		{"a", "- [ ] new\n- [x] b\n- [x] a\n- [x] b\n", "- [ ] new\n- [x] b\n- [ ] a\n- [x] b\n"},
		{"#3", "- [x] b\n- [x] a\n", ""}, // both were b: which of them is left?
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

// FuzzSet writes one value: every other byte stays, and the value is what was asked
// for.
func FuzzSet(f *testing.F) {
	for _, tc := range samples {
		text := strings.NewReplacer("«", "", `|false»`, "", `|"pending"»`, "", `|"todo"»`, "", `|"open"»`, "", "|  »", "").Replace(tc.text)
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

// TestOrder works random lists to their end: what is handed out is open, waits for
// nothing, is the most important of those, and comes in the order that was said.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 1 + r.IntN(12)
		needs := make([][]int, n)
		priority := make([]int, n)
		state := make([]string, n)
		for i := range n {
			priority[i] = r.IntN(4)
			state[i] = []string{"pending", "pending", "pending", "in_progress", "done", "blocked", "cancelled"}[r.IntN(7)]
			for range r.IntN(3) {
				needs[i] = append(needs[i], r.IntN(n+1)) // n is not there; i itself may be
			}
		}
		text := func() string {
			var items []string
			for i := range n {
				items = append(items, fmt.Sprintf(`{"id":%d,"title":"t","status":%q,"priority":%d,"dependencies":%s}`, i, state[i], priority[i], strings.ReplaceAll(fmt.Sprint(append([]int{}, needs[i]...)), " ", ",")))
			}
			return `{"tasks":[` + strings.Join(items, ",") + "]}"
		}
		ready := func(i int) bool {
			return state[i] != "done" && state[i] != "blocked" && state[i] != "cancelled" &&
				!slices.ContainsFunc(needs[i], func(d int) bool { return d == n || state[d] != "done" })
		}
		var said, got []string
		for step := 0; ; step++ {
			l, err := Parse([]byte(text()))
			if err != nil {
				break // all cancelled
			}
			if step == 0 {
				for _, item := range l.Order() {
					said = append(said, item.ID)
				}
			}
			best := -1
			for i := range n {
				if ready(i) && (best < 0 || priority[i] < priority[best]) {
					best = i
				}
				if item, has := l.Find(fmt.Sprint(i)); has && !item.Passes && (l.Why(item) == "") != ready(i) {
					t.Fatalf("%d: %q in %s", i, l.Why(item), text())
				}
			}
			next, open := l.Next()
			if open != (best >= 0) || open && next.ID != fmt.Sprint(best) {
				t.Fatalf("next %q, want %d of %s", next.ID, best, text())
			}
			if !open {
				if (l.Stuck() == "") != (l.Passed() == len(l.Items)) {
					t.Fatalf("stuck %q in %s", l.Stuck(), text())
				}
				break
			}
			got = append(got, next.ID)
			state[best] = "done"
		}
		if !slices.Equal(said, got) {
			t.Fatalf("said %v, was %v", said, got)
		}
	}
}

// FuzzConvert writes what was read in our own shapes: what the items are called,
// whether they pass and in which order they come survives. Check holds for whatever
// Parse takes, and finds something wrong with what it does not.
func FuzzConvert(f *testing.F) {
	for _, tc := range samples {
		f.Add([]byte(strings.NewReplacer("«", "", "|", "", "»", "").Replace(tc.text)))
		f.Add([]byte(strings.NewReplacer("«", "", `|false»`, "", `|"pending"»`, "", `|"todo"»`, "", `|"open"»`, "", "|  »", "").Replace(tc.text)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, problems := Check(data, "")
		l, err := Parse(data)
		if err != nil {
			if len(problems) == 0 {
				t.Fatalf("%v, and nothing is wrong", err)
			}
			return
		}
		if !utf8.Valid(data) {
			return // JSON is written in UTF-8
		}
		l.Stuck()
		for _, to := range []string{ToFeatures, ToPRD} {
			text, err := l.Convert(to)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			show := func(l List) (s string) {
				for _, items := range [][]Item{l.Items, l.Dropped, l.Order()} {
					for _, item := range items {
						s += fmt.Sprintf("%q %v %v %d,", item.ID, item.Passes, item.Blocked, item.Priority)
					}
					s += "\n"
				}
				return s
			}
			if show(again) != show(l) {
				t.Fatalf("%s\nas %s is\n%s\nwas\n%s", data, text, show(again), show(l))
			}
		}
		l.Convert(ToMarkdown)
	})
}

// TestSubtasksWait holds a subtask to what its task waits for.
func TestSubtasksWait(t *testing.T) {
	l, err := Parse([]byte(`{"tasks":[
		{"id":1,"title":"api","status":"pending","dependencies":[2],"subtasks":[
			{"id":1,"title":"routes","status":"pending","dependencies":[2]},{"id":2,"title":"auth","status":"pending"}]},
		{"id":2,"title":"db","status":"pending"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, item := range l.Order() {
		order = append(order, item.ID)
	}
	if want := []string{"2", "1.2", "1.1", "1"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
	if item, _ := l.Find("1.2"); l.Why(item) != "needs 2" {
		t.Errorf("%q", l.Why(item))
	}
}
