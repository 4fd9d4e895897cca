package fleet

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/engine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// maxWork is how many bytes the work of one session may have.
const maxWork = 200 << 20

// usualSlack is the slack of Hands: git may take its time for a bundle at both ends.
const usualSlack = 2 * unbundling

// Hands give the sessions of a run to workers.
type Hands struct {
	engine *engine.Coordinator
	wait   time.Duration // for a worker to come
	slack  time.Duration // how much longer than the session a worker may have it: it fetches and sends bundles
	dir    string        // for bundles on their way
	say    func(text string)

	bundling sync.Mutex

	mu      sync.Mutex
	waiting map[string]*waiter // by feature
	root    string             // the commit that the first bundle ends with
}

// waiter is a session that waits for a worker's work.
type waiter struct {
	id   string // of its order
	job  engine.Job
	done chan work
	old  bool // work on another order has come, and was given back
	// store stores what a worker begins with, if it is not there.
	store func(ctx context.Context) error
}

// work is what a worker has handed in. An error says that it makes no sense.
type work struct {
	engine.Submission
	report report
	err    error
}

// Open starts the engine of a run, or connects to it. wait is how long a feature may wait for a worker. say tells
// people what happens.
func Open(ctx context.Context, o engine.Options, wait time.Duration, say func(text string)) (*Hands, error) {
	o.Log = say
	c, err := engine.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ralph-fleet-")
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	h := &Hands{engine: c, wait: wait, slack: usualSlack, dir: dir, say: say, waiting: map[string]*waiter{}}
	go h.sort()
	return h, nil
}

// Close ends the engine.
func (h *Hands) Close() {
	_ = h.engine.Close()
	_ = os.RemoveAll(h.dir)
}

// Address returns what a worker types.
func (h *Hands) Address() string { return h.engine.Address() }

// sort gives what workers hand in to the sessions that wait for it.
func (h *Hands) sort() {
	for s := range h.engine.Submissions() {
		got := work{Submission: s}
		got.report, got.err = readReport(s.Report)
		to, again := h.match(&got)
		if to != nil {
			to.done <- got
			continue
		}
		_ = h.engine.GiveBack(context.Background(), s.Feature, s.Attempt, "nobody waits for this work")
		if again != nil {
			h.offer(context.Background(), *again)
		}
	}
}

// match returns the session that gets a worker's work; it does not wait any more. If the work is on an order of a
// process that was killed, match returns the job that is to be offered again. That happens once: a second such work is
// a lie, and ends the session as others do.
func (h *Hands) match(got *work) (to *waiter, again *engine.Job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	to = h.waiting[got.Feature]
	switch {
	case to == nil:
		return nil, nil
	case got.err == nil && got.report.Order != to.id && !to.old:
		to.old = true
		return nil, &to.job
	case got.err == nil && got.report.Order != to.id:
		got.err = errors.New("the worker's report is about another order")
	}
	delete(h.waiting, got.Feature)
	return to, nil
}

// offer offers a job. If the engine does not answer, it tries on by itself.
func (h *Hands) offer(ctx context.Context, job engine.Job) {
	if err := h.engine.Offer(ctx, job); err != nil {
		h.say("a session cannot be offered, and is tried again: " + plain.Line(err.Error(), 200))
	}
}

// key is the feature's name in the engine.
func key(feature string) string {
	if feature == "" {
		return "(the loop as a whole)"
	}
	return feature
}

// Work has a worker run a session, and takes its commit into the lane's worktree. An error of the engine ends the
// session as one that could not start.
func (h *Hands) Work(ctx context.Context, j run.Job) run.Worked {
	begin := time.Now()
	got, tip, err := h.order(ctx, j)
	if err != nil {
		return run.Worked{Ended: failed(ctx, begin, err)}
	}
	done := run.Worked{Worker: plain.Line(got.Worker, 80), Machine: plain.Line(got.Machine, 80)}
	settle := context.WithoutCancel(ctx)
	err = got.err
	if err == nil {
		err = h.take(ctx, j, got, tip)
	}
	if err != nil {
		_ = h.engine.GiveBack(settle, got.Feature, got.Attempt, plain.Line(err.Error(), 300))
		done.ExitCode = -1
		done.Took = time.Since(begin)
		done.Class = agent.Failed
		done.Problem = plain.Line(err.Error(), 300)
		return done
	}
	_ = h.engine.Accept(settle, got.Feature, got.Attempt, got.report.Commit) // take has compared it
	done.Ended = got.report.ended()
	return done
}

// failed is the end of a session that no worker has done.
func failed(ctx context.Context, begin time.Time, err error) agent.Ended {
	e := agent.Ended{ExitCode: -1, Took: time.Since(begin)}
	e.Class, e.Problem = agent.NotStarted, plain.Line(err.Error(), 300)
	if ctx.Err() != nil {
		e.Class, e.Problem = agent.Stopped, ""
	}
	return e
}

// order offers a session to the workers, and waits for its work. tip is the commit that it begins with.
func (h *Hands) order(ctx context.Context, j run.Job) (got work, tip string, err error) {
	tip, _, err = j.Tree.Commit(ctx, "Begin a session")
	if err != nil {
		return got, "", err
	}
	o := order{
		Schema: schema, ID: rand.Text(), Run: j.Run, Loop: j.Loop, Feature: j.Feature, Agent: j.Agent,
		Model: j.Session.Asked.Model, Effort: j.Session.Asked.Effort, Prompt: j.Session.Prompt, Commit: tip,
		Timeout: j.Session.Limit, Idle: j.Session.Idle,
	}
	store := func(ctx context.Context) (err error) {
		o.Bases, err = h.bases(ctx, j.Repo, tip)
		if err == nil {
			err = h.list(ctx, j, &o)
		}
		if err == nil {
			err = h.notes(ctx, j, &o)
		}
		return err
	}
	if err := store(ctx); err != nil {
		return got, "", err
	}
	body, err := json.Marshal(o)
	if err != nil {
		return got, "", err
	}
	texts := []string{o.ListText}
	if o.NotesText != "" {
		texts = append(texts, o.NotesText)
	}
	job := engine.Job{Feature: key(j.Feature), Body: body, Bases: append(o.Bases, texts...)}
	got, err = h.await(ctx, &waiter{id: o.ID, job: job, done: make(chan work, 1), store: store}, j.Session.Limit)
	for _, name := range texts {
		_ = h.engine.DropBase(context.WithoutCancel(ctx), name)
	}
	return got, tip, err
}

// await offers a session, and waits for the work. Before, what a process that was killed has offered is withdrawn: it
// begins with another commit. If no worker has taken the session for long, or ctx ends, it is withdrawn, too. The work
// has an error if a worker has the session for longer than it may take. Whenever the session is offered again, what it
// begins with is looked for: a server may have lost it, with all its data.
func (h *Hands) await(ctx context.Context, w *waiter, limit time.Duration) (work, error) {
	_ = h.engine.Withdraw(ctx, w.job.Feature) // if the engine does not answer, work on an old order is given back
	h.mu.Lock()
	h.waiting[w.job.Feature] = w
	h.mu.Unlock()
	h.offer(ctx, w.job)
	idle, attempt := time.Now(), h.engine.Attempt(w.job.Feature)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		var err error
		select {
		case got := <-w.done:
			return got, nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-tick.C:
			err = h.engine.Err()
			if now := h.engine.Attempt(w.job.Feature); now > attempt && err == nil {
				attempt, err = now, w.store(ctx)
			}
			holder := h.holder(w.job.Feature)
			switch {
			case err != nil:
			case holder.State == "" && time.Since(idle) > h.wait:
				err = fmt.Errorf("no worker has taken %s for %s", plain.Line(w.job.Feature, 80), plain.Duration(h.wait))
			case holder.State == "":
			case time.Since(holder.Since) > limit+h.slack:
				h.forget(w)
				return overdue(holder, limit), nil
			default:
				idle = time.Now()
			}
		}
		if err == nil {
			continue
		}
		h.forget(w)
		_ = h.engine.Withdraw(context.WithoutCancel(ctx), w.job.Feature)
		return work{}, err
	}
}

// forget lets a session wait no more.
func (h *Hands) forget(w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting[w.job.Feature] == w {
		delete(h.waiting, w.job.Feature)
	}
}

// overdue is the work of a worker that has not handed in any.
func overdue(holder engine.Holder, limit time.Duration) work {
	return work{
		Submission: engine.Submission{
			Feature: holder.Feature, Attempt: holder.Attempt, Worker: holder.Worker, Machine: holder.Machine,
		},
		err: fmt.Errorf("it has handed in nothing since %s, and the session may take %s",
			holder.Since.Format(time.TimeOnly), plain.Duration(limit)),
	}
}

// holder returns which worker has a feature, if one has it.
func (h *Hands) holder(feature string) engine.Holder {
	for _, one := range h.engine.Holders() {
		if one.Feature == feature {
			return one
		}
	}
	return engine.Holder{}
}

// bases stores the bundles that a worker needs for a commit: one with all that was there when the first session began,
// and one with what has come since.
func (h *Hands) bases(ctx context.Context, repo *worktree.Repo, tip string) (names []string, err error) {
	h.mu.Lock()
	if h.root == "" {
		h.root, err = repo.Head(ctx)
	}
	root := h.root
	h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	names = []string{root}
	if err := h.bundle(ctx, repo, root, "", root); err != nil || tip == root {
		return names, err
	}
	name := root[:12] + "-" + tip
	return append(names, name), h.bundle(ctx, repo, name, root, tip)
}

// bundle stores what the commit to has and the commit from has not, unless it is there. Lanes do so one at a time: git
// may make two bundles of the same commits, and what is stored would have parts of both.
func (h *Hands) bundle(ctx context.Context, repo *worktree.Repo, name, from, to string) error {
	h.bundling.Lock()
	defer h.bundling.Unlock()
	if has, err := h.engine.HasBase(ctx, name); has || err != nil {
		return err
	}
	file := filepath.Join(h.dir, "bundle")
	defer os.Remove(file)
	if err := repo.Bundle(ctx, file, from, to); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return h.engine.PutBase(ctx, name, f)
}

// list stores the list as the lane's worktree has it.
func (h *Hands) list(ctx context.Context, j run.Job, o *order) error {
	text, err := loopdir.ReadFile(j.Tree.Project(), j.List, features.MaxBytes)
	if err != nil {
		return err
	}
	folder, err := filepath.Rel(j.Tree.Dir(), j.Tree.Project())
	if err != nil {
		return err
	}
	o.Folder = filepath.ToSlash(folder)
	if o.Folder == "." {
		o.Folder = ""
	}
	o.List = filepath.ToSlash(j.List)
	o.Tag = j.Reading.Tag
	o.Skip = j.Reading.Skip
	o.ListText, err = h.text(ctx, j, "list-", text)
	return err
}

// notes stores the notes of the agents so far. Without them a worker can work, too.
func (h *Hands) notes(ctx context.Context, j run.Job, o *order) error {
	text, err := loopdir.ReadFile(j.Tree.Project(), j.Notes, loopdir.MaxNotes)
	if err != nil {
		return nil
	}
	o.Notes = filepath.ToSlash(j.Notes)
	o.NotesText, err = h.text(ctx, j, "notes-", text)
	return err
}

// text stores a text for one session, and returns its name.
func (h *Hands) text(ctx context.Context, j run.Job, kind string, text []byte) (name string, err error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s%s\x00", j.Run, j.Feature)
	sum.Write(text)
	name = kind + hex.EncodeToString(sum.Sum(nil)[:16])
	has, err := h.engine.HasBase(ctx, name)
	if has || err != nil {
		return name, err
	}
	return name, h.engine.PutBase(ctx, name, bytes.NewReader(text))
}

// take brings a worker's commit into the lane's worktree, and its claim into the lane's list.
func (h *Hands) take(ctx context.Context, j run.Job, got work, tip string) error {
	list, err := loopdir.ReadFile(j.Tree.Project(), j.List, features.MaxBytes)
	if err != nil {
		return err
	}
	notes := noted(j, got.report.Notes)
	if got.report.Commit != tip {
		if err := h.bring(ctx, j, got, tip); err != nil {
			return err
		}
		// List and notes are no part of the work, but the commit can have them.
		if err := j.Tree.WriteFile(j.List, list); err != nil {
			return errors.Join(err, j.Tree.Take(ctx, tip))
		}
	}
	if notes != nil {
		if err := j.Tree.WriteFile(j.Notes, notes); err != nil {
			return err
		}
	}
	if !got.report.Claims || j.Feature == "" {
		return nil
	}
	return claim(j, list)
}

// bring brings a worker's commit into the lane's worktree.
func (h *Hands) bring(ctx context.Context, j run.Job, got work, tip string) error {
	f, err := os.CreateTemp(h.dir, "work-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(got.Bundle(ctx, f, maxWork), f.Close()); err != nil {
		return err
	}
	commit, err := j.Repo.Import(ctx, f.Name(), maxWork, tip)
	if err != nil {
		return err
	}
	if named := got.report.Commit; commit != named {
		return fmt.Errorf("the worker's bundle has commit %.12s, and its report names %q", commit,
			plain.Line(named, 40))
	}
	return j.Tree.Take(ctx, commit)
}

// noted returns the lane's copy of progress.txt with what a worker's agent has noted; nil: there is nothing to write.
// The run takes it from there, as it does with an agent here, but for lines of the header. It is cleaned before: a
// control character could hide such a line.
func noted(j run.Job, notes string) []byte {
	notes = plain.Text(notes, loopdir.MaxNoted)
	if notes == "" || j.Notes == "" {
		return nil
	}
	now, err := loopdir.ReadFile(j.Tree.Project(), j.Notes, loopdir.MaxNotes)
	if err != nil {
		return nil // it was given none
	}
	return progress.Append(now, []byte(notes))
}

// claim marks the feature in the lane's copy of the list, as an agent here would have done.
func claim(j run.Job, text []byte) error {
	list, err := j.Reading.Parse(text)
	if err != nil {
		return err
	}
	text, err = list.Mark(text, list, []string{j.Feature}, true)
	if err != nil {
		return err
	}
	return j.Tree.WriteFile(j.List, text)
}
