package features

import (
	"strings"
	"testing"
)

// samples are lists of each shape, as found in public repositories. Each has one text
// «CLAIMED|OPEN»: with CLAIMED an item passes, and with OPEN it does not.
var samples = []struct {
	name, text string
	items      string // the ids in list order; an x marks an item that passes, a ! a blocked one
	dropped    string // the ids of the dropped items
	order      string // the ids of the open items in the order of work
	claim      string // the key and the value with which the agent claims an item
	reopened   string // the id of the item with the marks
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
  "phases": ["one", "two"],
  "features": [
    {"id": 2, "description": "b", "steps": ["s"], "passes": false, "model": "opus", "priority": 2,
      "complexity": "high"},
    {"id": 1, "description": "a", "passes": «true|false», "priority": 1}
  ],
  "passes": true
}
`,
		items: "2 x1", order: "2", claim: "passes true", reopened: "1",
	},
	{
		name: "below prd",
		text: `{"prd": {"name": "Shop", "userStories": [
  {"id": "US-2", "title": "Remove a product", "acceptanceCriteria": ["It is gone"], "priority": 2, "passes": false},
  {"id": "US-1", "title": "Add a product", "priority": 1, "passes": «true|false»}
]}}
`,
		items: "US-2 xUS-1", order: "US-2", claim: "passes true", reopened: "US-1",
	},
	{
		name: "a tag that is called prd",
		text: `{"prd": {"tasks": [{"id": 1, "title": "a", "status": «"done"|"pending"»}, {"id": 2, "title": "b"}]}}
`,
		items: "x1 2", order: "2", claim: `status "done"`, reopened: "1",
	},
	{
		name: "phases",
		text: `{"project": "Shop", "phases": [
  {"name": "Setup", "tasks": [{"id": "s1", "title": "Create the repository", "status": «"completed"|"pending"»}]},
  {"name": "Later", "tasks": []},
  {"name": "Cart", "tasks": [
    {"id": "c2", "title": "Remove a product", "status": "pending", "dependsOn": ["c1"]},
    {"id": "c1", "title": "Add a product", "status": "pending"}
  ]}
]}
`,
		items: "xs1 c2 c1", order: "c1 c2", claim: `status "completed"`, reopened: "s1",
	},
	{
		name: "status only",
		text: `{
  "project": "p",
  "rules": {"valid_status": ["todo", "in_progress", "done", "blocked", "cancelled"], "one": true},
  "features": [
    {"id": "F1", "name": "a", "title": "A", "acceptance": ["x"], "status": «"done"|"pending"»,
      "verification": ["make test", "Manual: look"]},
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
    {"id": "F1", "title": "A", "status": «"completed"|"pending"»},
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
  {"id": "a", "description": "a", "priority": "low", "passes": false,
    "verification": [{"type": "source_contains", "file": "x", "pattern": "y"}]},
  {"id": "b", "description": "b", "priority": "high", "test_file": "b_test.go", "target_files": ["b.go"],
    "passes": «true|false»},
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
    {"id": "US-002", "title": "b", "acceptanceCriteria": ["x"], "priority": 2, "passes": false, "notes": "",
      "dependsOn": ["US-001"]},
    {"id": "US-001", "title": "a", "acceptanceCriteria": ["y"], "priority": 1, "passes": «true|false»,
      "notes": "done"},
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
		items: "xcreate-user-authentication add-login-page-oauth", order: "add-login-page-oauth",
		claim: "completed true", reopened: "create-user-authentication",
	},
	{
		name: "Task Master",
		text: `{
  "other": {"tasks": [{"id": 1, "title": "not in this tag", "status": "pending"}], "metadata": {}},
  "master": {
    "tasks": [
      {"id": 1, "title": "a", "status": «"done"|"pending"», "dependencies": [], "priority": "high",
        "details": "d", "testStrategy": "t", "subtasks": []},
      {"id": 2, "title": "b", "status": "in-progress", "dependencies": [1], "priority": "low", "subtasks": [
        {"id": 1, "title": "b1", "status": "pending", "dependencies": [2]},
        {"id": 2, "title": "b2", "status": "pending", "dependencies": ["1"]}
      ]},
      {"id": 3, "title": "c", "status": "pending", "dependencies": ["2.2"], "priority": "medium", "subtasks": []},
      {"id": 4, "title": "d", "status": "deferred", "dependencies": [], "subtasks": [
        {"id": 1, "title": "d1", "status": "pending"}
      ]},
      {"id": 5, "title": "e", "status": "blocked", "dependencies": [], "subtasks": [
        {"id": 1, "title": "e1", "status": "pending"}
      ]}
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
  {"id": "bd-e5f6", "title": "c", "status": "in_progress", "priority": 1, "dependencies": [
    {"issue_id": "bd-e5f6", "depends_on_id": "bd-gone", "type": "blocks"}
  ]}
]
`,
		items: "bd-a1b2 xbd-c3d4 bd-e5f6", order: "bd-e5f6 bd-a1b2", claim: `status "closed"`, reopened: "bd-c3d4",
	},
	{
		name: "issues.jsonl",
		text: `{"id":"bd-1","title":"a","status":"open","priority":1,"dependencies":[` +
			`{"issue_id":"bd-1","depends_on_id":"bd-2","type":"blocks"},` +
			`{"issue_id":"bd-1","depends_on_id":"bd-4","type":"parent-child"}]}
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
		items:   "xlog-in-with-a-password and-with-a-passkey log-out #6 kerberos",
		dropped: "dark-mode light-mode", order: "and-with-a-passkey log-out #6 kerberos",
		claim: " [x]", reopened: "log-in-with-a-password",
	},
}

// split returns a sample's text with the marked item claimed, and with it open.
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
			key, value := l.Claim(next, true)
			if tc.name == "Task Master" { // 2.1 and 2.2 wait for each other
				circle, blocked, stuck := l.Why(l.Items[1]), l.Why(l.Items[6]), l.Stuck()
				if circle != "needs itself: 2.1 → 2.2 → 2.1" || blocked != "is blocked, as the list says" ||
					!strings.Contains(stuck, "5.1 is part of a task that is blocked") {
					t.Errorf("%q, %q, %q", circle, blocked, stuck)
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
