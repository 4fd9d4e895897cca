package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// Entries of a transcript, each with its line end.
const (
	said = `{"type":"assistant","isSidechain":false,"timestamp":"2026-11-21T05:00:02Z",` +
		`"message":{"id":"m2","model":"m","content":[{"type":"text","text":"done"}],` +
		`"usage":{"input_tokens":10,"cache_creation_input_tokens":200,"cache_read_input_tokens":3000,` +
		`"output_tokens":40000}}}` + "\n"
	called = `{"type":"assistant","isSidechain":false,"timestamp":"2026-11-21T05:00:01Z",` +
		`"message":{"id":"m1","model":"m","content":[{"type":"tool_use","name":"Bash"}],` +
		`"usage":{"input_tokens":1}}}` + "\n"
	sub = `{"type":"assistant","isSidechain":true,"timestamp":"2026-11-21T05:00:09Z",` +
		`"message":{"id":"m3","model":"m","content":[{"type":"tool_use","name":"Bash"}],` +
		`"usage":{"input_tokens":9}}}` + "\n"
	failed = `{"type":"assistant","isSidechain":false,"message":{"model":"<synthetic>",` +
		`"content":[{"type":"text","text":"resets 3pm"}],"usage":{"input_tokens":0}},` +
		`"error":"rate_limit","isApiErrorMessage":true}` + "\n"
	synth = `{"type":"assistant","message":{"model":"<synthetic>",` +
		`"content":[{"type":"text","text":"No response requested."}],"usage":{"input_tokens":7}}}` + "\n"
	result = `{"type":"user","isSidechain":false,"timestamp":"2026-11-21T05:00:01Z",` +
		`"message":{"role":"user","content":[{"type":"tool_result","content":"x"}]}}` + "\n"
	typed    = `{"type":"user","isSidechain":false,"message":{"role":"user","content":"go on"}}` + "\n"
	compact  = `{"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}` + "\n"
	feedback = `{"type":"user","isMeta":true,"message":{"role":"user",` +
		`"content":"Stop hook feedback:\nthe \"assistant\" said"}}` + "\n"
)

func TestParseTail(t *testing.T) {
	now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	at := time.Date(2026, 11, 21, 5, 0, 1, 0, time.UTC)
	for name, tc := range map[string]struct {
		tail string
		want decide.Tail
	}{
		"empty":                       {"", decide.Tail{Context: -1}},
		"not a transcript":            {"x\n{\n\n\n", decide.Tail{Context: -1}},
		"a call, then words":          {called + said + feedback, decide.Tail{ToolCall: at, Context: 43210}},
		"a line cut at the front":     {called[20:] + said, decide.Tail{Context: 43210}},
		"the last line being written": {called + said + called[:40], decide.Tail{ToolCall: at, Context: 43210}},
		"a subagent's":                {called + said + sub, decide.Tail{ToolCall: at, Context: 43210}},
		"the host's own words":        {called + said + synth, decide.Tail{ToolCall: at, Context: 43210}},
		"an error at the end": {
			called + said + failed,
			decide.Tail{ToolCall: at, Context: 43210, Error: "rate_limit", RetryAt: now.Add(9 * time.Hour)},
		},
		"a result of a tool": {result + said, decide.Tail{ToolCall: at, Context: 43210}},
		"with spaces": {strings.ReplaceAll(called+said, `":`, `": `),
			decide.Tail{ToolCall: at, Context: 43210}},
		"CRLF": {strings.ReplaceAll(called+said, "\n", "\r\n"),
			decide.Tail{ToolCall: at, Context: 43210}},
		"an error, then a prompt": {called + said + failed + typed, decide.Tail{ToolCall: at, Context: 43210}},
		"an error of yesterday": {
			strings.Replace(failed, `"error"`, `"timestamp":"2026-11-20T05:00:00Z","error"`, 1),
			decide.Tail{Context: -1, Error: "rate_limit"},
		},
		"an error that was overcome": {failed + called + said, decide.Tail{ToolCall: at, Context: 43210}},
		"compacted since":            {called + said + compact, decide.Tail{ToolCall: at}},
		"compacted before":           {called + compact + said, decide.Tail{ToolCall: at, Context: 43210}},
		"hostile usage":              {strings.Replace(said, "40000", "-1e300", 1), decide.Tail{Context: 3210}},
	} {
		if got := ParseTail([]byte(tc.tail), now); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// TestParseTailRecorded reads transcripts that the real client wrote.
func TestParseTailRecorded(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "transcripts", "rate_limit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	want := "2026-11-21T14:00:00Z"
	if !knowsPlaces() {
		want = "2026-11-21T15:00:00Z"
	}
	got := ParseTail(data, now)
	if got.Error != "rate_limit" || got.RetryAt.Format(time.RFC3339) != want {
		t.Errorf("%+v", got)
	}
	data, err = os.ReadFile(filepath.Join("testdata", "transcripts", "tools.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if got := ParseTail(data, now); got.Context != 20 || got.ToolCall.IsZero() || got.Error != "" {
		t.Errorf("%+v", got)
	}
}
