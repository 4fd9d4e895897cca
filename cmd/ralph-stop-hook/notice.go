package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
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
	Status        string        `json:"status"`     // completed, failed, blocked; in_progress of an iteration
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

func counts(list decide.List, proven int) featureCounts {
	open := list.Open()
	for i := range open {
		open[i] = plain.Line(open[i], 80)
	}
	return featureCounts{Total: len(list.Items), Passed: list.Passed(), Proven: proven, Open: open[:min(len(open), maxOpen)]}
}

// maxUnsent bounds the notices that wait for a sender.
const maxUnsent = 20

// attachNotice makes the duty to tell the notifiers part of an ending's
// record, with this process as the sender. Those that are still to be told stay.
func attachNotice(l *loaded, next *decide.State, onComplete string) error {
	next.Notices = slices.DeleteFunc(slices.Clone(next.Notices), func(n decide.Notice) bool { return !unsent(n) })
	_, code, notify := next.Status.Outcome()
	commands := notifiers(l.config, onComplete, code)
	if !notify || len(commands) == 0 {
		return nil
	}
	id := deliveryID(l.Dir, next.StartedAt, strconv.Itoa(next.Endings))
	data, err := json.Marshal(newPayload(l, *next, id))
	if err != nil {
		return fmt.Errorf("the record makes no sense: %w; move it away to start over", err)
	}
	notice := decide.Notice{DeliveryID: id, Payload: data}
	claim(&notice, commands)
	next.Notices = append(next.Notices[max(0, len(next.Notices)-maxUnsent+1):], notice)
	return nil
}

// deliveryID names one ending of one run of one loop.
func deliveryID(dir string, started time.Time, ending string) string {
	sum := sha256.Sum256([]byte(dir + "\n" + started.UTC().Format(time.RFC3339Nano) + "\n" + ending))
	return fmt.Sprintf("%x", sum[:16])
}

func newPayload(l *loaded, state decide.State, id string) payload {
	if state.StartedAt.IsZero() {
		state.StartedAt = state.EndedAt // it came to nothing
	}
	status, code, _ := state.Status.Outcome()
	return payload{
		Schema: 1, Event: config.OnComplete, DeliveryID: id,
		Status: status, ExitReason: state.ExitReason, ExitCode: code,
		EpicID: plain.Line(l.Name, 100), Task: plain.Line(l.config.Task, 500), Repo: l.Project, Agent: "claude",
		SessionID: state.Session, Iterations: state.Iteration, MaxIterations: state.Limit(l.snap.Limits),
		StartedAt: state.StartedAt.UTC(), EndedAt: state.EndedAt.UTC(), DurationSec: int64(state.EndedAt.Sub(state.StartedAt).Seconds()),
		Features: counts(l.snap.List, state.Proven), Needs: state.Needs, RetryAt: instant(state.RetryAt),
	}
}

// instant is a time as payloads and `status --json` have it, empty for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// branch returns the branch that is checked out at dir, or nothing.
func branch(dir string) string {
	if loopdir.RepoRoot(dir) == "" {
		return ""
	}
	r := proc.Run(context.Background(), proc.Git(dir, "symbolic-ref", "-q", "--short", "HEAD"))
	if r.Err != nil {
		return ""
	}
	return plain.Line(string(r.Output), 300)
}

// notifiers returns the commands to run at an ending of that exit code.
func notifiers(c config.InForce, onComplete string, code int) []config.Command {
	_, stagnated, _ := decide.Stagnated.Outcome()
	_, blocked, _ := decide.Blocked.Outcome()
	switch code {
	case 0, blocked:
		return commandsFor(c, onComplete, config.OnComplete)
	case stagnated:
		return commandsFor(c, onComplete, config.OnComplete, config.OnStagnation)
	}
	return commandsFor(c, onComplete, config.OnComplete, config.OnFailure)
}

// commandsFor returns the commands of ralph.json for those events, then the one
// of the settings entry or its environment.
func commandsFor(c config.InForce, onComplete string, events ...string) (commands []config.Command) {
	for _, command := range c.Notifiers {
		if slices.Contains(events, command.Event) {
			commands = append(commands, command)
		}
	}
	if onComplete != "" {
		commands = append(commands, config.Command{Event: config.OnComplete, Shell: onComplete, Timeout: config.DefaultTimeout})
	}
	return commands
}

// exitCode is the code in a payload of ours.
func exitCode(n decide.Notice) int { return int(gjson.GetBytes(n.Payload, "exitCode").Int()) }

// tell sees to it that the notifiers hear of an ending: by a process of its own
// where this one may be killed meanwhile or has not the time.
func (h *hook) tell(l *loaded, state decide.State) {
	i := slices.IndexFunc(state.Notices, ours)
	if i < 0 {
		return
	}
	notice := state.Notices[i]
	if need := total(notifiers(l.config, h.onComplete, exitCode(notice))); h.dying() || need > time.Until(h.deadline()) {
		if ended, err := sendApart(l.Store, h.onComplete, "--take", notice.DeliveryID); err == nil {
			if h.dying() {
				h.await(l.Store, ended)
			}
			return
		}
	}
	send(l, notice, h.onComplete, h.deadline())
}

// ours tells whether this process has to send the notice.
func ours(n decide.Notice) bool { return unsent(n) && n.SenderPID == os.Getpid() }

// await waits until all is told: when the host ends there may be no later run.
// What nobody sends it sends itself; ended is closed when the sender that was to
// take ours over has ended. Where the record can be neither read nor written it
// does not wait for long.
func (h *hook) await(s *loopdir.Store, ended <-chan struct{}) {
	var told []string
	for tries := markTries; tries > 0 && time.Now().Before(h.deadline()); time.Sleep(waitPause) {
		free := due
		select {
		case <-ended:
			free = func(n decide.Notice) bool { return due(n) || ours(n) }
		default:
		}
		untold := func(n decide.Notice) bool { return unsent(n) && !slices.Contains(told, n.DeliveryID) }
		now, err := takeOver(s, h.onComplete, h.deadline(), func(n decide.Notice) bool { return free(n) && untold(n) })
		if told = append(told, now...); err != nil {
			tries--
		}
		state, err := s.State()
		if err != nil || !slices.ContainsFunc(state.Notices, untold) {
			return
		}
	}
}
