package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

const (
	logTailBytes   = 3000 // of hook.log, in a payload
	notifierOutput = 4000 // bytes of a notifier's output, in hook.log
	leaseSlack     = 10 * time.Second
)

// payload is what a notifier gets on standard input. It holds no secrets: no
// environment, no text of the conversation.
type payload struct {
	Schema        int           `json:"schema"`
	Event         string        `json:"event"`
	DeliveryID    string        `json:"deliveryId"` // the same whenever one ending is told again
	Status        string        `json:"status"`     // completed, failed, blocked
	ExitReason    string        `json:"exitReason"`
	ExitCode      int           `json:"exitCode"`
	EpicID        string        `json:"epicId"` // the loop's name
	Task          string        `json:"task"`
	Repo          string        `json:"repo"`
	Branch        string        `json:"branch"`
	Agent         string        `json:"agent"`
	SessionID     string        `json:"sessionId"`
	Iterations    int           `json:"iterations"`
	MaxIterations int           `json:"maxIterations"`
	StartedAt     time.Time     `json:"startedAt"`
	EndedAt       time.Time     `json:"endedAt"`
	DurationSec   int64         `json:"durationSec"`
	Features      featureCounts `json:"features"`
	Needs         string        `json:"needs"`
	RetryAt       string        `json:"retryAt"`
	LogTail       string        `json:"logTail"`
}

// featureCounts is the state of the list in a payload and in `status --json`.
type featureCounts struct {
	Total  int      `json:"total"`
	Passed int      `json:"passed"` // as the list claims
	Proven int      `json:"proven"` // by the hook's own checks
	Open   []string `json:"open"`   // at most maxOpen ids
}

// maxOpen bounds the ids that are listed.
const maxOpen = 100

func counts(list decide.List) featureCounts {
	open := list.Open()
	for i := range open {
		open[i] = plain.Line(open[i], 80)
	}
	return featureCounts{Total: len(list.Items), Passed: list.Passed(), Open: open[:min(len(open), maxOpen)]}
}

// attachNotice makes the duty to tell the notifiers part of an ending's
// record, with this process as the sender.
func attachNotice(l loaded, next *decide.State, onComplete string) {
	next.Notice = nil
	_, code, notify := next.Status.Outcome()
	commands := notifiers(l.config, onComplete, code)
	if !notify || len(commands) == 0 {
		return
	}
	id := deliveryID(l.Dir, next.StartedAt, strconv.Itoa(next.Endings))
	data, err := json.Marshal(newPayload(l, *next, id))
	if err != nil {
		panic(err) // strings, numbers and times of our own always encode
	}
	lease := time.Now().Add(leaseSlack)
	for _, c := range commands {
		lease = lease.Add(c.Timeout)
	}
	next.Notice = &decide.Notice{
		DeliveryID: id, Payload: data, SenderPID: os.Getpid(), SenderStart: proc.Start(os.Getpid()), Lease: lease.UTC(),
	}
}

// deliveryID names one ending of one run of one loop.
func deliveryID(dir string, started time.Time, ending string) string {
	sum := sha256.Sum256([]byte(dir + "\n" + started.UTC().Format(time.RFC3339Nano) + "\n" + ending))
	return hex.EncodeToString(sum[:16])
}

func newPayload(l loaded, state decide.State, id string) payload {
	status, code, _ := state.Status.Outcome()
	return payload{
		Schema: 1, Event: config.OnComplete, DeliveryID: id,
		Status: status, ExitReason: state.ExitReason, ExitCode: code,
		EpicID: l.Name, Task: l.config.Task, Repo: l.Project, Agent: "claude",
		SessionID: state.Session, Iterations: state.Iteration, MaxIterations: state.Limit(l.config.Limits),
		StartedAt: state.StartedAt.UTC(), EndedAt: state.EndedAt.UTC(), DurationSec: int64(state.EndedAt.Sub(state.StartedAt).Seconds()),
		Features: counts(l.snap.List), Needs: state.Needs,
	}
}

// branch returns the branch that is checked out at dir, or nothing.
func branch(dir string) string {
	if loopdir.RepoRoot(dir) == "" {
		return ""
	}
	r := proc.Run(context.Background(), proc.Cmd{Argv: []string{"git", "symbolic-ref", "-q", "--short", "HEAD"}, Dir: dir, Timeout: 5 * time.Second, Output: 1000})
	if r.Err != nil {
		return ""
	}
	return plain.Line(string(r.Output), 300)
}

// notifiers returns the commands to run at an ending of that exit code: those
// of ralph.json, then the one of the settings entry or its environment.
func notifiers(c config.InForce, onComplete string, code int) (commands []config.Command) {
	_, stagnated, _ := decide.Stagnated.Outcome()
	_, blocked, _ := decide.Blocked.Outcome()
	for _, command := range c.Notifiers {
		switch {
		case command.Event == config.OnStagnation && code != stagnated,
			command.Event == config.OnFailure && (code == 0 || code == stagnated || code == blocked):
		default:
			commands = append(commands, command)
		}
	}
	if onComplete != "" {
		commands = append(commands, config.Command{Event: config.OnComplete, Shell: onComplete, Timeout: config.DefaultTimeout})
	}
	return commands
}

// exitCode is the code in a payload of ours.
func exitCode(n *decide.Notice) int { return int(gjson.GetBytes(n.Payload, "exitCode").Int()) }

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
	if state, err := s.State(); err != nil || !due(state.Notice) {
		return
	}
	unlock, err := s.Lock(lockWait)
	if err != nil {
		return
	}
	l, err := load(s, hookio.Event{}, time.Now())
	state := l.snap.State
	if err != nil || !due(state.Notice) || len(notifiers(l.config, onComplete, exitCode(state.Notice))) == 0 {
		unlock()
		return
	}
	notice := *state.Notice
	notice.SenderPID, notice.SenderStart, notice.Lease = os.Getpid(), proc.Start(os.Getpid()), deadline.Add(leaseSlack).UTC()
	state.Notice = &notice
	err = s.SaveState(state)
	unlock()
	if err == nil {
		send(l, notice, onComplete, deadline)
	}
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
	ctx, stop := terminated()
	defer stop()
	var p payload
	if err := json.Unmarshal(notice.Payload, &p); err != nil {
		return true // nothing that could be told again
	}
	// Looked at without the lock: git may be slow.
	p.Branch = branch(l.Project)
	p.LogTail = plain.Text(string(l.LogTail(logTailBytes)), logTailBytes)
	for _, c := range notifiers(l.config, onComplete, p.ExitCode) {
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
		l.Log(wordsLogNotifier(c, fmt.Sprintf("%s, %d ms", outcome, time.Since(begin).Milliseconds()), r.Output), nil)
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

// client is the host's process and when it started, 0 where it does not say.
func client() (pid int, start string) {
	pid, err := strconv.Atoi(os.Getenv("CLAUDE_PID"))
	if err != nil || pid <= 0 {
		return 0, ""
	}
	return pid, proc.Start(pid)
}
