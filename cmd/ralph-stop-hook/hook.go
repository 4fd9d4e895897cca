package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// defaultTimeout is the settings entry's timeout as `init` writes it.
const defaultTimeout = 660 * time.Second

// hookCommand is here for the help; run calls hookMode without it.
func hookCommand() *command {
	return &command{
		name:  "hook",
		args:  "[--loop-dir DIR] [--entry SCOPE] [--timeout 660s] [--on-complete CMD]",
		short: "Answer the host: its JSON on standard input, ours on standard output",
		long:  hookHelp,
	}
}

// hook is one call by the host.
type hook struct {
	begin      time.Time
	loopDir    string
	entry      string // where the settings entry stands
	timeout    time.Duration
	onComplete string
	event      hookio.Event

	marked bool           // the prompt names the loop
	left   *loopdir.Loop  // the session's loop until this event
	store  *loopdir.Store // the session's loop, once found
	unlock func()         // nil while the lock is not held
}

// hookMode answers one call of the host. Every bug ends the loop and none
// extends it: whatever goes wrong, it prints nothing or one object that does
// not block, and its exit status is 0, since the host takes 2 for a block.
func hookMode(args []string) (status int) {
	h := &hook{begin: time.Now()}
	printed := false
	print := func(a hookio.Answer) {
		if text := a.Encode(); text != nil && !printed {
			printed = true
			// A host that no longer listens cannot be told.
			_, _ = os.Stdout.Write(text)
		}
	}
	// A host that is gone must not take the notice of an ending with it, and
	// SIGQUIT and SIGABRT would make Go exit with 2.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGQUIT, syscall.SIGABRT)
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", p, debug.Stack())
			print(hookio.Answer{Message: wordsTrouble(fmt.Errorf("internal error: %v", p))})
		}
	}()
	flags := h.parseFlags(args)
	event, err := hookio.Read(os.Stdin)
	if flags != nil {
		err = flags
	}
	if err != nil {
		print(hookio.Answer{Message: wordsTrouble(err)})
		return 0
	}
	h.event = event
	answer, after, err := h.answer()
	if err != nil {
		answer, after = h.giveUp(err)
	}
	print(answer)
	h.release()
	if after != nil {
		after()
	}
	if h.store != nil {
		h.store.Close()
	}
	return 0
}

func (h *hook) parseFlags(args []string) error {
	f := flag.NewFlagSet("hook", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&h.loopDir, "loop-dir", os.Getenv("RALPH_LOOP_DIR"), "")
	f.StringVar(&h.entry, "entry", "", "")
	f.DurationVar(&h.timeout, "timeout", defaultTimeout, "")
	f.StringVar(&h.onComplete, "on-complete", os.Getenv("RALPH_ON_COMPLETE"), "")
	err := f.Parse(args)
	switch {
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", f.Arg(0))
	case h.timeout <= 0:
		err = fmt.Errorf("--timeout %v; want more than 0", h.timeout)
	case h.entry == "" || slices.Contains(entryScopes, h.entry):
		return nil
	default:
		last := len(entryScopes) - 1
		err = fmt.Errorf("--entry %q; want %s or %s", h.entry, strings.Join(entryScopes[:last], ", "), entryScopes[last])
	}
	return fmt.Errorf("the hook's settings entry is wrong: %w; see 'ralph-stop-hook hook --help'", err)
}

func (h *hook) release() {
	if h.unlock != nil {
		h.unlock()
		h.unlock = nil
	}
}

// answer is the spine: find the loop, lock, load, decide, commit. What it
// returns is to be printed, then the lock let go, then after run.
func (h *hook) answer() (_ hookio.Answer, after func(), _ error) {
	silence := hookio.Answer{}
	if !loopdir.ValidSession(h.event.SessionID) {
		return silence, nil, nil
	}
	find := h.findOwn
	switch h.event.Name {
	case decide.Stop:
		if h.event.AgentID != "" || h.event.PermissionMode == decide.PlanMode {
			return silence, nil, nil // whatever state the loop is in
		}
		find = h.find
	case decide.PromptSubmit:
		find = h.findMarked
	case decide.SessionStart:
		if h.event.Reason == decide.Cleared {
			find = h.findCleared
		}
	case decide.StopFailure, decide.SessionEnd:
	default:
		return silence, nil, nil
	}
	peeked, err := find()
	bystander := err == nil && (peeked == nil || decide.Bystander(&peeked.snap))
	if !bystander && h.outranked() {
		if err == nil {
			peeked.Close()
		}
		return silence, nil, nil
	}
	if peeked == nil || err != nil {
		return silence, nil, err
	}
	store := peeked.Store
	// What a killed sender left is told beside this, by a process of its own.
	if slices.ContainsFunc(peeked.snap.State.Notices, due) {
		_, _ = sendApart(store, h.onComplete)
	}
	tidy := func() {
		if len(peeked.snap.State.Notices) > 0 || h.event.Name == decide.SessionEnd {
			store.Complete(lockWait)
		}
		if h.event.Name == decide.SessionEnd && peeked.snap.State.Session == h.event.SessionID {
			h.await(store, nil)
		}
	}
	if bystander {
		return silence, func() { defer store.Close(); tidy() }, nil
	}
	h.store = store
	l, d, err := h.decide()
	if err != nil || d.Verdict == decide.Pass {
		return silence, tidy, err
	}
	if d.Verdict == decide.Tell {
		return wordsAnswer(l, d), nil, nil
	}
	if err := h.commit(l, &d); err != nil {
		return silence, nil, err
	}
	// The last look: a person's cancel may have come meanwhile.
	if d.Verdict == decide.Continue && store.CancelAsked() {
		if l, d, err = h.decide(); err == nil {
			err = h.commit(l, &d)
		}
		if err != nil {
			return silence, nil, err
		}
	}
	after = func() {
		h.leaveOther()
		switch {
		case d.Verdict == decide.End:
			h.tell(l, d.Next)
		case d.Verdict == decide.Continue && len(commandsFor(l.config, "", config.OnIteration)) > 0:
			_, _ = sendApart(store, "", "--iteration", strconv.Itoa(d.Next.Iteration)) // or it is not told; nobody waits
		}
	}
	if h.dying() {
		return silence, after, nil // nobody reads an answer to these
	}
	answer := wordsAnswer(l, d)
	answer.AsContext = l.config.Continue == config.ContinueContext || l.config.Continue == config.ContinueAuto && h.event.PromptID != ""
	return answer, after, nil
}

// dying tells whether the host is about to end, and may take this process with it.
func (h *hook) dying() bool {
	return h.event.Name == decide.StopFailure || h.event.Name == decide.SessionEnd
}

// testOnlyDecide lets a test put a bug where the decision is.
var testOnlyDecide = decide.Decide

// decide takes the lock, loads and decides. What a decision asks for is looked
// at without the lock where that takes time, and everything is loaded anew
// afterwards.
func (h *hook) decide() (l *loaded, d decide.Decision, err error) {
	var more decide.Snapshot // what was asked for
	var listed *decide.List  // by the tracker, in this round
	asked := ""              // digest of the list that evaluators were asked about
	for range maxRounds {
		if h.unlock == nil {
			wait := lockWait
			if h.dying() {
				wait = time.Until(h.deadline()) // no later event would make up for it
			}
			if h.unlock, err = h.store.Lock(wait); err != nil {
				return l, d, err
			}
		}
		if l, err = load(h.store, h.event, h.begin); err != nil {
			return l, d, err
		}
		if r := l.snap.State.Running; r != nil && r.PID != os.Getpid() {
			h.store.SweepList(l.listPath()) // it may have been killed at its edit
		}
		if listed != nil {
			l.snap.List, l.snap.Unlisted = *listed, false
			l.snap.Lost = l.lost()
		}
		if len(more.Answers) > 0 && l.snap.List.Digest() != asked {
			more.Answers = nil // they are about another list
		}
		l.snap.Marked, l.snap.Tree = h.marked, more.Tree
		l.snap.Results, l.snap.Contents, l.snap.Unwritten = more.Results, more.Contents, more.Unwritten
		l.snap.Tampered, l.snap.Answers = more.Tampered, more.Answers
		if d = testOnlyDecide(l.snap); d.Verdict == decide.NeedTail {
			l.look(h.event)
			d = testOnlyDecide(l.snap)
		}
		// Before a check runs, and before its word is taken.
		if d.Verdict == decide.NeedList || d.Verdict == decide.NeedChecks || d.Verdict == decide.NeedAnswer || d.Verdict == decide.End && d.Next.Status == decide.Complete {
			if more.Tampered = l.changed(); more.Tampered != "" {
				continue
			}
		}
		source := l.config.Source.Given()
		switch d.Verdict {
		case decide.NeedReopen:
			if source {
				break
			}
			err := h.store.Reopen(l.listPath(), l.snap.List.List, d.Reopen)
			h.store.Log(wordsLogReopen(h.begin, d.Reopen, err), nil)
			more.Unwritten = err != nil
			continue
		case decide.NeedTree, decide.NeedChecks, decide.NeedAnswer, decide.NeedList:
		default:
			return l, d, nil
		}
		if err := h.markRunning(l, wordsRuns(l, d)); err != nil {
			return l, d, err
		}
		h.release()
		// Esc and the host's timeout end us in here: nobody waits for an
		// answer any more, so nothing is committed either.
		ctx, stop := terminated()
		r := runner{loaded: l, message: h.event.LastMessage, deadline: h.checksDeadline(l)}
		switch d.Verdict {
		case decide.NeedList:
			now := r.askList(ctx)
			listed = &now
		case decide.NeedReopen:
			err := r.reopenItems(ctx, d.Reopen)
			listed = nil
			h.store.Log(wordsLogReopen(h.begin, d.Reopen, err), nil)
			more.Unwritten = true // once is enough: the list tells what came of it
		case decide.NeedTree:
			more.Tree = tree.Fingerprint(ctx, h.store.Project, loopdir.RepoRoot(h.store.Project), []string{treeExcept(h.store.Loop)})
		case decide.NeedChecks:
			if len(d.Runs) > 0 {
				listed = nil // it may say something else by then
			}
			r.contents = contents(ctx, l)
			more.Contents = cmp.Or(r.contents, "unknown")
			more.Results = append(more.Results, r.run(ctx, d.Runs)...)
		case decide.NeedAnswer:
			asked = l.snap.List.Digest()
			more.Answers = append(more.Answers, make([]decide.Answer, d.Evaluator-len(more.Answers)+1)...)
			more.Answers[d.Evaluator] = r.ask(ctx, l.config.Active()[d.Evaluator], newQuestion(ctx, l, d, h.event.LastMessage))
		}
		if r.swapped != "" { // and perhaps put back
			more.Tampered = r.swapped + ", touched while a check ran,"
		}
		interrupted := ctx.Err() != nil
		stop()
		if interrupted {
			return l, decide.Decision{Verdict: decide.Pass}, nil
		}
	}
	return l, d, errors.New("the list or ralph.json changed again and again while checks ran")
}

// maxRounds bounds how often a decision is asked anew: each round answers one
// thing, and a list that is written all the time could ask for more for ever.
const maxRounds = 30

// markRunning lets status say what runs, and since when.
func (h *hook) markRunning(l *loaded, what string) error {
	if what == "" || l.snap.State.Schema == 0 {
		return nil
	}
	state := l.snap.State
	state.Running = &decide.Running{PID: os.Getpid(), Start: proc.Start(os.Getpid()), Since: time.Now().UTC(), What: what}
	return h.store.SaveState(state)
}

// terminated returns a context that is done when this process is told to end,
// so that its subprocesses end with it.
func terminated() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT)
	return ctx, func() {
		stop() // which gives these two their effect back
		signal.Ignore(syscall.SIGQUIT, syscall.SIGABRT)
	}
}

// commit binds the session, makes d.Next the record with the notice of an
// ending in it, and writes the logs.
func (h *hook) commit(l *loaded, d *decide.Decision) error {
	s := h.store
	d.Next.Loop, d.Next.Name, d.Next.List = s.Dir, s.Name, l.listPath()
	if d.Next.Session != "" && d.Verdict != decide.End {
		d.Next.SessionPID, d.Next.ClientStart = client()
	}
	if d.Next.Session != "" && l.snap.State.Session != d.Next.Session {
		h.left, _ = h.where().Own() // one that cannot be used needs no leaving
		if err := s.Bind(d.Next.Session); err != nil {
			return err
		}
	}
	d.Next.OnComplete = h.onComplete
	if d.Verdict == decide.End {
		if err := attachNotice(l, &d.Next, h.onComplete); err != nil {
			return err
		}
	}
	if kept := l.snap.Kept(); !slices.Equal(kept, l.snap.Receipts) {
		if err := s.SetReceipts(kept); err != nil {
			return err
		}
	}
	if err := s.Commit(d.Next); err != nil {
		// It may have come after the commit point. Then an ending is one all the
		// same, and the next run brings progress.txt up to it.
		now, unread := s.State()
		if d.Verdict != decide.End || unread != nil || now.Endings != d.Next.Endings || now.Status != d.Next.Status {
			return err
		}
		d.Unshown = err
	}
	s.Log(wordsLog(h.begin, *d), h.iterationEntry(d))
	return nil
}

// iterationEntry is a line of iterations.jsonl.
func (h *hook) iterationEntry(d *decide.Decision) jsontext.Object {
	at := h.begin.UTC().Truncate(time.Millisecond)
	session := cmp.Or(d.Next.Session, d.From.Session)
	feature := plain.Line(d.Next.Feature, 80)
	fingerprint := strings.Trim(d.Next.ListDigest+"."+d.Next.TreeDigest, ".") // of the list's states; of the tree too where they did not change
	took := time.Since(h.begin).Milliseconds()
	return jsontext.Object{
		"time", &at, "session", &session, "event", &h.event.Name, "verdict", (*string)(&d.Verdict), "reason", &d.Next.ExitReason,
		"feature", &feature, "iteration", &d.Next.Iteration, "attempts", &d.Next.Attempts,
		"fingerprint", &fingerprint, "durationMs", &took,
	}
}

// giveUp is the answer where the loop cannot go on and the record cannot say
// so: the turn may end, the person is told, and the notifiers once.
func (h *hook) giveUp(err error) (hookio.Answer, func()) {
	answer := hookio.Answer{Message: wordsTrouble(err)}
	if h.store == nil {
		return answer, nil
	}
	h.store.Log(wordsLogTrouble(h.begin, err), nil)
	if errors.Is(err, loopdir.ErrLocked) {
		return answer, nil // another hook is at it, and the loop is as well as it was
	}
	return answer, func() { sendTrouble(h.store, h.event, err, h.onComplete, h.deadline()) }
}

// margin is what is left of the settings entry's time when everything must be
// over: a hook that outlives it has its answer dropped.
const margin = 5 * time.Second

// deadline is when notifiers must be done.
func (h *hook) deadline() time.Time {
	return h.begin.Add(max(h.timeout-margin, h.timeout/2))
}
