//go:build unix

package main

import (
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
)

var hostileChains = []badInput{
	{"nothing", "", 64, "--chain: the chain is empty; write it like planner:10 -> builder:20"},
	{"spaces", " \t\n ", 64, "--chain: the chain is empty; write it like planner:10 -> builder:20"},
	{"a name alone", "text", 64, "--chain: ralph.json has no chain text that you have trusted; look at"},
	{"no limit", "text -> codex:1", 64, "--chain: say how many iterations text may have: text:10 (character 5)"},
	{"a limit of 0", "text:0", 64, "--chain: the limit of text must be from 1 to 1000000 (character 6)"},
	{"a limit below 0", "text:-1", 64, "--chain: the limit of text must be a whole number, such as 10"},
	{"a limit out of range", "text:99999999999999999999",
		64, "--chain: the limit of text must be from 1 to 1000000 (character 6)"},
	{"a limit in hex", "text:0x10", 64, "--chain: the limit of text must be from 1 to 1000000 (character 6)"},
	{"a limit in other digits", "text:١٠", 64, "--chain: the limit of text must be a whole number, such as 10"},
	{"an arrow of another alphabet", "text:1 → codex:1",
		64, `--chain: "→" joins no steps; write -> between them (character 8)`},
	{"a step is missing", "text:1 -> -> codex:1", 64, "--chain: a step is missing before this -> (character 11)"},
	{"an agent that is not there", "text:1 -> nobody:1",
		64, `there is no agent "nobody": ralph.json, your configuration and PATH`},
	{"an agent that is a path", `"../../bin/sh":1`,
		64, `there is no agent "../../bin/sh": ralph.json, your configuration and`},
	{"an agent that is an option", `"--help":1`,
		64, `there is no agent "--help": ralph.json, your configuration and PATH`},
	{"a command", `"$(touch pwned)":1`, 64, `there is no agent "$(touch pwned)": ralph.json, your configuration and`},
	{"escapes", "text\x1b[2J:1", 64, "--chain: this character cannot be part of a chain (character 5)"},
	{"letters that turn around", "text:1 -> \u202ecodex:1",
		64, "--chain: this character cannot be part of a chain (character 11)"},
	{"invalid UTF-8", "text\xff:1", 64, "--chain: this character cannot be part of a chain (character 5)"},
	{"a quote without an end", `"text:1`, 64, "--chain: this quote has no end (character 1)"},
	{"two lines", "text:1 ->\n:2", 64, "--chain: the name of an agent is missing before the limit (character 11)"},
	{"101 steps", strings.Repeat("text:1 -> ", 100) + "text:1",
		64, "--chain: the chain has more than 100 steps (character 1007)"},
	{"100 KB", hostile.Many("text:1->", 12_500), 64, "--chain: the chain has more than 4096 bytes (character 4097)"},
}

var hostileHooks = []badInput{
	{"nothing", "", 64, `the hook ""; want EVENT:COMMAND, such as post-iteration:./count.sh`},
	{"no command", "post-iteration:", 64, `the hook "post-iteration:"; want EVENT:COMMAND, such as`},
	{"a command of spaces", "post-iteration: \t ", 64, `the hook "post-iteration:"; want EVENT:COMMAND, such as`},
	{"no event", "touch pwned", 64, `the hook "touch pwned"; want EVENT:COMMAND, such as`},
	{"an event that is not there", "post-everything:touch pwned",
		64, `unknown hook event "post-everything"; there are pre-iteration,`},
	{"an event with escapes", "\x1b[2J:touch pwned",
		64, `unknown hook event ""; there are pre-iteration,`},
	{"a program that is not there", "pre-iteration:./nothing",
		1, "warning: the pre-iteration hook ./nothing failed: exit status 127"},
	{"one that fails", "post-iteration:exit 3", 1, "warning: the post-iteration hook exit 3 failed: exit status 3"},
	{"escapes in its output", `post-iteration:printf '\033[2J' >&2; exit 1`, 1, "1 failed: exit status 1"},
	{"one that kills its group", "pre-iteration:kill -9 0",
		1, "warning: the pre-iteration hook kill -9 0 failed: signal: killed"},
	{"10 MB of output", "post-iteration:yes | head -c 10000000", 1, "ended after"},
	{"one that leaves a process", "post-iteration:sleep 100 & exit 0", 1, "ended after"},
}

var hostileSignals = []badInput{
	{"nothing", "", 64, `unknown signal ""; there are marker, exit_code and file:PATH`},
	{"a signal that is not there", "smoke", 64, `unknown signal "smoke"; there are marker, exit_code and file:PATH`},
	{"a file without a name", "file:", 64, `the signal "file:"; want file: and a path below the project's root`},
	{"a file out of the project", "file:../victim",
		64, `the signal "file:../victim"; want file: and a path below the project's`},
	{"an absolute file", "file:/etc/passwd", 64, `the signal "file:/etc/passwd"; want file: and a path below the`},
	{"escapes", "file:\x1b[2J", 1, "ended after"},
	{"an escape in a signal", "\x1b[2J", 64, `unknown signal ""; there are marker, exit_code and file:PATH`},
}

var hostilePatterns = []badInput{
	{"no expression", "(", 64, "--pattern is no regular expression: error parsing regexp: missing"},
	{"one that matches all", ".*", 64, "--pattern matches an empty line, so a session that says nothing would"},
	{"one that matches nothing", "", 1, "ended after"},
	{"too many states", "((a{100}){100}){100}", 64, "--pattern is no regular expression: error parsing regexp: invalid"},
	{"escapes", "(\x1b[2J", 64, "--pattern is no regular expression: error parsing regexp: missing"},
	{"100 KB", hostile.Many("(", 100_000), 64, "--pattern is no regular expression: error parsing regexp: missing"},
}

var hostileNames = []badInput{
	{"nothing", "", 64, `there is no agent "": ralph.json, your configuration and PATH have none`},
	{"an option", "--version", 64, `there is no agent "--version": ralph.json, your configuration and PATH`},
	{"a path", "../../bin/sh", 64, `there is no agent "../../bin/sh": ralph.json, your configuration and`},
	{"an absolute path", "/bin/sh", 64, `there is no agent "/bin/sh": ralph.json, your configuration and PATH`},
	{"a folder", "..", 64, `there is no agent "..": ralph.json, your configuration and PATH have`},
	{"escapes", "\x1b[2Jclaude", 64, `there is no agent "claude": ralph.json, your configuration and PATH`},
	{"letters that turn around", "\u202eclaude",
		64, `there is no agent "claude": ralph.json, your configuration and PATH`},
	{"two lines", "text\nralph-runner: done", 64, `there is no agent "text ralph-runner: done": ralph.json, your`},
	{"another case", "TEXT", 64, `there is no agent "TEXT": ralph.json, your configuration and PATH have`},
	{"a command", "text;touch pwned", 64, `there is no agent "text;touch pwned": ralph.json, your configuration`},
	{"100 KB", hostile.Many("x", 100_000), 64, "there is no agent"},
}

var hostileResumes = []badInput{
	{"a path", "../../../etc/passwd", 4, `no loop of this project has "../../../etc/passwd" as its name or as the`},
	{"a file with a path for an id", "run-../../x.json",
		4, `no loop of this project has "run-../../x.json" as its name or as the id`},
	{"a file without an id", "run-.json", 4, `no loop of this project has "run-.json" as its name or as the id of its`},
	{"a pattern", "run-*.json", 4, `no loop of this project has "*" as its name or as the id of its last run`},
	{"a device", "/dev/zero", 4, `no loop of this project has "/dev/zero" as its name or as the id of its`},
	{"a folder", ".", 4, `no loop of this project has "." as its name or as the id of its last run`},
	{"escapes", "\x1b[2J", 4, `no loop of this project has "" as its name or as the id of its last`},
	{"two lines", "a\nb", 4, `no loop of this project has "a b" as its name or as the id of its last`},
	{"100 KB", hostile.Many("x", 100_000), 4, "no loop of this project has"},
}

var hostileCosts = []badInput{
	{"nothing", "", 64, `--max-cost ""; want a number`},
	{"no number", "NaN", 64, "--max-cost must be above 0, and at most 1000000"},
	{"without an end", "Inf", 64, "--max-cost must be above 0, and at most 1000000"},
	{"below 0", "-1", 64, "--max-cost must be above 0, and at most 1000000"},
	{"0", "0", 64, "--max-cost must be above 0, and at most 1000000"},
	{"out of range", "1e999", 64, `--max-cost "1e999"; want a number`},
	{"too much", "1000001", 64, "--max-cost must be above 0, and at most 1000000"},
	{"a comma", "1,5", 64, `--max-cost "1,5"; want a number`},
	{"escapes", "\x1b[2J1", 64, `--max-cost "\x1b[2J1"; want a number`},
}

// prompted is a call that reads a prompt from a file.
var prompted = work("text", "--prompt-file", "prompt.md", "--dry-run")

var hostilePrompts = []badInput{
	{"nothing", "", 64, "the prompt must be a text of at most 100 KB"},
	{"NULs", "a\x00b", 64, "the prompt must be a text of at most 100 KB"},
	{"invalid UTF-8", "a\xff\xfeb", 64, "the prompt must be a text of at most 100 KB"},
	{"escapes", "a\x1b[2Jb\u202ec", 0, "abc"},
	{"a missing file", hostile.Missing, 64, "--prompt-file: stat prompt.md: no such file or directory"},
	{"a folder", hostile.Folder, 64, "--prompt-file: prompt.md is not a regular file"},
	{"a link to itself", hostile.Itself, 64, "--prompt-file: stat prompt.md: too many levels of symbolic links"},
	{"a device without an end", hostile.Zeros, 64, "--prompt-file: prompt.md is not a regular file"},
	{"100 MB of nothing", hostile.Sparse(100 << 20),
		64, "--prompt-file: prompt.md is larger than 100 KB; make it smaller"},
	{"100 GB of nothing", hostile.Sparse(100 << 30),
		64, "--prompt-file: prompt.md is larger than 100 KB; make it smaller"},
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// toolCall is a call of a tool after the greeting.
func toolCall(name, arguments string) string {
	return hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + name + `","arguments":` +
		arguments + "}}\n"
}

var hostileFrames = []badInput{
	{"nothing", "", 0, `"id":"alive"`},
	{"no JSON", "hello\n", 0, `"code":-32700,"message":"not JSON; want one JSON-RPC message a line`},
	{"NULs", hello + "\x00\x00\n", 0, `"code":-32700,"message":"not JSON; want one JSON-RPC message a line`},
	{"a BOM", "\xef\xbb\xbf" + hello, 0, `"code":-32700,"message":"not JSON; want one JSON-RPC message a line`},
	{"UTF-16", hostile.UTF16(hello, true), 0, `"code":-32700,"message":"not JSON; want one JSON-RPC message a line`},
	{"a batch", hello + `[{"jsonrpc":"2.0","id":2,"method":"ping"}]` + "\n",
		0, `"code":-32600,"message":"not one JSON-RPC message a line`},
	{"headers as of another protocol", "Content-Length: 2\r\n\r\n{}",
		0, `"code":-32700,"message":"not JSON; want one JSON-RPC message a line`},
	{"a call before the greeting", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"task_list"}}` + "\n",
		0, "is invalid during session initialization"},
	{"two greetings", hello + hello, 0, `"protocolVersion":"2025-06-18"`},
	{"a version from the future", strings.Replace(hello, "2025-06-18", "2999-01-01", 1),
		0, `"protocolVersion":"2025-11-25"`},
	{"an id that is an object", hello + `{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n",
		0, `"code":-32600,"message":"not a JSON-RPC 2.0 message`},
	{"a method that is not there", hello + `{"jsonrpc":"2.0","id":2,"method":"\u001b[2J"}` + "\n",
		0, `"code":-32601,"message":"method not found: `},
	{"a tool that is not there", toolCall("shell", `{"command":"touch pwned"}`),
		0, `"code":-32602,"message":"unknown tool `},
	{"a loop that is a path", toolCall("task_get", `{"id":"../../../etc"}`), 0, "has characters that a folder cannot"},
	{"a loop with escapes", toolCall("task_get", `{"id":"\u001b[2J\u202e"}`), 0, "has control characters"},
	{"a key that is not there", toolCall("task_get", `{"id":"checkout","file":"/etc/passwd"}`),
		0, "unexpected additional properties"},
	{"arguments of another type", toolCall("task_get", `[1]`), 0, `\"arguments\" must be an object`},
	{"the key twice", toolCall("task_get", `{"id":"checkout","id":"other"}`), 0, `no loop \"other\" in this project`},
	{"deep", hostile.Around(hello+`{"jsonrpc":"2.0","id":2,"method":"ping","params":`, `{"a":`, 100_000, "\n"),
		0, `"code":-32600,"message":"message deeper than 64 levels`},
	{"2 MB", hostile.Around(hello+`{"jsonrpc":"2.0","id":2,"method":"ping","x":"`, "x", 2<<20, `"}`+"\n"),
		0, `"code":-32600,"message":"message longer than 1 MB`},
	{"a resource that is a path", hello + `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":` +
		`{"uri":"file:///etc/passwd"}}` + "\n", 0, `"code":-32602,"message":"Resource not found`},
	{"a resource that leads out", hello + `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":` +
		`{"uri":"ralph://loop/../../../../etc/passwd"}}` + "\n", 0, `"code":-32602,"message":"Resource not found`},
}
