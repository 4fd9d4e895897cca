package loop

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// NotCommitted returns the files and folders below the project that are the loops' own: no commit of a loop's work has
// them.
func (p *Picture) NotCommitted() []string {
	all := []string{loopdir.Below, loopdir.RunFolder}
	list, _ := features.Named(p.ListPath())
	for _, path := range []string{p.Loop.At.Dir, list} {
		name, err := filepath.Rel(p.Loop.At.Project, path)
		if err == nil && filepath.IsLocal(name) && name != "." {
			all = append(all, filepath.ToSlash(name))
		}
	}
	return all
}

// openRepo opens the project's repository for commits of what stops prove, without some files more, and with files of
// its own in the folder own.
func (p *Picture) openRepo(ctx context.Context, own string, without ...string) (*worktree.Repo, error) {
	env, _ := p.environ()
	var settings []string // init has written them: whether they belong to the repository, a person says
	if p.Loop.Env.Settings != nil {
		settings = p.Loop.Env.Settings()
	}
	return worktree.Open(ctx, worktree.Options{
		Tracked: settings,
		Project: p.Loop.At.Project, Env: env, Except: append(p.NotCommitted(), without...), Own: own,
		For: `loops with "commit"`, Without: `take "commit" out of ralph.json`,
	})
}

// CommitNotes returns what a person should know before a loop with "commit" begins: why it cannot commit, or in what
// its commits are not as those of the repository's people.
func (p *Picture) CommitNotes(ctx context.Context) []string {
	repo, err := p.openRepo(ctx, "")
	if err != nil {
		return []string{"nothing can be committed: " + err.Error()}
	}
	defer repo.Close()
	return repo.Unlike(ctx)
}

// CutOffCommit says that a stop was killed while it committed, and has left git's index locked; "": none was.
func (p *Picture) CutOffCommit() string {
	lock := worktree.CutOff(p.Loop.At.Project)
	if lock == "" {
		return ""
	}
	return "a stop was killed while it committed, so git's index is locked, by " + plain.Line(lock, 300)
}

const (
	maxTitles   = 200 // characters of the first line of a commit's message
	maxTrailers = 100 // features that a commit names

	maxUnproven = 200 // of more files not all are known
)

// commitWork commits what has changed in the project, now that features are proven; none: the loop as a whole is. That
// it cannot is no trouble of the loop: the record says so, and the next commit has it.
func (p *Picture) commitWork(ctx context.Context, ids []string, deadline time.Time) *decide.Committed {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	var unproven []string // what the checks did not see as it is
	for _, change := range p.NotCounted(ctx) {
		if !strings.HasPrefix(change.Path, "../") {
			unproven = append(unproven, strings.TrimSuffix(change.Path, "/"))
		}
	}
	var commit, left string
	repo, err := p.openRepo(ctx, filepath.Join(p.Loop.At.StatePath(), "commit.git"), unproven...)
	if err == nil {
		defer repo.Close()
	}
	if err == nil && len(unproven) > maxUnproven {
		err = fmt.Errorf("the checks do not use more than %d files as they are here", maxUnproven)
	}
	if err == nil {
		commit, left, err = repo.CommitHere(ctx, p.provenWork(ids))
	}
	var ignored []string
	if err == nil {
		ignored = p.ignoredSince(ctx, repo)
	}
	why := ""
	switch {
	case err != nil:
		why = plain.Line(err.Error(), 500)
		commit = ""
	case len(unproven) > 0:
		why = decide.Names(unproven) + ", which the checks do not use as it is here"
	case left != "":
		why = left + ", as the output of a build: let git ignore it, or commit it"
	case len(ignored) > 0:
		why = decide.Names(ignored) + ", which git ignores only since 'trust': git add -f it and commit it if the " +
			"work needs it, else type: " + p.Loop.Call("trust")
	}
	line := time.Now().UTC().Format(logTime) + " commit " + cmp.Or(commit, "none")
	if why != "" {
		line += ": " + why
	}
	p.Loop.Store.Log(line, nil)
	return &decide.Committed{Commit: commit, Why: why}
}

// ignoredSince returns files that are part of what is proven, and that git ignores by now. An agent can write git's
// rules. The commit lacks such a file, which another clone is the first to notice.
func (p *Picture) ignoredSince(ctx context.Context, repo *worktree.Repo) []string {
	t := p.treeToProve()
	if p.HasCopy() {
		t = p.work() // without folders of which the copy has its own
	}
	files, err := t.Files(ctx)
	if err != nil {
		return nil // the next stop says so
	}
	ignored, _ := repo.Ignored(ctx, files) // likewise
	return ignored
}

// provenWork describes what is proven, as the merges of lanes do.
func (p *Picture) provenWork(ids []string) worktree.Work {
	agent := plain.Line(p.agent(p.Snapshot.State), 80)
	var w worktree.Work
	var titles []string
	for _, id := range ids[:min(len(ids), maxTrailers)] {
		item, _ := p.Snapshot.List.Find(id)
		titles = append(titles, strings.TrimSpace(id+" "+item.Title()))
	}
	if len(ids) > 0 {
		w.Feature, w.Also = ids[0], ids[1:min(len(ids), maxTrailers)]
	}
	whole := cmp.Or(p.Config.Task, "Work on the loop "+p.Loop.At.Name)
	w.Message = plain.Line(cmp.Or(strings.Join(titles, ", "), whole), maxTitles)
	if run := p.Snapshot.State.Run(); run != "" {
		w.More = append(w.More, "Ralph-Run: "+run)
	}
	w.More = append(w.More, "Ralph-Agent: "+agent)
	return w
}
