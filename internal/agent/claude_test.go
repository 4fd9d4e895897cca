package agent

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"
)

// sampled is when the samples were taken.
var sampled = time.Date(2026, 11, 21, 22, 36, 0, 0, time.UTC)

// sampleRows are rows for replay. testdata/claude has what Claude Code 2.1.329 printed, with a scripted model.
const sampleRows = `
400-credit               1 auth        0/0 0             |           | Credit balance is too low
400-prompt-too-long      1 context     0/0 0             |           | Prompt is too long · the request is ~210000
401                      1 auth        0/0 0             |           | Invalid API key · Fix external API key
403                      1 auth        0/0 0             |           | Failed to authenticate. API Error: 403 Your acc
404-model                1 failed      0/0 0             |           | There's an issue with the selected model
429-no-header            1 limit       0/0 0             |           | API Error: Request rejected (429) · Rate limited
429-retry-after-1        1 limit       0/0 0             |           | API Error: Request rejected (429) · This request
429-retry-after-3600     1 limit       0/0 0             |           | API Error: Request rejected (429)
500                      1 transient   0/0 0             |           | API Error: 500 Internal server error.
529                      1 transient   0/0 0             |           | API Error: 529 Overloaded.
api-timeout-3s           1 transient   0/0 0             |           | Request timed out.
bash-timeout             0 done        2100/1010 0.0286  | Done.     |
bg-ceiling-3s            0 done        300/30 0.0018     | Done.     |
bg-ceiling-default       0 done        1100/510 0.0146   | Done.     |
bg-shell-end             0 done        2100/1010 0.0286  | Done.     |
control-interrupt        0 done        2100/1053 0.02946 | Done.     |
cut                      0 done        300/20 0.0016     | half an answer |
fallback-404             0 done        1000/500 0.007    | Done.     |
fallback-429             1 limit       0/0 0             |           | API Error: Request rejected (429)
fallback-529             0 done        1000/500 0.007    | Done.     |
json                     0 done        200/20 0.0012     | Done.     |
json-5h-limit            1 limit       0/0 0             |           | You've hit your 5-hour limit
json-schema              0 done        100/10 0.0006     | {"done":true,"note":"ok"} |
json-schema-never        0 done        2000/1000 0.028   | Done.     |
json-verbose             0 done        200/20 0.0012     | Done.     |
key-5h-headers           1 limit       1000/500 0.014    | I look.   | API Error: Request rejected (429) · This request
max-budget               1 budget      2000/1000 0.028   | I look.   | Reached maximum budget ($0.02)
max-turns                1 turns       2000/1000 0.028   | I look.   | Reached maximum number of turns (2)
mid-429                  1 limit       2000/1000 0.028   | I look.   | API Error: Request rejected (429)
no-key                   1 auth        0/0 0             |           | Not logged in · Please run /login
oauth-401                1 auth        0/0 0             |           | Failed to authenticate. API Error: 401 OAuth
oauth-5h-rejected        1 limit       1000/500 0.007    | I look.   | You've hit your 5-hour limit
oauth-7d-opus-rejected   1 limit       0/0 0             |           | You've hit your Opus limit
oauth-7d-rejected        1 limit       0/0 0             |           | You've hit your weekly limit
oauth-allowed            0 done        1100/510 0.0073   | Done.     |
oauth-allowed-warning    0 done        1100/510 0.0073   | Done.     |
partial-messages         0 done        200/20 0.0012     | Done.     |
perm-default             0 done        1200/520 0.0152   | Done.     |
ralph-handover-1         0 done        200/20 0.0012     | did one   |
ralph-loop-whole         0 done        600/60 0.0036     | did one   |
refused                  1 transient   0/0 0             |           | API Error: Connection refused
resume                   0 done        4000/2000 0.056   | Done.     |
resume-after-kill        0 done        1000/500 0.014    | Done.     |
resume-unknown           1 failed      0/0 0             |           | No conversation found with session ID
session-id-bad           1 failed      ? ?               |           | Error: Invalid session ID. Must be a valid UUID.
session-id-reused        1 failed      ? ?               |           | Error: Session ID 00000001-0000-4000-8000-00000
sighup                 129 interrupted ? ?               | I look.   | exit status 129, which means that a signal ended
sigint-at-startup        0 died        ? ?               |           | exit status 0, before the last event
sigint-in-stream         0 interrupted 1100/516 0.01472  | one two three | interrupted: aborted_streaming
sigint-in-tool-group     0 interrupted 100/10 0.0006     | I wait.   | interrupted: aborted_tools
sigint-in-tool-pid       0 interrupted 100/10 0.0006     | I wait.   | interrupted: aborted_tools
sigint-json              0 died        ? ?               |           | exit status 0, before the last event
sigint-retrying          0 interrupted 0/0 0             |           | interrupted: aborted_streaming
sigint-waiting-api       0 interrupted ? ?               | I look.   | exit status 0, interrupted by a signal
sigkill-in-tool-pid     -9 died        ? ?               | I wait.   | exit status 137, which means that it was killed, 
sigterm-at-startup     143 interrupted ? ?               |           | exit status 143
sigterm-bg-shell-pid   143 interrupted ? ?               | I start.  | exit status 143
sigterm-in-stream      143 interrupted ? ?               | I look.   | exit status 143
sigterm-in-tool-group  143 interrupted ? ?               | I wait.   | exit status 143
sigterm-in-tool-pid    143 interrupted ? ?               | I wait.   | exit status 143
sigterm-sub-pid        143 done        300/30 0.0018     | main done |
sigterm-text           143 interrupted ? ?               |           | exit status 143
sigterm-waiting-api    143 interrupted ? ?               | I look.   | exit status 143
sse-overloaded           1 transient   200/20 0.0012     |           | the answer broke off: [ede_diagnostic] result_ty
stream-idle-2s           0 done        100/10 0.0006     | one two three four five six seven |
subagent                 0 done        7100/1110 0.0506  | Done.     |
success                  0 done        200/20 0.0012     | Done.     |
text                     0 died        ? ?               |           | exit status 0, before the last event: Done.
tool-progress            0 done        1100/510 0.0146   | Done.     |
watchdog-5h-limit        0 done        1000/500 0.007    | Done.     |
watchdog-retry-after-20  0 done        1000/500 0.014    | Done.     |
worktree                 0 done        1100/510 0.0146   | Done.     |
`

// sampleUntil says when the limit of a sample is reset. All other samples do not say it.
var sampleUntil = map[string]string{
	"json-5h-limit":          "2026-11-22T01:43:00Z", // only in words: 7:13am (Asia/Kolkata)
	"oauth-5h-rejected":      "2026-11-22T01:36:01Z",
	"oauth-7d-rejected":      "2026-11-25T22:36:01Z",
	"oauth-7d-opus-rejected": "2026-11-25T22:36:01Z",
}

// sampleDenied says how many tools were refused in a sample. In all others none was.
var sampleDenied = map[string]int{"perm-default": 2}

func TestClaudeSamples(t *testing.T) {
	replay(t, OutputClaude, sampleRows, sampleUntil, sampleDenied)
}

// tokensOf returns the tokens as sampleRows have them.
func tokensOf(u Usage) string {
	if !u.TokensKnown {
		return "?"
	}
	return fmt.Sprintf("%d/%d", u.Input, u.Output)
}

// costOf returns the cost as sampleRows have it.
func costOf(u Usage) string {
	if !u.CostKnown {
		return "?"
	}
	return fmt.Sprint(math.Round(u.CostUSD*1e9) / 1e9)
}

// feed gives text to a parser, in pieces of a size that cuts its lines.
func feed(p Parser, text []byte) Parser {
	lines := &Lines{Parser: p}
	for piece := range slices.Chunk(text, 999) {
		lines.Write(piece)
	}
	lines.Close()
	return p
}

func feedFile(t *testing.T, p Parser, file string) Parser {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return feed(p, text)
}

func TestNotStarted(t *testing.T) {
	got := NoStart(errors.New("no such\nprogram"))
	if got.Class != NotStarted || got.Problem != "no such program" || got.ExitCode != -1 {
		t.Errorf("%+v", got)
	}
}
