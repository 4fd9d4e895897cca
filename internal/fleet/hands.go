package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	engine  *engine.Coordinator
	version string        // of this program
	wait    time.Duration // for a worker to come
	slack   time.Duration // how much longer than the session a worker may have it: it fetches and sends bundles
	dir     string        // for bundles on their way
	say     func(text string)

	bundling sync.Mutex // guards root, and the bundle in dir: git may make two bundles of the same commits
	root     string     // the commit that the first bundle ends with
}

// Open starts the engine of a run, or connects to it. wait is how long a feature may wait for a worker. say tells
// people what happens.
func Open(ctx context.Context, o engine.Options, version string, wait time.Duration, say func(string)) (*Hands, error) {
	o.Log = say
	c, err := engine.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ralph-fleet-")
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &Hands{engine: c, version: version, wait: wait, slack: usualSlack, dir: dir, say: say}, nil
}

// Close ends the engine.
func (h *Hands) Close() {
	_ = h.engine.Close()
	_ = os.RemoveAll(h.dir)
}

// Address returns what a worker types.
func (h *Hands) Address() string { return h.engine.Address() }

// Judge says whether anything came of a session that a worker has handed in.
func (h *Hands) Judge(w run.Worked, useful bool) { h.engine.Judge(w.Worker, w.Machine, useful, w.Took) }

// Has reports whether a worker has a feature, or has done it, that an earlier process of the run has offered.
func (h *Hands) Has(feature string) bool { return h.engine.Left(keyOf(feature)) }

// keyOf returns a feature's name in the engine.
func keyOf(feature string) string { return cmp.Or(feature, "(the loop as a whole)") }

// session is one that a worker is to work.
type session struct {
	*Hands
	run.Job
	key     string // the feature's name in the engine
	tip     string // the commit of the lane
	order   order
	attempt int
	resumed bool      // an earlier process of the run has offered it
	claimed int       // the last attempt that a worker is known to have taken
	since   time.Time // when it did; before that, when the session was offered
}

// Work has a worker run a session, and takes its commit into the lane's worktree. An error of the engine ends the
// session as one that could not start. What makes no sense costs the worker, not the run: another one gets the session.
func (h *Hands) Work(ctx context.Context, j run.Job) run.Worked {
	s := &session{Hands: h, Job: j, key: keyOf(j.Feature), since: time.Now()}
	got, err := s.work(ctx)
	done := run.Worked{Worker: plain.Line(got.Worker, 80), Machine: plain.Line(got.Machine, 80)}
	if err == nil {
		done.Ended = got.report.ended()
		done.Took = min(done.Took, time.Since(s.since)) // what the worker says of it could be a year
		return done
	}
	done.ExitCode, done.Took = -1, time.Since(s.since)
	done.Class, done.Problem = agent.NotStarted, plain.Line(err.Error(), 300)
	switch {
	case ctx.Err() != nil:
		done.Class, done.Problem = agent.Stopped, ""
	case got.Worker != "":
		done.Class = agent.Failed
	}
	return done
}

// work is what a worker has handed in.
type work struct {
	engine.Submission
	report report
}

// errAnew means that the session is to be offered as a new one.
var errAnew = errors.New("the session begins anew")

func (s *session) work(ctx context.Context) (got work, err error) {
	settle := context.WithoutCancel(ctx)
	defer func() {
		_ = s.engine.End(settle, s.key, err == nil)
		for _, name := range []string{s.order.ListText, s.order.NotesText} {
			if name != "" {
				_ = s.engine.DropBase(settle, name)
			}
		}
	}()
	s.tip, _, err = s.Tree.Commit(ctx, "Begin a session")
	if err != nil {
		return got, err
	}
	err = errAnew
	if s.resume(ctx) {
		err = nil
	}
	for {
		if errors.Is(err, errAnew) {
			err = s.offer(ctx)
		}
		if err == nil {
			got.Submission, err = s.await(ctx)
		}
		if err == nil {
			got.report, err = readReport(got.Report)
			if err == nil {
				err = s.take(ctx, got)
			}
			if err == nil || s.isOurs(ctx) {
				return got, err
			}
			if !errors.Is(err, errAnew) {
				_ = s.engine.Refuse(settle, s.key, got.Attempt, plain.Line(err.Error(), 300)) // the engine tries on
				err = nil
			}
		}
		if err != nil && !errors.Is(err, errAnew) {
			return got, err
		}
	}
}

// roomForWork is how many bytes a disk must have free for an error to be the worker's.
const roomForWork = 16 << 20

// isOurs reports whether it is no fault of a worker that its work cannot be taken.
func (s *session) isOurs(ctx context.Context) bool {
	free, known := loopdir.Free(s.dir)
	return ctx.Err() != nil || known && free < roomForWork
}

// resume takes up a session that an earlier process of this run has offered, if a worker has it or has done it: its
// base, its commit and its order are on the server, and what it did is proven when it is merged.
func (s *session) resume(ctx context.Context) bool {
	body, has := s.engine.Resume(s.key)
	if !has {
		return false
	}
	o, err := readOrder(body, s.version)
	if err == nil && o.Run == s.Run && o.Feature == s.Feature {
		if has, err := s.Repo.Descends(ctx, s.Tree.Base(), o.Commit); err == nil && has {
			s.order, s.resumed = o, true
			s.attempt = s.engine.Attempt(s.key)
			if !s.Began.IsZero() {
				s.claimed, s.since = s.attempt, s.Began
			}
			return true
		}
	}
	_ = s.engine.End(ctx, s.key, false)
	return false
}

// offer offers the session to the workers.
func (s *session) offer(ctx context.Context) error {
	_ = s.engine.End(ctx, s.key, false) // if the engine does not answer, what comes of it is nobody's
	s.resumed = false
	if !s.Began.IsZero() { // the worker that had it has lost it
		s.Began = time.Time{}
		s.Claimed(s.Began)
	}
	s.order = order{
		Schema: schema, Version: s.version, Run: s.Run, Loop: s.Loop, Feature: s.Feature, Agent: s.Session.Row.Name,
		Model: s.Session.Asked.Model, Effort: s.Session.Asked.Effort, Prompt: s.Session.Prompt, Commit: s.tip,
		Timeout: s.Session.Limit, Idle: s.Session.Idle,
	}
	if err := s.store(ctx); err != nil {
		return err
	}
	body, err := json.Marshal(s.order)
	if err != nil {
		return err
	}
	err = s.engine.Offer(ctx, engine.Job{Feature: s.key, Body: body})
	s.attempt = s.engine.Attempt(s.key)
	if err != nil && s.attempt > 0 {
		s.say("a session cannot be offered, and is tried again: " + plain.Line(err.Error(), 200))
		err = nil
	}
	return err
}

// store stores what a worker begins with, if it is not there.
func (s *session) store(ctx context.Context) (err error) {
	s.order.Bases, err = s.bases(ctx, s.Repo, s.tip)
	if err == nil {
		err = s.list(ctx)
	}
	if err == nil {
		err = s.notes(ctx)
	}
	return err
}

// await waits for the work. If no worker has had the session for long, all in all, or ctx ends, it is withdrawn. A
// worker that has the session for longer than it may take loses it. Whenever the session is offered again, what it
// begins with is looked for: a server may have lost it, with all its data.
func (s *session) await(ctx context.Context) (engine.Submission, error) {
	idle := time.Duration(0) // while no worker had it
	done := s.engine.Done(s.key)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case got := <-done:
			s.begins(got.Attempt, got.Since)
			return got, nil
		case <-ctx.Done():
			return engine.Submission{}, ctx.Err()
		case <-tick.C:
		}
		err := s.engine.Err()
		if now := s.engine.Attempt(s.key); now > s.attempt && err == nil {
			s.attempt = now
			if s.resumed {
				return engine.Submission{}, errAnew
			}
			err = s.store(ctx)
		}
		holder := s.engine.Holder(s.key)
		limit := s.Session.Limit + s.slack
		if holder.State == "" {
			idle += time.Second
			s.lost()
		} else {
			s.begins(holder.Attempt, holder.Since)
		}
		switch {
		case err != nil:
		case idle > s.wait:
			err = fmt.Errorf("no worker has taken %s for %s", plain.Line(s.key, 80), plain.Duration(s.wait))
		case holder.State != "" && time.Since(holder.Since) > limit:
			why := "it has handed in nothing, and the session may take " + plain.Duration(s.Session.Limit)
			err = s.engine.Refuse(ctx, s.key, holder.Attempt, why)
		}
		if err != nil {
			return engine.Submission{}, err
		}
	}
}

// begins tells the run that a worker has taken an attempt, unless it knows.
func (s *session) begins(attempt int, at time.Time) {
	if attempt == s.claimed {
		return
	}
	s.claimed = attempt
	s.since = at
	s.Claimed(at)
}

// lost tells the run that the worker of the session has lost it, unless it knows.
func (s *session) lost() {
	if s.claimed == 0 {
		return
	}
	s.claimed = 0
	s.Claimed(time.Time{})
}

// bases stores the bundles that a worker needs for a commit: one with all that was there when the first session began,
// and one with what has come since.
func (h *Hands) bases(ctx context.Context, repo *worktree.Repo, tip string) (names []string, err error) {
	h.bundling.Lock()
	defer h.bundling.Unlock()
	if h.root == "" {
		h.root, err = repo.Head(ctx)
		if err != nil {
			return nil, err
		}
	}
	names = []string{h.root}
	if err := h.bundle(ctx, repo, h.root, "", h.root); err != nil || tip == h.root {
		return names, err
	}
	name := h.root[:12] + "-" + tip
	err = h.bundle(ctx, repo, name, h.root, tip)
	if err != nil && strings.Contains(err.Error(), "empty bundle") { // the first bundle has the commit
		return names, nil
	}
	return append(names, name), err
}

// bundle stores what the commit to has and the commit from has not, unless it is there. The caller holds h.bundling.
func (h *Hands) bundle(ctx context.Context, repo *worktree.Repo, name, from, to string) error {
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
func (s *session) list(ctx context.Context) error {
	text, err := loopdir.ReadFile(s.Tree.Project(), s.List, features.MaxBytes)
	if err != nil {
		return err
	}
	folder, err := filepath.Rel(s.Tree.Dir(), s.Tree.Project())
	if err != nil {
		return err
	}
	o := &s.order
	o.Folder = filepath.ToSlash(folder)
	o.List = filepath.ToSlash(s.List)
	o.Tag = s.Reading.Tag
	o.Skip = s.Reading.Skip
	o.ListText, err = s.text(ctx, "list-", text)
	return err
}

// notes stores the notes of the agents so far. Without them a worker can work, too.
func (s *session) notes(ctx context.Context) error {
	text, err := loopdir.ReadFile(s.Tree.Project(), s.Notes, loopdir.MaxNotes)
	if err != nil {
		return nil
	}
	s.order.Notes = filepath.ToSlash(s.Notes)
	s.order.NotesText, err = s.text(ctx, "notes-", text)
	return err
}

// text stores a text for this session, and returns its name.
func (s *session) text(ctx context.Context, kind string, text []byte) (name string, err error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s%s\x00", s.Run, s.Feature)
	sum.Write(text)
	name = kind + hex.EncodeToString(sum.Sum(nil)[:16])
	has, err := s.engine.HasBase(ctx, name)
	if has || err != nil {
		return name, err
	}
	return name, s.engine.PutBase(ctx, name, bytes.NewReader(text))
}

// take brings a worker's commit into the lane's worktree, and its claim into the lane's list.
func (s *session) take(ctx context.Context, got work) error {
	list, err := loopdir.ReadFile(s.Tree.Project(), s.List, features.MaxBytes)
	if err != nil {
		return err
	}
	notes := noted(s.Job, got.report.Notes)
	if got.report.Commit != s.order.Commit {
		if err := s.bring(ctx, got); err != nil {
			return err
		}
		// List and notes are no part of the work, but the commit can have them.
		if err := s.Tree.WriteFile(s.List, list); err != nil {
			return errors.Join(err, s.Tree.Take(ctx, s.tip))
		}
	}
	if notes != nil {
		if err := s.Tree.WriteFile(s.Notes, notes); err != nil {
			return err
		}
	}
	if !got.report.Claims || s.Feature == "" {
		return nil
	}
	return claim(s.Job, list)
}

// bring brings a worker's commit into the lane's worktree.
func (s *session) bring(ctx context.Context, got work) error {
	f, err := os.CreateTemp(s.dir, "work-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(got.Bundle(ctx, f, maxWork), f.Close()); err != nil {
		return err
	}
	commit, err := s.Repo.Import(ctx, f.Name(), maxWork, s.order.Commit)
	if err != nil {
		return err
	}
	if named := got.report.Commit; commit != named {
		return fmt.Errorf("the worker's bundle has commit %.12s, and its report names %q", commit,
			plain.Line(named, 40))
	}
	if s.tip != s.order.Commit {
		return s.join(ctx, commit)
	}
	err = s.Tree.Take(ctx, commit)
	if err != nil { // as when the disk is full: what is there of it goes
		err = errors.Join(err, s.Tree.Take(ctx, s.tip))
	}
	return err
}

// join merges work into a lane that others' work has come into since it was offered. If they are in conflict, an agent
// has to see both.
func (s *session) join(ctx context.Context, commit string) error {
	base := s.Tree.Base()
	conflicts, err := s.Tree.Update(ctx, commit)
	if err != nil {
		return errors.Join(errAnew, err, s.Tree.Take(ctx, s.tip))
	}
	merged, _, err := s.Tree.Commit(ctx, "Take up a session")
	if err == nil {
		err = s.Tree.Reset(ctx, base)
	}
	if err == nil && len(conflicts) > 0 {
		return errors.Join(errAnew, s.Tree.Take(ctx, s.tip))
	}
	if err == nil {
		err = s.Tree.Take(ctx, merged)
	}
	return err
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
