package agent

import (
	"strings"
	"testing"
	"time"
)

const (
	rejected = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795311361}}` + "\n"
	allowed  = `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}` + "\n"
	refused  = `{"type":"system","subtype":"permission_denied","message":"no"}` + "\n"
	halted   = `{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n"
)

// failing is an error message of Claude Code's own, with the kind of the error.
func failing(kind string) string {
	return `{"type":"assistant","is_api_error_message":true,"error":"` + kind + `","message":{"model":"<synthetic>"}}
`
}

// ends is a result with an error, and with more fields.
func ends(fields string) string { return `{"type":"result","is_error":true` + fields + "}\n" }

// TestClaudeClass has the endings of which there is no sample: fields that are documented, and what older versions say.
func TestClaudeClass(t *testing.T) {
	for _, row := range []struct {
		text string
		exit Exit
		want Class
	}{
		{text: ends(`,"subtype":"error_max_turns"`), want: Turns},
		{text: ends(`,"subtype":"error_max_budget_usd"`), want: Budget},
		{text: ends(`,"terminal_reason":"blocking_limit"`), want: Context},
		{text: ends(`,"terminal_reason":"rapid_refill_breaker"`), want: Context},
		{text: ends(`,"api_error_status":413`), want: Context},
		{text: ends(`,"result":"Prompt is too long"`), want: Context},
		{text: ends(`,"terminal_reason":"image_error","result":"Prompt is too long"`), want: Failed},
		{text: ends(`,"result":"Credit balance is too low"`), want: Auth},
		{text: ends(`,"result":"Not logged in · Please run /login"`), want: Auth},
		{text: failing("billing_error") + ends(`,"api_error_status":400`), want: Auth},
		{text: failing("account_on_hold") + ends(`,"terminal_reason":"api_error"`), want: Auth},
		{text: failing("account_on_hold") + says + ends(`,"terminal_reason":"api_error"`), want: Transient},
		{text: failing("model_not_found") + ends(`,"terminal_reason":"api_error"`), want: Failed},
		{text: failing("max_output_tokens") + ends(`,"terminal_reason":"api_error"`), want: Failed},
		{text: failing("rate_limit") + ends(`,"terminal_reason":"api_error"`), want: Limit},
		{text: failing("rate_limit") + ends(`,"result":"not your usage limit"`), want: Transient},
		{text: rejected + ends(`,"api_error_status":429,"result":"not your usage limit"`), want: Limit},
		{text: rejected + allowed + ends(`,"api_error_status":429,"result":"not your usage limit"`), want: Transient},
		{text: rejected + ends(`,"api_error_status":500`), want: Transient},
		{text: ends(`,"api_error_status":408`), want: Transient},
		{text: ends(`,"api_error_status":400,"terminal_reason":"api_error"`), want: Failed},
		{text: ends(`,"result":"API Error: Connection error."`), want: Transient},
		{text: ends(`,"result":"API Error: 403 Forbidden"`), want: Auth},
		{text: ends(`,"subtype":"error_during_execution"`), want: Failed},
		{text: ends(`,"subtype":"error_during_execution","terminal_reason":"completed"`), want: Transient},
		{text: ends(`,"subtype":"success","terminal_reason":"completed"`), want: Failed},
		{text: begins + halted, want: Interrupted},
		{text: begins + halted + says, want: Died},
		{text: begins + strings.Replace(halted, "{", `{"agent_id":"a",`, 1), want: Died},
		{text: begins, exit: Exit{Code: 130}, want: Interrupted},
		{text: begins, exit: Exit{Code: 130}, want: Interrupted},
		{text: begins, exit: Exit{Code: 143}, want: Interrupted},
		{text: begins, exit: Exit{Code: 137}, want: Died},
		{text: begins, exit: Exit{Code: 137}, want: Died},
		{text: begins, exit: Exit{Code: 1, Stderr: "Error: x"}, want: Died},
		{exit: Exit{Code: 1, Stderr: "error: unknown option '--x'\n(Did you mean --y?)\n"}, want: Failed},
		{exit: Exit{Code: 1, Stderr: "TypeError: x\n    at y\nNode.js v22\n"}, want: Died},
		{exit: Exit{Code: 127, Stderr: "error: x"}, want: Died},
		{text: good, exit: Exit{Code: 1}, want: Done},
		{text: good, exit: Exit{Code: 137}, want: Done},
	} {
		got := feed(NewClaude(), []byte(row.text)).Outcome(row.exit, sampled)
		if got.Class != row.want || badOutcome(got, sampled) != "" {
			t.Errorf("%s%+v: %s %q, want %s", row.text, row.exit, got.Class, got.Problem, row.want)
		}
	}
}

func TestClaudeUntil(t *testing.T) {
	limit := ends(`,"api_error_status":429,"result":"You've hit your limit · resets 11pm (UTC)"`)
	for text, want := range map[string]string{
		limit:                      "11-21 23:00:00", // RetryAt reads the words
		rejected + limit:           "11-22 01:36:01", // the event decides
		rejected + allowed + limit: "11-21 23:00:00",
		strings.Replace(rejected, "1795311361", "1", 1) + limit:             "11-21 22:37:00",
		strings.Replace(rejected, "1795311361", "1795311361000", 1) + limit: "11-29 22:36:00",
		strings.Replace(rejected, "1795311361", `"x"`, 1) + limit:           "11-21 23:00:00",
		ends(`,"api_error_status":429,"result":"Rate limited"`):             "01-01 00:00:00",
	} {
		got := feed(NewClaude(), []byte(text)).Outcome(Exit{}, sampled)
		if is := got.Until.Format("01-02 15:04:05"); got.Class != Limit || is != want || got.Until.Location() != time.UTC {
			t.Errorf("%s%s until %s, want %s", text, got.Class, is, want)
		}
	}
}

// TestClaudeSums checks the sums over models, and what counts of a session that is stopped in a later turn.
func TestClaudeSums(t *testing.T) {
	model := `{"inputTokens":1,"outputTokens":20,"cacheReadInputTokens":300,"cacheCreationInputTokens":4000}`
	end := strings.Replace(good, "{", `{"modelUsage":{"a":`+model+`,"b":`+model+`},`+
		`"permission_denials":[{},{"tool_name":"Edit"}],`, 1)
	want := Usage{
		Input: 2, Output: 40, CacheRead: 600, CacheWrite: 8000, CostUSD: 0.5, TokensKnown: true, CostKnown: true,
	}
	got := feed(NewClaude(), []byte(refused+end)).Outcome(Exit{}, sampled)
	if got.Usage != want || got.Denied != 2 || got.Refused != "Edit" {
		t.Errorf("%+v, %d denied", got.Usage, got.Denied)
	}
	want.TokensKnown, want.CostKnown = false, false
	got = feed(NewClaude(), []byte(end+begins+strings.Repeat(refused, 3))).Outcome(Exit{}, sampled)
	if got.Usage != want || got.Denied != 3 {
		t.Errorf("stopped later: %+v, %d denied", got.Usage, got.Denied)
	}
}

// TestClaudeText says which text is the answer where there is no result.
func TestClaudeText(t *testing.T) {
	text := func(of, model, blocks string) string {
		return `{"type":"assistant",` + of + `"message":{"model":"` + model + `","content":[` + blocks + `]}}` + "\n"
	}
	two := `{"type":"text","text":"one"},{"type":"text","text":"two"}`
	for in, want := range map[string]string{
		text("", "m", two): "two",
		text("", "m", two+`,{"type":"text","text":" \n"}`):                 "two",
		text("", "m", two+`,{"type":"thinking","text":"x"}`):               "two",
		text("", "m", strings.Repeat(`{"type":"x"},`, 999)+two):            "two", // more blocks than are read
		says + text("", "<synthetic>", two):                                "a text",
		says + text(`"is_api_error_message":true,`, "m", two):              "a text",
		says + text(`"agent_id":"a",`, "m", two):                           "a text",
		says + text(`"parent_tool_use_id":"a",`, "m", two):                 "a text",
		says + text(`"parent_tool_use_id":null,"agent_id":null,`, "", two): "two",
	} {
		if got := feed(NewClaude(), []byte(in)).Outcome(Exit{}, sampled); got.Message != want {
			t.Errorf("%.200s: %q, want %q", in, got.Message, want)
		}
	}
}

// TestCutJSON cuts texts at each place. No part of an escape may become text.
func TestCutJSON(t *testing.T) {
	text := rawJSON(`"` + strings.Repeat(`\\\"\nx`, 50) + `"`)
	for most := 1; most < len(text); most++ {
		if head := text.head(most); !strings.HasPrefix(text.text(), head) || len(head) > most {
			t.Errorf("the first %d bytes are %q", most, head)
		}
		if tail := text.tail(most); !strings.HasSuffix(text.text(), tail) || len(tail) > most {
			t.Errorf("the last %d bytes are %q", most, tail)
		}
	}
	if got := text.tail(1000); got != text.text() {
		t.Errorf("not cut: %q", got)
	}
}
