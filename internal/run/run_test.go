package run

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// TestRetry judges sessions that end in each class.
func TestRetry(t *testing.T) {
	const six = 6 * time.Hour
	soon := time.Now().Add(time.Hour)
	for _, tc := range []struct {
		name   string
		ended  agent.Outcome
		failed int
		wait   time.Duration
		until  time.Duration // from now; 0: the run gives up
		class  string        // "": the session counts
	}{
		{"done", agent.Outcome{Class: agent.Done}, 0, six, 0, ""},
		{"died", agent.Outcome{Class: agent.Died}, 0, six, 0, ""},
		{"no turns left", agent.Outcome{Class: agent.Turns}, 0, six, 0, ""},
		{"took too long", agent.Outcome{Class: agent.TimedOut}, 0, six, 0, ""},
		{"the money is spent", agent.Outcome{Class: agent.Budget}, 0, six, 0, ""},
		{"a limit with a time", agent.Outcome{Class: agent.Limit, Until: soon}, 0, six, time.Hour, decide.RateLimit},
		{"a limit that lasts too long", agent.Outcome{Class: agent.Limit, Until: soon}, 0, time.Minute, 0, decide.RateLimit},
		{"a limit, and the run does not wait", agent.Outcome{Class: agent.Limit, Until: soon}, 0, 0, 0, decide.RateLimit},
		{"a limit without a time", agent.Outcome{Class: agent.Limit}, 0, six, 5 * time.Minute, decide.RateLimit},
		{"the third one", agent.Outcome{Class: agent.Limit}, 2, six, time.Hour, decide.RateLimit},
		{"the ninth one", agent.Outcome{Class: agent.Limit}, 8, six, time.Hour, decide.RateLimit},
		{"an overload", agent.Outcome{Class: agent.Transient}, 0, six, 5 * time.Second, decide.APIError},
		{"the fourth one", agent.Outcome{Class: agent.Transient}, 3, six, 5 * time.Minute, decide.APIError},
		{"the fifth one", agent.Outcome{Class: agent.Transient}, 4, six, 0, decide.APIError},
		{"a wrong key", agent.Outcome{Class: agent.Auth}, 0, six, 0, decide.APIError},
		{"not installed", agent.Outcome{Class: agent.NotStarted}, 0, six, 0, decide.APIError},
		{"somebody stopped it", agent.Outcome{Class: agent.Interrupted}, 0, six, 0, decide.SessionEnded},
	} {
		r := Run{Record: record.Run{Options: record.Options{Wait: tc.wait}, Cooling: []record.Cooling{{Times: tc.failed}}}}
		until, _, class := r.retry(&record.Current{}, agent.Result{Outcome: tc.ended}, tc.failed)
		if class != tc.class || until.IsZero() != (tc.until == 0) {
			t.Errorf("%s: class %q, until %v", tc.name, class, until)
		}
		if left := time.Until(until); !until.IsZero() && (left > tc.until || left < tc.until-10*time.Second) {
			t.Errorf("%s: waits %v, want %v", tc.name, left, tc.until)
		}
	}
}

// TestTooLong tries a prompt that is too long twice in a row, and no more.
func TestTooLong(t *testing.T) {
	r, long := Run{}, agent.Result{Outcome: agent.Outcome{Class: agent.Context}}
	for n, want := range []string{"", decide.APIError} {
		if _, _, class := r.retry(&record.Current{}, long, 0); class != want {
			t.Errorf("time %d: %q, want %q", n+1, class, want)
		}
	}
	r.retry(&record.Current{}, agent.Result{Outcome: agent.Outcome{Class: agent.Done}}, 0)
	if _, _, class := r.retry(&record.Current{}, long, 0); class != "" {
		t.Errorf("after one that was not too long: %q", class)
	}
}

// TestSpent counts what sessions used, and ends a run whose own limits are reached.
func TestSpent(t *testing.T) {
	used := agent.Usage{Input: 1000, CacheRead: 500, CostUSD: 0.5, TokensKnown: true, CostKnown: true}
	for _, tc := range []struct {
		o    record.Options
		want string
	}{
		{record.Options{}, ""},
		{record.Options{MaxCostUSD: 1.51}, ""},
		{record.Options{MaxCostUSD: 1.5}, "budget: the run has spent $1.50 of $1.50, including $0.50 assumed for " +
			"1 session of unknown cost (--max-cost)"},
		{record.Options{MaxTokens: 4501}, ""},
		{record.Options{MaxTokens: 4500}, "budget: the run has used 4500 of 4500 tokens, including 1500 assumed for " +
			"1 session that did not report all (--max-tokens)"},
		{record.Options{MaxIterations: 4}, ""},
		{record.Options{MaxIterations: 3}, "max_iterations: the run has used up its 3 iterations (--max-iterations)"},
	} {
		r := Run{Record: record.Run{Options: tc.o, Iterations: 2}}
		r.Record.Spent.Add(used)
		r.Record.Spent.Add(used)
		r.Record.Spent.Add(agent.Usage{})
		l := r.limit(r.Record.Current, 1)
		if got := strings.TrimPrefix(l.reason+": "+l.why(), ": "); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.o, got, tc.want)
		}
	}
}

func TestBill(t *testing.T) {
	for want, s := range map[string]record.Sum{
		"cost unknown":              {},
		"9999 tokens, cost unknown": {Usage: agent.Usage{Output: 9999, TokensKnown: true}, Unknown: 1},
		"10.9k tokens, $0.12": {
			Usage: agent.Usage{Input: 10_900, TokensKnown: true, CostUSD: .12, CostKnown: true},
		},
		"at least $2.00 (of 2 sessions unknown)": {Usage: agent.Usage{CostUSD: 2, CostKnown: true}, Unknown: 2},
	} {
		if got := record.Bill(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWaitUntil wakes a wait early, and lets one end by itself.
func TestWaitUntil(t *testing.T) {
	begin, looks := time.Now(), 0
	waitUntil(t.Context(), begin.Add(time.Hour), func() bool { looks++; return looks > 0 })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	waitUntil(ctx, begin.Add(time.Hour), func() bool { return false })
	waitUntil(t.Context(), time.Now().Add(50*time.Millisecond), func() bool { return false })
	if took := time.Since(begin); took > 30*time.Second || looks == 0 {
		t.Errorf("took %v, looked %d times", took, looks)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"post-iteration:./count.sh a:b": "",
		"post-iteration:":               "want EVENT:COMMAND",
		"after:x":                       `unknown hook event "after"; there are pre-iteration, post-iteration,`,
	} {
		_, err := record.ParseHook(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("hook %q: %v", text, err)
		}
	}
	for name, good := range map[string]bool{
		"marker": true, "exit_code": true, "file:done": true, "file:../done": false, "file:/done": false, "exit": false,
	} {
		if err := record.CheckSignals([]string{name}); (err == nil) != good {
			t.Errorf("signal %q: %v", name, err)
		}
	}
	if CheckPattern("a(") == nil || CheckPattern("a.*") != nil {
		t.Error("a pattern that is none passed, or a good one did not")
	}
}

// TestMarkdown checks that a feature's own words do nothing in a summary.
func TestMarkdown(t *testing.T) {
	s := record.Summary{Work: []record.Work{{Feature: "a|b"}}, Titles: map[string]string{"a|b": "<script> [x](y) `z`"}}
	text := s.Markdown()
	for _, bad := range []string{"<script>", "[x](y)", "| a|b"} {
		if strings.Contains(text, bad) {
			t.Errorf("the summary has %q:\n%s", bad, text)
		}
	}
}
