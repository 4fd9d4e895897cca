//go:build unix

package main

import (
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

const bom = "\xef\xbb\xbf"

// prompted is the event that the host sends at a prompt.
func prompted(session, prompt string) string {
	return `{"hook_event_name":"UserPromptSubmit","session_id":"` + session + `","prompt":"` + prompt + `"}`
}

// marker begins a prompt that names a loop; the loop's name follows.
const marker = `ralph-loop: .claude/data/ralph-loops/`

// suites are the tables of hostile inputs, by what they replace.
var suites = map[string]suite{
	"stdin":     {rows: hostileStdin},
	"list":      {path: "$LOOP/feature_list.json", rows: hostileLists},
	"progress":  {path: "$LOOP/progress.txt", rows: hostileProgress},
	"state":     {path: "$STATE/state.json", rows: hostileStates},
	"config":    {path: "$LOOP/ralph.json", rows: hostileConfigs},
	"trust":     {path: "$STATE/trust.json", rows: hostileTrust},
	"session":   {path: "$SESSIONS/s1", rows: hostileSessions},
	"log":       {path: "$LOOP/stops.jsonl", rows: hostileLogs},
	"lock":      {path: "$STATE/lock", rows: hostileLocks},
	"cancelled": {path: "$STATE/requests/1-1-cancel", rows: hostileCancels},
	"requests":  {path: "$STATE/requests", rows: hostileRequests},
	"notes":     {path: "$STATE/requests/1-1-note", rows: hostileNotes},
	"events":    {path: "$STATE/requests/1-1-event", rows: hostileEvents},
	"receipts": {
		path:  "$STATE/receipts.json",
		files: map[string]string{"$LOOP/ralph.json": `{"checks":[{"file_exists":"nowhere","when": "claim"}]}`},
		rows:  hostileReceipts,
	},
	"transcript": {
		path:  "$PROJECT/transcript.jsonl",
		event: stop(`,"transcript_path":"$PROJECT/transcript.jsonl"`),
		files: map[string]string{"$STATE/state.json": nearCap()},
		rows:  hostileTranscripts,
	},
	"settings": {
		path:  "$PROJECT/.claude/settings.json",
		verb:  []string{"init", "new", "--settings", "project"},
		files: map[string]string{"$PROJECT/feature_list.json": `[{"id":1,"passes":false}]`},
		rows:  hostileSettings,
	},
	"CLAUDE_PROJECT_DIR":              {env: "CLAUDE_PROJECT_DIR", rows: hostileProjects},
	"RALPH_LOOP_DIR":                  {env: "RALPH_LOOP_DIR", rows: hostileLoopDirs},
	"RALPH_STATE_DIR":                 {env: "RALPH_STATE_DIR", rows: hostileStateDirs},
	"CLAUDE_PID":                      {env: "CLAUDE_PID", rows: hostileNumbers},
	"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": {env: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", rows: hostileNumbers},
}

var hostileStdin = []badInput{
	{"nothing", "", trouble, "nothing on standard input", ""},
	{"spaces", " \r\n\t\n", trouble, "nothing on standard input", ""},
	{"only a BOM", bom, trouble, "nothing here", ""},
	{"half", `{"hook_event_name":"Stop","session_id":`, trouble, "the text ends too soon", ""},
	{"half a string", `{"hook_event_name":"St`, trouble, "the text ends too soon", ""},
	{"half an escape", `{"hook_event_name":"St\u00`, trouble, "not one JSON object", ""},
	{"array", `[` + stop("") + `]`, trouble, "not an object", ""},
	{"number", `7`, trouble, "not an object", ""},
	{"null", `null`, trouble, "not an object", ""},
	{"true", `true`, trouble, "not an object", ""},
	{"text", `"Stop"`, trouble, "not an object", ""},
	{"two objects", stop("") + stop(""), trouble, "after top-level value", ""},
	{"two lines", stop("") + "\n" + stop(""), trouble, "line 2, column 1", ""},
	{"object and garbage", stop("") + "x", trouble, "after top-level value", ""},
	{"object and NUL", stop("") + "\x00", trouble, `'\\x00'`, ""},
	{"NULs", "\x00\x00\x00\x00", trouble, "not one JSON object", ""},
	{"trailing comma", `{"hook_event_name":"Stop",}`, trouble, "line 1, column 27", ""},
	{"single quotes", `{'hook_event_name':'Stop'}`, trouble, "line 1, column 2", ""},
	{"comment", "{\n// a\n}", trouble, "line 2, column 1", ""},
	{"bare key", `{hook_event_name:"Stop"}`, trouble, "line 1, column 2", ""},
	{"NaN", stop(`,"n":NaN`), trouble, "invalid character 'N'", ""},
	{"infinity", stop(`,"n":-Infinity`), trouble, "in numeric literal", ""},
	{"leading zero", stop(`,"n":01`), trouble, "after object key:value pair", ""},
	{"plus", stop(`,"n":+1`), trouble, "invalid character '+'", ""},
	{"hex", stop(`,"n":0x1f`), trouble, "after object key:value pair", ""},
	{"a number out of range", stop(`,"n":1e999999,"m":-1e-999999`), block, "iteration 3/15", ""},
	{
		"a long number", around(`{"hook_event_name":"Stop","session_id":"s1","n":1`, "0", 1_000_000, "}"),
		block, "iteration 3/15", "",
	},
	{"line break in a string", stop(`,"last_assistant_message":"a` + "\n" + `b"`), trouble, "in string literal", ""},
	{"NUL in a string", stop(`,"last_assistant_message":"a` + "\x00" + `b"`), trouble, "in string literal", ""},
	{"escape in a string", stop(`,"last_assistant_message":"` + "\x1b[2J" + `"`), trouble, "in string literal", ""},
	{"unknown escape", stop(`,"last_assistant_message":"\x41"`), trouble, "in string escape code", ""},
	{"UTF-16", utf16(stop(""), false), trouble, "not one JSON object", ""},
	{"UTF-16, the other way", utf16(stop(""), true), trouble, "not one JSON object", ""},
	{"invalid UTF-8", stop(`,"last_assistant_message":"` + "\xff\xfe\xc0\xaf" + `"`), block, "iteration 3/15", ""},
	{"invalid UTF-8 in the session", `{"hook_event_name":"Stop","session_id":"s1` + "\xff" + `"}`, silent, "", ""},
	{"invalid UTF-8 in a key", stop(`,"` + "\xff" + `":1`), block, "iteration 3/15", ""},
	{
		"half a surrogate pair", stop(`,"last_assistant_message":"\ud800","cwd":"\udfff\ud800x"`),
		block, "iteration 3/15", "",
	},
	{"BOM", bom + stop(""), block, "iteration 3/15", ""},
	{"CRLF", "\r\n" + strings.ReplaceAll(stop(""), ",", ",\r\n") + "\r\n", block, "iteration 3/15", ""},
	{"20 million brackets", many("[", 20_000_000), trouble, "larger than 8 MB", ""},
	{"8 million brackets", many("[", 8_000_000), trouble, "nested deeper than 200 levels", ""},
	{"2 million objects", many(`{"a":`, 1_500_000), trouble, "nested deeper than 200 levels", ""},
	{
		"deep below a key",
		around(`{"hook_event_name":"Stop","session_id":"s1","x":`, "[", 300, strings.Repeat("]", 300)+"}"),
		trouble, "nested deeper than 200 levels", "",
	},
	{
		"not too deep",
		around(`{"hook_event_name":"Stop","session_id":"s1","x":`, "[", 190, strings.Repeat("]", 190)+"}"),
		block, "iteration 3/15", "",
	},
	{
		"brackets in a string",
		around(`{"hook_event_name":"Stop","session_id":"s1","last_assistant_message":"`, "[{", 1_000_000, `"}`),
		block, "iteration 3/15", "",
	},
	{"closing brackets", many("]", 1_000_000), trouble, "line 1, column 1", ""},
	{
		"backslashes",
		around(`{"hook_event_name":"Stop","session_id":"s1","last_assistant_message":"`, `\\`, 1_000_000, `"}`),
		block, "iteration 3/15", "",
	},
	{
		"quotes",
		around(`{"hook_event_name":"Stop","session_id":"s1","last_assistant_message":"`, `\"`, 1_000_000, `"}`),
		block, "iteration 3/15", "",
	},
	{"10 MB of x", many("x", 10_000_000), trouble, "larger than 8 MB", ""},
	{
		"7 MB of words",
		around(`{"hook_event_name":"Stop","session_id":"s1","last_assistant_message":"`, "word ", 1_400_000, `"}`),
		block, "iteration 3/15", "",
	},
	{
		"200,000 keys", around(`{"hook_event_name":"Stop","session_id":"s1"`, `,"k":1`, 200_000, "}"),
		block, "iteration 3/15", "",
	},
	{
		"a key of 1 MB", around(`{"hook_event_name":"Stop","session_id":"s1","`, "k", 1<<20, `":1}`),
		block, "iteration 3/15", "",
	},
	{
		"keys of other languages", stop(`,"__proto__":{"session_id":"s2"},"constructor":1,"":2`),
		block, "iteration 3/15", "",
	},
	{"keys that are paths", stop(`,"session_id.x":"s2","@this":{},"#":[],"*":"s2"`), block, "iteration 3/15", ""},
	{"the event twice", stop(`,"hook_event_name":"SubagentStop"`), silent, "", ""},
	{"the session twice, ours first", stop(`,"session_id":"s2"`), silent, "", ""},
	{"the session twice, ours last", `{"session_id":"s2",` + stop("")[1:], block, "iteration 3/15", ""},
	{"a key in escapes", `{"hook_event_name":"Stop","session\u005fid":"s1"}`, block, "iteration 3/15", ""},
	{"no session", `{"hook_event_name":"Stop"}`, silent, "", ""},
	{"session empty", `{"hook_event_name":"Stop","session_id":""}`, silent, "", ""},
	{"session a number", `{"hook_event_name":"Stop","session_id":1}`, silent, "", ""},
	{"session null", `{"hook_event_name":"Stop","session_id":null}`, silent, "", ""},
	{"session true", `{"hook_event_name":"Stop","session_id":true}`, silent, "", ""},
	{"session an array", `{"hook_event_name":"Stop","session_id":["s1"]}`, silent, "", ""},
	{"session an object", `{"hook_event_name":"Stop","session_id":{"session_id":"s1"}}`, silent, "", ""},
	{"session a path", `{"hook_event_name":"Stop","session_id":"../sessions/s1"}`, silent, "", ""},
	{"session an absolute path", `{"hook_event_name":"Stop","session_id":"/etc/passwd"}`, silent, "", ""},
	{"session a dot", `{"hook_event_name":"Stop","session_id":"."}`, silent, "", ""},
	{"session with NUL", `{"hook_event_name":"Stop","session_id":"s1\u0000"}`, silent, "", ""},
	{"session with a space", `{"hook_event_name":"Stop","session_id":"s1 "}`, silent, "", ""},
	{"session with a line break", `{"hook_event_name":"Stop","session_id":"s1\n"}`, silent, "", ""},
	{
		"session of 129 letters", `{"hook_event_name":"Stop","session_id":"` + strings.Repeat("s", 129) + `"}`,
		silent, "", "",
	},
	{"session of 1 MB", around(`{"hook_event_name":"Stop","session_id":"`, "s", 1<<20, `"}`), silent, "", ""},
	{"another session", `{"hook_event_name":"Stop","session_id":"s2"}`, silent, "", ""},
	{"no event", `{"session_id":"s1"}`, silent, "", ""},
	{"event empty", `{"session_id":"s1","hook_event_name":""}`, silent, "", ""},
	{"event in lower case", `{"session_id":"s1","hook_event_name":"stop"}`, silent, "", ""},
	{"event a number", `{"session_id":"s1","hook_event_name":7}`, silent, "", ""},
	{"event an array", `{"session_id":"s1","hook_event_name":["Stop"]}`, silent, "", ""},
	{"event with NUL", `{"session_id":"s1","hook_event_name":"Stop\u0000"}`, silent, "", ""},
	{"an event of a later version", `{"session_id":"s1","hook_event_name":"PreStop"}`, silent, "", ""},
	{"an agent", stop(`,"agent_id":"a"`), silent, "", ""},
	{"an agent that is a number", stop(`,"agent_id":7`), block, "iteration 3/15", ""},
	{"plan mode", stop(`,"permission_mode":"plan"`), silent, "", ""},
	{"a mode that is an array", stop(`,"permission_mode":["plan"]`), block, "iteration 3/15", ""},
	{
		"active a word", `{"hook_event_name":"Stop","session_id":"s1","stop_hook_active":"yes"}`,
		block, "iteration 3/15", "",
	},
	{
		"active a number", `{"hook_event_name":"Stop","session_id":"s1","stop_hook_active":1e99}`,
		block, "iteration 3/15", "",
	},
	{
		"active an object", `{"hook_event_name":"Stop","session_id":"s1","stop_hook_active":{}}`,
		block, "iteration 3/15", "",
	},
	{"tasks a word", stop(`,"background_tasks":"subagent"`), block, "iteration 3/15", ""},
	{"tasks a number", stop(`,"background_tasks":7`), block, "iteration 3/15", ""},
	{"tasks null", stop(`,"background_tasks":null`), block, "iteration 3/15", ""},
	{
		"tasks of all kinds", stop(`,"background_tasks":[1,null,"x",[],{},{"type":7},{"type":"subagent","status":7}]`),
		block, "iteration 3/15", "",
	},
	{
		"40,000 subagents",
		around(
			`{"hook_event_name":"Stop","session_id":"s1","background_tasks":[{"type":"subagent"}`,
			`,{"type":"subagent"}`,
			39_999,
			`]}`,
		),
		told, "waiting for 40000 subagents", "hook.log lock state.json stops.jsonl",
	},
	{"wake-ups a word", stop(`,"session_crons":"x"`), block, "iteration 3/15", ""},
	{"wake-ups of all kinds", stop(`,"session_crons":[1,null,"x",[],{},{"recurring":null}]`), block, "iteration 3/15",
		""},
	{"a folder that is not there", stop(`,"cwd":"/nowhere/at/all"`), block, "iteration 3/15", ""},
	{"a relative folder", stop(`,"cwd":"../../.."`), block, "iteration 3/15", ""},
	{"a folder with NUL", stop(`,"cwd":"/\u0000"`), block, "iteration 3/15", ""},
	{
		"a folder of 1 MB", around(`{"hook_event_name":"Stop","session_id":"s1","cwd":"`, "/a", 1<<19, `"}`),
		block, "iteration 3/15", "",
	},
	{"a message that is a number", stop(`,"last_assistant_message":7`), block, "iteration 3/15", ""},
	{
		"a promise with escapes",
		stop(`,"last_assistant_message":"<promise>BLOCKED: \u001b[2J\u202ea\u0007\u009b31m</promise>"`),
		end, "needs a person: a;", "",
	},
	{
		"a promise of 1 MB",
		around(
			`{"hook_event_name":"Stop","session_id":"s1","last_assistant_message":"<promise>BLOCKED: `,
			"a",
			1<<20,
			`</promise>"}`,
		),
		end, "Ralph loop BLOCKED: ", "",
	},
	{
		"a promise with JSON", stop(`,"last_assistant_message":"<promise>BLOCKED: \",\"decision\":\"block</promise>"`),
		end, `\",\"decision\":\"block`, "",
	},
	{
		"a promise in code", stop("," + `"last_assistant_message":"` + "```" + `\n<promise>BLOCKED: x</promise>"`),
		block, "iteration 3/15", "",
	},
	{
		"a claim", stop(`,"last_assistant_message":"<promise>COMPLETE</promise>"`),
		block, "It is not. Still open: one, two.", "",
	},

	{"a prompt without a prompt", `{"hook_event_name":"UserPromptSubmit","session_id":"s2"}`, silent, "", ""},
	{
		"a prompt that is an object", `{"hook_event_name":"UserPromptSubmit","session_id":"s2","prompt":{"a":1}}`,
		silent, "", "",
	},
	{"a prompt that names a path", prompted("s2", marker+"../../../../etc"), silent, "", ""},
	{"a prompt that names no folder", prompted("s2", marker), trouble, "no loop", ""},
	{"a prompt that names the folder above", prompted("s2", marker+".."), trouble, "is not a name for a loop", ""},
	{"a prompt that names an absolute path", prompted("s2", "ralph-loop: /etc"), silent, "", ""},
	{
		"a prompt that names a loop with an escape", prompted("s2", marker+`no\u001b[2J`),
		trouble, "has control characters", "",
	},
	{"a prompt that names a missing loop", prompted("s2", marker+`other`), trouble, "no loop", ""},
	{"a prompt with NUL", prompted("s2", marker+`checkout\u0000`), trouble, "control characters", ""},
	{"a prompt whose second line names it", prompted("s2", "hello\\n"+marker+"checkout"), silent, "", ""},
	{
		"a prompt of 7 MB",
		around(`{"hook_event_name":"UserPromptSubmit","session_id":"s2","prompt":"`, "word ", 1_400_000, `"}`),
		silent, "", "",
	},
	{"a task's notification that names it", prompted("s2", "<task-notification>\\n"+marker+"checkout"), silent, "", ""},
	{
		"a session's end for no reason", `{"hook_event_name":"SessionEnd","session_id":"s1","reason":{"a":[]}}`,
		silent, "", committed,
	},
	{"an error that is a number", `{"hook_event_name":"StopFailure","session_id":"s1","error":7}`, silent, "",
		committed},
	{"a session's start of nothing", `{"hook_event_name":"SessionStart","session_id":"s1","source":null}`, silent, "",
		""},
	{
		"a session's start of a path", `{"hook_event_name":"SessionStart","session_id":"../s1","source":"resume"}`,
		silent, "", "",
	},
}

// nearCap is the fixture's record with one block less than the host accepts in a row, and
// with a list that has not changed since.
func nearCap() string {
	list, err := features.Parse([]byte(fixture["$LOOP/feature_list.json"]))
	if err != nil {
		panic(err)
	}
	blocks := "[$NOW" + strings.Repeat(",$NOW", 6) + "]"
	return strings.Replace(record(`,"listDigest":"`+list.Digest()+`"`), "[$NOW]", blocks, 1)
}

// The session is bound to its loop, so the loop is found with any project.
var hostileProjects = []badInput{
	{"nothing", "", block, "iteration 3/15", ""},
	{"relative", "../..", block, "iteration 3/15", ""},
	{"not there", "/nowhere/at/all", block, "iteration 3/15", ""},
	{"a file", "/etc/passwd", block, "iteration 3/15", ""},
	{"escapes", "/\x1b[2J\u202e", block, "iteration 3/15", ""},
	{"1 MB", strings.Repeat("/a", 50_000), block, "iteration 3/15", ""},
}

// A loop that the session works comes before a loop that the variable names.
var hostileLoopDirs = []badInput{
	{"not there", "/nowhere/at/all", block, "iteration 3/15", ""},
	{"a file", "victim", block, "iteration 3/15", ""},
	{"a device", "/dev/null", block, "iteration 3/15", ""},
	{"escapes", "\x1b[2J\u202e", block, "iteration 3/15", ""},
	{"too long", strings.Repeat("a", 50_000), block, "iteration 3/15", ""},
}

// Without a state folder there is no record, and so no loop.
var hostileStateDirs = []badInput{
	{"relative", "state", trouble, "want an absolute path", ""},
	{"a file", "$PROJECT/victim", trouble, "set RALPH_STATE_DIR to a folder of yours", ""},
	{"a device", "/dev/null", trouble, "set RALPH_STATE_DIR to a folder of yours", ""},
	{"escapes", "\x1b[2J", trouble, "want an absolute path", ""},
}

// Variables for which the host sets a number have another text here.
var hostileNumbers = []badInput{
	{"nothing", "", block, "iteration 3/15", ""},
	{"a word", "many", block, "iteration 3/15", ""},
	{"below 0", "-1", block, "iteration 3/15", ""},
	{"0", "0", block, "iteration 3/15", ""},
	{"out of range", "99999999999999999999", block, "iteration 3/15", ""},
	{"a fraction", "1e3", block, "iteration 3/15", ""},
	{"escapes", "1\x1b[2J", block, "iteration 3/15", ""},
}

// said is an entry of a transcript without a tool call, called is an entry with one.
const (
	said   = `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"x"}]}}` + "\n"
	called = `{"type":"assistant","timestamp":"2999-01-01T00:00:00Z",` +
		`"message":{"model":"m","content":[{"type":"tool_use","name":"Bash"}]}}` + "\n"
)

// The next block would be the last one that the host accepts in a row. So the hook looks in
// the transcript for a recent tool call, and ends the loop if it finds none.
var hostileTranscripts = []badInput{
	{"nothing", "", end, "without a tool call", ""},
	{"missing", missing, end, "without a tool call", ""},
	{"words alone", said + said, end, "without a tool call", ""},
	{"a call", said + called + said, block, "iteration 3/15", ""},
	{"a call, CRLF", strings.ReplaceAll(said+called, "\n", "\r\n"), block, "iteration 3/15", ""},
	{"a call behind garbage", "\x00\xff{[\n" + called + "\x00\xff{[\n", block, "iteration 3/15", ""},
	{
		"a call behind invalid UTF-8", called + strings.Replace(said, `"x"`, "\"\xff\xc0\xaf\"", 1),
		block, "iteration 3/15", "",
	},
	{"half a call", called[:80], end, "without a tool call", ""},
	{"a subagent's call", strings.Replace(called, "{", `{"isSidechain":true,`, 1), end, "without a tool call", ""},
	{"a call of no time", strings.Replace(called, "2999-01-01T00:00:00Z", "now", 1), end, "without a tool call", ""},
	{"a call of a number", strings.Replace(called, `"2999-01-01T00:00:00Z"`, "9e99", 1), end, "without a tool call", ""},
	{"a call of long ago", strings.Replace(called, "2999", "0001", 1), end, "without a tool call", ""},
	{
		"a call in words", `{"type":"assistant","message":{"content":"[{\"type\":\"tool_use\"}]"}}` + "\n",
		end, "without a tool call", "",
	},
	{"a call far back", around(called, said, 5000, ""), block, "iteration 3/15", ""},
	{"deep", around(called+`"assistant"`, "[", 1_000_000, "\n"), block, "iteration 3/15", ""},
	{"20 MB in a line", around(`{"type":"user","x":"`, "a", 20_000_000, "\"}\n"), block, "iteration 3/15", ""},
	{"20 MB of empty lines", many("\n", 20_000_000), block, "iteration 3/15", ""},
	{"zeros", sparse(1 << 30), block, "iteration 3/15", ""},
	{"UTF-16", utf16(called, false), end, "without a tool call", ""},
	{"not JSON at all", many("the assistant said\n", 1000), end, "without a tool call", ""},
	{"a pipe", fifo, end, "without a tool call", ""},
	{"a folder", folder, end, "without a tool call", ""},
	{"a device", zeros, end, "without a tool call", ""},
	{"a link to nothing", nowhere, end, "without a tool call", ""},
}

// init reports what is wrong. It creates no loop and does not change the file.
var hostileSettings = []badInput{
	{"not JSON at all", "not json at all", refused, "settings.json: line 1, column 2", ""},
	{"half", `{"hooks":{"Stop":[`, refused, "the text ends too soon", ""},
	{"array", "[]", refused, "not a JSON object", ""},
	{"null", "null", refused, "not a JSON object", ""},
	{"text", `"x"`, refused, "not a JSON object", ""},
	{"comments", "{\n  // mine\n  \"a\": 1\n}", refused, "comments are not allowed", ""},
	{"trailing comma", `{"a":1,}`, refused, "line 1, column 8", ""},
	{"two objects", "{}{}", refused, "after top-level value", ""},
	{"hooks an array", `{"hooks":[]}`, refused, `"hooks" is not an object`, ""},
	{"hooks twice", `{"hooks":{},"hooks":{}}`, refused, "there twice", ""},
	{"Stop an object", `{"hooks":{"Stop":{}}}`, refused, `"Stop" is not an array`, ""},
	{"Stop twice", `{"hooks":{"Stop":[],"Stop":[]}}`, refused, "there twice", ""},
	{"UTF-16", utf16("{}", false), refused, "settings.json: line 1", ""},
	{"NULs", "\x00\x00", refused, "settings.json: line 1", ""},
	{"invalid, with escapes", "\x1b[2J", refused, "settings.json: line 1", ""},
	{"20 million brackets", many("[", 20_000_000), refused, "settings.json", ""},
	{"2 million brackets", many("[", 2_000_000), refused, "nested deeper than 200 levels", ""},
	{"more than 4 MB", around(`{"a":"`, "a", 5_000_000, `"}`), refused, "is larger than", ""},
	{"a pipe", fifo, refused, "not a regular file", ""},
	{"a folder", folder, refused, "not a regular file", ""},
	{"a device", zeros, refused, "not a regular file", ""},
	{"a link to nothing", nowhere, refused, "a link to nothing", ""},
	{"a link to itself", itself, refused, "settings.json", ""},
}
