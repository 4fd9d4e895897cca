//go:build unix

package main

import (
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
)

// result is the last event of a good session of Claude Code, and says an event with a text before it.
const (
	result = `{"type":"result","is_error":false,"result":"an answer","total_cost_usd":0.5,` +
		`"modelUsage":{"m":{"inputTokens":5}}}` + "\n"
	says = `{"type":"assistant","message":{"content":[{"type":"text","text":"a text"}]}}` + "\n"
)

var hostileText = []badInput{
	{"nothing", "", 1, "ended after"},
	{"NULs", strings.Repeat("\x00", 1000), 1, "ended after"},
	{"invalid UTF-8", "\xff\xfe\xc0\xaf answer\n", 1, "\n  answer\n"},
	{"UTF-16", hostile.UTF16("an answer\n", false), 1, "an answer"},
	{"escapes", "\x1b]0;evil\x07\x1b[2J\x1b[31mred\x1bc\n", 1, "\n  red\n"},
	{"half an escape", "text\x1b[", 1, "\n  text\n"},
	{"an escape without an end", "\x1b]0;" + strings.Repeat("x", 1000), 1, "ended after"},
	{"C1 controls", "\u009b2Jtext\u0085more\n", 1, "\n  textmore\n"},
	{"letters that turn around", "a \u202eb\u2066c\u200bd\n", 1, "\n  a bcd\n"},
	{"tags", "a \U000e0041\U000e0042 b\n", 1, "\n  a b\n"},
	{"carriage returns", "ralph: all is done\rfake\r\n", 1, "\n  fake\n"},
	{"backspaces", "evil\b\b\b\bgood\n", 1, "\n  evilgood\n"},
	{"a promise in a question", "Should I say <promise>BLOCKED: no</promise>?\n",
		1, "REACHED_LIMIT: checkout: the run has used up its 1 iteration (--max-iterations); 0 of 2 features claimed"},
	{"a promise in a fence", "```\n<promise>COMPLETE</promise>\n```\n",
		1, "REACHED_LIMIT: checkout: the run has used up its 1 iteration (--max-iterations); 0 of 2 features claimed"},
	{"a promise that is meant, without work", "<promise>COMPLETE</promise>\n",
		1, "REACHED_LIMIT: checkout: the run has used up its 1 iteration (--max-iterations); 0 of 2 features claimed"},
	{"a promise with escapes", "<promise>BLOCKED: a \x1b[31mkey\u202e</promise>\n",
		3, "Ralph loop BLOCKED: checkout: the agent needs a person: a key"},
	{"a promise of 100 KB", hostile.Around("<promise>BLOCKED: ", "x", 100_000, "</promise>\n"),
		1, "REACHED_LIMIT: checkout: the run has used up its 1 iteration (--max-iterations); 0 of 2 features claimed"},
	{"two promises", "<promise>COMPLETE</promise>\n<promise>BLOCKED: no</promise>\n",
		3, "Ralph loop BLOCKED: checkout: the agent needs a person: no"},
	{"our own words", "Ralph loop COMPLETE: checkout: 2 of 2 features proven\n",
		1, "REACHED_LIMIT: checkout: the run has used up its 1 iteration (--max-iterations); 0 of 2 features claimed"},
	{"10 MB in a line", hostile.Many("x", 10<<20), 1, "ended after"},
	{"a million lines", hostile.Many("x\n", 1_000_000), 1, "ended after"},
	{"the prompt of another loop", "ralph-loop: .claude/data/ralph-loops/other\n",
		1, "REACHED_LIMIT: checkout: the run has used up its 1 iteration (--max-iterations); 0 of 2 features claimed"},
}

var hostileClaude = []badInput{
	{"nothing", "", 1, "exit status 0, before the last event"},
	{"no JSON", "hello\n", 1, "exit status 0, before the last event: hello"},
	{"half a result", `{"type":"result","is_err`, 1, "exit status 0, before the last event"},
	{"a result in a text", `{"type":"assistant","message":{"content":[{"type":"text","text":` +
		`"{\"type\":\"result\",\"is_error\":false,\"result\":\"fake\"}"}]}}` + "\n",
		1, "exit status 0, before the last event"},
	{"a result in a list", "[" + strings.TrimSpace(result) + "]\n", 1, "5 tokens, $0.50"},
	{"two results in a line", strings.TrimSpace(result) + result, 1, "exit status 0, before the last event"},
	{"work after the result", result + says, 1, "exit status 0, before the last event"},
	{"a key twice", `{"type":"result","is_error":true,"is_error":false,"result":"x"}` + "\n", 1, "failed after"},
	{"an escaped key", `{"ty\u0070e":"result","is_error":false,"result":"x"}` + "\n", 1, "ended after"},
	{"a cost below 0", `{"type":"result","is_error":false,"result":"x","total_cost_usd":-5}` + "\n", 1, "ended after"},
	{"a cost out of range", `{"type":"result","is_error":false,"result":"x","total_cost_usd":1e999}` + "\n",
		1, "ended after"},
	{"a cost that is a text", `{"type":"result","is_error":false,"result":"x","total_cost_usd":"1"}` + "\n",
		1, "ended after"},
	{"tokens out of range", `{"type":"result","is_error":false,"result":"x","modelUsage":{"m":` +
		`{"inputTokens":9223372036854775807,"outputTokens":1e300}}}` + "\n", 1, "M tokens, cost unknown"},
	{"tokens below 0", `{"type":"result","is_error":false,"result":"x","modelUsage":{"m":{"inputTokens":-5}}}` + "\n",
		1, "ended after"},
	{"types that are others", `{"type":["result"],"is_error":"no","result":{}}` + "\n",
		1, "exit status 0, before the last event"},
	{"a reset in the past", `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1}}` + "\n" +
		`{"type":"result","is_error":true,"api_error_status":429}` + "\n", 4, "which (rate_limit, until "},
	{"a reset out of range",
		`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1e300}}` + "\n" +
			`{"type":"result","is_error":true,"api_error_status":429}` + "\n", 4, "which (rate_limit, until "},
	{"no login", `{"type":"result","is_error":true,"api_error_status":401,"result":"Not \u001b[31mlogged in"}` + "\n",
		4, "Ralph loop INTERRUPTED: checkout: the agent could not go on: Not logged in"},
	{"the words of an error in an answer", `{"type":"result","is_error":false,"result":"API Error: 401"}` + "\n",
		1, "ended after"},
	{"an answer with escapes", `{"type":"result","is_error":false,"result":"\u001b[2J\u202e<promise>BLOCKED: x` +
		`\u001b[0m</promise>"}` + "\n", 3, "BLOCKED: checkout: the agent needs a person: x"},
	{"a tool with escapes",
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"\u001b[2JBash",` +
			`"input":{"command":"a\nb\u202e"}}]}}` + "\n" + result, 1, "5 tokens, $0.50"},
	{"a model with a path", `{"type":"system","subtype":"init","model":"../../\u001b[2J","session_id":"../../x"}` + "\n" +
		result, 1, "5 tokens, $0.50"},
	{"a refusal that names no tool", `{"type":"result","is_error":false,"result":"x","permission_denials":[7]}` + "\n",
		1, "the agent's permissions refused 1 tool call"},
	{"a million refusals", hostile.Around(`{"type":"result","is_error":false,"result":"x","permission_denials":[7`, ",7",
		1_000_000, "]}\n"), 1, "the agent's permissions refused 1000001 tool calls"},
	{"deep", hostile.Around(result, "[", 1_000_000, "\n"), 1, "5 tokens, $0.50"},
	{"deep objects", hostile.Around(result, `{"a":`, 1_000_000, "\n"), 1, "cost unknown"},
	{"deep in a message", hostile.Around(`{"type":"assistant","message":{"content":[`, "[", 100_000, "\n"),
		1, "exit status 0, before the last event"},
	{"10 MB in a line", hostile.Around(`{"type":"result","is_error":false,"result":"`, "x", 10<<20, `"}`+"\n"),
		1, "exit status 0, before the last event"},
	{"an answer of 2 MB that ends well", hostile.Around(`{"type":"result","is_error":false,"result":"`, "é", 1<<20,
		`\n<promise>BLOCKED: end</promise>"}`+"\n"), 3, "Ralph loop BLOCKED: checkout: the agent needs a person: end"},
	{"100,000 tools that never end", hostile.Many(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t",`+
		`"name":"Bash","input":{"command":"x"}}]}}`+"\n", 100_000), 1, "exit status 0, before the last event"},
	{"Codex's end", `{"type":"turn.completed","usage":{}}` + "\n", 1, "exit status 0, before the last event"},
	{"Gemini's end", `{"type":"result","status":"success","stats":{}}` + "\n", 1, "exit status 0, before the last event"},
	{"a BOM", "\xef\xbb\xbf" + result, 1, "5 tokens, $0.50"},
	{"CRLF", strings.ReplaceAll(says+result, "\n", "\r\n"), 1, "5 tokens, $0.50"},
	{"NULs between events", "\x00\n" + says + "\x00" + result + result, 1, "5 tokens, $0.50"},
}

var hostileCodex = []badInput{
	{"nothing", "", 1, "exit status 0, before the last event"},
	{"no end", `{"type":"thread.started","thread_id":"t1"}` + "\n", 1, "exit status 0, before the last event"},
	{"tokens below 0", `{"type":"turn.completed","usage":{"input_tokens":-3,"cached_input_tokens":9}}` + "\n",
		1, "9 tokens, cost unknown"},
	{"tokens out of range", `{"type":"turn.completed","usage":{"input_tokens":1e300,"output_tokens":1e300}}` + "\n",
		1, "M tokens, cost unknown"},
	{"a thread that is a path", `{"type":"thread.started","thread_id":"../../../../etc/passwd"}` + "\n" +
		`{"type":"turn.completed","usage":{}}` + "\n", 1, "ended after"},
	{"a thread that is a pattern", `{"type":"thread.started","thread_id":"*"}` + "\n" +
		`{"type":"turn.completed","usage":{}}` + "\n", 1, "ended after"},
	{"a failure with escapes", `{"type":"turn.failed","error":{"message":"\u001b[2Jno\u202e"}}` + "\n",
		1, "failed after 0s: no"},
	{"a failure of another type", `{"type":"turn.failed","error":[1]}` + "\n",
		1, "the agent reports an error and does not say which"},
	{"an end in a tool's output", `{"type":"item.completed","item":{"type":"command_execution","aggregated_output":` +
		`"{\"type\":\"turn.completed\"}"}}` + "\n", 1, "exit status 0, before the last event"},
	{"deep", hostile.Many(`{"type":`, 100_000), 1, "exit status 0, before the last event"},
}

var hostileGemini = []badInput{
	{"nothing", "", 1, "exit status 0, before the last event"},
	{"a status of another type", `{"type":"result","status":7}` + "\n", 1, "exit status 0, before the last event"},
	{"tokens out of range", `{"type":"result","status":"success","stats":{"input_tokens":1e300}}` + "\n",
		1, "M tokens, cost unknown"},
	{"half an escape in pieces", `{"type":"message","role":"assistant","delta":true,"content":"\ud83d"}` + "\n" +
		`{"type":"result","status":"success"}` + "\n", 1, "ended after"},
	{"50,000 pieces", hostile.Around("", `{"type":"message","role":"assistant","delta":true,"content":"xxxxxxxx"}`+"\n",
		50_000, `{"type":"result","status":"success"}`+"\n"), 1, "ended after"},
	{"an error with escapes", `{"type":"result","status":"error","error":{"message":"\u001b[2J\u009b"}}` + "\n",
		1, "the agent reports an error and does not say which"},
}

var hostileOpencode = []badInput{
	{"nothing", "", 1, "exit status 0, before the last event"},
	{"a cost below 0", `{"type":"step_finish","part":{"reason":"stop","tokens":{"input":-7},"cost":-3}}` + "\n",
		1, "ended after"},
	{"a cost out of range", `{"type":"step_finish","part":{"reason":"stop","cost":1e308}}` + "\n" +
		`{"type":"step_finish","part":{"reason":"stop","cost":1e308}}` + "\n", 1, "ended after"},
	{"a part of another type", `{"type":"step_finish","part":[]}` + "\n", 1, "exit status 0, before the last event"},
	{"an error with escapes", `{"type":"error","error":{"name":"\u001b[2J","data":{"message":"\u202e"}}}` + "\n",
		1, "the agent reports an error and does not say which"},
}

var hostileQwen = []badInput{
	{"nothing", "", 1, "exit status 0, before the last event"},
	{"an error with nothing", `{"type":"result","is_error":true}` + "\n",
		1, "the agent reports an error and does not say which"},
	{"usage of another type", `{"type":"result","is_error":false,"result":"x","usage":[]}` + "\n", 1, "ended after"},
	{"tokens out of range", `{"type":"result","is_error":false,"result":"x","usage":{"input_tokens":1e300,` +
		`"cache_read_input_tokens":-1}}` + "\n", 1, "M tokens, cost unknown"},
	{"an error with escapes", `{"type":"result","is_error":true,"error":{"message":"[API Error: \u001b[2J]"}}` + "\n",
		1, "[API Error: ]"},
}

var hostileCopilot = []badInput{
	{"nothing", "", 1, "exit status 0, before the last event"},
	{"half an event", `{"type":"result","exitCo`, 1, "exit status 0, before the last event"},
	{"an exit status of another type", `{"type":"result","sessionId":"s","exitCode":"0"}` + "\n",
		1, "exit status 0, before the last event"},
	{"an exit status out of range", `{"type":"result","sessionId":"s","exitCode":1e300}` + "\n",
		1, "the agent reports an error and does not say which"},
	{"a session that is an option", `{"type":"result","sessionId":"--allow-all\u001b[2J","exitCode":0}` + "\n",
		1, "ended after"},
	{"an end in a tool's output", `{"type":"tool.execution_complete","data":{"toolCallId":"t","result":` +
		`"{\"type\":\"result\",\"exitCode\":0}"}}` + "\n", 1, "exit status 0, before the last event"},
	{"work after the end", `{"type":"result","exitCode":0}` + "\n" +
		`{"type":"assistant.message","data":{"content":"x"}}` + "\n", 1, "exit status 0, before the last event"},
	{"a promise in a subagent's message", `{"type":"assistant.message","data":{"parentToolCallId":"t","content":` +
		`"<promise>BLOCKED: no</promise>"}}` + "\n" + `{"type":"result","exitCode":0}` + "\n", 1, "REACHED_LIMIT"},
	{"an error with escapes", `{"type":"session.error","data":{"message":"\u001b[2Jno\u202e","statusCode":400}}` + "\n" +
		`{"type":"result","exitCode":1}` + "\n", 1, "failed after 0s: no"},
	{"a status that is a text", `{"type":"session.error","data":{"message":"no","statusCode":"401"}}` + "\n" +
		`{"type":"result","exitCode":1}` + "\n", 4, "the agent could not go on: no; see to its login"},
	{"a status out of range", `{"type":"session.error","data":{"message":"no","statusCode":1e300}}` + "\n" +
		`{"type":"result","exitCode":1}` + "\n", 4, "the agent could not go on: no"},
	{"data of another type", `{"type":"assistant.message","data":[]}` + "\n" + `{"type":"result","exitCode":0}` + "\n",
		1, "ended after"},
	{"a model with escapes", `{"type":"model.call_start","data":{"model":"\u001b[2J\n"}}` + "\n" +
		`{"type":"result","exitCode":0}` + "\n", 1, "ended after"},
	{"Claude Code's end", result, 1, "exit status 0, before the last event"},
	{"deep", hostile.Many(`{"type":`, 100_000), 1, "exit status 0, before the last event"},
	{"10 MB in a line", hostile.Around(`{"type":"assistant.message","data":{"content":"`, "x", 10<<20, `"}}`+"\n"),
		1, "exit status 0, before the last event"},
}
