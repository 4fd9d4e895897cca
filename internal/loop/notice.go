package loop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

const (
	logTailBytes = 3000 // of hook.log, in a payload
	answerBytes  = 3000 // of the agent's last message, in a payload
	lastBytes    = 200  // of what a command that failed printed last, in an error
	maxUnsent    = 20   // notices that wait for a sender; older ones are dropped
)

// payload is what a notifier gets on standard input. It has no environment, and of the conversation only the agent's
// last message.
type payload struct {
	Schema        int           `json:"schema"`
	Event         string        `json:"event"`
	DeliveryID    string        `json:"deliveryId"` // the same if an ending is told again
	Status        string        `json:"status"`     // completed, failed, blocked; in_progress: the loop goes on
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
	Features      decide.Counts `json:"features"`
	Needs         string        `json:"needs"`
	RetryAt       string        `json:"retryAt"`
	LogTail       string        `json:"logTail"`
	LogPath       string        `json:"logPath"`              // of the log that LogTail is from
	LastAnswer    string        `json:"lastAnswer,omitempty"` // the end of the agent's last message
	Commit        string        `json:"commit,omitempty"`     // that is checked out
	PullRequest   string        `json:"pullRequest,omitempty"`
	Report        string        `json:"report,omitempty"`  // a file; only hosts that write reports name one
	NotUsed       []string      `json:"notUsed,omitempty"` // changed files that the checks do not use as they are
}

// attachNotice adds a notice to the record of an ending. Notices that are not sent yet stay in it.
func (p *Picture) attachNotice(next *decide.State) {
	next.Notices = slices.DeleteFunc(slices.Clone(next.Notices), decide.Notice.Sent)
	_, code, _ := next.Status.Outcome()
	// A run that works on the loop tells of its own end.
	byRun := next.Status.GoesOn() && p.Loop.Env.Get(RunVar) != "" && p.Loop.Store.RunWorks()
	if byRun || !next.Notify() || len(p.notifiers(code)) == 0 {
		return
	}
	id := p.Loop.deliveryID(next.StartedAt, strconv.Itoa(next.Endings))
	addNotice(next, p.payload(*next, id))
}

// addNotice adds what is to be told to the record. A later process tells it.
func addNotice(next *decide.State, what payload) {
	data, _ := json.Marshal(what) // cannot fail: texts, numbers, and times that the record bounds
	waiting := next.Notices[max(0, len(next.Notices)-maxUnsent+1):]
	next.Notices = append(waiting, decide.Notice{DeliveryID: what.DeliveryID, Payload: data})
}

// deliveryID names one ending of one run of a loop.
func (l *Loop) deliveryID(started time.Time, ending string) string {
	sum := sha256.Sum256([]byte(l.At.Dir + "\n" + started.UTC().Format(time.RFC3339Nano) + "\n" + ending))
	return fmt.Sprintf("%x", sum[:16])
}

func (p *Picture) payload(state decide.State, id string) payload {
	if state.StartedAt.IsZero() {
		state.StartedAt = state.EndedAt // the loop ended before its first iteration
	}
	status, code, _ := state.Status.Outcome()
	needs := state.Needs
	if state.Status == decide.Complete {
		needs = strings.Trim(p.Loop.Env.ToMerge+"; "+needs, "; ")
	}
	return payload{
		Schema: 1, Event: config.OnComplete, DeliveryID: id,
		Status: cmp.Or(status, "in_progress"), ExitReason: state.ExitReason, ExitCode: code,
		EpicID: plain.Line(p.Loop.At.Name, 100), Task: plain.Line(p.Config.Task, 500), Repo: p.Loop.At.Project,
		Agent: p.agent(state), SessionID: state.Session,
		Iterations: state.Iteration, MaxIterations: state.Limit(p.Snapshot.Limits),
		StartedAt: state.StartedAt.UTC(), EndedAt: state.EndedAt.UTC(),
		DurationSec: int64(state.EndedAt.Sub(state.StartedAt).Seconds()),
		Features:    p.Snapshot.Counts(state), Needs: needs, RetryAt: plain.Instant(state.RetryAt),
		Report: p.Loop.Env.Report, NotUsed: p.namedNotCounted(), LogPath: filepath.Join(p.Loop.At.Dir, loopdir.HookLog),
		LastAnswer: plain.End(p.Snapshot.Message, answerBytes),
	}
}

// agent names the agent that worked the loop: that of the run, or that of the session's client.
func (p *Picture) agent(state decide.State) string {
	state.Session = cmp.Or(state.Session, state.LastSession)
	if state.Run() != "" {
		return p.Loop.Env.Agent
	}
	return cmp.Or(state.Client, p.Loop.Env.Agent)
}

// checkedOut returns the branch and the commit that are checked out in the project, "" for none.
func (p *Picture) checkedOut() (branch, commit string) {
	project := p.Loop.At.Project
	if loopdir.RepoRoot(project) == "" {
		return "", ""
	}
	env, _ := p.environ()
	return tree.Branch(env, project), tree.Head(env, project)
}

// EndingEvents returns the events of an ending of that exit code, as of Status.Outcome.
func EndingEvents(code int) []string {
	switch code {
	case 0, 3: // it is complete, or waits for a person
		return []string{config.OnComplete}
	case 2:
		return []string{config.OnComplete, config.OnStagnation}
	}
	return []string{config.OnComplete, config.OnFailure}
}

// notifiers returns the commands to run at an ending of that exit code.
func (p *Picture) notifiers(code int) []config.Command {
	onComplete := cmp.Or(p.Loop.Env.OnComplete, p.Snapshot.State.OnComplete)
	return commandsFor(p.Config, onComplete, EndingEvents(code)...)
}

// commandsFor returns the commands of ralph.json for those events, then the one of
// the host's entry.
func commandsFor(c config.Effective, onComplete string, events ...string) (commands []config.Command) {
	for _, command := range c.Notifiers {
		if slices.Contains(events, command.Event) {
			commands = append(commands, command)
		}
	}
	if onComplete != "" {
		commands = append(commands, config.Command{
			Event: config.OnComplete, Shell: onComplete, Timeout: config.DefaultTimeout,
		})
	}
	return commands
}

// total returns how long commands may take, one after the other.
func total(commands []config.Command) (sum time.Duration) {
	for _, c := range commands {
		sum = min(sum+c.Timeout, maxSend)
	}
	return sum
}

// runNotifiers runs commands in order, each with the payload on its standard input, and logs the
// results. A notifier that is missing, fails or hangs changes nothing else. failed are those that did. done is false if
// they were cut off, or if one failed in a process of an agent.
func (p *Picture) runNotifiers(ctx context.Context, commands []config.Command, what payload, deadline time.Time,
	hear func(line string, err error)) (failed []string, done bool) {
	ctx, stop := p.Loop.Env.Catch(ctx)
	defer stop()
	store := p.Loop.Store
	// Looked up without the lock: git may be slow.
	what.Branch, what.Commit = p.checkedOut()
	what.PullRequest = p.Loop.Env.PR
	if p.Loop.Env.Uncommitted != "" {
		what.Needs = strings.Trim(what.Needs+"; not all work is committed: "+p.Loop.Env.Uncommitted, "; ")
	}
	what.LogTail = plain.Text(string(store.LogTail(logTailBytes)), logTailBytes)
	for _, c := range commands {
		what.Event = c.Event
		left := time.Until(deadline)
		if left <= 0 {
			store.Log(notifierLine(c, "not run: the hook's time is over", nil), nil)
			return failed, false
		}
		line, r := p.notify(ctx, c, what, what.vars(), min(c.Timeout, left))
		store.Log(line, nil)
		if hear != nil {
			hear(line, r.Err)
		}
		if r.Err != nil && (ctx.Err() != nil || r.Interrupted || r.TimedOut && left < c.Timeout) {
			return failed, false // cut off by what ends this process, not by the command's own timeout
		}
		if r.Err == nil {
			continue
		}
		failed = append(failed, c.String())
		if p.Loop.Env.Say != nil {
			p.Loop.Env.Say(fmt.Sprintf("the %s command %s failed: %v; to run it again: %s", c.Event,
				plain.Line(c.String(), 100), r.Err, p.Loop.Call("resume")))
		}
	}
	return failed, len(failed) == 0 || !p.Loop.forAgent
}

// RunHook runs a trusted command at an event of the host's own. It gets what as JSON on standard
// input, and the variables. The result is what it printed.
func (p *Picture) RunHook(ctx context.Context, c config.Command, what any, vars []string) ([]byte, error) {
	line, r := p.notify(ctx, c, what, vars, c.Timeout)
	p.Loop.Store.Log(line, nil)
	return r.Output, r.Err
}

// notify runs one notifier and returns its line for the log.
func (p *Picture) notify(ctx context.Context, c config.Command, what any, vars []string, timeout time.Duration) (
	string, proc.Result) {
	begin := time.Now()
	stdin, err := json.Marshal(what)
	runs, note := c, ""
	if err == nil {
		runs, note, err = p.trustedProgram(ctx, c)
	}
	if err != nil {
		return notifierLine(c, err.Error(), nil), proc.Result{Err: err}
	}
	dir := p.Loop.project()
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) { // somebody has moved the project
		dir = p.Loop.Env.Home
	}
	if say := p.Loop.Env.Say; say != nil {
		slow := time.AfterFunc(5*time.Second, func() {
			say(fmt.Sprintf("the %s command %s is still at work; it has %s in all", c.Event,
				plain.Line(c.String(), 100), plain.Duration(timeout)))
		})
		defer slow.Stop()
	}
	r := proc.Run(ctx, proc.Cmd{
		Argv: runs.Argv, Shell: runs.Shell, Dir: dir, Env: append(p.notifierEnv(c.Env), vars...),
		Stdin:   append(stdin, '\n'),
		Timeout: timeout, Output: maxNotifierOutput, Guard: p.Loop.Env.Self, Leaves: true,
	})
	outcome := "ok"
	if r.Err != nil {
		outcome = r.Err.Error()
	}
	line := notifierLine(c, fmt.Sprintf("%s, %d ms%s", outcome, time.Since(begin).Milliseconds(), note), r.Output)
	if said := plain.Line(plain.End(string(r.Output), lastBytes), lastBytes); r.Err != nil && said != "" {
		r.Err = fmt.Errorf("%w: %s", r.Err, said)
	}
	return line, r
}

// vars returns what a notifier is told in variables.
func (what payload) vars() []string {
	return []string{
		"RALPH_AGENT=" + what.Agent, "RALPH_ITERATION=" + strconv.Itoa(what.Iterations),
		"RALPH_MAX_ITERATIONS=" + strconv.Itoa(what.MaxIterations), "RALPH_EXIT_CODE=" + strconv.Itoa(what.ExitCode),
		"RALPH_STATUS=" + what.Status, "RALPH_WORK_DIR=" + what.Repo,
	}
}
