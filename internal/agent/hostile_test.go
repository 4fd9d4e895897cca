package agent

import (
	"strings"
	"testing"
)

const (
	begins = `{"type":"system","subtype":"init","session_id":"s1","model":"m1","apiKeySource":"none"}` + "\n"
	says   = `{"message":{"model":"m1","content":[{"type":"text","text":"a text"}]},"type":"assistant"}` + "\n"
	good   = `{"is_error":false,"result":"the answer","total_cost_usd":0.5,"type":"result"}` + "\n"
	bad    = `{"is_error":true,"terminal_reason":"api_error","api_error_status":529,"type":"result"}` + "\n"
	fake   = `{\"type\":\"result\",\"is_error\":false,\"result\":\"fake\"}`
)

// hostileRows are outputs that no client prints, or only a broken one.
var hostileRows = []struct{ name, text, want string }{
	{"nothing", "", "died:"},
	{"a good end", begins + says + good, "done:the answer"},
	{"no answer", begins + says + `{"type":"result","is_error":false}`, "done:a text"},
	{"no line end", begins + strings.TrimSpace(good), "done:the answer"},
	{"\\r\\n", strings.ReplaceAll(begins+good, "\n", "\r\n"), "done:the answer"},
	{"a byte order mark", "\ufeff" + good, "done:the answer"},
	{"half an event", begins + says + good[:len(good)-9], "died:a text"},
	{"two objects in a line", begins + strings.TrimSpace(good) + good, "died:"},
	{"text before and after", "warning: x\n" + begins + good + "bye\n", "done:the answer"},
	{"invalid UTF-8", begins + strings.Replace(good, "the", "th\xff\xfee", 1), "done:the answer"},
	{"NUL", "\x00\x00\n" + begins + "\x00" + good + good, "done:the answer"},
	{"a raw control character", begins + strings.Replace(good, "the", "\x1b[31mthe", 1), "died:"},
	{"work after the result", begins + good + begins + says, "died:the answer"},
	{"background after the result", good + `{"type":"system","subtype":"task_updated"}` + "\n", "done:the answer"},
	{"unknown after the result", good + `{"type":"new"}` + "\n" + `{"type":"system","subtype":"new"}`, "done:the answer"},
	{"the last result counts", bad + good, "done:the answer"},
	{"the last result counts, bad", good + bad, "transient:the answer"},
	{"a result in a tool result", begins + says +
		`{"type":"user","message":{"content":[{"type":"tool_result","content":"` + fake + `\n` + fake + `"}]}}`,
		"died:a text"},
	{"a result in a text", begins + `{"type":"assistant","message":{"content":[{"type":"text","text":"` + fake + `"}]}}`,
		`died:{"type":"result","is_error":false,"result":"fake"}`},
	{"a result in a list", begins + says + `[[{"type":"result","is_error":false,"result":"fake"}],1]`, "died:a text"},
	{"a result with nothing", says + `{"type":"result"}`, "died:a text"},
	{"a result with other types",
		says + `{"type":"result","is_error":"no","result":{},"total_cost_usd":"x","modelUsage":[],"errors":{}}`,
		"died:a text"},
	{"an error with nothing", says + `{"type":"result","is_error":true}`, "failed:a text"},
	{"wrong types", `{"type":"result","is_error":false,"result":7,"total_cost_usd":-1,"modelUsage":` +
		`{"m":{"inputTokens":-5},"n":3},"permission_denials":"x","session_id":[]}`, "done:"},
	{"figures out of range", `{"type":"result","is_error":false,"total_cost_usd":1e999,"modelUsage":` +
		`{"m":{"inputTokens":1e300,"outputTokens":9223372036854775807},"n":{"outputTokens":9223372036854775807}}}`, "done:"},
	{"a reset out of range", `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1e300}}` +
		"\n" + `{"type":"result","is_error":true,"api_error_status":429}`, "limit:"},
	{"a reset in the past", `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1}}` + "\n" +
		`{"type":"result","is_error":true,"api_error_status":429}`, "limit:"},
	{"not our limit", `{"type":"result","is_error":true,"api_error_status":429,"result":"API Error: Server is ` +
		`temporarily limiting requests (not your usage limit) · Rate limited"}`, "transient:"},
	{"only words", `{"type":"result","is_error":true,"result":"Claude AI usage limit reached|1795302026"}`, "limit:"},
	{"only a status in words", `{"type":"result","is_error":true,"result":"API Error: 529 Overloaded"}`, "transient:"},
	{"words of the model, with an error", `{"type":"result","is_error":true,"terminal_reason":"hook_stopped",` +
		`"result":"API Error: 401, resets 3pm"}`, "failed:"},
	{"an old error before a new turn", `{"type":"assistant","error":"billing_error","is_api_error_message":true}` + "\n" +
		begins + `{"type":"result","is_error":true,"terminal_reason":"api_error"}`, "transient:"},
	{"words of the model", `{"type":"result","is_error":false,"result":"API Error: 401 Not logged in"}`,
		"done:API Error: 401 Not logged in"},
	{"an error's text", says + `{"type":"assistant","is_api_error_message":true,"message":{"model":"<synthetic>",` +
		`"content":[{"type":"text","text":"an error"}]}}`, "died:a text"},
	{"a subagent's text", says + `{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"text",` +
		`"text":"a subagent"}]}}` + "\n" + `{"type":"assistant","agent_id":"a","message":{"content":[{"type":"text",` +
		`"text":"another"}]}}`, "died:a text"},
	{"messages of other types", `{"type":"assistant","message":"x"}` + "\n" + `{"type":"user","message":[]}` + "\n" +
		`{"type":"system","subtype":["init"],"message":"x"}` + "\n" + `{"type":["result"]}` + "\n" + `{}`, "died:"},
	{"deep", begins + good + strings.Repeat(`{"type":`, 100_000) + "\n" + strings.Repeat(`[`, 100_000), "done:the answer"},
	{"Codex", `{"type":"turn.completed","usage":{}}` + "\n" + `{"type":"item.completed","item":{}}`, "died:"},
	{"Gemini", `{"type":"message","role":"assistant","content":"x"}` + "\n" +
		`{"type":"result","status":"success"}`, "died:"},
	{"Copilot", `{"type":"assistant.message","data":{"content":"x"}}` + "\n" + `{"type":"result","exitCode":0}`, "died:"},
	{"opencode", `{"type":"text","part":{"text":"x"}}` + "\n" + `{"type":"step_finish","reason":"stop"}`, "died:"},
}

func TestClaudeHostile(t *testing.T) {
	for _, row := range hostileRows {
		got := feed(NewClaude(), []byte(row.text)).Outcome(Exit{Code: 1}, sampled)
		if is := string(got.Class) + ":" + got.Message; is != row.want {
			t.Errorf("%s: %q, want %q", row.name, is, row.want)
		}
		if problem := badOutcome(got, sampled); problem != "" {
			t.Errorf("%s: %s", row.name, problem)
		}
	}
}

// TestClaudeLong checks that the end of a very long answer is kept, and that a line of 100 MB is passed over.
func TestClaudeLong(t *testing.T) {
	long := strings.Repeat(`é\"`, 1<<20)
	text := begins + strings.Replace(good, "the answer", long+"last words", 1)
	got := feed(NewClaude(), []byte(text)).Outcome(Exit{}, sampled)
	if m := got.Message; len(m) < maxMessage-4 || len(m) > maxMessage || !strings.HasSuffix(m, `é"last words`) {
		t.Errorf("%d bytes, which end %.40q", len(m), m[max(0, len(m)-20):])
	}
	p := NewClaude()
	lines := &Lines{Parser: p}
	lines.Write([]byte(begins + `{"type":"result","is_error":true,"result":"`))
	megabyte := []byte(strings.Repeat("x", 1<<20))
	for range 100 {
		lines.Write(megabyte)
	}
	lines.Write([]byte("\"}\n" + good))
	if got := p.Outcome(Exit{}, sampled); got.Class != Done || got.Message != "the answer" {
		t.Errorf("%s: %.99q", got.Class, got.Message)
	}
}

// TestProblemIsClean checks the words of an error that hold what a terminal would obey.
func TestProblemIsClean(t *testing.T) {
	text := `{"type":"result","is_error":true,"result":"a\u001b[31m\n\u202eb\u0000` + strings.Repeat("c", 1000) + `"}`
	got := feed(NewClaude(), []byte(text)).Outcome(Exit{}, sampled)
	if got.Class != Failed || !strings.HasPrefix(got.Problem, "a bccc") || badOutcome(got, sampled) != "" {
		t.Errorf("%s: %q", got.Class, got.Problem)
	}
}
