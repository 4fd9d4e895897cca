package features

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contracts are lists of each shape as a person trusted them, and what their files say later: pairs of what is replaced,
// and by what. "*" stands for the whole text. Wanted are the items (x: done, !: blocked, +: added), the id of the next
// one, and what does not count.
var contracts = []struct {
	name, text string
	rows       [][2]string
}{
	{
		name: "Anthropic harness", // it has no ids
		text: `[
  {"category": "functional", "description": "A chat begins", "steps": ["Click", "Look"], "passes": false},
  {"category": "functional", "description": "A chat ends", "steps": ["Close it"], "passes": false},
  {"category": "style", "description": "It is blue", "steps": [], "passes": true}
]`,
		rows: [][2]string{
			{``, `#1 #2 x#3 | #1 | `},
			{`false→true`, `x#1 #2 x#3 | #2 | `},
			{`false→true¦false→true`, `x#1 x#2 x#3 |  | `},
			{`true→false`, `#1 #2 #3 | #1 | `},
			{`"passes": false}→"passes": true, "iteration_count": 1}`, `x#1 #2 x#3 | #2 | `},
			{`"passes": true→"passes": true, "notes": "done in 3f2a", "verified_at": "2026-01-01"`, `#1 #2 x#3 | #1 | `},
			{`{"category": "style"→{"id": 7, "category": "style"`, `#1 #2 x#3 | #1 | `},
			{`"functional"→"chat"`, `#1 #2 x#3 | #1 | `},
			{`"A chat begins"→"A chat \u0062egins"`, `#1 #2 x#3 | #1 | `},
			{`["Click", "Look"]→["Click"]`, `#1 #2 x#3 | #1 | #1 was reworded`},
			{`["Close it"], "passes": false→[], "passes": true`, `#1 x#2 x#3 | #1 | #2 was reworded`},
			{`It is blue→It is grey`, `#1 #2 x#3 | #1 | #3 was reworded`},
			{`A chat begins→Nothing¦A chat ends→Nothing at all`, `#1 #2 x#3 | #1 | #1 was reworded, #2 was reworded`},
			{`  {"category": "functional", "description": "A chat begins", "steps": ["Click", "Look"], "passes": false},→`,
				`#1 #2 x#3 | #1 | #1 was deleted`},
			{`  {"category": "functional", "description": "A chat ends", "steps": ["Close it"], "passes": false},→`,
				`#1 #2 x#3 | #1 | #2 was deleted`},
			{`,
  {"category": "style", "description": "It is blue", "steps": [], "passes": true}→`, `#1 #2 #3 | #1 | #3 was deleted`},
			{`[
→[{"description": "New", "passes": true},`, `#1 #2 x#3 +x#4 | #1 | `},
			{`"passes": true}→"passes": true}, {"description": "New", "passes": false}`, `#1 #2 x#3 +#4 | #1 | `},
			{`false→true¦false→true¦[
→[{"description": "New", "passes": false},`, `x#1 x#2 x#3 +#4 | #4 | `},
			{`*→[{"description": "It is blue", "passes": true}, {"description": "A chat ends", "steps": ["Close it"]},
				{"description": "A chat begins", "steps": ["Click", "Look"], "passes": true}]`,
				`x#1 #2 x#3 | #2 | `},
			{`*→[{"category": "style", "description": "It is blue", "steps": [], "passes": true}]`,
				`#1 #2 x#3 | #1 | #1 was deleted, #2 was deleted`},
			{`*→[{"description": "Easy", "passes": true}]`,
				`#1 #2 #3 +x#4 | #1 | #1 was deleted, #2 was deleted, #3 was deleted`},
			{`*→[]`, `#1 #2 #3 | #1 | #1 was deleted, #2 was deleted, #3 was deleted`},
			{`*→{"features": []}`, `#1 #2 #3 | #1 | #1 was deleted, #2 was deleted, #3 was deleted`},
			{`"passes": false→"passes": false, "status": "blocked"`, `!#1 #2 x#3 | #2 | `},
		},
	},
	{
		name: "features with ids",
		text: `{"project": "p", "rules": ["Test all"], "total": 3, "features": [
  {"id": 1, "name": "Create an order", "status": "todo", "iteration_count": 0, "evidence": "", "priority": 1},
  {"id": 2, "name": "Cancel an order", "status": "todo", "iteration_count": 0, "verify": "make cancel", "priority": 2},
  {"id": 3, "name": "Ship an order", "status": "todo", "dependencies": [1, 2], "priority": 3}
]}`,
		rows: [][2]string{
			{``, `1 2 3 | 1 | `},
			{`"todo"→"done"`, `x1 2 3 | 2 | `},
			{`"todo"→"done"¦"todo"→"done"`, `x1 x2 3 | 3 | `},
			{`"todo", "iteration_count": 0→"done", "iteration_count": 1`, `x1 2 3 | 2 | `},
			{`"evidence": ""→"evidence": "POST /orders answers 201"`, `1 2 3 | 1 | `},
			{`"total": 3→"total": 3, "done": 1¦"Test all"→"Test nothing"`, `1 2 3 | 1 | `},
			{`"project": "p", →`, `1 2 3 | 1 | `},
			{`"todo"→"in_progress"`, `1 2 3 | 1 | `},
			{`"todo"→"blocked"`, `!1 2 3 | 2 | `},
			{`"todo"→"cancelled"`, `1 2 3 | 1 | 1 was cancelled`},
			{`"Cancel an order", "status": "todo"→"Cancel an order", "status": "deferred"`, `1 2 3 | 1 | 2 was cancelled`},
			{`Create an order→Create a draft`, `1 2 3 | 1 | 1 was reworded`},
			{`Create an order", "status": "todo→Create a draft", "status": "done`, `x1 2 3 | 2 | 1 was reworded`},
			{`"make cancel"→"true"`, `1 2 3 | 1 | 2 was reworded`},
			{`"verify": "make cancel", →`, `1 2 3 | 1 | 2 was reworded`},
			{`"verify": "make cancel"→"verify": "make cancel", "check": "true"`, `1 2 3 | 1 | 2 was reworded`},
			{`"dependencies": [1, 2], →`, `1 2 3 | 1 | 3 was reordered`},
			{`"dependencies": [1, 2]→"dependencies": [ 1,2 ]`, `1 2 3 | 1 | `},
			{`"priority": 3→"priority": 0`, `1 2 3 | 1 | 3 was reordered`},
			{`"id": 2→"id": "two"`, `1 2 3 +two | 1 | 2 was deleted`},
			{`"status": "todo", "dependencies"→"status": "done", "dependencies"`, `1 2 x3 | 1 | `},
			{`"features": [→"features": [{"id": 0, "name": "Easy", "status": "done", "priority": -1},`, `1 2 3 +x0 | 1 | `},
			{`"features": [→"features": [{"id": 0, "name": "Easy", "status": "todo", "priority": -1},`, `1 2 3 +0 | 1 | `},
			{`*→{"features": [{"id": 3, "name": "Ship an order", "dependencies": [1, 2], "priority": 3, "status": "done"}]}`,
				`1 2 x3 | 1 | 1 was deleted, 2 was deleted`},
			{`*→[{"id": 1, "name": "Create an order", "priority": 1, "passes": true}]`,
				`x1 2 3 | 2 | 2 was deleted, 3 was deleted`},
		},
	},
	{
		name: "prd.json",
		text: `{"project": "p", "branchName": "ralph/p", "userStories": [
  {"id": "US-001", "title": "Add a field", "acceptanceCriteria": ["It is there"], "priority": 1, "passes": false, "notes": ""},
  {"id": "US-002", "title": "Show the field", "acceptanceCriteria": ["It is shown", "It is blue"], "priority": 2,
    "passes": false, "notes": ""},
  {"id": "US-003", "title": "Filter by it", "priority": 3, "passes": false, "notes": "", "dependsOn": ["US-002"]}
]}`,
		rows: [][2]string{
			{``, `US-001 US-002 US-003 | US-001 | `},
			{`false→true`, `xUS-001 US-002 US-003 | US-002 | `},
			{`false→true¦false→true¦false→true`, `xUS-001 xUS-002 xUS-003 |  | `},
			{`"notes": ""→"notes": "The migration is 0042."`, `US-001 US-002 US-003 | US-001 | `},
			{`"passes": false, "notes": ""→"passes": true, "notes": "n", "completedAt": "2026"`, `xUS-001 US-002 US-003 | US-002 | `},
			{`"branchName": "ralph/p", →"lastIteration": 4, `, `US-001 US-002 US-003 | US-001 | `},
			{`"priority": 1, "passes": false→"passes": true, "priority": 1`, `xUS-001 US-002 US-003 | US-002 | `},
			{`["It is there"]→["It is there", "It is typed"]`, `US-001 US-002 US-003 | US-001 | US-001 was reworded`},
			{`, "It is blue"]→]`, `US-001 US-002 US-003 | US-001 | US-002 was reworded`},
			{`["It is shown", "It is blue"]→["It is blue", "It is shown"]`,
				`US-001 US-002 US-003 | US-001 | US-002 was reworded`},
			{`["It is there"]→[{"text": "It is there", "done": true}]`, `US-001 US-002 US-003 | US-001 | `},
			{`Filter by it→Do not filter`, `US-001 US-002 US-003 | US-001 | US-003 was reworded`},
			{`"priority": 1→"priority": 9`, `US-001 US-002 US-003 | US-001 | US-001 was reordered`},
			{`, "dependsOn": ["US-002"]→`, `US-001 US-002 US-003 | US-001 | US-003 was reordered`},
			{`"US-002"]→"US-001"]`, `US-001 US-002 US-003 | US-001 | US-003 was reordered`},
			{`{"id": "US-001", "title": "Add a field", "acceptanceCriteria": ["It is there"], "priority": 1, "passes": false, "notes": ""},→`,
				`US-001 US-002 US-003 | US-001 | US-001 was deleted`},
			{`US-003→US-004`, `US-001 US-002 US-003 +US-004 | US-001 | US-003 was deleted`},
			{`"userStories": [→"userStories": [{"id": "US-000", "title": "New", "priority": 0, "passes": false},`,
				`US-001 US-002 US-003 +US-000 | US-001 | `},
			{`"userStories": [→"userStories": [{"id": "US-000", "title": "New", "passes": true},¦false→true`,
				`xUS-001 US-002 US-003 +xUS-000 | US-002 | `},
			{`"passes": false→"passes": true, "skipped": true`, `US-001 US-002 US-003 | US-001 | US-001 was cancelled`},
			{`"title": "Add a field"→"title": "Add a field", "description": "Quickly"`,
				`US-001 US-002 US-003 | US-001 | US-001 was reworded`},
			{`"title": "Add a field"→"title": "Add a field", "estimate": 3, "owner": "me"`, `US-001 US-002 US-003 | US-001 | `},
			{`*→{"userStories": [{"id": "US-001", "title": "Add a field", "acceptanceCriteria": ["It is there"], "priority": 1, "passes": true}]}`,
				`xUS-001 US-002 US-003 | US-002 | US-002 was deleted, US-003 was deleted`},
		},
	},
	{
		name: "stories",
		text: `{"version": 1, "stories": [
  {"id": "S1", "title": "Log in", "status": "open", "startedAt": "", "completedAt": "", "updatedAt": "1"},
  {"id": "S2", "title": "Log out", "status": "open", "dependsOn": ["S1"]},
  {"id": "S3", "title": "Reset", "status": "done", "dependsOn": ["S2"]}
]}`,
		rows: [][2]string{
			{``, `S1 S2 xS3 | S1 | `},
			{`"open"→"done"`, `xS1 S2 xS3 | S2 | `},
			{`"open"→"in_progress"¦"startedAt": ""→"startedAt": "2026"`, `S1 S2 xS3 | S1 | `},
			{`"open"→"done"¦"completedAt": ""→"completedAt": "2026"¦"updatedAt": "1"→"updatedAt": "2"`, `xS1 S2 xS3 | S2 | `},
			{`"done"→"open"`, `S1 S2 S3 | S1 | `},
			{`"open"→"done"¦"open"→"done"`, `xS1 xS2 xS3 |  | `},
			{`"version": 1→"version": 2`, `S1 S2 xS3 | S1 | `},
			{`"Log in"→"Log in with a password"`, `S1 S2 xS3 | S1 | S1 was reworded`},
			{`"Reset"→"Reset it"`, `S1 S2 xS3 | S1 | S3 was reworded`},
			{`"Log in", "status": "open"→"Sign in", "status": "done"`, `xS1 S2 xS3 | S2 | S1 was reworded`},
			{`, "dependsOn": ["S1"]→`, `S1 S2 xS3 | S1 | S2 was reordered`},
			{`["S1"]→["S1", "S3"]`, `S1 S2 xS3 | S1 | S2 was reordered`},
			{`["S1"]→"S1"`, `S1 S2 xS3 | S1 | S2 was reordered`},
			{`"open"→"wontfix"`, `S1 S2 xS3 | S1 | S1 was cancelled`},
			{`"open"→"blocked"`, `!S1 S2 xS3 |  | `},
			{`"open"→"what?"`, `S1 S2 xS3 | S1 | `},
			{`{"id": "S2", "title": "Log out", "status": "open", "dependsOn": ["S1"]},→`, `S1 S2 xS3 | S1 | S2 was deleted`},
			{`{"id": "S2", "title": "Log out", "status": "open", "dependsOn": ["S1"]},→¦"open"→"done"`,
				`xS1 S2 xS3 | S2 | S2 was deleted`},
			{`"stories": [→"stories": [{"id": "S0", "title": "New", "status": "open"},`, `S1 S2 xS3 +S0 | S1 | `},
			{`"S1"]→"S0"]¦"stories": [→"stories": [{"id": "S0", "title": "New", "status": "open"},`,
				`S1 S2 xS3 +S0 | S1 | S2 was reordered`},
			{`*→{"stories": [{"id": "S3", "title": "Reset", "status": "done", "dependsOn": ["S2"]},
				{"id": "S2", "title": "Log out", "status": "done", "dependsOn": ["S1"]}, {"id": "S1", "title": "Log in", "status": "open"}]}`,
				`S1 xS2 xS3 | S1 | `},
		},
	},
	{
		name: "ralphy", // it has no ids, but titles
		text: `{"tasks": [
  {"title": "Add a login page", "completed": false, "parallel_group": 1, "subTasks": [{"id": 1, "status": "pending"}]},
  {"title": "Add a logout", "completed": false, "description": "With a button"},
  {"title": "Write the help", "completed": true}
]}`,
		rows: [][2]string{
			{``, `add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | `},
			{`false→true`, `xadd-a-login-page add-a-logout xwrite-the-help | add-a-logout | `},
			{`"status": "pending"→"status": "completed"`, `add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | `},
			{`"parallel_group": 1→"parallel_group": 2`, `add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | `},
			{`true→false`, `add-a-login-page add-a-logout write-the-help | add-a-login-page | `},
			{`"With a button"→"With a link"`,
				`add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | add-a-logout was reworded`},
			{`, "description": "With a button"→`,
				`add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | add-a-logout was reworded`},
			{`"Add a logout", "completed": false→"Add a way out", "completed": true`,
				`add-a-login-page xadd-a-logout xwrite-the-help | add-a-login-page | add-a-logout was reworded`},
			{`"Add a login page"→"Add a login page (done)"`,
				`add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | add-a-login-page was reworded`},
			{`"title": "Add a logout"→"id": 5, "title": "Add a logout"`,
				`add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | `},
			{`"Add a login page"→"Add a logout"¦  {"title": "Add a logout", "completed": false, "description": "With a button"},
→`, `add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | add-a-login-page was deleted, add-a-logout was reworded`},
			{`  {"title": "Add a logout", "completed": false, "description": "With a button"},
→`, `add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | add-a-logout was deleted`},
			{`,
  {"title": "Write the help", "completed": true}→`,
				`add-a-login-page add-a-logout write-the-help | add-a-login-page | write-the-help was deleted`},
			{`"tasks": [→"tasks": [{"title": "New", "completed": true},`,
				`add-a-login-page add-a-logout xwrite-the-help +xnew | add-a-login-page | `},
			{`"tasks": [→"tasks": [{"title": "Add a login page", "completed": true},`,
				`xadd-a-login-page add-a-logout xwrite-the-help +#2 | add-a-logout | `},
			{`"completed": true→"completed": true, "notes": "see docs", "commit": "3f2a"`,
				`add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | `},
			{`"title": "Write the help"→"title": "Write the help", "model": "opus"`,
				`add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | write-the-help was reworded`},
			{`"completed": false→"status": "cancelled"`,
				`add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | add-a-login-page was cancelled`},
			{`"completed": false→"completed": false, "dependencies": ["add-a-logout"]`,
				`add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | add-a-login-page was reordered`},
			{`"completed": false, "description"→"description"`, `add-a-login-page add-a-logout xwrite-the-help | add-a-login-page | `},
			{`*→{"tasks": [{"title": "Write the help", "completed": true}, {"title": "Add a logout", "description": "With a button",
				"completed": true}, {"title": "Add a login page", "completed": false}]}`,
				`add-a-login-page xadd-a-logout xwrite-the-help | add-a-login-page | `},
		},
	},
	{
		name: "Task Master",
		text: `{"master": {"tasks": [
  {"id": 1, "title": "Set up", "description": "Folders", "details": "As usual.", "testStrategy": "It builds.",
    "status": "pending", "dependencies": [], "priority": "high", "subtasks": []},
  {"id": 2, "title": "Pages", "description": "Two", "status": "pending", "dependencies": [1], "subtasks": [
    {"id": 1, "title": "First", "status": "pending", "details": "d"},
    {"id": 9, "title": "Ninth", "status": "cancelled"},
    {"id": 2, "title": "Second", "status": "pending", "dependencies": [1]}
  ]},
  {"id": 3, "title": "Later", "status": "deferred", "dependencies": []}
], "metadata": {"updated": "1"}}, "ui": {"tasks": [{"id": 1, "title": "Other", "status": "pending"}]}}`,
		rows: [][2]string{
			{``, `1 2.1 2.2 2 | 1 | `},
			{`"pending"→"done"`, `x1 2.1 2.2 2 | 2.1 | `},
			{`"updated": "1"→"updated": "2"`, `1 2.1 2.2 2 | 1 | `},
			{`"As usual."→"As usual.\n<info added on 2026-03-02>\nIt takes four seconds.\n</info added on 2026-03-02>"`,
				`1 2.1 2.2 2 | 1 | `},
			{`"details": "d"→"details": "d and e"`, `1 2.1 2.2 2 | 1 | 2.1 was reworded`},
			{`"First", "status": "pending"→"First", "status": "done"`, `1 x2.1 2.2 2 | 1 | `},
			{`"pending"→"done"¦"First", "status": "pending"→"First", "status": "done"¦"Second", "status": "pending"→"Second", "status": "done"`,
				`x1 x2.1 x2.2 2 | 2 | `},
			{`"pending", "dependencies": [1], "subtasks"→"done", "dependencies": [1], "subtasks"`, `1 x2.1 x2.2 x2 | 1 | `},
			{`"pending", "dependencies": [1]}→"in-progress", "dependencies": [1]}`, `1 2.1 2.2 2 | 1 | `},
			{`"pending"→"review"`, `1 2.1 2.2 2 | 1 | `},
			{`"pending"→"cancelled"`, `1 2.1 2.2 2 | 1 | 1 was cancelled`},
			{`"pending"→"blocked"`, `!1 2.1 2.2 2 |  | `},
			{`"deferred"→"pending"`, `1 2.1 2.2 2 +3 | 1 | `},
			{`"cancelled"→"pending"`, `1 2.1 +2.9 2.2 2 | 1 | `},
			{`    {"id": 9, "title": "Ninth", "status": "cancelled"},
→`, `1 2.1 2.2 2 | 1 | `},
			{`"It builds."→"None."`, `1 2.1 2.2 2 | 1 | 1 was reworded`},
			{`"Folders"→"Nothing"`, `1 2.1 2.2 2 | 1 | 1 was reworded`},
			{`"priority": "high"→"priority": "low"`, `1 2.1 2.2 2 | 1 | 1 was reordered`},
			{`"dependencies": [1], "subtasks"→"dependencies": [], "subtasks"`, `1 2.1 2.2 2 | 1 | 2 was reordered`},
			{`,
    {"id": 2, "title": "Second", "status": "pending", "dependencies": [1]}→`, `1 2.1 2.2 2 | 1 | 2.2 was deleted`},
			{`"subtasks": []→"subtasks": [{"id": 1, "title": "New", "status": "pending"}]`, `1 2.1 2.2 2 +1.1 | 1 | `},
			{`"subtasks": []→"subtasks": [{"id": 1, "title": "New", "status": "pending"}]¦"pending"→"done"`, `x1 2.1 2.2 2 +x1.1 | 2.1 | `},
			{`{"id": 3→{"id": 4, "title": "New", "status": "pending", "subtasks": [{"id": 1, "title": "Part"}]}, {"id": 3`,
				`1 2.1 2.2 2 +4.1 +4 | 1 | `},
			{`"Other"→"Yet another"`, `1 2.1 2.2 2 | 1 | `},
			{`, "ui": {"tasks": [{"id": 1, "title": "Other", "status": "pending"}]}→`, `1 2.1 2.2 2 | 1 | `},
			{`*→{"master": {"tasks": [{"id": 2, "title": "Pages", "description": "Two", "status": "done", "dependencies": [1]}]}}`,
				`1 2.1 2.2 x2 | 1 | 1 was deleted, 2.1 was deleted, 2.2 was deleted`},
			{`*→{"master": {"tasks": []}}`, `1 2.1 2.2 2 | 1 | 1 was deleted, 2.1 was deleted, 2.2 was deleted, 2 was deleted`},
		},
	},
	{
		name: "beads",
		text: `{"id":"bd-1","title":"Parse","status":"open","priority":1,"updated_at":"1"}
{"id":"bd-2","title":"Print","status":"open","priority":2,"dependencies":[{"depends_on_id":"bd-1","type":"blocks"}]}
{"id":"bd-3","title":"Test","status":"closed","priority":0}
`,
		rows: [][2]string{
			{``, `bd-1 bd-2 xbd-3 | bd-1 | `},
			{`"open"→"closed"`, `xbd-1 bd-2 xbd-3 | bd-2 | `},
			{`"open"→"closed"¦"updated_at":"1"→"updated_at":"2","closed_at":"2","close_reason":"done"`, `xbd-1 bd-2 xbd-3 | bd-2 | `},
			{`"open"→"in_progress"`, `bd-1 bd-2 xbd-3 | bd-1 | `},
			{`"open"→"blocked"`, `!bd-1 bd-2 xbd-3 |  | `},
			{`"closed"→"open"`, `bd-1 bd-2 bd-3 | bd-3 | `},
			{`"open"→"closed"¦"open"→"closed"`, `xbd-1 xbd-2 xbd-3 |  | `},
			{`"updated_at":"1"→"assignee":"me","labels":["x"],"comments":[{"text":"c"}]`, `bd-1 bd-2 xbd-3 | bd-1 | `},
			{`"Parse"→"Parse a bit"`, `bd-1 bd-2 xbd-3 | bd-1 | bd-1 was reworded`},
			{`"Parse","status":"open"→"Parse a bit","status":"closed"`, `xbd-1 bd-2 xbd-3 | bd-2 | bd-1 was reworded`},
			{`"title":"Test"→"title":"Test","description":"all"`, `bd-1 bd-2 xbd-3 | bd-1 | bd-3 was reworded`},
			{`"title":"Test"→"title":"Test","acceptance_criteria":"none"`, `bd-1 bd-2 xbd-3 | bd-1 | bd-3 was reworded`},
			{`"priority":1→"priority":3`, `bd-1 bd-2 xbd-3 | bd-1 | bd-1 was reordered`},
			{`,"dependencies":[{"depends_on_id":"bd-1","type":"blocks"}]→`, `bd-1 bd-2 xbd-3 | bd-1 | bd-2 was reordered`},
			{`"status":"open"→"status":"open","defer_until":"2999-01-01T00:00:00Z"`, `bd-1 bd-2 xbd-3 | bd-1 | `},
			{`"status":"open"→"status":"open","issue_type":"gate"`, `bd-1 bd-2 xbd-3 | bd-1 | bd-1 was cancelled`},
			{`"open"→"deferred"`, `bd-1 bd-2 xbd-3 | bd-1 | bd-1 was cancelled`},
			{`{"id":"bd-3","title":"Test","status":"closed","priority":0}
→`, `bd-1 bd-2 bd-3 | bd-3 | bd-3 was deleted`},
			{`{"id":"bd-1"→{"id":"bd-0","title":"New","status":"open","priority":0}
{"id":"bd-1"`, `bd-1 bd-2 xbd-3 +bd-0 | bd-1 | `},
			{`bd-3→bd-9`, `bd-1 bd-2 bd-3 +xbd-9 | bd-3 | bd-3 was deleted`},
			{`*→[{"id":"bd-3","title":"Test","status":"closed","priority":0},{"id":"bd-1","title":"Parse","status":"closed","priority":1},
				{"id":"bd-2","title":"Print","status":"open","priority":2,"dependencies":[{"type":"blocks","depends_on_id":"bd-1"}]}]`,
				`xbd-1 bd-2 xbd-3 | bd-2 | `},
		},
	},
	{
		name: "Kiro and spec-kit",
		text: `# Implementation Plan

## Phase 1

- [ ] 1. Set up the project
  - Create folders
  - _Requirements: 1.1_
- [ ] 2. Build
  - [ ] 2.1 Parse the file
  - [x] 2.2 Print the file
- [ ]* 3. Write more tests

## Future

- [ ] T009 [P] Dream
`,
		rows: [][2]string{
			{``, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | `},
			{`[ ] 1→[x] 1`, `x1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | NEXT | `},
			{`[ ] 2.1→[✓] 2.1`, `1-set-up-the-project 2-build x2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | `},
			{`[ ] 2.→[-] 2.`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | `},
			{`[x]→[ ]`, `1-set-up-the-project 2-build 2-1-parse-the-file 2-2-print-the-file | 1-set-up-the-project | `},
			{`# Implementation Plan→# Plan
Progress: 1 of 4`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | `},
			{`  - _Requirements: 1.1_→  - _Requirements: 1.1_
  - Done on Monday`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | 1-set-up-the-project was reworded`},
			{`  - Create folders
→`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | 1-set-up-the-project was reworded`},
			{`[ ] 1. Set up the project→[x] 1. Set up the project (done in 3f2a)`,
				`x1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | NEXT | 1-set-up-the-project was reworded`},
			{`Parse the file→Skip the file`,
				`1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | 2-1-parse-the-file was reworded`},
			{`  - [ ] 2.1 Parse the file
→`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | 2-1-parse-the-file was deleted`},
			{`  - [ ] 2.1 Parse the file
→¦  - [x] 2.2 Print the file
→`, `1-set-up-the-project 2-build 2-1-parse-the-file 2-2-print-the-file | 1-set-up-the-project | 2-1-parse-the-file was deleted, 2-2-print-the-file was deleted`},
			{`- [ ]* 3→- [ ] 3`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file +3-write-more-tests | 1-set-up-the-project | `},
			{`## Future→## Phase 2`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file +t009-p-dream | 1-set-up-the-project | `},
			{`## Phase 1→## Future`, `1-set-up-the-project 2-build 2-1-parse-the-file 2-2-print-the-file | 1-set-up-the-project | ` +
				`1-set-up-the-project was cancelled, 2-build was cancelled, 2-1-parse-the-file was cancelled, 2-2-print-the-file was cancelled`},
			{`## Phase 1→## Phase one`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | `},
			{`- [ ] 2. Build→- [x] 1.1 Make a file
- [ ] 2. Build`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file +x1-1-make-a-file | 1-set-up-the-project | `},
			{`2.2 Print the file→2.2 Print the file
  - [ ] 2.3 Close the file`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file +2-3-close-the-file | 1-set-up-the-project | `},
			{`T009 [P] Dream→T009 [P] Dream on`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | `},
			{`- [ ] 2. Build→1. [ ] 2. Build`, `1-set-up-the-project 2-build 2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | `},
			{`*→- [x] 2.2 Print the file
- [x] 2.1 Parse the file
- [ ] 2. Build
- [ ] 1. Set up the project
  - Create folders
  - _Requirements: 1.1_`, `1-set-up-the-project 2-build x2-1-parse-the-file x2-2-print-the-file | 1-set-up-the-project | `},
			{`*→- [x] Easy`, `1-set-up-the-project 2-build 2-1-parse-the-file 2-2-print-the-file +xeasy | 1-set-up-the-project | ` +
				`1-set-up-the-project was deleted, 2-build was deleted, 2-1-parse-the-file was deleted, 2-2-print-the-file was deleted`},
		},
	},
	{
		name: "check boxes",
		text: "# Fix plan\n\nAll with tests.\n\n- [ ] A\n  with b\n- [ ] B\n- [ ] B\n- [x] C\n",
		rows: [][2]string{
			{``, `a b #3 xc | a | `},
			{`[ ] A→[x] A`, `xa b #3 xc | b | `},
			{`[ ] B→[x] B`, `a xb #3 xc | a | `},
			{`[ ] B→[x] B¦[ ] B→[x] B`, `a xb x#3 xc | a | `},
			{`[x] C→[ ] C`, `a b #3 c | a | `},
			{`All with tests.→No tests.`, `a b #3 xc | a | `},
			{`# Fix plan→# Plan`, `a b #3 xc | a | `},
			{`[x] C→[X] C`, `a b #3 xc | a | `},
			{`[ ] A→[] A`, `a b #3 xc | a | `},
			{`- [ ] A→* [ ] A`, `a b #3 xc | a | `},
			{`[x] C→[x] C (see 3f2a)`, `a b #3 xc | a | c was reworded`},
			{`with b→without b`, `a b #3 xc | a | a was reworded`},
			{`  with b
→`, `a b #3 xc | a | a was reworded`},
			{`[ ] A→[x] AA`, `xa b #3 xc | b | a was reworded`},
			{`[ ] A→[x] AA¦[ ] B→[ ] BB`, `a b #3 xc +xaa +bb | a | a was deleted, #3 was deleted`},
			{`- [ ] B
→`, `a b #3 xc | a | #3 was deleted`},
			{`- [ ] A
  with b
→`, `a b #3 xc | a | a was deleted`},
			{`- [x] C
→`, `a b #3 c | a | c was deleted`},
			{`- [ ] A→- [ ] New
- [ ] A`, `a b #3 xc +new | a | `},
			{`- [ ] A→- [x] A
- [ ] A`, `a b #3 xc +x#5 | a | `},
			{`- [x] C→- [x] C
- [ ] D`, `a b #3 xc +d | a | `},
			{`- [ ] A→## Later (optional)
- [ ] A`, `a b #3 c | a | a was cancelled, b was cancelled, #3 was cancelled, c was cancelled`},
			{`*→- [x] C
- [x] B
- [ ] A
  with b
- [ ] B
`, `a xb #3 xc | a | `},
			{`*→- [ ] C
- [x] E
`, `a b #3 c +xe | a | a was deleted, b was deleted, #3 was deleted`},
		},
	},
}

// TestContract has what files say after their lists were trusted. What is claimed and then taken back is marked in the
// file, which else stays as it is.
func TestContract(t *testing.T) {
	for _, tc := range contracts {
		if len(tc.rows) < 21 {
			t.Errorf("%s: only %d rows", tc.name, len(tc.rows))
		}
		contract, err := Parse([]byte(tc.text))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		for _, row := range tc.rows {
			text := tc.text
			for edit := range strings.SplitSeq(row[0], "¦") {
				from, to, _ := strings.Cut(edit, "→")
				if from == "*" {
					text = to
					continue
				}
				if !strings.Contains(text, from) {
					t.Fatalf("%s: %q is not in %s", tc.name, from, text)
				}
				text = strings.Replace(text, from, to, 1)
			}
			file, err := Parse([]byte(text))
			if err != nil && !errors.Is(err, ErrEmpty) {
				t.Fatalf("%s: %s: %v", tc.name, text, err)
			}
			l := contract.TakeFlags(file)
			want := strings.Replace(row[1], "| NEXT |", "| 2-build |", 1)
			if got := shown(l); got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", tc.name, text, got, want)
			}
			if err := takesBack(contract, l, text); err != nil {
				t.Errorf("%s: %s: %v", tc.name, text, err)
			}
		}
	}
}

// shown returns the items of a list, the next one, and what does not count.
func shown(l List) string {
	var items, changes []string
	for _, item := range l.Items {
		state := ""
		if item.IsAdded {
			state = "+"
		}
		if item.Blocked {
			state += "!"
		}
		if item.Passes {
			state += "x"
		}
		items = append(items, state+item.ID)
	}
	for _, change := range l.Changes {
		changes = append(changes, change.ID+" was "+change.How)
	}
	next, _ := l.Next()
	return strings.Join(items, " ") + " | " + next.ID + " | " + strings.Join(changes, ", ")
}

// takesBack takes each claim of l back, one by one, in the text of its file.
func takesBack(contract, l List, text string) error {
	for _, item := range l.Items {
		if !item.Passes {
			continue
		}
		file, err := Parse([]byte(text))
		if err != nil {
			return err
		}
		edited, err := file.Mark([]byte(text), l, []string{item.ID}, false)
		if err != nil {
			return err
		}
		after, err := Parse(edited)
		if err != nil {
			return err
		}
		now, _ := contract.TakeFlags(after).Find(item.ID)
		if now.Passes || after.Passed() >= file.Passed() {
			return errors.New(item.ID + " still passes in " + string(edited))
		}
	}
	return nil
}

// TestBookkeeping has real pairs of files between which an agent has worked honestly.
func TestBookkeeping(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "bookkeeping", "*.before.json"))
	if len(files) < 4 {
		t.Fatalf("only %d pairs", len(files))
	}
	for _, name := range files {
		var lists [2]List
		for i, name := range []string{name, strings.Replace(name, ".before.", ".after.", 1)} {
			text, err := os.ReadFile(name)
			if err == nil {
				lists[i], err = Parse(text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		l := lists[0].TakeFlags(lists[1])
		if len(l.Changes) > 0 || l.Passed() != lists[1].Passed() || l.Passed() == 0 {
			t.Errorf("%s: %s", name, shown(l))
		}
	}
}

// FuzzTakeFlags reads any two texts as a contract and its file. The items of the contract come first, as they were, and
// an item passes only if something in the file does.
func FuzzTakeFlags(f *testing.F) {
	for _, tc := range contracts {
		f.Add([]byte(tc.text), []byte(strings.Replace(tc.text, "false", "true", 1)))
	}
	f.Fuzz(func(t *testing.T, was, is []byte) {
		contract, err := Parse(was)
		if err != nil {
			return
		}
		file, err := Parse(is)
		if err != nil {
			return
		}
		l := contract.TakeFlags(file)
		if l.Passed() > file.Passed() {
			t.Fatalf("%d pass, and %d in the file", l.Passed(), file.Passed())
		}
		ids := map[string]bool{}
		for n, item := range l.all {
			if ids[item.ID] {
				t.Fatalf("two items are %q", item.ID)
			}
			ids[item.ID] = true
			if n < len(contract.all) && (item.ID != contract.all[n].ID || item.raw != contract.all[n].raw) {
				t.Fatalf("item %d is %q, and was %q", n, item.ID, contract.all[n].ID)
			}
			if n >= len(contract.all) && !item.IsAdded {
				t.Fatalf("%q was not trusted", item.ID)
			}
			l.Why(item)
		}
		if next, open := l.Next(); open != (len(l.Order()) > 0) {
			t.Fatalf("next is %q, and %d items are in order", next.ID, len(l.Order()))
		}
	})
}
