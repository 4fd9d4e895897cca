package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lastEvents are parts of the lines after which a session of an agent is done.
var lastEvents = map[string]string{
	OutputClaude: `"type":"result"`, OutputCodex: `"type":"turn.completed"`, OutputCopilot: `"type":"result"`,
	OutputGemini: `"status":"success","stats"`, OutputOpencode: `"reason":"stop"`, OutputQwen: `"type":"result"`,
}

// TestCutSamples ends each recorded session at each byte. No session is done before its last event, whatever its exit
// status. Of long samples it tries every 29th byte.
func TestCutSamples(t *testing.T) {
	for output, last := range lastEvents {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob("testdata/" + output + "/*.jsonl")
			if err != nil || len(files) == 0 {
				t.Fatal("no samples", err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				step := 1
				if len(text) > 3<<10 {
					step = 29
				}
				for end := 0; end <= len(text); end += step {
					if problem := cut(output, text[:end], last); problem != "" {
						t.Fatalf("%s, the first %d bytes: %s", file, end, problem)
					}
				}
			}
		})
	}
}

// cut says what is wrong with the outcome of a session that printed only text.
func cut(output string, text []byte, last string) string {
	for _, code := range []int{0, 1, 137} {
		p := formatOf(output).parser()
		got := feed(p, text).Outcome(Exit{Code: code}, sampled)
		if problem := badOutcome(got, sampled); problem != "" {
			return problem
		}
		if got.Class != Done {
			continue
		}
		lines := strings.Split(string(bytes.TrimSpace(text)), "\n")
		if line := lines[len(lines)-1]; !strings.Contains(string(text), last) || !strings.HasSuffix(line, "}") &&
			!strings.Contains(strings.Join(lines[:len(lines)-1], ""), last) {
			return "done without its last event"
		}
	}
	return ""
}

// TestCutIsCaught is the control: cut finds a session that is done too early.
func TestCutIsCaught(t *testing.T) {
	if cut(OutputCodex, []byte(`{"type":"turn.completed"}`), "no such event") == "" {
		t.Error("control: not caught")
	}
}
