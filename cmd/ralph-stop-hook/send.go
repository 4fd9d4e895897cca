package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// send runs the notifiers, in order, and marks the notice sent. A notifier
// that is missing, fails or hangs is logged and changes nothing else. A send
// that was cut off leaves no mark: a later run tells it again, with the same id.
func send(l loaded, notice decide.Notice, onComplete string, deadline time.Time) {
	if !deliver(l, notice, onComplete, deadline) {
		return
	}
	unlock, err := l.Lock(lockWait)
	if err != nil {
		return
	}
	defer unlock()
	state, err := l.State()
	if err != nil || state.Notice == nil || state.Notice.DeliveryID != notice.DeliveryID {
		return
	}
	state.Notice.SentAt = time.Now().UTC()
	_ = l.SaveState(state) // as if cut off
}

// sendDue takes over the notice of a sender that died. One whose notifiers
// this run does not know stays due.
func sendDue(s *loopdir.Store, onComplete string, deadline time.Time) {
	takeOver(s, onComplete, deadline, due)
}

// takeOver makes this process the sender of a notice that is free for it.
func takeOver(s *loopdir.Store, onComplete string, deadline time.Time, free func(*decide.Notice) bool) {
	if state, err := s.State(); err != nil || !free(state.Notice) {
		return
	}
	unlock, err := s.Lock(lockWait)
	if err != nil {
		return
	}
	l, err := load(s, hookio.Event{}, time.Now())
	state := l.snap.State
	if err != nil || !free(state.Notice) {
		unlock()
		return
	}
	commands := notifiers(l.config, onComplete, exitCode(state.Notice))
	late := total(commands) > time.Until(deadline)
	if len(commands) == 0 || late {
		unlock()
		if late {
			_, _ = sendApart(l, onComplete) // else it stays due
		}
		return
	}
	notice := *state.Notice
	claim(&notice, commands)
	state.Notice = &notice
	err = s.SaveState(state)
	unlock()
	if err == nil {
		send(l, notice, onComplete, deadline)
	}
}

// claim makes this process the sender of a notice.
func claim(n *decide.Notice, commands []config.Command) {
	n.SenderPID, n.SenderStart = os.Getpid(), proc.Start(os.Getpid())
	n.Lease = time.Now().Add(total(commands) + leaseSlack).UTC()
}

// total is how long commands may take, one after the other.
func total(commands []config.Command) (sum time.Duration) {
	for _, c := range commands {
		sum += c.Timeout
	}
	return sum
}

func due(n *decide.Notice) bool {
	return n != nil && n.SentAt.IsZero() && (time.Now().After(n.Lease) || !proc.Alive(n.SenderPID, n.SenderStart))
}

// sendTrouble tells the notifiers, once, of an ending that the record could
// not take.
func sendTrouble(s *loopdir.Store, e hookio.Event, trouble error, onComplete string, deadline time.Time) {
	l, err := load(s, e, time.Now())
	if err != nil {
		// What can be read is told; the commands must still be trusted ones.
		l.Store = s
		if trust, err := s.Trust(); err == nil {
			text, _ := s.Config()
			l.config, _ = config.Choose(trust, text)
		}
	}
	state := l.snap.State
	id := deliveryID(l.Dir, state.StartedAt, "trouble "+trouble.Error())
	_, code, _ := decide.Failed.Outcome()
	if len(notifiers(l.config, onComplete, code)) == 0 || !s.TellOnce(id) {
		return
	}
	state.Status, state.ExitReason, state.Needs = decide.Failed, decide.InternalError, plain.Line(trouble.Error(), 500)
	state.EndedAt, state.Session = time.Now(), e.SessionID
	if state.StartedAt.IsZero() {
		state.StartedAt = state.EndedAt
	}
	if data, err := json.Marshal(newPayload(l, state, id)); err == nil {
		deliver(l, decide.Notice{DeliveryID: id, Payload: data}, onComplete, deadline)
	}
}

// deliver runs each notifier with the payload on its standard input. It
// returns false where this process was told to terminate meanwhile.
func deliver(l loaded, notice decide.Notice, onComplete string, deadline time.Time) bool {
	var p payload
	if err := json.Unmarshal(notice.Payload, &p); err != nil {
		return true // nothing that could be told again
	}
	return runNotifiers(l, notifiers(l.config, onComplete, p.ExitCode), p, deadline, nil)
}

// runNotifiers runs commands in order, each with the payload on its standard input, and
// logs how they fared; heard is told as well. It returns false where they were
// cut off.
func runNotifiers(l loaded, commands []config.Command, p payload, deadline time.Time, heard func(line string, err error)) bool {
	ctx, stop := terminated()
	defer stop()
	// Looked at without the lock: git may be slow.
	p.Branch = branch(l.Project)
	p.LogTail = plain.Text(string(l.LogTail(logTailBytes)), logTailBytes)
	for _, c := range commands {
		p.Event = c.Event
		stdin, err := json.Marshal(p)
		if err != nil {
			return true
		}
		begin := time.Now()
		left := deadline.Sub(begin)
		if left <= 0 {
			l.Log(wordsLogNotifier(c, "not run: the hook's time is over", nil), nil)
			return false
		}
		r := proc.Run(ctx, proc.Cmd{
			Argv: c.Argv, Shell: c.Shell, Dir: l.Project, Env: notifierEnv(c, p), Stdin: append(stdin, '\n'), Timeout: min(c.Timeout, left), Output: notifierOutput,
		})
		outcome := "ok"
		if r.Err != nil {
			outcome = r.Err.Error()
		}
		line := wordsLogNotifier(c, fmt.Sprintf("%s, %d ms", outcome, time.Since(begin).Milliseconds()), r.Output)
		l.Log(line, nil)
		if heard != nil {
			heard(line, r.Err)
		}
		if ctx.Err() != nil || r.TimedOut && left < c.Timeout {
			return false // cut off by our own end, not by its timeout
		}
	}
	return true
}

// passedOn are the variables a notifier gets of ours: what it takes to find
// programs, the desktop and the user's language, and no key or token.
var passedOn = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
	"SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC",
}

func notifierEnv(c config.Command, p payload) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		known := func(one string) bool { return one == name || runtime.GOOS == "windows" && strings.EqualFold(one, name) }
		if locale(name) || slices.ContainsFunc(passedOn, known) || slices.ContainsFunc(c.Env, known) {
			env = append(env, kv)
		}
	}
	return append(env,
		"RALPH_AGENT="+p.Agent, "RALPH_ITERATION="+strconv.Itoa(p.Iterations), "RALPH_MAX_ITERATIONS="+strconv.Itoa(p.MaxIterations),
		"RALPH_EXIT_CODE="+strconv.Itoa(p.ExitCode), "RALPH_STATUS="+p.Status, "RALPH_WORK_DIR="+p.Repo)
}

// locale tells whether a variable is one of the system's LC_ALL, LC_TIME, ...
func locale(name string) bool {
	category, ok := strings.CutPrefix(name, "LC_")
	return ok && !strings.Contains(category, "_")
}

// sendApart starts a sender that outlives this process.
func sendApart(l loaded, onComplete string, args ...string) (done <-chan struct{}, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "RALPH_ON_COMPLETE="+onComplete)
	return proc.Detach(append([]string{self, "send", "--loop-dir", l.Dir}, args...), l.Project, env)
}

// maxSend is how long a sender of its own may live: its commands have their own
// deadlines, which end long before.
const maxSend = 24 * time.Hour

// sendCommand is what sendApart starts.
func sendCommand() *cobra.Command {
	var dir string
	var from, iteration int
	cmd := &cobra.Command{
		Use:    "send --loop-dir DIR [--from PID] [--iteration N]",
		Short:  "Run a loop's notifiers; the hook starts this, apart from itself",
		Hidden: true,
		Args:   maxArgs(0),
		RunE: func(*cobra.Command, []string) error {
			w, err := where()
			if err != nil {
				return err
			}
			w.LoopDir = dir
			l, err := loopdir.Find(w)
			if err != nil {
				return err
			}
			s, err := l.Open()
			if err != nil {
				return err
			}
			defer s.Close()
			if iteration > 0 {
				return sendIteration(s, iteration)
			}
			takeOver(s, os.Getenv("RALPH_ON_COMPLETE"), time.Now().Add(maxSend), func(n *decide.Notice) bool {
				return due(n) || n != nil && n.SentAt.IsZero() && n.SenderPID == from
			})
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "loop-dir", "", "the loop's folder")
	cmd.Flags().IntVar(&from, "from", 0, "the process that hands its notice over")
	cmd.Flags().IntVar(&iteration, "iteration", 0, "tell of this iteration instead")
	return cmd
}

// sendIteration tells of an iteration that begins.
func sendIteration(s *loopdir.Store, iteration int) error {
	l, err := load(s, hookio.Event{}, time.Now())
	if err != nil {
		return err
	}
	state := l.snap.Record()
	p := newPayload(l, state, deliveryID(s.Dir, state.StartedAt, "iteration "+strconv.Itoa(iteration)))
	now := time.Now().UTC()
	p.Status, p.Iterations, p.EndedAt, p.DurationSec = "in_progress", iteration, now, int64(now.Sub(state.StartedAt).Seconds())
	runNotifiers(l, iterationNotifiers(l.config), p, time.Now().Add(maxSend), nil)
	return nil
}
