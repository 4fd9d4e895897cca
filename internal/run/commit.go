package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// A run without lanes works in the project itself, and commits there when the loop counts a feature as done. The
// record says which features are committed, so a run that is killed between the two makes up for that.

const (
	maxTitle    = 200 // characters of the first line of a commit's message
	maxTrailers = 100 // features that a commit names

	maxUnproven = 200 // of more files not all are known
)

// openProject opens the project's repository, for commits without some files.
func (r *Run) openProject(ctx context.Context, p *loop.Picture, without ...string) (*worktree.Repo, error) {
	var tracked []string // init has written the settings: whether they belong to the repository, a person says
	if r.Env.Settings != nil {
		tracked = r.Env.Settings()
	}
	if list := p.ListFile(); list != "" {
		tracked = append(tracked, list)
	}
	folder := ""
	if c := r.Record.Commits; c != nil { // an agent may have removed a .git, or made one
		folder = c.Folder
	}
	return worktree.Open(ctx, worktree.Options{
		Project: r.At.Project, Folder: folder, Env: r.Env.Vars, Except: append(p.LoopFiles(), without...), Tracked: tracked,
		PrivateDir: filepath.Join(r.At.StatePath(), "commit.git"), For: "runs",
		Without: `commit yourself, or set "commit": false`,
	})
}

// beginCommits notes what is not committed when the run begins, and what is done. A run that goes on has that in its
// record. A new one takes it from a run that was cut off, whose work would stay uncommitted otherwise.
func (r *Run) beginCommits(ctx context.Context) error {
	p, done, err := r.look()
	if err != nil {
		return err
	}
	defer done()
	if !r.wantsCommits(p) {
		r.Record.Commits = nil
		return nil
	}
	if r.Record.Commits == nil && r.previous.IsCutOff() {
		r.Record.Commits = r.previous.Commits
	}
	if r.Record.Commits != nil {
		return nil
	}
	var drafts map[string]worktree.Draft
	repo, err := r.openProject(ctx, p)
	if err == nil {
		defer repo.Close()
		drafts, err = repo.Drafts(ctx)
	}
	if err != nil {
		r.Screen.Warn("this run commits nothing: " + err.Error())
		return nil
	}
	for _, text := range repo.Unlike(ctx) {
		r.Screen.Warn(text)
	}
	if len(drafts) > 0 {
		r.Screen.Warn("not committed, and stays so: " + decide.Names(repo.InProject(slices.Sorted(maps.Keys(drafts)))))
	}
	r.Record.Commits = &record.Commits{
		Folder: repo.Folder(), Drafts: drafts, Features: p.Snapshot.DoneFeatures(p.Snapshot.Record()),
	}
	return nil
}

// wantsCommits reports whether the run is to commit in the project.
func (r *Run) wantsCommits(p *loop.Picture) bool {
	return r.Record.Options.Workers == 0 && !p.Config.NoCommit && loopdir.RepoRoot(r.At.Project) != ""
}

// commitDone commits what has changed in the project, if a step has brought features that are done and in no commit, or
// has completed the loop. That it cannot ends nothing: people hear why, and the next commit has it.
func (r *Run) commitDone(ctx context.Context, s *loop.Step) {
	c, snap, next := r.Record.Commits, &s.Picture.Snapshot, s.Decision.Next
	if c == nil || snap.List.Err != nil {
		return
	}
	done := snap.DoneFeatures(next)
	c.Features = slices.DeleteFunc(c.Features, func(id string) bool { return !slices.Contains(done, id) })
	ids := slices.DeleteFunc(done, func(id string) bool { return slices.Contains(c.Features, id) })
	isComplete := s.Decision.Verdict == decide.End && next.Status == decide.Complete
	if len(ids) == 0 && !isComplete {
		return
	}
	commit, left, err := r.commitProject(ctx, s.Picture, ids)
	c.Uncommitted = left
	if err == nil {
		c.Features = append(c.Features, ids...)
	} else {
		c.Uncommitted = plain.Line(err.Error(), 500)
	}
	if commit != "" || c.Uncommitted != "" {
		r.Screen.ShowCommit(commit, c.Uncommitted)
	}
	_ = r.save() // a later save says so if it fails
}

// commitProject commits what has changed in the project, for features that are done; none: for the loop as a whole. The
// commit is "" if nothing has. left says what the commit lacks, and why.
func (r *Run) commitProject(ctx context.Context, p *loop.Picture, ids []string) (commit, left string, err error) {
	var unproven []string // what the checks did not see as it is
	for _, change := range p.NotCounted(ctx) {
		if !strings.HasPrefix(change.Path, "../") {
			unproven = append(unproven, strings.TrimSuffix(change.Path, "/"))
		}
	}
	if len(unproven) > maxUnproven {
		return "", "", fmt.Errorf("the checks do not use more than %d files as they are here", maxUnproven)
	}
	repo, err := r.openProject(ctx, p, unproven...)
	if err != nil {
		return "", "", err
	}
	defer repo.Close()
	commit, built, err := repo.CommitProject(ctx, r.workOn(p, ids), r.Record.Commits.Drafts)
	if err != nil {
		return "", "", err
	}
	var all []string
	if len(unproven) > 0 {
		all = append(all, decide.Names(unproven)+", which the checks do not use as it is here")
	}
	if built != "" {
		all = append(all, built+", as the output of a build: let git ignore it, or commit it")
	}
	return commit, strings.Join(all, "; "), nil
}

// workOn describes what is committed, as the merges of lanes do.
func (r *Run) workOn(p *loop.Picture, ids []string) worktree.Work {
	named := ids[:min(len(ids), maxTrailers)]
	var titles []string
	for _, id := range named {
		item, _ := p.Snapshot.List.Find(id)
		titles = append(titles, titleOf(id, item))
	}
	message := cmp.Or(strings.Join(titles, ", "), p.Config.Task, "Work on the loop "+r.At.Name)
	w := worktree.Work{Message: plain.Line(message, maxTitle)}
	if len(named) > 0 {
		w.Feature, w.Also = named[0], named[1:]
	}
	agent := r.Record.Options.Agent
	if c := r.Record.Current; c != nil && c.HasEnded() {
		agent = cmp.Or(c.Agent, agent)
		w.Message += "\n\n" + words(c.Message)
	}
	w.More = r.trailers(agent)
	return w
}

// titleOf names a feature in the first line of a commit's message.
func titleOf(id string, item features.Item) string { return strings.TrimSpace(id + " " + item.Title()) }

// trailers returns the lines about the run and its agent in the message of a commit.
func (r *Run) trailers(agent string) []string {
	return []string{"Ralph-Run: " + r.Record.ID, "Ralph-Agent: " + plain.Line(agent, 80)}
}

// marker matches a line with which an agent tells the loop how it stands.
var marker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*<promise>.*</promise>\s*$`) })

// words returns what an agent said at last, for the message of a commit.
func words(message string) string {
	return plain.Text(strings.TrimSpace(marker().ReplaceAllString(message, "")), maxAgentText)
}
