package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/sjson"

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
func attachNotice(s *loopdir.Store, l loaded, next *decide.State, extra string) {
	next.Notice = nil
	commands := notifiers(l.config, extra)
	if _, _, notify := next.Status.Outcome(); !notify || len(commands) == 0 {
		return
	}
	id := deliveryID(s, next.StartedAt, strconv.Itoa(next.Endings))
	data, err := json.Marshal(newPayload(s, l, *next, id))
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
func deliveryID(s *loopdir.Store, started time.Time, ending string) string {
	sum := sha256.Sum256([]byte(s.Dir + "\n" + started.UTC().Format(time.RFC3339Nano) + "\n" + ending))
	return hex.EncodeToString(sum[:16])
}

func newPayload(s *loopdir.Store, l loaded, state decide.State, id string) payload {
	status, code, _ := state.Status.Outcome()
	return payload{
		Schema: 1, Event: "on-complete", DeliveryID: id,
		Status: status, ExitReason: state.ExitReason, ExitCode: code,
		EpicID: s.Name, Task: l.config.Task, Repo: s.Project, Branch: loopdir.Branch(s.Project), Agent: "claude",
		SessionID: state.Session, Iterations: state.Iteration, MaxIterations: state.Limit(l.config.Limits),
		StartedAt: state.StartedAt.UTC(), EndedAt: state.EndedAt.UTC(), DurationSec: int64(state.EndedAt.Sub(state.StartedAt).Seconds()),
		Features: counts(l.snap.List), Needs: state.Needs,
	}
}

// notifiers returns the commands to run: those of ralph.json, then the one of
// the settings entry or its environment.
func notifiers(c config.InForce, extra string) []config.Command {
	commands := c.OnComplete
	if extra != "" {
		commands = append(commands[:len(commands):len(commands)], config.Command{Shell: extra, Timeout: config.DefaultTimeout})
	}
	return commands
}

// send runs the notifiers, in order, and marks the notice sent. A notifier
// that is missing, fails or hangs is logged and changes nothing else.
func send(s *loopdir.Store, c config.InForce, notice decide.Notice, extra string, deadline time.Time) {
	deliver(s, c, notice, extra, deadline)
	unlock, err := s.Lock(lockWait)
	if err != nil {
		return // not marked: a later run tells it again, with the same id
	}
	defer unlock()
	state, err := s.State()
	if err != nil || state.Notice == nil || state.Notice.DeliveryID != notice.DeliveryID {
		return
	}
	state.Notice.SentAt = time.Now().UTC()
	_ = s.SaveState(state) // the same
}

// sendDue takes over the notice of a sender that died.
func sendDue(s *loopdir.Store, extra string, deadline time.Time) {
	if state, err := s.State(); err != nil || !due(state.Notice) {
		return
	}
	unlock, err := s.Lock(lockWait)
	if err != nil {
		return
	}
	l, err := load(s, hookio.Event{}, time.Now())
	state := l.snap.State
	if err != nil || !due(state.Notice) {
		unlock()
		return
	}
	notice := *state.Notice
	notice.SenderPID, notice.SenderStart, notice.Lease = os.Getpid(), proc.Start(os.Getpid()), deadline.Add(leaseSlack).UTC()
	state.Notice = &notice
	err = s.SaveState(state)
	unlock()
	if err == nil {
		send(s, l.config, notice, extra, deadline)
	}
}

func due(n *decide.Notice) bool {
	return n != nil && n.SentAt.IsZero() && (time.Now().After(n.Lease) || !proc.Alive(n.SenderPID, n.SenderStart))
}

// sendTrouble tells the notifiers, once, of an ending that the record could
// not take.
func sendTrouble(s *loopdir.Store, e hookio.Event, trouble error, extra string, deadline time.Time) {
	l, err := load(s, e, time.Now())
	if err != nil {
		// What can be read is told; the commands must still be trusted ones.
		if trust, err := s.Trust(); err == nil {
			text, _ := s.Config()
			l.config, _ = config.Choose(trust, text)
		}
	}
	state := l.snap.State
	state.Status, state.ExitReason, state.Needs = decide.Failed, decide.InternalError, plain.Line(trouble.Error(), 500)
	state.EndedAt, state.Session = time.Now(), e.SessionID
	if state.StartedAt.IsZero() {
		state.StartedAt = state.EndedAt
	}
	id := deliveryID(s, l.snap.State.StartedAt, "trouble "+strconv.Itoa(state.Iteration)+trouble.Error())
	data, err := json.Marshal(newPayload(s, l, state, id))
	if err == nil {
		deliver(s, l.config, decide.Notice{DeliveryID: id, Payload: data}, extra, deadline)
	}
}

// deliver runs each notifier with the payload on its standard input.
func deliver(s *loopdir.Store, c config.InForce, notice decide.Notice, extra string, deadline time.Time) {
	// The record's indent is taken out again: one payload is one line.
	var line bytes.Buffer
	if err := json.Compact(&line, notice.Payload); err != nil {
		return
	}
	stdin, err := sjson.SetBytes(line.Bytes(), "logTail", plain.Text(string(s.LogTail(logTailBytes)), logTailBytes))
	if err != nil {
		return
	}
	stdin = append(stdin, '\n')
	var p payload
	_ = json.Unmarshal(notice.Payload, &p) // ours; zero fields only leave variables empty
	for _, command := range notifiers(c, extra) {
		left := time.Until(deadline)
		if left <= 0 {
			s.Log(wordsLogNotifier(command, "not run: the hook's time is over", nil), nil)
			continue
		}
		argv := command.Argv
		if command.Shell != "" {
			argv = proc.Shell(command.Shell)
		}
		begin := time.Now()
		r := proc.Run(context.Background(), proc.Cmd{
			Argv: argv, Dir: s.Project, Env: notifierEnv(command, p), Stdin: stdin, Timeout: min(command.Timeout, left), Output: notifierOutput,
		})
		outcome := "ok"
		if r.Err != nil {
			outcome = r.Err.Error()
		}
		s.Log(wordsLogNotifier(command, fmt.Sprintf("%s, %d ms", outcome, time.Since(begin).Milliseconds()), r.Output), nil)
	}
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
		for _, list := range [][]string{passedOn, c.Env} {
			for _, ok := range list {
				if name == ok {
					env = append(env, kv)
				}
			}
		}
		if strings.HasPrefix(name, "LC_") {
			env = append(env, kv)
		}
	}
	return append(env,
		"RALPH_AGENT="+p.Agent, "RALPH_ITERATION="+strconv.Itoa(p.Iterations), "RALPH_MAX_ITERATIONS="+strconv.Itoa(p.MaxIterations),
		"RALPH_EXIT_CODE="+strconv.Itoa(p.ExitCode), "RALPH_STATUS="+p.Status, "RALPH_WORK_DIR="+p.Repo)
}

// clientPID is the host's process, 0 where it does not say.
func clientPID() int {
	pid, err := strconv.Atoi(os.Getenv("CLAUDE_PID"))
	if err != nil {
		return 0
	}
	return pid
}
