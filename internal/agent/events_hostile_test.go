package agent

import (
	"strings"
	"testing"
)

const (
	codexBegins = `{"type":"thread.started","thread_id":"t1"}` + "\n"
	codexSays   = `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"a text"}}` + "\n"
	codexEnd    = `{"type":"turn.completed","usage":{"input_tokens":3,"cached_input_tokens":9,"output_tokens":-1}}` + "\n"
	geminiEnd   = `{"type":"result","status":"success","stats":{"input_tokens":1e300,"output_tokens":"x"}}` + "\n"
	stop        = `{"type":"step_finish","part":{"reason":"stop","tokens":{"input":-7,"output":2},"cost":-3}}` + "\n"
	overflow    = `{"type":"error","error":{"name":"ContextOverflowError","data":{"message":"too long"}}}` + "\n"
	copilotEnd  = `{"type":"result","sessionId":"s","exitCode":0}` + "\n"
)

// hostileEvents are outputs that no client prints, or only a broken one, with the class and the answer.
var hostileEvents = []struct {
	name, output, text, want string
	code                     int
}{
	{"a good end", OutputCodex, codexBegins + codexSays + codexEnd, "done:a text", 0},
	{"a good end, a bad status", OutputCodex, codexBegins + codexSays + codexEnd, "done:a text", 1},
	{"no end", OutputCodex, codexBegins + codexSays, "died:a text", 0},
	{"no end, and status 1", OutputCodex, codexBegins + codexSays, "interrupted:a text", 1},
	{"nothing, and status 1", OutputCodex, "", "died:", 1},
	{"work after the end", OutputCodex, codexBegins + codexEnd + codexSays, "died:a text", 0},
	{"an error that passes", OutputCodex, codexBegins + `{"type":"error","message":"429"}` + "\n" + codexSays + codexEnd,
		"done:a text", 0},
	{"a failure that is said twice", OutputCodex, codexBegins + `{"type":"turn.failed","error":{"message":{}}}`,
		"failed:", 1},
	{"an end inside a tool's output", OutputCodex, codexBegins + `{"type":"item.completed","item":{"type":"x","text":` +
		`"{\"type\":\"turn.completed\"}"}}`, "died:", 0},
	{"an answer of a tool is no error", OutputCodex, codexBegins + `{"type":"item.completed","item":{"id":"i",` +
		`"type":"agent_message","text":"HTTP 429: usage limit"}}` + "\n" + codexEnd, "done:HTTP 429: usage limit", 0},
	{"figures out of range", OutputGemini, geminiEnd, "done:", 0},
	{"a result without a status", OutputGemini, `{"type":"result","status":7}`, "died:", 0},
	{"a status in the place of words", OutputGemini, `{"type":"result","status":"error","error":{"message":7}}`,
		"failed:", 0},
	{"pieces", OutputGemini, pieces("a", `\n`, "b") + geminiEnd, "done:a\nb", 0},
	{"pieces with half an escape", OutputGemini, pieces(`\ud83d`, `\ude00`) + geminiEnd, "done:😀", 0},
	{"pieces that are none", OutputGemini, pieces("a") + `{"type":"message","role":"assistant","delta":true,"content":7}` +
		"\n" + pieces("b") + geminiEnd, "done:ab", 0},
	{"the user's words", OutputGemini, `{"type":"message","role":"user","content":"x","delta":true}` + "\n" + geminiEnd,
		"done:", 0},
	{"an error beside success", OutputGemini, `{"type":"result","status":"success","error":{"type":` +
		`"FatalTurnLimitedError"}}`, "done:", 0},
	{"a stop", OutputOpencode, stop, "done:", 0},
	{"a stop of a summary", OutputOpencode, overflow + stop, "context:", 0},
	{"a step that has no reason", OutputOpencode, `{"type":"step_finish","part":[]}`, "died:", 0},
	{"an exit status of another type", OutputCopilot, `{"type":"result","exitCode":"0"}`, "died:", 0},
	{"an abort before the end", OutputCopilot, `{"type":"abort"}` + "\n" + copilotEnd, "interrupted:", 0},
	{"Claude Code's end", OutputCopilot, good, "died:", 0},
	{"Copilot's end", OutputQwen, copilotEnd, "died:", 0},
	{"a result", OutputQwen, `{"type":"result","is_error":false,"result":"x","usage":[]}`, "done:x", 0},
	{"an error with nothing", OutputQwen, `{"type":"result","is_error":true}`, "failed:", 0},
	{"an error's text", OutputQwen, `{"type":"assistant","message":{"content":[{"type":"text",` +
		`"text":"[API Error: 429]"}]}}` + "\n" + `{"type":"result","is_error":true,"error":{"message":"[API Error: 429]"}}`,
		"limit:", 0},
	{"deep", OutputQwen, strings.Repeat(`{"type":`, 100_000) + "\n" + strings.Repeat(`[`, 100_000), "died:", 0},
}

// pieces are texts that Gemini CLI prints one after the other.
func pieces(texts ...string) (lines string) {
	for _, text := range texts {
		lines += `{"type":"message","role":"assistant","delta":true,"content":"` + text + `"}` + "\n"
	}
	return lines
}

func TestEventsHostile(t *testing.T) {
	for _, row := range hostileEvents {
		got := feed(formatOf(row.output).parser(), []byte(row.text)).Outcome(Exit{Code: row.code}, sampled)
		if is := string(got.Class) + ":" + got.Message; is != row.want {
			t.Errorf("%s: %s: %q, want %q", row.output, row.name, is, row.want)
		}
		if problem := badOutcome(got, sampled); problem != "" {
			t.Errorf("%s: %s: %s", row.output, row.name, problem)
		}
	}
}

// TestPiecesAreBounded checks that an endless text in pieces takes bounded memory, and that its end is kept.
func TestPiecesAreBounded(t *testing.T) {
	p := NewGemini().(*eventParser)
	for range 100 {
		feed(p, []byte(pieces(strings.Repeat(`é\"`, 20_000))))
	}
	feed(p, []byte(pieces("last words")+geminiEnd))
	got := p.Outcome(Exit{}, sampled)
	if len(p.pieces) > 5*maxMessage || len(got.Message) > maxMessage || !strings.HasSuffix(got.Message, `é"last words`) {
		t.Errorf("%d bytes kept, a message of %d bytes", len(p.pieces), len(got.Message))
	}
}
