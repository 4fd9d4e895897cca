package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// Worker lends lanes of this machine to a run elsewhere.
type Worker struct {
	Env    loop.Env
	Engine jobs.Options
	Dir    string // for the repositories and folders of lanes
	Lanes  int

	// Agent finds the agent for the name that a run asks for.
	Agent        func(name string) (agent.Row, error)
	AgentOptions agent.Options // what a person here says of the sessions; the run says the model and the effort
	Kill         <-chan struct{}
	Version      string      // of this program
	Say          func(Event) // tells people what happens; several lanes may call it
	Health       Health

	fetching sync.Mutex                // guards repos, and what comes into them
	repos    map[string]*worktree.Repo // by the run's id
}

// Event is something that people may want to know of a worker.
type Event struct {
	Lane    int    `json:"lane,omitempty"`    // 0: about the worker
	Feature string `json:"feature,omitempty"` // its id
	Text    string `json:"message"`           // what happened
}

// Serve works what comes until ctx ends. An error means that this machine cannot work: no run is harmed by it.
func (w *Worker) Serve(ctx context.Context) error {
	w.Engine.Log = func(text string) { w.say("engine: " + text) }
	Tidy(w.Dir, w.say)
	joined, err := jobs.Join(ctx, w.Engine)
	if err != nil {
		return err
	}
	defer joined.Close()
	w.Health.joined.Store(joined)
	w.say(fmt.Sprintf("worker %s waits for work, with %s", plain.Line(joined.Name(), 80), plain.Count(w.Lanes, "lane")))
	all, ctx := errgroup.WithContext(ctx)
	for n := range w.Lanes {
		all.Go(func() error {
			l := &lane{Worker: w, number: n + 1}
			for ctx.Err() == nil {
				err := l.next(ctx, joined)
				if refused := joined.Err(); refused != nil { // for good
					return refused
				}
				if err := l.retry(ctx, err); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return all.Wait()
}

func (w *Worker) say(text string) { w.Say(Event{Text: text}) }

// lane is one of a worker's.
type lane struct {
	*Worker
	number   int
	failures int    // times in a row that something failed which may be over soon
	open     string // the file that says that the lane has work which is not handed in
}

// The times that a lane tries again in a row, and how long it waits before each: the engine may be away for long.
const (
	tries    = 600
	tryPause = 3 * time.Second
)

// retry decides what becomes of an error: the lane tries again, unless its agent cannot work, or it has tried for long.
func (l *lane) retry(ctx context.Context, err error) error {
	var rest *pause
	switch {
	case err == nil:
		l.failures = 0
		return nil
	case ctx.Err() != nil: // the worker ends
		return nil
	case errors.As(err, &rest):
		return rest.wait(ctx)
	case errors.As(err, new(*unableError)) || l.failures >= tries:
		return err
	}
	l.failures++
	if l.failures == 1 {
		l.say("", "waits, and tries again: "+err.Error())
	}
	return (&pause{until: time.Now().Add(tryPause)}).wait(ctx)
}

// unableError says that an agent cannot work on this machine.
type unableError struct{ why string }

func (e *unableError) Error() string { return "the agent cannot work here: " + e.why }

// next takes a feature and works it.
func (l *lane) next(ctx context.Context, joined *jobs.Worker) error {
	t, err := joined.Take(ctx)
	if err != nil {
		return err
	}
	l.open = ""
	l.say(t.Feature, "begins")
	l.Health.busy.Add(1)
	defer l.Health.busy.Add(-1)
	outer := ctx
	ctx, stop := context.WithCancel(t.Context()) // it ends when the claim is lost
	defer stop()
	defer context.AfterFunc(outer, stop)() // and when the worker ends
	r, bundle, err := l.work(ctx, t)
	if err == nil {
		err = l.submit(ctx, t, r, bundle)
	}
	switch {
	case err == nil:
		_ = os.Remove(l.open)
		l.say(t.Feature, "is handed in: "+string(r.Class))
		l.Health.handedIn.Add(1)
		return nil
	case joined.Err() != nil || t.Context().Err() != nil:
		_ = os.Remove(l.open) // another session does it anew
		lost := cmp.Or(joined.Err(), context.Cause(t.Context()))
		l.say(t.Feature, "is lost, and what was done here is dropped: "+lost.Error())
		l.Health.lostSessions.Add(1)
		return nil
	}
	l.say(t.Feature, "is given back: "+err.Error())
	l.Health.givenBack.Add(1)
	back, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	_ = t.Drop(back, plain.Line(err.Error(), 300))
	return err
}

func (l *lane) say(feature, text string) {
	l.Say(Event{l.number, plain.Line(feature, 80), plain.Line(text, 300)})
}

// pause is an error of the agent's provider that is over at some time.
type pause struct {
	until time.Time
	why   string
}

func (p *pause) Error() string { return p.why }

func (p *pause) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(p.until)):
	}
	return nil
}

// The times to wait after a provider's limit that says no time, and after an error that may be over soon.
const (
	limitPause = 15 * time.Minute
	errorPause = time.Minute
)

// work runs the session of a claim. bundle is the path of what it has made; "" if nothing has changed.
func (l *lane) work(ctx context.Context, t *jobs.Task) (r report, bundle string, err error) {
	o, err := readOrder(t.Body, l.Version)
	if err != nil {
		return r, "", &unableError{err.Error()}
	}
	if o.Version != l.Version {
		l.say(t.Feature, fmt.Sprintf("comes from version %s of ralph-runner, and this is %s", o.Version, l.Version))
	}
	row, err := l.Agent(o.Agent)
	if err != nil {
		return r, "", &unableError{err.Error()}
	}
	co, err := l.checkout(ctx, t, o)
	if err != nil {
		return r, "", err
	}
	asked := l.AgentOptions
	if o.Model != "" && agent.IsModel(o.Model) {
		asked.Model = o.Model
	}
	if agent.IsModel(o.Effort) { // a word, and no flag
		asked.Effort = o.Effort
	}
	e := agent.Session{
		Row: row, Options: asked, Prompt: o.Prompt, Dir: co.tree.Project(), Guard: l.Env.Self,
		Env:   append(agent.Environ(l.Env.Vars), loop.RunVar+"="+o.Run),
		Limit: o.Timeout, Idle: o.Idle, Kill: l.Kill,
	}.Run(ctx)
	commit, _, err := co.tree.Commit(context.WithoutCancel(ctx), plain.Line("Work on "+o.Feature, 200))
	if err == nil && commit == o.Commit { // there is nothing to lose
		_ = os.Remove(l.open)
	}
	if err := unable(e); err != nil {
		return r, "", err
	}
	r = report{
		Schema: schema, Commit: o.Commit, Class: e.Class, Message: last(e.Message),
		Problem: e.Problem, ExitCode: e.ExitCode, Took: e.Took, Model: e.Activity.Model, Denied: e.Denied,
		Refused: e.Refused, Used: e.Usage,
	}
	r.Claims, r.Notes = co.claims(o), co.newNotes(o)
	if err != nil || commit == o.Commit {
		return r, "", err
	}
	bundle = filepath.Join(l.Dir, fmt.Sprintf("work-%d", l.number))
	if err := co.repo.Bundle(ctx, bundle, o.Commit, commit); err != nil {
		return r, "", err
	}
	// What the run would refuse is the agent's fault, not this worker's.
	if _, err := co.repo.Import(ctx, bundle, maxWork, o.Commit); err != nil && ctx.Err() == nil {
		r.Claims, r.Class, r.Problem = false, agent.Failed, plain.Line(err.Error(), 300)
		return r, "", nil
	}
	r.Commit = commit
	return r, bundle, nil
}

// unable returns an error if a session says nothing about the feature, but about this machine or its provider.
func unable(e agent.Result) error {
	switch e.Class {
	case agent.Limit:
		until := e.Until
		if until.IsZero() {
			until = time.Now().Add(limitPause)
		}
		return &pause{until, e.Problem}
	case agent.Transient:
		return &pause{time.Now().Add(errorPause), e.Problem}
	case agent.Auth, agent.NotStarted, agent.Interrupted, agent.Stopped:
		return &unableError{plain.Line(fmt.Sprintf("%s: %s", e.Class, e.Problem), 300)}
	}
	return nil
}

// submit hands a session's work in. The work stays on the disk until the run has it.
func (l *lane) submit(ctx context.Context, t *jobs.Task, r report, bundle string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	defer os.Remove(bundle)
	return t.Submit(ctx, text, bundle)
}
