package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// commit binds the session, commits the decision's record with the notice of an ending, and writes
// the logs.
func (s *stepper) commit() error {
	l := s.loop
	d := &s.decision
	snap := &s.picture.Snapshot
	d.Next.Loop = l.At.Dir
	d.Next.List = s.picture.ListPath()
	if d.Next.Session != "" && d.Verdict != decide.End {
		d.Next.SessionPID = l.client.PID
		d.Next.ClientStart = l.client.Start
		d.Next.Waits = false
		d.Next.Client = l.Env.Client
		if s.ev.Transcript != "" || snap.State.Session != d.Next.Session {
			d.Next.Transcript = plain.Line(s.ev.Transcript, 4096)
		}
	}
	if d.Next.Session != "" && snap.State.Session != d.Next.Session {
		where := l.Env.Where()
		where.Session = s.ev.Session
		if left, err := where.SessionLoop(); err == nil { // a loop that cannot be used need not be left
			l.previous = left
		}
		// A made-up event must not bind another session to this loop.
		if s.ev.Caller == "" || s.ev.Caller == d.Next.Session {
			if err := l.Store.Bind(d.Next.Session); err != nil {
				return err
			}
		}
	}
	d.Next.OnComplete = l.Env.OnComplete
	if s.ran {
		d.Next.Withheld = s.picture.Withheld()
	}
	if d.Verdict == decide.End {
		if s.ev.Event == decide.EventStop { // its checks may have run meanwhile
			d.Next.EndedAt = s.ev.At.Add(time.Since(s.started))
		}
		if d.Next.Status == decide.Complete {
			d.Next.Needs = s.picture.Snapshot.Unproven()
		}
		s.picture.attachNotice(&d.Next)
	}
	if err := s.keepReceipts(); err != nil {
		return err
	}
	if slices.ContainsFunc(snap.Answers, func(a decide.Answer) bool { return a.Checkpoint != "" }) {
		s.keepCheckpoints()
	}
	var err error
	d.Unshown, err = l.Store.Commit(d.Next) // the record decides; the next stop writes the file that shows it
	if err != nil {
		return err
	}
	l.Store.Done(l.requests)
	if s.index != nil {
		l.Store.KeepTreeIndex(s.index)
	}
	if d.Verdict == decide.End || d.Next.Session != snap.State.Session {
		l.Store.EndStop() // killed hooks are counted anew
	}
	if d.Verdict == decide.End {
		l.Store.SweepList(s.picture.ListPath()) // nobody edits it any more
	}
	line := s.ev.At.UTC().Format(logTime) + " " + d.Line()
	if s.ev.Refused {
		line += ": the work of this lane was not merged"
	}
	l.Store.Log(line, iterationOf(s.ev, d))
	return nil
}

// keepCheckpoints keeps what the evaluators gave for the agent. If that fails, it says so in the log.
func (s *stepper) keepCheckpoints() {
	snap, store := &s.picture.Snapshot, s.loop.Store
	err := store.LockAgent(LockWait, func() error {
		_, err := agenthook.KeepAnswers(store, snap.Answers, snap.Record().Iteration)
		return err
	})
	if err != nil {
		store.Log(troubleLine(s.ev.At, fmt.Errorf("a checkpoint of an evaluator is not kept: %w", err)), nil)
	}
}

// keepReceipts stores the results of the checks that passed, under the lock.
func (s *stepper) keepReceipts() error {
	snap := &s.picture.Snapshot
	kept := snap.ReceiptsToStore()
	if slices.Equal(kept, snap.Receipts) {
		return nil
	}
	return s.loop.Store.SetReceipts(kept)
}

// iteration is a line of stops.jsonl.
type iteration struct {
	Schema    int       `json:"schema"`
	Time      time.Time `json:"time"`
	Session   string    `json:"session"`
	Event     string    `json:"event"`   // of the client, such as Stop
	Verdict   string    `json:"verdict"` // continue, end, take, …
	Reason    string    `json:"reason"`  // why the loop ended; "": it has not
	Feature   string    `json:"feature"` // the next feature
	Iteration int       `json:"iteration"`
	Attempts  int       `json:"attempts"` // attempts at it
	// a digest of the list's states, or also of the work tree if those did not change
	Fingerprint string `json:"fingerprint"`
	DurationMs  int64  `json:"durationMs"`     // from the hook's start to the commit
	Lane        int    `json:"lane,omitempty"` // in a run with lanes
}

func iterationOf(ev Event, d *decide.Decision) iteration {
	return iteration{
		Schema:      jsontext.Schema,
		Time:        ev.At.UTC().Truncate(time.Millisecond),
		Session:     cmp.Or(d.Next.Session, d.From.Session),
		Event:       ev.Name,
		Verdict:     d.Word(),
		Reason:      d.Next.ExitReason,
		Feature:     plain.Line(d.Next.Feature, 80),
		Iteration:   d.Next.Iteration,
		Attempts:    d.Next.Attempt(),
		Fingerprint: strings.Trim(d.Next.ListDigest+"."+d.Next.TreeDigest, "."),
		DurationMs:  time.Since(ev.At).Milliseconds(),
		Lane:        d.Lane,
	}
}

// Notify does what follows the printed answer: it releases the loop that the session worked on
// before, and tells the notifiers.
func (l *Loop) Notify(ctx context.Context, ev Event, s *Step) {
	if l.previous != nil && l.previous.Dir != l.At.Dir {
		l.leavePrevious(ctx, ev.Session)
	}
	switch d := &s.Decision; {
	case d.Verdict == decide.End:
		l.tellEnding(ctx, ev, d.Next)
	case d.Verdict == decide.Continue && len(commandsFor(s.Picture.Config, "", config.OnIteration)) > 0:
		// Nobody waits for this. If it fails, the iteration is not told.
		_, _ = l.sendApart(sendIteration, strconv.Itoa(d.Next.Iteration))
	}
}

// Tidy finishes earlier work at an event that changed nothing: it completes a header whose write
// was cut off, and waits for the notices at a session's end.
func (l *Loop) Tidy(ctx context.Context, ev Event) {
	l.noteTurn(ev)
	ends := ev.Event == decide.EventEnd
	if len(l.seen.State.Notices) > 0 || ends {
		l.Store.FinishCommit(LockWait)
	}
	if ends && l.seen.State.Session == ev.Session {
		l.await(ctx, ev.Deadline(), nil)
	}
}

// noteTurn records whether the owner of a loop that does not run is in a turn, or has ended, so that 'resume' can say
// what to type, and another session can get the loop. If that fails, it says too little.
func (l *Loop) noteTurn(ev Event) {
	seen, err := l.Store.State() // a person may have stopped the loop while its checks ran
	if err != nil || seen.Session != ev.Session {
		return
	}
	idle, gone := seen.Idle, false
	switch ev.Event {
	case decide.EventStop:
		idle = cmp.Or(idle, ev.At)
	case decide.EventPrompt:
		idle = time.Time{}
	case decide.EventEnd:
		gone = true
	default:
		return
	}
	if idle.Equal(seen.Idle) && gone == seen.HasEnded {
		return
	}
	if word, _, _ := seen.Status.Outcome(); word == "" || seen.Status == decide.Interrupted {
		return // it runs
	}
	_ = l.Store.Locked(LockWait, func() error {
		state, err := l.Store.State()
		if err != nil || state.Session != ev.Session {
			return err
		}
		state.Idle = idle
		state.HasEnded = gone
		return l.Store.SaveState(state)
	})
}

// GiveUp notes that the loop cannot continue, and that the record cannot say so. The returned
// function tells the notifiers, once; it may be nil.
func (l *Loop) GiveUp(ctx context.Context, ev Event, err error) (notify func()) {
	l.Store.Log(troubleLine(ev.At, err), nil)
	if errors.Is(err, loopdir.ErrLocked) && ev.Event != decide.EventStop && !ev.Dying {
		return nil // the session goes on, and so does the loop
	}
	return func() { l.sendTrouble(ctx, ev, err) }
}

// leavePrevious releases the loop that the session worked on before it took this one. It holds no
// other lock meanwhile. If a person trusted that loop, it ends, and its notifiers are told: it stands still.
func (l *Loop) leavePrevious(ctx context.Context, session string) {
	other, err := Open(l.Env, l.previous)
	if err != nil {
		return
	}
	defer other.Close()
	// If that fails, that loop finds its owner by its prompt later.
	_, err = other.Change(leave, func(p *Picture, next *decide.State) error {
		if next.Session != session {
			return errors.New("it has another session by now")
		}
		next.Release()
		if p.Config.Trusted && next.Status == decide.InProgress {
			next.Stop(decide.Interrupted, decide.SessionEnded, time.Now())
			next.Needs = plain.Line(fmt.Sprintf("its session %s works on the loop %s now", session, l.At.Name), 300)
		}
		return nil
	})
	if err == nil {
		_ = other.Tell(ctx)
	}
}
