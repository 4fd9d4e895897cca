package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Every ending is told once. The record has a notice for each ending that is not told yet. One
// process at a time tells them: the one that holds the sender lock. It marks each notice that it
// has told. If it dies, the kernel frees the lock, and a later process tells the unmarked notices
// again, with the same delivery id.

const (
	maxSend   = 24 * time.Hour        // for what has no deadline: commands have times of their own, and end long before
	markTries = 5                     // how often a sender tries to mark a notice; an unmarked one is told again
	waitPause = 50 * time.Millisecond // between two looks at what another process does

	// How long to wait for the sender lock. A process that only checks whether there is a sender
	// holds it for a moment.
	senderWait = 200 * time.Millisecond

	// How long a sender waits for its hook to be gone. A hook that is stopped must not keep an ending from being told.
	endWait = time.Minute
)

// Unsent reports whether a notice is not told yet.
func Unsent(n decide.Notice) bool { return !n.Sent() }

// Untold returns the number of notices that no process is telling.
func (l *Loop) Untold() int {
	state, err := l.Store.State()
	left := slices.DeleteFunc(slices.Clone(state.Notices), decide.Notice.Sent)
	if err != nil || len(left) == 0 {
		return 0
	}
	unlock, err := l.Store.LockSender(0)
	if errors.Is(err, loopdir.ErrLocked) {
		return 0 // the process that holds the lock tells all
	}
	if err == nil {
		unlock()
	}
	return len(left)
}

// noticeCommands returns the notifiers of an ending.
func (p *Picture) noticeCommands(n decide.Notice) []config.Command {
	commands := p.notifiers(int(gjson.GetBytes(n.Payload, "exitCode").Int()))
	return slices.DeleteFunc(commands, func(c config.Command) bool {
		return len(n.Failed) > 0 && !slices.Contains(n.Failed, c.String())
	})
}

// SendPending starts a sender if a killed one left notices.
func (l *Loop) SendPending() {
	if slices.ContainsFunc(l.seen.State.Notices, Unsent) && l.Untold() > 0 {
		_, _ = l.sendApart() // if it fails, the next event tries again
	}
}

// Tell tells the notifiers of every ending that is not told yet, unless another process does. It
// returns when that is done.
func (l *Loop) Tell(ctx context.Context) error { return l.tell(ctx, time.Now().Add(maxSend), true) }

// RetryNotifiers tells those notifiers of an ending once more that failed then, and reports whether there are any.
func (l *Loop) RetryNotifiers(ctx context.Context) (again bool, err error) {
	err = l.Store.Locked(LockWait, func() error {
		state, err := l.Store.State()
		for i := range state.Notices {
			if n := &state.Notices[i]; len(n.Failed) > 0 {
				n.SentAt = time.Time{}
				again = true
			}
		}
		if err != nil || !again {
			return err
		}
		return l.Store.SaveState(state)
	})
	if again && err == nil {
		err = l.Tell(ctx)
	}
	return again, err
}

// TellForAgent is Tell in a process that an agent has started. The agent decides what commands can do there. If a
// notifier fails, a later process sends the notice again.
func (l *Loop) TellForAgent(ctx context.Context) error {
	l.forAgent = true
	return l.Tell(ctx)
}

// tell is Tell for a hook, which has a deadline. A sender in its own process is never late.
func (l *Loop) tell(ctx context.Context, deadline time.Time, apart bool) error {
	// Another process may commit a notice while this one holds the lock, and then find the lock
	// taken. So look again after the lock is free.
	for {
		state, err := l.Store.State()
		if err != nil || !slices.ContainsFunc(state.Notices, l.untold) {
			return err
		}
		unlock, err := l.Store.LockSender(senderWait)
		if errors.Is(err, loopdir.ErrLocked) {
			return nil
		}
		if err != nil {
			return err
		}
		late, err := l.tellNext(ctx, deadline, apart)
		unlock()
		if late {
			_, err = l.sendApart()
		}
		if late || err != nil {
			return err
		}
	}
}

func (l *Loop) untold(n decide.Notice) bool { return Unsent(n) && !l.sentNotices[n.DeliveryID] }

// tellNext tells the first notice that is left, under the sender lock. If there is not enough
// time, it tells nothing and reports late.
func (l *Loop) tellNext(ctx context.Context, deadline time.Time, apart bool) (late bool, err error) {
	p, err := l.Look()
	i := slices.IndexFunc(p.Snapshot.State.Notices, l.untold)
	if err != nil || i < 0 {
		return false, err
	}
	notice := p.Snapshot.State.Notices[i]
	commands := p.noticeCommands(notice)
	if !apart && total(commands) > time.Until(deadline) {
		return true, nil
	}
	if l.sentNotices == nil {
		l.sentNotices = map[string]bool{}
	}
	l.sentNotices[notice.DeliveryID] = true // once by this process, even if it cannot be marked
	var what payload
	var failed []string
	// A payload that cannot be read could not be read later either.
	if err := json.Unmarshal(notice.Payload, &what); err == nil && len(commands) > 0 {
		done := false
		failed, done = p.runNotifiers(ctx, commands, what, deadline, nil)
		if !done {
			return false, nil // a later process tells it again
		}
	}
	for range markTries {
		err = l.mark(notice.DeliveryID, failed, max(LockWait, time.Until(deadline)))
		if err == nil {
			break
		}
		time.Sleep(waitPause)
	}
	return false, err
}

// mark records that a notice is sent, and which commands failed. It waits while checks run. Of the sent notices the
// last one is kept.
func (l *Loop) mark(id string, failed []string, wait time.Duration) error {
	return l.Store.Locked(wait, func() error {
		state, err := l.Store.State()
		i := slices.IndexFunc(state.Notices, func(n decide.Notice) bool { return n.DeliveryID == id })
		if err != nil || i < 0 {
			return err
		}
		state.Notices[i].SentAt = time.Now().UTC().Truncate(time.Second)
		state.Notices[i].Failed = failed
		if i < len(state.Notices)-1 {
			state.Notices = slices.Delete(state.Notices, i, i+1)
		}
		return l.Store.SaveState(state)
	})
}

// tellEnding tells the notifiers of the ending that was just committed. It uses a process of its
// own if this one may be killed meanwhile, or does not have the time.
func (l *Loop) tellEnding(ctx context.Context, ev Event, state decide.State) {
	if !slices.ContainsFunc(state.Notices, Unsent) {
		return
	}
	switch {
	case ev.Dying && ev.Event == decide.EventEnd:
		ended, err := l.sendApart()
		if err == nil {
			l.await(ctx, ev.Deadline(), ended)
			return
		}
	case ev.Dying:
		pid := os.Getpid()
		_, err := l.sendApart(sendAfter, strconv.Itoa(pid), proc.Start(pid))
		if err == nil {
			return
		}
	}
	_ = l.tell(ctx, ev.Deadline(), false) // a later event tries again
}

// await waits until everything is told, because there may be no later run when a host ends. It
// waits for a started sender, which closes ended at its end, and then tells what is left itself.
// If the record can be neither read nor written, it does not wait long.
func (l *Loop) await(ctx context.Context, deadline time.Time, ended <-chan struct{}) {
	for tries := markTries; tries > 0 && time.Now().Before(deadline); time.Sleep(waitPause) {
		state, err := l.Store.State()
		if err == nil && !slices.ContainsFunc(state.Notices, l.untold) {
			return
		}
		if ended != nil {
			select {
			case <-ended:
				ended = nil
			default:
				continue
			}
		}
		if err != nil || l.tell(ctx, deadline, false) != nil {
			tries--
		}
	}
}

// warning is what a person should know of a loop that goes on, and what they do about it.
type warning struct{ what, next string }

func (w warning) Error() string { return w.what }

// Warn tells the notifiers, once, what a person should know of a loop that goes on.
func (l *Loop) Warn(ctx context.Context, ev Event, what, next string) {
	l.sendTrouble(ctx, ev, warning{what, "; next step: " + next})
}

// sendTrouble tells the notifiers, once, of an ending that the record could not take, or of what ends no loop.
func (l *Loop) sendTrouble(ctx context.Context, ev Event, trouble error) {
	p := &Picture{Loop: l}
	err := trouble
	if !l.Store.Refused {
		p, err = l.Read(ev)
	}
	if err != nil {
		// What can be read is told; the commands must still be trusted ones.
		p.Snapshot.State = l.seen.State
		if trust, err := l.Store.Trust(); err == nil {
			text, _ := l.Store.Config()
			p.Config, _ = config.Choose(trust, text)
		}
	}
	state := p.Snapshot.State
	id := l.deliveryID(state.StartedAt, "trouble "+trouble.Error())
	_, code, _ := decide.Failed.Outcome()
	commands := p.notifiers(code)
	var about warning
	goesOn := errors.As(trouble, &about)
	if len(commands) == 0 || goesOn && !l.At.FirstTime(id) || !goesOn && !l.Store.FirstTime(id) {
		return
	}
	if !goesOn {
		state.Status, state.ExitReason = decide.Failed, decide.InternalError
	}
	state.Needs = plain.Line(trouble.Error()+about.next, 500)
	state.EndedAt, state.Session = time.Now(), ev.Session
	what := p.payload(state, id)
	what.ExitCode = code // also of a warning, so that the notifiers of failures get it
	if !goesOn {
		p.runNotifiers(ctx, commands, what, ev.Deadline(), nil)
		return
	}
	err = l.Store.Locked(LockWait, func() error {
		state, err := l.Store.State()
		if err != nil {
			return err
		}
		addNotice(&state, what)
		return l.Store.SaveState(state)
	})
	if err == nil {
		_ = l.tell(ctx, ev.Deadline(), false)
	}
}

// tellIteration tells of an iteration that begins.
func (l *Loop) tellIteration(ctx context.Context, iteration int) error {
	p, err := l.Look()
	if err != nil {
		return err
	}
	state := p.Snapshot.Record()
	// The record may have changed meanwhile, even to an ending.
	state.Ending = decide.Ending{Status: decide.InProgress, StartedAt: state.StartedAt, EndedAt: time.Now()}
	state.Iteration = min(iteration, state.Iteration)
	what := p.payload(state, l.deliveryID(state.StartedAt, "iteration "+strconv.Itoa(iteration)))
	p.runNotifiers(ctx, commandsFor(p.Config, "", config.OnIteration), what, time.Now().Add(maxSend), nil)
	return nil
}

// Try runs every notifier of the loop now, with the exit reason "test". It calls hear with a line
// for each, and its error. It returns how many there are.
func (p *Picture) Try(ctx context.Context, hear func(line string, err error)) int {
	all := []string{config.OnComplete, config.OnStagnation, config.OnFailure, config.OnIteration}
	commands := commandsFor(p.Config, p.Loop.Env.OnComplete, all...)
	state := p.Snapshot.Record()
	state.Status = decide.Complete
	state.ExitReason = "test"
	state.EndedAt = time.Now()
	p.runNotifiers(ctx, commands, p.payload(state, "test"), time.Now().Add(maxSend), hear)
	return len(commands)
}

// What a sender can be asked for; otherwise it tells the endings that are left.
const (
	sendIteration = "iteration" // and its number: tell of that iteration
	sendAfter     = "after"     // and a process, by its id and proc.Start: tell what is left when that process is gone
)

// Send does the job of a sender, with the arguments of sendApart. It first answers the events that got no lock.
func (l *Loop) Send(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == sendIteration:
		iteration, err := strconv.Atoi(args[1])
		if err != nil {
			return fmt.Errorf("the iteration %q is no number", args[1])
		}
		return l.tellIteration(ctx, iteration)
	case len(args) == 3 && args[0] == sendAfter:
		pid, err := strconv.Atoi(args[1])
		if err != nil {
			return fmt.Errorf("the process %q is no number", args[1])
		}
		awaitEnd(pid, args[2])
	}
	l.drainQueue(ctx)
	return l.Tell(ctx)
}

// awaitEnd waits until the hook that has started this sender is gone. It ends at once. When Claude Code exits after an
// error, it kills that hook and its senders, and then starts a last hook, which tells what is not marked as told. So a
// sender that can still be killed with its hook tells nothing.
func awaitEnd(pid int, start string) {
	for end := time.Now().Add(endWait); proc.Alive(pid, start) && time.Now().Before(end); {
		time.Sleep(waitPause)
	}
}

// sendApart starts a sender that outlives this process, for the job of Send that args name.
func (l *Loop) sendApart(args ...string) (ended <-chan struct{}, err error) {
	if l.Env.Self == "" {
		return nil, errors.New("the system does not tell this program's path")
	}
	env := append(slices.Clone(l.Env.Vars), "RALPH_LOOP_DIR="+l.At.Dir, "RALPH_ON_COMPLETE="+l.Env.OnComplete)
	return proc.Detach(l.Env.Self, proc.SendJob, args, l.At.Project, env)
}
