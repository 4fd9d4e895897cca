package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// claudeEnd is what a result says about the end of a turn. Its subtype is "success" for most errors too.
type claudeEnd struct {
	good    bool
	subtype string
	reason  string // terminal_reason; "" in old versions
	status  int64  // the HTTP status of the provider's answer; 0: none
	words   string // what went wrong, cleaned
	denied  int
}

// result reads a result, the last event of a turn. Other agents print events of this type too, but without is_error.
func (p *claudeParser) result(e event) {
	failed := e.Get("is_error")
	if !failed.IsBool() {
		return
	}
	p.activity.Ended, p.activity.Retrying = true, false
	p.tools = nil
	p.activity.Session = cmp.Or(e.at("session_id").name(), p.activity.Session)
	denied, tool := e.denials()
	p.end = &claudeEnd{
		good: !failed.Bool(), subtype: e.at("subtype").name(), reason: e.at("terminal_reason").name(),
		status: e.Get("api_error_status").Int(), denied: denied,
	}
	if denied > 0 {
		p.refused = tool
	}
	if result := e.at("result"); p.end.good {
		p.answer = cmp.Or(result.tail(maxMessage), p.answer)
	} else {
		words := cmp.Or(result.head(4*problemChars), e.at("errors.0").text(), e.at("error.message").text())
		p.end.words = strings.Clone(plain.Line(words, problemChars))
	}
	p.usage(e)
}

// usage reads what the session has used. The figures of each result hold all before it and those of subagents. A
// resumed session begins with the figures of the one before.
func (p *claudeParser) usage(e event) {
	u := Usage{}
	models := e.Get("modelUsage")
	for _, model := range models.ForEach {
		u.Input = addTokens(u.Input, model.Get("inputTokens"))
		u.Output = addTokens(u.Output, model.Get("outputTokens"))
		u.CacheRead = addTokens(u.CacheRead, model.Get("cacheReadInputTokens"))
		u.CacheWrite = addTokens(u.CacheWrite, model.Get("cacheCreationInputTokens"))
	}
	u.TokensKnown = models.IsObject()
	if cost := e.Get("total_cost_usd"); cost.Type == gjson.Number && cost.Num >= 0 && cost.Num <= maxCost {
		u.CostUSD, u.CostKnown = cost.Num, true
	}
	p.activity.Usage = u.atLeast(p.activity.Usage)
}

// maxCounted is how many messages may come at once, those of subagents too.
const maxCounted = 64

// uses counts the tokens of a message once. Each of its blocks is an event, and has the figures of its beginning.
func (p *claudeParser) uses(e event) {
	id, used := e.at("message.id").name(), e.Get("message.usage")
	if id == "" || !used.IsObject() || slices.Contains(p.counted, id) {
		return
	}
	p.counted = append(p.counted[max(0, len(p.counted)-maxCounted):], id)
	u := &p.activity.Usage
	u.Input = addTokens(u.Input, used.Get("input_tokens"))
	u.Output = addTokens(u.Output, used.Get("output_tokens"))
	u.CacheRead = addTokens(u.CacheRead, used.Get("cache_read_input_tokens"))
	u.CacheWrite = addTokens(u.CacheWrite, used.Get("cache_creation_input_tokens"))
}

// Figures above these are not real.
const (
	maxTokens = 1 << 50
	maxCost   = 1e9
)

// addTokens adds a number of tokens to a sum. It adds nothing if that is not a number, or below 0.
func addTokens(sum int64, tokens gjson.Result) int64 {
	if tokens.Type != gjson.Number {
		return sum
	}
	return int64(min(float64(sum)+max(tokens.Num, 0), maxTokens))
}

// rateLimit reads what the provider says about its limit, at the first answer and when that changes.
func (p *claudeParser) rateLimit(info gjson.Result) {
	p.limited = info.Get("status").Str == "rejected"
	p.reset = time.Time{}
	if p.limited {
		p.reset = unixTime(info.Get("resetsAt"))
	}
}

// clampReset returns a time of reset that is from 1 minute to 8 days ahead, or zero for zero. The longest limits are
// weekly.
func clampReset(at, now time.Time) time.Time {
	const soonest, latest = time.Minute, 8 * 24 * time.Hour
	switch {
	case at.IsZero():
		return at
	case at.Before(now.Add(soonest)):
		return now.Add(soonest).UTC()
	case at.After(now.Add(latest)):
		return now.Add(latest).UTC()
	}
	return at
}

func (p *claudeParser) Outcome(exit Exit, now time.Time) Outcome {
	o := p.outcome()
	o.Message = cmp.Or(p.answer, o.Message)
	if p.end != nil {
		o.Denied = max(o.Denied, p.end.denied)
	}
	if !p.activity.Ended {
		o.Class, o.Problem = p.broken(exit)
		return o
	}
	o.Class = p.class(now)
	if o.Class != Done {
		o.Problem = p.problem(o.Class)
	}
	if o.Class == Limit {
		o.Until = p.until(now)
	}
	return o
}

// broken judges a session whose last event has not come.
func (p *claudeParser) broken(exit Exit) (Class, string) {
	refused := refusal(exit.Stderr)
	switch {
	case exit.interrupted():
		return Interrupted, exit.problem("")
	case p.halted:
		return Interrupted, exit.problem("interrupted by a signal")
	case exit.Code == 1 && p.activity.Session == "" && p.end == nil && refused != "": // no event has come
		return Failed, refused
	}
	if exit.Stderr == "" {
		exit.Stderr = p.plainLine
	}
	return Died, exit.problem("before the last event")
}

// refusal returns the line in which Claude Code says why it does not begin a session: a wrong flag, or a session id
// that is in use. A crash has no such line.
func refusal(stderr string) string {
	for line := range strings.Lines(stderr) {
		if word, _, found := strings.Cut(line, ":"); found && strings.EqualFold(word, "error") {
			return lastLine(line)
		}
	}
	return ""
}

// Kinds of errors that Claude Code names in the message before a result.
var (
	authFailures = []string{
		"authentication_failed", "billing_error", "account_on_hold", "oauth_org_not_allowed",
	}
	finalFailures   = []string{"invalid_request", "model_not_found", "max_output_tokens"}
	contextReasons  = []string{"prompt_too_long", "blocking_limit", "rapid_refill_breaker"}
	authStatuses    = []int64{401, 402, 403}
	passingStatuses = []int64{408, 409}
)

// class judges a session by its last result. Words decide only where no field does: old versions, and the format json,
// have fewer fields. Other words than those of an API error may be the model's, and decide nothing.
func (p *claudeParser) class(now time.Time) Class {
	end, words := p.end, ""
	if end.reason == "" || end.reason == "api_error" {
		words = end.words
	}
	has := func(prefix string) bool { return strings.HasPrefix(words, prefix) }
	status := cmp.Or(end.status, statusIn(words, `API Error: (?:Request rejected \()?`))
	switch {
	case end.good:
		return Done
	case strings.HasPrefix(end.reason, "aborted"):
		return Interrupted
	case end.reason == "max_turns" || end.subtype == "error_max_turns":
		return Turns
	case end.reason == "budget_exhausted" || end.subtype == "error_max_budget_usd":
		return Budget
	case slices.Contains(contextReasons, end.reason) || status == 413 || has("Prompt is too long"):
		return Context
	case slices.Contains(authFailures, p.failure) || slices.Contains(authStatuses, status) ||
		has("Credit balance is too low") || has("Not logged in"):
		return Auth
	case p.limited && (status == 429 || p.failure == "rate_limit"):
		return Limit
	case strings.Contains(words, "not your usage limit"):
		return Transient
	case status == 429 || p.failure == "rate_limit" || status == 0 && !client.RetryAt(words, now).IsZero():
		return Limit
	case status >= 500 || slices.Contains(passingStatuses, status):
		return Transient
	case status != 0 || slices.Contains(finalFailures, p.failure):
		return Failed
	case end.reason == "api_error" || has("API Error"), // no answer: refused, timed out
		end.reason == "completed" && end.subtype == "error_during_execution": // an error inside the answer
		return Transient
	}
	return Failed
}

// problem says what the last result says went wrong.
func (p *claudeParser) problem(class Class) string {
	end := p.end
	switch {
	case class == Interrupted:
		return "interrupted: " + end.reason
	case class == Transient && end.reason == "completed":
		return plain.Line("the answer broke off: "+end.words, problemChars)
	}
	return cmp.Or(end.words, noWords)
}

// until returns when the limit is reset: as the event says, else as the words say, else zero.
func (p *claudeParser) until(now time.Time) time.Time {
	at := client.RetryAt(p.end.words, now)
	if !p.reset.IsZero() {
		at = p.reset
	}
	return clampReset(at, now)
}
