package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Session is one process of an agent, from its prompt to its end.
type Session struct {
	Row     Row
	Options Options
	Prompt  string
	Dir     string
	Env     []string  // the whole environment
	Guard   string    // the path of a program that does proc.GuardJob
	Log     io.Writer // gets all that the agent prints; nil: nothing is kept

	Limit time.Duration // the session may take this long
	Idle  time.Duration // it may be silent for this long, while no tool runs; 0: for as long as it likes

	MaxCostUSD float64 // it is stopped when it has used this much, if the agent tells that as it goes; 0: no bound
	MaxTokens  int64

	Started func(pid int) error // is called when the guard runs; its error lets no agent start; may be nil
	Hear    func(Activity)      // is called after each line, and not twice at a time; may be nil
	Kill    <-chan struct{}     // closed: the agent is killed, and not asked first
}

// Result is how a session ended.
type Result struct {
	Outcome
	ExitCode int // -1: none
	Took     time.Duration
	Activity Activity
}

const (
	// grace is how long an agent may take to end when it is asked to. Claude Code was measured to take up to 1.6 s.
	grace = 5 * time.Second
	// exitTime is how long an agent may take to end by itself after its last event. Codex was measured to take 5 s
	// without a network. One that is stopped then has told what it used, but a tool may have printed that.
	exitTime = 15 * time.Second
	// linger is the same for an agent that waits for something in the background, such as a server that does not end.
	linger = 5 * time.Second
	// look is how often the clocks of a session are looked at.
	look = 50 * time.Millisecond
	// maxInVain is how often in a row an agent may ask its provider without an answer that it can use.
	maxInVain = 10
	// maxTail is how many bytes of standard error are kept: the last ones.
	maxTail = 8 << 10
)

// The reasons for which a session is stopped here.
var (
	errSilent    = errors.New("it was silent")
	errLastEvent = errors.New("its last event has come")
	errCost      = errors.New("it used up what was left of the run's money")
	errTokens    = errors.New("it used up what was left of the run's tokens")
	errLogin     = errors.New("the provider refuses its key or login")
	errInVain    = fmt.Errorf("it asked its provider %d times in a row and got no whole answer", maxInVain)
)

// NoStart is the end of a session that could not start.
func NoStart(err error) Result {
	return Result{Outcome: Outcome{Class: NotStarted, Problem: plain.Line(err.Error(), problemChars)}, ExitCode: -1}
}

// Run runs the session. When ctx ends, it stops the agent. On Linux nothing that the agent has started lives on.
func (s Session) Run(ctx context.Context) Result {
	begin := time.Now()
	format := formatOf(s.Row.Output)
	w := &watch{Parser: format.parser(), hear: s.Hear, last: begin}
	argv, stdin, dir, err := s.command()
	defer os.RemoveAll(dir) // of "" it removes nothing
	if err != nil {
		return NoStart(err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		w.clocks(ctx, s, stop)
	}()
	lines := &Lines{Parser: w}
	out, stderr := io.Writer(lines), &proc.Tail{Limit: maxTail}
	errs := io.Writer(stderr)
	if s.Log != nil {
		log := &shared{w: s.Log}
		out, errs = io.MultiWriter(log, lines), io.MultiWriter(log, stderr)
	}
	r := proc.Run(ctx, proc.Cmd{
		Argv: argv, Dir: s.Dir, Env: slices.Concat(s.Env, s.Row.Env), Stdin: stdin, Timeout: s.Limit,
		Stdout: out, Stderr: errs, Guard: s.Guard, Grace: grace, Now: s.Kill, Session: true, Started: s.Started,
	})
	why := context.Cause(ctx)
	stop(nil)
	<-watched
	lines.Close()
	switch {
	case r.NotRun && why != nil:
		return Result{Outcome: Outcome{Class: Stopped}, ExitCode: -1}
	case r.NotRun:
		return NoStart(r.Err)
	}
	e := Result{ExitCode: r.ExitCode, Took: time.Since(begin), Activity: w.Activity()}
	exit := Exit{Code: r.ExitCode, Stderr: string(stderr.Bytes())}
	e.Outcome = w.Outcome(exit, time.Now())
	if format.after != nil {
		format.after(&s, filepath.Join(dir, usageFile), &e)
	}
	e.Activity.Model = cmp.Or(e.Activity.Model, s.Options.Model, s.Row.Model)
	if r.TimedOut {
		why = proc.ErrTimeout
	}
	s.settle(&e, why)
	e.Usage = s.Row.withPrice(e.Usage, e.Activity.Model)
	return e
}

// settle decides what of an outcome holds. why is the reason for which the session was stopped here, nil if it was not.
//
// The tools of an agent can write into the output of its client, and kill the client before it says something else. So
// a client's last figures are known only if it ended by itself after them, and only then is a session free that met a
// limit or an error of the provider. Any other session counts, and what it cost is unknown: at least what it said.
func (s *Session) settle(e *Result, why error) {
	byItself := why == nil && formatOf(s.Row.Output).exits(e.ExitCode)
	switch {
	case errors.Is(why, proc.ErrTimeout) && !e.Activity.Ended:
		e.Class, e.Problem = TimedOut, "it ran until its limit of "+plain.Duration(s.Limit)
	case errors.Is(why, errSilent):
		e.Class, e.Problem = TimedOut, "it was silent for "+plain.Duration(s.Idle)
	case errors.Is(why, errCost), errors.Is(why, errTokens):
		e.Class, e.Problem = Budget, why.Error()
	case errors.Is(why, errLogin):
		e.Class, e.Problem = Auth, why.Error()
	case errors.Is(why, errInVain):
		e.Class, e.Problem = Failed, why.Error()
	case why != nil && !errors.Is(why, errLastEvent) && (!e.Activity.Ended || e.Class == Interrupted):
		e.Class, e.Problem = Stopped, ""
	case why == nil && !byItself && e.Activity.Ended:
		e.Class, e.Problem = Died, Exit{Code: e.ExitCode}.problem("after its last event")
	case (e.Class == Limit || e.Class == Transient) && (!byItself || e.Class == Limit && e.ExitCode == 0):
		e.Class, e.Problem = Died, "it did not end as after an error: "+e.Problem
	}
	if !byItself || e.Class == Done && e.Usage.Tokens() == 0 && e.Usage.CostUSD == 0 {
		e.Usage.TokensKnown, e.Usage.CostKnown = false, false
	}
}

// UsageIn returns what a session has used at least, and its model, as far as its output tells that, or the end of it.
// model is the one that it was asked for.
func (r Row) UsageIn(output []byte, model string) (Usage, string) {
	p := formatOf(r.Output).parser()
	lines := &Lines{Parser: p}
	_, _ = lines.Write(output)
	lines.Close()
	u := p.Outcome(Exit{Code: -1}, time.Now()).Usage
	u.TokensKnown, u.CostKnown = false, false
	model = cmp.Or(p.Activity().Model, model, r.Model)
	return r.withPrice(u, model), model
}

// watch is a Parser that two goroutines use: one gives it lines, the other looks at clocks.
type watch struct {
	Parser
	hear func(Activity)

	mu    sync.Mutex
	last  time.Time // when the last line came
	ended time.Time // when the last event came; zero: it has not
}

func (w *watch) Line(line []byte, cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Parser.Line(line, cut)
	now := time.Now()
	w.last = now
	heard := w.Parser.Activity()
	switch {
	case !heard.Ended:
		w.ended = time.Time{}
	case w.ended.IsZero():
		w.ended = now
	}
	if w.hear != nil {
		w.hear(heard)
	}
}

func (w *watch) Activity() Activity {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Parser.Activity()
}

// clocks stops the session when it has been silent for too long, or runs on after its last event.
func (w *watch) clocks(ctx context.Context, s Session, stop context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(look):
		}
		if why := w.stopReason(s, time.Now()); why != nil {
			stop(why)
			return
		}
	}
}

func (w *watch) stopReason(s Session, now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	heard := w.Parser.Activity()
	most := exitTime
	if heard.Waits {
		most = linger
	}
	switch {
	case !w.ended.IsZero() && now.Sub(w.ended) >= most:
		return errLastEvent
	case !w.ended.IsZero():
	case s.MaxTokens > 0 && heard.Usage.Tokens() >= s.MaxTokens:
		return errTokens
	case s.MaxCostUSD > 0 && s.Row.withPrice(heard.Usage, heard.Model).CostUSD >= s.MaxCostUSD:
		return errCost
	case heard.Refused:
		return errLogin
	case heard.InVain >= maxInVain:
		return errInVain
	case heard.Tool != "" || heard.Retrying:
		w.last = now // a tool's output comes when it has ended
	case s.Idle > 0 && now.Sub(w.last) >= s.Idle:
		return errSilent
	}
	return nil
}

// shared is a writer for two goroutines. What it cannot write is lost: trouble with a log stops no session.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *shared) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(p)
	return len(p), nil
}

// Environ returns the environment of an agent: without what a session of another agent has set, and without the
// variables of loops. An older client of Claude Code does not start below another session. A hook in the session must
// find the same record, so its folder stays.
func Environ(vars []string) []string {
	return proc.Without(vars, func(name string) bool {
		ours := strings.HasPrefix(name, "RALPH_") && name != "RALPH_STATE_DIR"
		return ours || slices.Contains(sessionVars, name)
	})
}

// sessionVars are set in the commands of an agent. A hook that finds one of them may take a session for a command.
var sessionVars = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_THREAD_ID", "GEMINI_CLI", "QWEN_CODE"}
