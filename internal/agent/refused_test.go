package agent

import (
	"runtime"
	"strings"
	"testing"
)

// TestRefused checks the name of the last tool that each agent says was refused.
func TestRefused(t *testing.T) {
	for output, lines := range map[string]string{
		OutputClaude: `{"type":"result","is_error":false,"permission_denials":[{"tool_name":"Edit"},{"tool_name":"shell"}]}`,
		OutputCodex: `{"type":"item.started","item":{"id":"1","type":"shell"}}
{"type":"item.completed","item":{"id":"1","type":"shell","status":"declined"}}`,
		OutputCopilot: `{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"shell"}}
{"type":"tool.execution_complete","data":{"toolCallId":"1","success":false,"error":{"code":"denied"}}}`,
		OutputGemini: `{"type":"tool_use","tool_id":"1","tool_name":"shell","parameters":{}}
{"type":"tool_result","tool_id":"1","status":"error","error":{"type":"tool_not_registered"}}`,
		OutputOpencode: `{"type":"tool_use","part":{"tool":"shell",` +
			`"state":{"error":"The user rejected permission to use this"}}}`,
		OutputQwen: `{"type":"result","is_error":false,"permission_denials":[{"tool_name":"shell"}]}`,
	} {
		got := feed(formatOf(output).parser(), []byte(lines)).Outcome(Exit{}, sampled)
		if got.Refused != "shell" || got.Denied < 1 {
			t.Errorf("%s: %d denied, the last one %q", output, got.Denied, got.Refused)
		}
	}
}

// TestManyRefused has an agent print very many refused tools. They are counted, and not kept: a list of them would take
// 400 bytes for each.
func TestManyRefused(t *testing.T) {
	const many = 500_000
	line := `{"type":"result","is_error":false,"permission_denials":[` + strings.Repeat("1,", many) +
		`{"tool_name":"shell"}]}`
	for _, output := range []string{OutputClaude, OutputQwen} {
		p := formatOf(output).parser()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p.Line([]byte(line), false)
		runtime.ReadMemStats(&after)
		got := p.Outcome(Exit{}, sampled)
		if got.Denied != many+1 || got.Refused != "shell" {
			t.Errorf("%s: %d denied, the last one %q", output, got.Denied, got.Refused)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 20*many {
			t.Errorf("%s: it took %d bytes", output, took)
		}
	}
}
