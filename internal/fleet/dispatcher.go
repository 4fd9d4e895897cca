package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
)

// maxWork is how many bytes the work of one session may have.
const maxWork = jobs.MaxWork

// usualSlack is the slack of a Dispatcher: git may take its time for a bundle at both ends.
const usualSlack = 2 * unbundling

// Dispatcher gives the sessions of a run to workers.
type Dispatcher struct {
	hub     *jobs.Hub
	version string        // of this program
	wait    time.Duration // for a worker to come
	slack   time.Duration // how much longer than the session a worker may have it: it fetches and sends bundles

	bundling sync.Mutex // guards root, and its bundle: git could make two
	root     string     // the commit that the first bundle of each session ends with
}

// Open starts the engine of a run, or connects to it. lanes are those of an earlier process of the run. wait is how
// long a feature may wait for a worker. say tells people what happens.
func Open(ctx context.Context, o jobs.Options, lanes []record.Lane, version string, wait time.Duration,
	say func(string)) (*Dispatcher, error) {
	o.Log = say
	for _, l := range lanes {
		c := l.Current
		switch {
		case c == nil || c.Claim == nil:
		case c.HasEnded():
			o.AcceptedIDs = append(o.AcceptedIDs, c.Claim.ID)
		default:
			o.Claims = append(o.Claims, jobs.Claim{
				Feature: keyOf(c.Feature), ID: c.Claim.ID, Attempt: c.Claim.Attempt, Machine: c.Claim.Machine,
				Since: c.Claim.Since,
			})
		}
	}
	hub, err := jobs.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Dispatcher{hub: hub, version: version, wait: wait, slack: usualSlack}, nil
}

// Close ends the engine.
func (h *Dispatcher) Close() { _ = h.hub.Close() }

// Address returns what a worker types.
func (h *Dispatcher) Address() string { return h.hub.Address() }

// Judge says whether anything came of a session that a worker has handed in.
func (h *Dispatcher) Judge(w run.SessionResult, useful bool) {
	h.hub.Judge(w.Worker, w.Machine, useful, w.Took)
}

// Leave takes a feature from the worker that has it, if Work was not called for it yet.
func (h *Dispatcher) Leave(feature string) { h.hub.Leave(keyOf(feature)) }

// keyOf returns a feature's name in the engine.
func keyOf(feature string) string { return cmp.Or(feature, "(the loop as a whole)") }

// session is one that a worker is to work.
type session struct {
	*Dispatcher
	run.Job
	tip   string // the commit of the lane
	order order  // of a session that an earlier process of the run has offered only the commit is known
	offer *jobs.Offer
	files []string // with which it begins, but for the first bundle
}

// Work has a worker run a session, and takes its commit into the lane's folder. An error of the engine ends the
// session as one that could not start. What makes no sense costs the worker, not the run: another one gets the session.
func (h *Dispatcher) Work(ctx context.Context, j run.Job) run.SessionResult {
	s := &session{Dispatcher: h, Job: j}
	begin := time.Now()
	got, err := s.work(ctx)
	if err == nil {
		done := run.SessionResult{Worker: got.Claim.Worker(), Machine: got.Machine, Confirm: func() { s.offer.End(true) }}
		done.Result = got.report.result()
		done.Took = min(done.Took, time.Since(got.Since)) // what the worker says of it could be a year
		return done
	}
	if s.offer != nil {
		s.offer.End(false)
	}
	done := run.SessionResult{}
	done.ExitCode, done.Took = -1, time.Since(begin)
	done.Class, done.Problem = agent.NotStarted, plain.Line(err.Error(), 300)
	switch {
	case ctx.Err() != nil:
		done.Class, done.Problem = agent.Stopped, ""
	case got.ID != "":
		done.Class = agent.Failed
		done.Worker, done.Machine = got.Claim.Worker(), got.Machine
	}
	return done
}

// work is what a worker has handed in.
type work struct {
	jobs.Submission
	report report
}

// errRestart means that the session is to be offered as a new one.
var errRestart = errors.New("the session starts again")

func (s *session) work(ctx context.Context) (got work, err error) {
	defer s.forget()
	s.tip, _, err = s.Tree.Commit(ctx, "Begin a session")
	if err != nil {
		return got, err
	}
	if !s.resume(ctx) {
		err = s.begin(ctx)
	}
	for err == nil {
		got.Submission, err = s.await(ctx)
		if err == nil {
			got.report, err = readReport(got.Report)
			if err == nil {
				err = s.take(ctx, got)
			}
			if err == nil || s.isOurs(ctx) {
				return got, err
			}
			if !errors.Is(err, errRestart) {
				s.offer.Refuse(got.Claim, plain.Line(err.Error(), 300))
				got, err = work{}, nil
			}
		}
		if errors.Is(err, errRestart) {
			got = work{}
			err = s.begin(ctx)
		}
	}
	return got, err
}

// roomForWork is how many bytes a disk must have free for an error to be the worker's.
const roomForWork = 16 << 20

// isOurs reports whether it is no fault of a worker that its work cannot be taken.
func (s *session) isOurs(ctx context.Context) bool {
	free, known := loopdir.Free(s.Tree.Dir())
	return ctx.Err() != nil || known && free < roomForWork
}

// resume goes on with a session that an earlier process of this run has offered, if a worker still has it. What the
// worker did is proven when it is merged.
func (s *session) resume(ctx context.Context) bool {
	if s.Claim == nil {
		return false
	}
	has, err := s.Repo.Descends(ctx, s.tip, s.Claim.Commit)
	if err == nil && has {
		s.order.Commit = s.Claim.Commit
		s.offer = s.hub.Resume(keyOf(s.Feature), s.save)
	}
	return s.offer != nil
}

// save has the run save who has the session.
func (s *session) save(c *jobs.Claim) error {
	if c == nil {
		return s.Save(nil)
	}
	return s.Save(&record.Claim{
		ID: c.ID, Attempt: c.Attempt, Machine: c.Machine, Commit: s.order.Commit, Since: c.Since,
	})
}

// begin offers the session to the workers, as a new one.
func (s *session) begin(ctx context.Context) error {
	s.forget()
	if s.Claim != nil { // the worker that had it has lost it
		s.Claim = nil
		if err := s.Save(nil); err != nil {
			return err
		}
	}
	s.order = order{
		Schema: schema, Version: s.version, Run: s.Run, Loop: s.Loop, Feature: s.Feature, Agent: s.Session.Row.Name,
		Model: s.Session.Options.Model, Effort: s.Session.Options.Effort, Prompt: s.Session.Prompt, Commit: s.tip,
		Timeout: s.Session.Limit, Idle: s.Session.Idle,
	}
	body, err := s.store(ctx)
	if err == nil {
		s.offer, err = s.hub.Offer(jobs.Job{Feature: keyOf(s.Feature), Body: body}, s.save)
	}
	return err
}

// store stores what a worker begins with, and returns what it is told.
func (s *session) store(ctx context.Context) ([]byte, error) {
	err := s.bases(ctx)
	if err == nil {
		err = s.list()
	}
	if err == nil {
		err = s.notes()
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(s.order)
}

// await waits for the work. If no worker has had the session for long, all in all, or ctx ends, it is withdrawn. A
// worker that has the session for longer than it may take loses it.
func (s *session) await(ctx context.Context) (jobs.Submission, error) {
	idle := time.Duration(0) // while no worker had it
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case got := <-s.offer.Done:
			return got, nil
		case <-ctx.Done():
			return jobs.Submission{}, ctx.Err()
		case <-tick.C:
		}
		claim := s.offer.Claim()
		switch {
		case claim == nil && s.Claim != nil:
			return jobs.Submission{}, errRestart // nobody else can have a session that was resumed
		case claim == nil:
			idle += time.Second
		case time.Since(claim.Since) > s.Session.Limit+s.slack:
			s.offer.Refuse(*claim, "it has handed in nothing, and the session may take "+
				plain.Duration(s.Session.Limit))
		}
		if idle > s.wait {
			return jobs.Submission{}, fmt.Errorf("no worker has taken %s for %s", plain.Line(keyOf(s.Feature), 80),
				plain.Duration(s.wait))
		}
	}
}

// bases stores the bundles that a worker needs for the lane's commit: one for all sessions with what was there when the
// first one began, and one with what has come since.
func (s *session) bases(ctx context.Context) error {
	root, err := s.first(ctx)
	s.order.Bases = []string{root}
	if err != nil || s.tip == root {
		return err
	}
	name := s.newFileName("bundle")
	err = s.Repo.Bundle(ctx, s.hub.Path(name), root, s.tip)
	if err != nil && strings.Contains(err.Error(), "empty bundle") { // the first bundle has the commit
		return nil
	}
	s.order.Bases = append(s.order.Bases, name)
	return err
}

// first stores the first bundle, unless it is there, and returns its name.
func (s *session) first(ctx context.Context) (root string, err error) {
	s.bundling.Lock()
	defer s.bundling.Unlock()
	if s.root == "" {
		s.root, err = s.Repo.Head(ctx)
		if err != nil {
			return "", err
		}
	}
	path := s.hub.Path(s.root)
	if _, err := os.Stat(path); err == nil {
		return s.root, nil
	}
	half := path + ".new"
	err = s.Repo.Bundle(ctx, half, "", s.root)
	if err == nil {
		err = os.Rename(half, path)
	}
	return s.root, err
}

// newFileName returns a name for a file of this session.
func (s *session) newFileName(kind string) string {
	name := kind + "-" + rand.Text()
	s.files = append(s.files, name)
	return name
}

// forget removes the files of the session.
func (s *session) forget() {
	for _, name := range s.files {
		_ = os.Remove(s.hub.Path(name))
	}
	s.files = nil
}

// list stores the list as the lane's folder has it.
func (s *session) list() error {
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
	o.ListText = s.newFileName("list")
	return os.WriteFile(s.hub.Path(o.ListText), text, 0o600)
}

// notes stores the notes of the agents so far. Without them a worker can work, too.
func (s *session) notes() error {
	text, err := loopdir.ReadFile(s.Tree.Project(), s.Notes, loopdir.MaxNotes)
	if err != nil {
		return nil
	}
	s.order.Notes = filepath.ToSlash(s.Notes)
	s.order.NotesText = s.newFileName("notes")
	return os.WriteFile(s.hub.Path(s.order.NotesText), text, 0o600)
}

// take brings a worker's commit into the lane's folder, and its claim into the lane's list.
func (s *session) take(ctx context.Context, got work) error {
	list, err := loopdir.ReadFile(s.Tree.Project(), s.List, features.MaxBytes)
	if err != nil {
		return err
	}
	notes := withNotes(s.Job, got.report.Notes)
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

// bring brings a worker's commit into the lane's folder.
func (s *session) bring(ctx context.Context, got work) error {
	if got.Work == "" {
		return errors.New("the worker has handed in no bundle")
	}
	commit, err := s.Repo.Import(ctx, got.Work, maxWork, s.order.Commit)
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
	conflicts, err := s.Tree.Join(ctx, commit)
	if err != nil || len(conflicts) > 0 {
		return errors.Join(errRestart, err)
	}
	return nil
}

// withNotes returns the lane's copy of progress.txt with what a worker's agent has noted; nil: there is nothing to
// write. The run takes it from there, as it does with an agent here, but for lines of the header. It is cleaned before:
// a control character could hide such a line.
func withNotes(j run.Job, notes string) []byte {
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
