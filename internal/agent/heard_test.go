package agent

import (
	"strings"
	"testing"
	"time"
)

// TestClaudeHeard says after each line of a session what was heard.
func TestClaudeHeard(t *testing.T) {
	h := Activity{}
	p := NewClaude()
	for _, step := range []struct {
		line string
		set  func()
	}{
		{begins, func() { h.Session, h.Model, h.KeySource = "s1", "m1", "none" }},
		{says, func() { h.Text = "a text" }},
		{toolUse("t1", "Bash", `{"description":"d","command":"go test\n ./...","url":"u"}`),
			func() { h.Tool = "Bash: go test ./..." }},
		{toolUse("t2", "Read", `{"file_path":"/a/b","limit":3}`), func() { h.Tool = "Read: /a/b" }},
		{toolResult("t2"), func() { h.Tool = "Bash: go test ./..." }},
		{`{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1795311361}}`,
			func() {}},
		{toolResult("t1"), func() { h.Tool = "" }},
		{toolUse("t3", "Thing\x1b[31m", `{"n":3}`), func() {}}, // a raw control character: not JSON
		{toolUse("t3", "New", `{"n":3}`), func() { h.Tool = "New" }},
		{toolUse("t4", "Bash", `{"command":"`+strings.Repeat("x", 999)+`"}`),
			func() { h.Tool = "Bash: " + strings.Repeat("x", 93) + "…" }},
		{toolResult("t4"), func() { h.Tool = "New" }},
		{toolResult("t3"), func() { h.Tool = "" }},
		{`{"type":"system","subtype":"api_retry","attempt":1}`, func() { h.Retrying = true }},
		{`{"type":"system","subtype":"task_progress"}`, func() {}},
		{`{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}`, func() {}},
		{`{"type":"system","subtype":"model_fallback","fallback_model":"m2"}`, func() { h.Model = "m2" }},
		{`{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_type":"local_bash"}]}`,
			func() { h.Waits = true }},
		{strings.Replace(says, "a text", `\n two\u0007  lines\n`, 1),
			func() { h.Text, h.Model, h.Retrying = "two lines", "m1", false }},
		{good, func() { h.Ended, h.Usage = true, Usage{CostUSD: 0.5, CostKnown: true} }},
		{`{"type":"system","subtype":"background_tasks_changed","tasks":[]}`,
			func() { h.Waits = false }},
		{`{"type":"something_new"}`, func() {}},
		{begins, func() { h.Ended = false }},
		{toolUse("t5", "Agent", `{"description":"look","prompt":"p"}`), func() { h.Tool = "Agent: look" }},
		{strings.Replace(says, "{", `{"parent_tool_use_id":"t5",`, 1), func() {}},
		{good, func() { h.Tool, h.Ended = "", true }},
		{`{"type":"stream_event"}`, func() { h.Ended = false }},
		{`{"type":"system","subtype":"api_retry"}`, func() { h.Retrying = true }},
		{good, func() { h.Ended, h.Retrying = true, false }},
		{`{"type":"user","message":{"content":"x"}}`, func() { h.Ended = false }},
		{toolUse("t6", "Read", `{"path":"p"}`), func() { h.Tool = "Read: p" }},
		{begins, func() { h.Tool = "" }},
	} {
		p.Line([]byte(strings.TrimSpace(step.line)), false)
		step.set()
		if got := p.Activity(); got != h {
			t.Fatalf("after %s\n got %+v\nwant %+v", step.line, got, h)
		}
	}
}

func toolUse(id, name, input string) string {
	return `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"` + id + `","name":"` + name +
		`","input":` + input + `}]}}`
}

func toolResult(id string) string {
	return `{"type":"user","message":{"content":[{"tool_use_id":"` + id + `","type":"tool_result","content":"x"}]}}`
}

// TestClaudeManyTools checks that tools without a result take bounded memory.
func TestClaudeManyTools(t *testing.T) {
	p := NewClaude().(*claudeParser)
	for range 10 * maxTools {
		p.Line([]byte(toolUse("t", "Bash", `{"command":"x"}`)), false)
	}
	if len(p.tools) != maxTools {
		t.Errorf("%d tools", len(p.tools))
	}
}

// TestLate has the longest times for which an agent may run on after its last event.
func TestLate(t *testing.T) {
	background := `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_type":"local_bash"}]}` + "\n"
	for text, most := range map[string]time.Duration{begins + good: 14 * time.Second, background + good: 4 * time.Second} {
		w := &watch{Parser: NewClaude()}
		for line := range strings.Lines(text) {
			w.Line([]byte(strings.TrimSpace(line)), false)
		}
		for after, want := range map[time.Duration]error{most: nil, most + 2*time.Second: errLastEvent} {
			if got := w.stopReason(Session{}, w.ended.Add(after)); got != want {
				t.Errorf("%v after %s: %v, want %v", after, text, got, want)
			}
		}
	}
}
