package agent

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// FuzzOutput gives what each parser was made for, and anything else, to all parsers.
func FuzzOutput(f *testing.F) {
	add := func(text []byte, code int) {
		if len(text) < 4<<10 { // with longer ones it hardly begins
			f.Add(text, code)
		}
	}
	files, _ := filepath.Glob("testdata/*/*.jsonl")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if _, rest, more := bytes.Cut(text, []byte("\n")); more && len(rest) > 0 && len(text) >= 4<<10 {
			text = rest // the first line lists the client's tools; it is long and always the same
		}
		add(text, 0)
	}
	for _, row := range hostileRows {
		add([]byte(row.text), 1)
	}
	for _, row := range hostileEvents {
		add([]byte(row.text), row.code)
	}
	f.Fuzz(func(t *testing.T, text []byte, code int) {
		for _, format := range formats {
			p := format.parser()
			feed(p, text)
			got, h := p.Outcome(Exit{Code: code, Stderr: string(text)}, sampled), p.Activity()
			if problem := badOutcome(got, sampled); problem != "" {
				t.Fatal(problem)
			}
			if len([]rune(h.Tool)) > toolChars || strings.ContainsAny(h.Text+h.Tool+h.Session+h.Model, "\n\x1b\x00") {
				t.Fatalf("%+v", h)
			}
		}
	})
}

// FuzzFiles reads any bytes as the files of its own that an agent keeps of a session.
func FuzzFiles(f *testing.F) {
	f.Add(`{"type":"turn_context","payload":{"model":"gpt-5"}}` + "\n" + `{"type":"event_msg","payload":{"type":` +
		`"token_count","rate_limits":{"primary":{"used_percent":100,"resets_at":1795302026},"secondary":{}}}}` + "\n")
	f.Add(`{"modelMetrics":{"m":{"usage":{"inputTokens":5,"outputTokens":1e300,"cacheReadTokens":-1}}}}`)
	f.Add(strings.Repeat("[", 1000))
	f.Fuzz(func(t *testing.T, text string) {
		model, reset := readRollout(text)
		if len([]rune(model)) > nameChars || strings.ContainsAny(model, "\n\x1b\x00") {
			t.Fatalf("the model %q", model)
		}
		reset = clampReset(reset, sampled)
		if !reset.IsZero() && reset.Sub(sampled) > 8*24*time.Hour {
			t.Fatalf("a reset at %v", reset)
		}
		u := copilotUsage(text)
		if min(u.Input, u.Output, u.CacheRead, u.CacheWrite) < 0 {
			t.Fatalf("%+v", u)
		}
	})
}

// badOutcome says which property an outcome does not have that each has, or "".
func badOutcome(o Outcome, now time.Time) string {
	ahead := o.Until.Sub(now)
	switch {
	case len(o.Message) > maxMessage:
		return fmt.Sprintf("a message of %d bytes", len(o.Message))
	case o.Message != strings.ToValidUTF8(o.Message, ""):
		return "a message that is not UTF-8"
	case !(o.Usage.CostUSD >= 0) || math.IsInf(o.Usage.CostUSD, 0):
		return fmt.Sprintf("a cost of %v", o.Usage.CostUSD)
	case min(o.Usage.Input, o.Usage.Output, o.Usage.CacheRead, o.Usage.CacheWrite, int64(o.Denied)) < 0:
		return fmt.Sprintf("a number below 0: %+v", o.Usage)
	case (o.Problem == "") != (o.Class == Done):
		return fmt.Sprintf("%s with the problem %q", o.Class, o.Problem)
	case len([]rune(o.Problem)) > problemChars || strings.ContainsAny(o.Problem, "\n\x1b\x00"):
		return fmt.Sprintf("the problem %q", o.Problem)
	case !o.Until.IsZero() && (o.Class != Limit || ahead < time.Minute || ahead > 8*24*time.Hour):
		return fmt.Sprintf("%s until %v", o.Class, o.Until)
	}
	return ""
}

// TestBadOutcome is the control: badOutcome finds each bad outcome.
func TestBadOutcome(t *testing.T) {
	for _, o := range []Outcome{
		{Class: Done, Message: strings.Repeat("x", maxMessage+1)}, {Class: Done, Message: "\xff"},
		{Class: Done, Usage: Usage{CostUSD: math.NaN()}}, {Class: Done, Usage: Usage{CostUSD: -1}},
		{Class: Done, Usage: Usage{CacheRead: -1}}, {Class: Done, Denied: -1}, {Class: Done, Problem: "p"},
		{Class: Died}, {Class: Died, Problem: "a\x1b[31m"}, {Class: Died, Problem: strings.Repeat("x", 999)},
		{Class: Limit, Problem: "p", Until: sampled}, {Class: Died, Problem: "p", Until: sampled.Add(time.Hour)},
	} {
		if badOutcome(o, sampled) == "" {
			t.Errorf("control: %.200v was not caught", o)
		}
	}
	if problem := badOutcome(Outcome{Class: Done, Message: "m"}, sampled); problem != "" {
		t.Error(problem)
	}
}
