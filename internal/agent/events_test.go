package agent

import (
	"os"
	"testing"
)

// eventSamples are rows for replay, by the name of the format. The samples are what the versions of the rows printed,
// with a scripted model behind them.
var eventSamples = map[string]string{
	"codex": `
400-context                  1 context     ?        ?       |  | Codex ran out of room in the model's context
401                          1 auth        ?        ?       |  | unexpected status 401 Unauthorized: Incorrec
403                          1 auth        ?        ?       |  | unexpected status 403 Forbidden: Country not
404-model                    1 failed      ?        ?       |  | The model gpt-nope does not exist
429-insufficient-quota       1 auth        ?        ?       |  | Quota exceeded. Check your plan and billing
429-retry-after-1            1 limit       ?        ?       |  | exceeded retry limit, last status: 429 Too M
429-usage-limit              1 limit       ?        ?       |  | You’ve hit your usage limit. Upgrade to Pro
500                          1 transient   ?        ?       |  | We’re currently experiencing high demand, wh
503-overloaded               1 transient   ?        ?       |  | Selected model is at capacity. Please try a
bg-session                   0 done        500/30   ?       | Done. |
cut                          1 transient   ?        ?       |  | stream disconnected before completion: strea
default-sandbox              0 done        1000/70  ?       | Done. |
failed-context               1 context     ?        ?       |  | Codex ran out of room in the model's context
failed-rate-limit            1 limit       ?        ?       |  | rate limit exceeded: Rate limit reached for
hang                         0 done        100/10   ?       | x |
hooks-home-1                 0 done        1100/80  ?       | Done again. |
hooks-project-1              0 done        1000/70  ?       | Done. |
items                        0 done        700/50   ?       | Done. |
no-git                       1 failed      ?        ?       |  | Not inside a trusted directory and --skip-gi
no-key                       1 auth        ?        ?       |  | Missing environment variable:
ralph-stop-hook-in-codex     0 done        2100/180 ?       | did one |
resume-unknown               1 failed      ?        ?       |  | Error: thread/resume: thread/resume failed:
resume                       0 done        1400/90  ?       | Done. |
sigint-api                   1 interrupted ?        ?       | I look. | exit status 1, before the last event
sigint-tool                  1 interrupted ?        ?       | I wait. | exit status 1, before the last event
sigkill-tool-group          -9 died        ?        ?       | I wait. | exit status 137, which means that it was kil
sigterm-api                -15 interrupted ?        ?       | I look. | exit status 143, which means that a signal e
sigterm-tool-group         -15 interrupted ?        ?       | I wait. | exit status 143, which means that a signal e
sigterm-tool               -15 interrupted ?        ?       | I wait. | exit status 143, which means that a signal e
success                      0 done        1000/70  ?       | Done. |
text                         0 died        ?        ?       |  | exit status 0, before the last event: OpenAI
workspace-write              0 done        1000/70  ?       | Done. |
`,
	"copilot": `
400-context                  1 context     ?        ?       |  | 400 This model's maximum context length is 1
401                          1 auth        ?        ?       |  | Authentication failed with provider at http:
429-quota                   -9 died        ?        ?       |  | exit status 137, which means that it was kil
429-retry-after-2            1 limit       ?        ?       |  | Failed to get response from the AI model; re
cut                          1 transient   ?        ?       |  | Failed to get response from the AI model; re
hooks                        0 done        ?        ?       | Done again. |
no-allow                     0 done        ?        ?       | Done. |
resume-unknown               1 failed      ?        ?       |  | Error: No session, task, or name matched '00
resume                       0 done        ?        ?       | Done. |
sigint-api                   0 interrupted ?        ?       | I look. | exit status 0, interrupted by a signal: Erro
sigint-tool                  0 interrupted ?        ?       | I look. | exit status 0, interrupted by a signal
sigkill-tool-group          -9 died        ?        ?       | I look. | exit status 137, which means that it was kil
sigterm-tool-group           0 interrupted ?        ?       | I look. | exit status 0, interrupted by a signal: Erro
success                      0 done        ?        ?       | Done. |
text                         0 died        ?        ?       |  | exit status 0, before the last event: Change
`,
	"gemini": `
400-context                144 context     0/0      ?       |  | [API Error: {"error":{"code":400,"message":"
400-key                    144 auth        0/0      ?       |  | [API Error: {"error":{"code":400,"message":"
401                        145 auth        0/0      ?       |  | [API Error: {"error":{"code":401,"message":"
404-model                    1 failed      0/0      ?       |  | [API Error: models/x is not found]
429-minute                  -9 died        ?        ?       |  | exit status 137, which means that it was kil
429-quota-day              173 limit       0/0      ?       |  | [API Error: You have exhausted your daily qu
500                         -9 died        ?        ?       |  | exit status 137, which means that it was kil
503                         -9 died        ?        ?       |  | exit status 137, which means that it was kil
auto-edit                    0 done        1100/80  ?       | Done. |
cut                          0 transient   400/40   ?       | half an answerhalf an answer | Model stream ended withou
hooks                        0 done        1100/80  ?       | Done again. |
json                         0 died        ?        ?       |  | exit status 0, before the last event: }
max-turns                   53 turns       1200/100 ?       | I look. | Reached max session turns for this session.
no-key                      41 auth        ?        ?       |  | When using Gemini API, you must specify the
no-yolo                      0 done        1000/70  ?       | Done. |
resume-unknown              42 failed      ?        ?       |  | Error resuming session: Invalid session iden
resume                       0 done        400/20   ?       | Done. |
sigint-api-group             0 interrupted ?        ?       | I look. | exit status 0, before the last event
sigint-api                  -9 died        ?        ?       | I look. | exit status 137, which means that it was kil
sigint-tool-group            0 interrupted ?        ?       | I look. | exit status 0, before the last event
sigint-tool-pid-norelaunch   0 interrupted ?        ?       | I look. | exit status 0, before the last event
sigint-tool                  0 done        1000/70  ?       | Done. |
sigkill-tool-group          -9 died        ?        ?       | I look. | exit status 137, which means that it was kil
sigterm-api-group            0 interrupted ?        ?       | I look. | exit status 0, before the last event
sigterm-api                 -9 died        ?        ?       | I look. | exit status 137, which means that it was kil
sigterm-tool-group           0 interrupted ?        ?       | I look. | exit status 0, before the last event
sigterm-tool-pid-norelaunch   0 interrupted ?        ?       | I look. | exit status 0, before the last event
sigterm-tool                 0 done        1000/70  ?       | Done. |
success                      0 done        1000/70  ?       | Done. |
text                         0 died        ?        ?       |  | exit status 0, before the last event: Done.
untrusted                   55 failed      ?        ?       |  | Gemini CLI is not running in a trusted direc
`,
	"opencode": `
400-context                 -9 context     ?        ?       | {"title":"x"} | This model's maximum context length is 1
401                          1 auth        ?        ?       |  | Incorrect API key
429-quota                   -9 died        ?        ?       |  | exit status 137, which means that it was kil
429-retry-after-2            1 limit       ?        ?       |  | Rate limit reached
500                         -9 died        ?        ?       |  | exit status 137, which means that it was kil
ask-no-auto                  0 failed      ?        ?       | I look. | The user rejected permission to use this spe
bad-model                    1 failed      ?        ?       |  | Unexpected server error. Check server logs f
cut                         -9 died        ?        ?       | half an answer | exit status 137, which means that it wa
plugin                       0 done        1000/70  0.00441 | Done. |
resume-unknown               1 failed      ?        ?       |  | Error: Session not found
sigint-api                  -2 interrupted ?        ?       | I look. | exit status 130, which means that a signal e
sigint-tool-group           -2 interrupted ?        ?       | I look. | exit status 130, which means that a signal e
sigint-tool                 -2 interrupted ?        ?       | I look. | exit status 130, which means that a signal e
sigkill-tool-group          -9 died        ?        ?       | I look. | exit status 137, which means that it was kil
sigterm-tool               -15 interrupted ?        ?       | I look. | exit status 143, which means that a signal e
success                      0 done        1000/70  0.00441 | Done. |
text                         0 died        ?        ?       |  | exit status 0, before the last event: > buil
`,
	"qwen": `
400-context                  1 context     0/0      ?       |  | [API Error: 400 This model's maximum context
401                          1 auth        0/0      ?       |  | [API Error: 401 Incorrect API key]
429-quota                   -9 died        ?        ?       |  | exit status 137, which means that it was kil
429-retry-after-2           -9 died        ?        ?       |  | exit status 137, which means that it was kil
cut                          1 transient   0/0      ?       | half an answer[API Error: Mo | [API Error: Model stream
hooks                        0 done        1100/80  ?       | Done.Done again. |
json                         0 died        ?        ?       |  | exit status 0, before the last event: [{"typ
max-turns                   53 turns       ?        ?       | I look. | exit status 53, before the last event
no-yolo                      0 done        1000/70  ?       | Done. |
ralph-stop-hook-in-qwen      0 done        2100/180 ?       | did one |
resume-unknown               1 failed      ?        ?       |  | No saved session found with ID 00000001-0000
resume                       0 done        1800/110 ?       | Done. |
sigint-tool-group           -2 interrupted ?        ?       | I look. | exit status 130, which means that a signal e
sigint-tool                 -2 interrupted ?        ?       | I look. | exit status 130, which means that a signal e
sigterm-api                -15 interrupted ?        ?       | I look. | exit status 143, which means that a signal e
sigterm-tool-group         -15 interrupted ?        ?       | I look. | exit status 143, which means that a signal e
success                      0 done        1000/70  ?       | Done. |
`,
}

// eventUntil says when the limit of a sample is reset. All others do not say it.
var eventUntil = map[string]string{
	"429-usage-limit":   "2026-11-22T01:44:00Z",
	"failed-rate-limit": "2026-11-21T22:37:00Z",
}

// eventDenied says how many tools were refused in a sample. In all others none was.
var eventDenied = map[string]map[string]int{
	"copilot":  {"no-allow": 1},
	"gemini":   {"auto-edit": 1, "no-yolo": 1},
	"opencode": {"ask-no-auto": 1},
	"qwen":     {"no-yolo": 1},
}

func TestEventSamples(t *testing.T) {
	folders, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if rows := eventSamples[folder.Name()]; folder.Name() != OutputClaude && folder.Name() != "fuzz" && rows == "" {
			t.Errorf("no rows for the samples of %s", folder.Name())
		}
	}
	for output, rows := range eventSamples {
		t.Run(output, func(t *testing.T) { replay(t, output, rows, eventUntil, eventDenied[output]) })
	}
}
