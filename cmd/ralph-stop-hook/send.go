package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

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
func send(l *loaded, notice decide.Notice, onComplete string, deadline time.Time) {
	var p payload
	if err := json.Unmarshal(notice.Payload, &p); err == nil && !runNotifiers(l, notifiers(l.config, onComplete, p.ExitCode), p, deadline, nil) {
		return // what does not parse could not be told again either
	}
	for range markTries {
		if mark(l.Store, notice.DeliveryID) == nil {
			return
		}
		time.Sleep(waitPause)
	}
}

// markTries is how often a sender tries to say that it is done: unmarked, the
// same would be told again.
const markTries = 5

// waitPause is how long a process sleeps between two looks at what another does.
const waitPause = 50 * time.Millisecond

// mark notes that a notice is sent. Of those that are, the last one is kept.
func mark(s *loopdir.Store, id string) error {
	return locked(s, func() error {
		state, err := s.State()
		i := slices.IndexFunc(state.Notices, func(n decide.Notice) bool { return n.DeliveryID == id })
		if err != nil || i < 0 {
			return err
		}
		if state.Notices[i].SentAt = time.Now().UTC(); i < len(state.Notices)-1 {
			state.Notices = slices.Delete(state.Notices, i, i+1)
		}
		return s.SaveState(state)
	})
}

// takeOver makes this process the sender of each notice that is free for it, once:
// where it cannot note that it has told one, it does not tell that again. Those that
// need more time than there is are left to a process of their own.
func takeOver(s *loopdir.Store, onComplete string, deadline time.Time, free func(decide.Notice) bool) (told []string, err error) {
	left := func(n decide.Notice) bool { return free(n) && !slices.Contains(told, n.DeliveryID) }
	for range maxUnsent {
		state, err := s.State()
		if err != nil || !slices.ContainsFunc(state.Notices, left) {
			return told, err
		}
		l, notice, commands, err := claimNext(s, onComplete, left)
		if err != nil || len(commands) == 0 {
			return told, err
		}
		// A sender of its own is never late: it would start the next one, for ever.
		if min(total(commands), maxSend/2) > time.Until(deadline) {
			_, err := sendApart(s, onComplete, "--take", notice.DeliveryID)
			return told, err
		}
		told = append(told, notice.DeliveryID)
		send(l, notice, onComplete, deadline)
	}
	return told, nil
}

// claimNext claims the first notice that is free, with the commands to run; none
// where there is none, or where nobody wants to be told any more.
func claimNext(s *loopdir.Store, onComplete string, free func(decide.Notice) bool) (l *loaded, notice decide.Notice, commands []config.Command, err error) {
	unlock, err := s.Lock(lockWait)
	if err != nil {
		return l, notice, nil, err
	}
	defer unlock()
	l, err = loadNow(s)
	state := l.snap.State
	i := slices.IndexFunc(state.Notices, free)
	if err != nil || i < 0 {
		return l, notice, nil, err
	}
	notice = state.Notices[i]
	commands = notifiers(l.config, cmp.Or(onComplete, state.OnComplete), exitCode(notice))
	mine := ours(notice)
	if claim(&notice, commands); len(commands) == 0 {
		notice.SentAt = time.Now().UTC() // to nobody
	}
	state.Notices = slices.Clone(state.Notices)
	state.Notices[i] = notice
	if err := s.SaveState(state); err != nil && !mine {
		return l, notice, nil, err
	}
	return l, notice, commands, nil
}

// claim makes this process the sender of a notice.
func claim(n *decide.Notice, commands []config.Command) {
	n.SenderPID, n.SenderStart = os.Getpid(), proc.Start(os.Getpid())
	n.Lease = time.Now().Add(total(commands) + leaseSlack).UTC()
}

// total is how long commands may take, one after the other.
func total(commands []config.Command) (sum time.Duration) {
	for _, c := range commands {
		sum = min(sum+c.Timeout, maxSend)
	}
	return sum
}

// due tells whether a notice has no sender that lives.
func due(n decide.Notice) bool {
	late := !proc.Known(n.SenderStart) && time.Now().After(n.Lease)
	return unsent(n) && (late || !proc.Alive(n.SenderPID, n.SenderStart))
}

// unsent tells whether a notice is still to be told.
func unsent(n decide.Notice) bool { return n.SentAt.IsZero() }

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
	commands := notifiers(l.config, onComplete, code)
	if len(commands) == 0 || !s.TellOnce(id) {
		return
	}
	state.Status, state.ExitReason, state.Needs = decide.Failed, decide.InternalError, plain.Line(trouble.Error(), 500)
	state.EndedAt, state.Session = time.Now(), e.SessionID
	runNotifiers(l, commands, newPayload(l, state, id), deadline, nil)
}

// runNotifiers runs commands in order, each with the payload on its standard input, and
// logs how they fared; heard is told as well. It returns false where they were
// cut off.
func runNotifiers(l *loaded, commands []config.Command, p payload, deadline time.Time, heard func(line string, err error)) bool {
	passOnPipe()
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
		if path := l.changedOf(c); path != "" {
			err := errNotRun(path + notAsTrusted)
			line := wordsLogNotifier(c, err.Error(), nil)
			l.Log(line, nil)
			if heard != nil {
				heard(line, err)
			}
			continue
		}
		left := deadline.Sub(begin)
		if left <= 0 {
			l.Log(wordsLogNotifier(c, "not run: the hook's time is over", nil), nil)
			return false
		}
		r := proc.Run(ctx, proc.Cmd{
			Argv: c.Argv, Shell: c.Shell, Dir: l.Project, Env: notifierEnv(l, c, p), Stdin: append(stdin, '\n'), Timeout: min(c.Timeout, left), Output: notifierOutput,
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
	"LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
	"SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC",
}

func notifierEnv(l *loaded, c config.Command, p payload) []string {
	var env []string
	for _, kv := range l.environ() {
		name, _, _ := strings.Cut(kv, "=")
		known := func(one string) bool { return one == name || runtime.GOOS == "windows" && strings.EqualFold(one, name) }
		if slices.ContainsFunc(passedOn, known) || slices.ContainsFunc(c.Env, known) {
			env = append(env, kv)
		}
	}
	return append(env,
		"RALPH_AGENT="+p.Agent, "RALPH_ITERATION="+strconv.Itoa(p.Iterations), "RALPH_MAX_ITERATIONS="+strconv.Itoa(p.MaxIterations),
		"RALPH_EXIT_CODE="+strconv.Itoa(p.ExitCode), "RALPH_STATUS="+p.Status, "RALPH_WORK_DIR="+p.Repo)
}

// sendApart starts a sender that outlives this process.
func sendApart(s *loopdir.Store, onComplete string, args ...string) (done <-chan struct{}, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "RALPH_LOOP_DIR="+s.Dir, "RALPH_ON_COMPLETE="+onComplete)
	return proc.Detach(append([]string{self, "send"}, args...), s.Project, env)
}

// maxSend is how long a sender of its own may live: its commands have their own
// deadlines, which end long before.
const maxSend = 24 * time.Hour

// sendCommand is what sendApart starts.
func sendCommand() *command {
	var take string
	var iteration int
	cmd := loopVerb("send", "Run a loop's notifiers; the hook starts this, apart from itself",
		func(_ io.Writer, s *loopdir.Store) error {
			if iteration > 0 {
				return sendIteration(s, iteration)
			}
			takeOver(s, os.Getenv("RALPH_ON_COMPLETE"), time.Now().Add(maxSend), func(n decide.Notice) bool {
				return due(n) || unsent(n) && n.DeliveryID == take && n.SenderPID == os.Getppid()
			})
			return nil
		})
	cmd.hidden, cmd.args = true, ""
	cmd.flags.StringVar(&take, "take", "", "the `ID` of the notice that the process which started this one hands over")
	cmd.flags.IntVar(&iteration, "iteration", 0, "tell of iteration `N` instead")
	return cmd
}

// sendIteration tells of an iteration that begins.
func sendIteration(s *loopdir.Store, iteration int) error {
	l, err := loadNow(s)
	if err != nil {
		return err
	}
	state := l.snap.Record()
	p := newPayload(l, state, deliveryID(s.Dir, state.StartedAt, "iteration "+strconv.Itoa(iteration)))
	now := time.Now().UTC()
	// The record may have gone on meanwhile, even to an ending.
	p.Status, p.ExitReason, p.ExitCode, p.Needs, p.RetryAt = "in_progress", "", 0, "", ""
	p.Iterations, p.EndedAt, p.DurationSec = min(iteration, state.Iteration), now, int64(now.Sub(state.StartedAt).Seconds())
	runNotifiers(l, commandsFor(l.config, "", config.OnIteration), p, time.Now().Add(maxSend), nil)
	return nil
}
