package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// openLanes makes the folders of the lanes of a run, or opens those that it has. It refuses what could lose work.
func (r *Run) openLanes(ctx context.Context) (*lanes, error) {
	p, done, err := r.look()
	if err != nil {
		return nil, err
	}
	defer done()
	l := &lanes{
		Run: r, trees: map[string]*worktree.Tree{}, messages: make(chan laneMessage, 2*decide.MaxLanes),
	}
	if err := errors.Join(l.findList(p), l.onPersonsBranch()); err != nil {
		return nil, err
	}
	l.checks, l.stop = context.WithCancel(ctx)
	l.sessions, l.stopSessions = context.WithCancel(l.checks)
	loops, err := filepath.Rel(r.At.Project, r.At.Dir)
	if err != nil {
		return nil, err
	}
	l.notes = filepath.Join(loops, loopdir.ProgressFile)
	l.repo, err = r.openRepo(ctx, p, r.Record.Merges.Into)
	if err != nil {
		return nil, err
	}
	l.person = &follower{Run: r, repo: l.repo, list: filepath.ToSlash(l.list), pause: nap}
	err = l.makeTrees(ctx)
	if err != nil {
		l.repo.Close()
	}
	return l, err
}

// openRepo opens the repository of the run. It stays from run to run, as long as a lane has work.
func (r *Run) openRepo(ctx context.Context, p *loop.Picture, branch string) (*worktree.Repo, error) {
	_, tag := features.SplitTag(p.ListPath())
	how := features.Reading{Tag: tag, Skip: p.Config.SkipHeadings}
	return worktree.Open(ctx, worktree.Options{
		Project: r.At.Project, Env: r.Env.Vars, Except: lanesExcept(p), Branch: branch,
		PrivateDir: filepath.Join(r.At.StatePath(), "lanes.git"), Keep: true,
		List: worktree.List{File: p.ListFile(), Merge: how.MergeFlags},
	})
}

// lanesExcept returns the files that no lane commits: its agent claims in a copy of the list.
func lanesExcept(p *loop.Picture) []string {
	all := p.LoopFiles()
	if list := p.ListFile(); list != "" {
		all = append(all, list)
	}
	return all
}

// onPersonsBranch refuses to work while a branch of this run or of an earlier one is checked out in the project: the
// run moves and deletes these.
func (l *lanes) onPersonsBranch() error {
	here := tree.Branch(proc.EnvOutside(l.Env.Vars, l.At.Project), l.At.Project)
	for _, b := range l.Record.Branches() {
		if here == b.Name {
			return fmt.Errorf("the project is on the branch %s, which runs move and delete; type: git switch %s",
				plain.Line(here, 200), plain.Arg(b.Into))
		}
	}
	return nil
}

// findList notes where the list is.
func (l *lanes) findList(p *loop.Picture) (err error) {
	switch {
	case p.Snapshot.NoList:
		return errors.New("a loop without a list has one job, so several lanes have nothing to share; leave --workers out")
	case p.Config.Source.IsSet():
		return errors.New("the list comes from a tracker, and lanes need it in a file; leave --workers out")
	}
	file, tag := features.SplitTag(p.ListPath())
	l.reading = features.Reading{Tag: tag, Skip: p.Config.SkipHeadings}
	l.list, err = filepath.Rel(l.At.Project, file)
	if err == nil && !filepath.IsLocal(l.list) {
		err = fmt.Errorf("the list %s is outside the project, where a lane has no copy of it", p.ListName())
	}
	return err
}

// makeTrees makes what is missing of the run's branch and of the folders of its lanes.
func (l *lanes) makeTrees(ctx context.Context) (err error) {
	begins := l.Record.Backup == ""
	if begins {
		if err := l.beginBranch(ctx); err != nil {
			return err
		}
	}
	cache, err := os.UserCacheDir()
	l.dir = filepath.Join(cache, "ralph", l.Record.ID)
	if err == nil {
		err = os.MkdirAll(l.dir, 0o755)
	}
	if err != nil {
		return fmt.Errorf("no folder for the lanes: %w", err)
	}
	// Here the run begins: whatever refuses it comes before this.
	err = l.openFiles()
	if err == nil && begins {
		l.Record.Backup, err = l.repo.Backup(ctx, l.Record.ID)
	}
	if err != nil {
		return err
	}
	for n := len(l.Record.Lanes) + 1; n <= min(2*l.Record.Options.Workers, decide.MaxLanes); n++ {
		space := l.newWorkspace(len(l.Record.AllWorkspaces()) + 1)
		l.Record.Lanes = append(l.Record.Lanes, record.Lane{Number: n, Workspace: space})
	}
	if err := l.save(); err != nil { // --resume removes what is made from here on
		return err
	}
	l.person.checkBranch(ctx)
	l.merger, err = l.repo.Add(ctx, filepath.Join(l.dir, "merge"), "", l.Record.Merges.Commit)
	if err != nil {
		return err
	}
	l.workTree = l.merger.Dir()
	for _, space := range l.Record.AllWorkspaces() {
		if space.Base == "" { // it is made for its first feature
			continue
		}
		if _, err := l.addTree(ctx, space); err != nil {
			return err
		}
	}
	for i := range l.Record.Lanes {
		l.all = append(l.all, &lane{Lane: &l.Record.Lanes[i]})
	}
	return nil
}

// beginBranch begins the run's branch where the person's is, with what runs before have left on theirs. It refuses what
// could lose work.
func (l *lanes) beginBranch(ctx context.Context) error {
	if err := l.repo.Ready(ctx); err != nil {
		return err
	}
	head, err := l.repo.Head(ctx)
	if err != nil {
		return err
	}
	m := &l.Record.Merges
	m.Into, m.Commit = l.repo.Branch(), head
	l.person.head = head
	for _, b := range l.Record.Unmerged {
		if b.Commit == "" || l.repo.At(ctx, b.Name) != b.Commit { // nobody has proven what is there
			continue
		}
		if err := l.repo.Fetch(ctx, b.Commit); err != nil {
			return err
		}
		commit, conflicts, err := l.repo.Join(ctx, b.Commit, m.Commit)
		if err != nil {
			return err
		}
		if len(conflicts) > 0 {
			return fmt.Errorf("the branch %s has work of the run before, which is in conflict with %s in %s: "+
				"merge it, or type: git branch -D %[1]s", plain.Line(b.Name, 100), plain.Line(m.Into, 200),
				plain.Line(conflicts[0].File, 200))
		}
		if commit != m.Commit {
			m.Joined = commit != b.Commit
		}
		m.Commit = commit
	}
	for _, text := range l.repo.Unlike(ctx) {
		l.Screen.Warn(text)
	}
	names, err := l.repo.Untracked(ctx)
	if len(names) > 0 {
		l.Screen.Warn("not tracked by git, so the lanes do not have it: " + decide.Names(names))
	}
	return err
}

// dropJoined deletes the branches of earlier runs with whose work the run has begun.
func (l *lanes) dropJoined(ctx context.Context) error {
	own := l.repo.At(ctx, l.Record.Branch())
	l.Record.Unmerged = slices.DeleteFunc(l.Record.Unmerged, func(b record.Branch) bool {
		has := false
		if b.Commit != "" && strings.HasPrefix(b.Name, "ralph/") {
			has, _ = l.repo.Descends(ctx, own, b.Commit)
		}
		if has {
			_ = l.repo.Drop(ctx, b.Name, b.Commit) // it stays if somebody has moved it
		}
		return !l.lacks(b)
	})
	return l.save()
}

// addTree makes the folder of a workspace and prepares it, or opens it as it is. If the run is killed meanwhile, it is
// prepared again.
func (l *lanes) addTree(ctx context.Context, space *record.Workspace) (*worktree.Tree, error) {
	t, err := l.repo.Add(ctx, space.Dir, space.Branch, space.Base)
	if err == nil && t.Prepared() == "" {
		err = l.prepareTree(ctx, t)
		if err != nil {
			return nil, notReady{fmt.Errorf("the folder %s is not ready: %w", space.Dir, err)}
		}
	}
	if err != nil {
		return nil, err
	}
	l.trees[space.Dir] = t
	return t, nil
}

// notReady means that a command failed without which no folder is ready.
type notReady struct{ error }

// start begins a session of a lane with the feature of a step.
func (l *lanes) start(ctx context.Context, one *lane, s *loop.Step) (*loop.Step, error) {
	feature := s.Decision.Feature
	err := l.prepare(ctx, one, feature.ID)
	if err != nil && ctx.Err() == nil && !errors.As(err, new(notReady)) {
		err = fmt.Errorf("the folder of a lane cannot be prepared: %w", err)
		if l.unprepared(ctx, one, err.Error()) {
			return s, l.save()
		}
	}
	if err == nil {
		for _, other := range l.all {
			other.unmade = 0
		}
		err = l.runHooksBefore(ctx, s)
	}
	if err != nil {
		l.halt()
		why := err.Error()
		if ctx.Err() != nil { // a signal
			why = ""
		}
		return l.interrupt(ctx, l.ends(why))
	}
	iteration := s.Decision.Next.Lanes[one.Number-1].Iteration
	left := one.Current // a worker has it, since an earlier process of the run
	if left != nil && left.Feature != feature.ID {
		if l.dispatcher != nil {
			l.dispatcher.Leave(left.Feature)
		}
		l.writeOff(left)
		left = nil
	}
	set := func(c *record.Current) {
		one.Current = c
		if c != nil {
			c.Lane = one.Number
		}
		if c != nil && left != nil {
			c.Number, c.StartedAt, c.Claim = left.Number, left.StartedAt, left.Claim
		}
	}
	c, asked := l.starts(iteration, feature, set)
	if err := l.save(); err != nil {
		l.takeBack(set)
		return nil, err
	}
	l.showLimit(&s.Decision)
	l.Screen.Session(l.Record, c, s, feature.Title())
	session := l.agentSession(c, asked, l.prompt(s, c, feature)+l.lanePrompt(one))
	tree := l.trees[one.Dir]
	session.Dir = tree.Project()
	session.Hear = func(h agent.Activity) { l.Screen.ShowActivity(one.Number, h) }
	session.Started = func(pid int) error {
		l.messages <- laneMessage{lane: one, pid: pid}
		return nil
	}
	log := l.files.Log(c.Number)
	session.Log = log
	one.stage = busy
	claim := c.Claim
	one.offered = l.dispatcher != nil && claim == nil
	go func() {
		defer log.Close()
		e := l.work(one, tree, feature.ID, claim, session)
		l.messages <- laneMessage{lane: one, result: &e}
	}()
	return s, nil
}

// mostUnprepared is how often it may be impossible to prepare a lane's folder, while no other one is prepared.
const mostUnprepared = 3

// unprepared keeps a lane that has no folder from asking for work for a while: a disk may be full for a moment, and a
// person's gc may have thrown away what git wrote. Another lane may take the feature meanwhile. In the end the work
// that the lane has waits for a person. It returns false if there is none, and no lane can work.
func (l *lanes) unprepared(ctx context.Context, one *lane, why string) bool {
	often := one.unmade >= mostUnprepared
	switch {
	case often && one.Open:
		one.unmade = 0
		l.park(ctx, one, why)
	case often && l.in(busy, ended, queued, tested) == 0:
		return false
	default:
		until := time.Now().Add(backOff[one.unmade])
		one.unmade = min(one.unmade+1, mostUnprepared)
		one.rest(until, why)
		l.Screen.Wait(until, why)
	}
	return true
}

// prepare brings a lane's folder up to date for a feature, and gives it a copy of the list.
func (l *lanes) prepare(ctx context.Context, one *lane, feature string) (err error) {
	if l.proving == nil {
		if err := l.person.join(ctx); err != nil {
			return err
		}
	}
	commit := l.Record.Merges.Commit
	l.takeWorkspace(ctx, one, feature)
	tree := l.trees[one.Dir]
	isNew := tree == nil
	if isNew {
		one.Base = commit
		if err := l.save(); err != nil {
			return err
		}
		tree, err = l.addTree(ctx, &one.Workspace)
		if err != nil {
			return err
		}
	}
	switch {
	case isNew:
		one.Refusal = ""
	case !one.Open:
		if err := tree.Reset(ctx, commit); err != nil {
			return err
		}
		one.Refusal = ""
	default: // the next agent gets nothing of what this one has left in git's folder
		_, _, failed := tree.Commit(ctx, worktree.Saves+" of a session")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case failed != nil: // only an agent can fix that, on top of what it has
			commit = tree.Base()
			one.Refusal = cmp.Or(one.Refusal, failed.Error())
		case tree.Base() != commit:
			if _, err := tree.Update(ctx, commit); err != nil {
				return err
			}
		}
	}
	err = l.copyList(tree)
	if err != nil {
		return err
	}
	one.Feature = feature
	one.Open = true
	one.Base = commit
	return nil
}

// park puts the work of a lane aside, where it waits for a person, and gives the lane another workspace. --resume takes
// it up again.
func (l *lanes) park(ctx context.Context, one *lane, why string) {
	if l.trees[one.Dir] != nil {
		if err := l.publish(ctx, one.Dir); err != nil {
			l.Screen.Warn(fmt.Sprintf("the work of lane %d stays in %s: %v", one.Number, one.Dir, err))
		}
	}
	aside := one.Workspace
	aside.WaitReason = plain.Line(why, 500)
	one.Workspace = l.emptyWorkspace()
	l.Record.Workspaces = append(l.Record.Workspaces, aside)
	if one.Current != nil && one.Current.HasEnded() {
		one.Current.Merge = record.Waits
	}
	branch := ""
	if aside.Open {
		branch = aside.Branch
	}
	l.Screen.ShowMerge(one.Number, aside.Feature, branch, why)
}

// emptyWorkspace returns a workspace without work: one that no lane has, or a new one.
func (l *lanes) emptyWorkspace() record.Workspace {
	isEmpty := func(f record.Workspace) bool { return !f.Open && f.WaitReason == "" }
	if i := slices.IndexFunc(l.Record.Workspaces, isEmpty); i >= 0 {
		empty := l.Record.Workspaces[i]
		l.Record.Workspaces = slices.Delete(l.Record.Workspaces, i, i+1)
		return empty
	}
	return l.newWorkspace(len(l.Record.AllWorkspaces()) + 1)
}

// newWorkspace returns a workspace whose folder is to be made.
func (l *lanes) newWorkspace(number int) record.Workspace {
	return record.Workspace{
		Dir:    filepath.Join(l.dir, fmt.Sprintf("lane-%d", number)),
		Branch: fmt.Sprintf("%s-lane-%d", l.Record.Branch(), number),
	}
}

// takeWorkspace gives a lane the workspace with work on a feature, if there is one. After an ending the loop no longer
// knows which lane had which feature. Other work of the lane is put aside: it belongs to no open feature.
func (l *lanes) takeWorkspace(ctx context.Context, one *lane, feature string) {
	for _, other := range l.all {
		if other != one && other.stage == free && other.Open && other.Feature == feature {
			one.Workspace, other.Workspace = other.Workspace, one.Workspace
			one.Current, other.Current = other.Current, one.Current
			return
		}
	}
	if one.Open && one.Feature == feature {
		return
	}
	if one.Open {
		l.park(ctx, one, record.Abandoned)
	}
	for i := range l.Record.Workspaces {
		aside := &l.Record.Workspaces[i]
		if aside.Open && aside.Feature == feature {
			one.Workspace, *aside = *aside, one.Workspace
			one.WaitReason = ""
			return
		}
	}
}

// copyList gives a lane's folder the list and the notes as they are now.
func (l *lanes) copyList(tree *worktree.Tree) error {
	text, err := loopdir.ReadFile(l.At.Project, l.list, features.MaxBytes)
	if err != nil {
		return err
	}
	if notes, err := l.store.Progress(); err == nil { // without them the lane works, too
		_ = tree.WriteFile(givenNotes, notes)
		_ = tree.WriteFile(l.notes, notes)
	}
	return tree.WriteFile(l.list, text)
}

// givenNotes is the file of a lane's folder that has the notes as the lane got them.
var givenNotes = filepath.Join(record.Folder, loopdir.ProgressFile)

// takeNotes adds what a lane's agent has written into its copy of progress.txt to the loop's own one.
func (l *lanes) takeNotes(one *lane) {
	folder := l.trees[one.Dir].Project()
	now, err := loopdir.ReadFile(folder, l.notes, loopdir.MaxNotes)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		given, _ := loopdir.ReadFile(folder, givenNotes, loopdir.MaxNotes)
		err = l.store.AddNotes(loop.LockWait, given, now)
	}
	if err != nil {
		l.Screen.Warn(fmt.Sprintf("the notes of lane %d stay in its folder: %v", one.Number, err))
	}
}

// lanePrompt says what is different in a lane, and what the merger said of the work so far.
func (l *lanes) lanePrompt(one *lane) string {
	var b strings.Builder
	b.WriteString("\nOthers work on other features at the same time, each in a clone of its own. Yours is the " +
		"folder in which you are. Work only there, on its branch. Do not push. The list in it is your copy: claim your " +
		"feature there. When your session is over, your work is merged and checked, and your notes go to all.\n")
	if one.Refusal != "" {
		// The output is data: it cannot end its own fence.
		fmt.Fprintf(&b, "\nYour work so far is in this folder. It is not merged, because:\n```\n%s\n```\n",
			strings.ReplaceAll(one.Refusal, "```", "` ` `"))
	}
	if names := l.trees[one.Dir].Conflicts(); len(names) > 0 {
		b.WriteString("\nThese files have conflicts with what others have done. Resolve them, and leave no conflict " +
			"markers:\n")
		for _, name := range names[:min(len(names), maxNamed)] {
			b.WriteString("- " + plain.Line(name, 200) + "\n")
		}
	}
	return b.String()
}

// maxNamed is how many files a prompt names.
const maxNamed = 50

// prepareTree has a folder prepared, as ralph.json says.
func (l *lanes) prepareTree(ctx context.Context, t *worktree.Tree) error {
	p, done, err := l.look()
	if err != nil {
		return err
	}
	defer done()
	p, err = p.InWorkTree(t.Dir())
	if err != nil || len(p.Config.Prepare) == 0 {
		return err
	}
	inputs, err := p.Prepare(ctx, t.Prepared())
	if err != nil {
		return err
	}
	return t.SetPrepared(inputs)
}

// publish gives the project's repository the branch of a workspace, with all work there that can be committed.
func (l *lanes) publish(ctx context.Context, dir string) error {
	ctx = context.WithoutCancel(ctx)
	tree := l.trees[dir]
	_, _, err := tree.Commit(ctx, worktree.Saves+" of a session that was stopped")
	return errors.Join(err, tree.Publish(ctx))
}

// publishLanes gives the project's repository the branches of the lanes with which the run before was killed: nobody
// else goes on with them.
func (r *Run) publishLanes(ctx context.Context, last *record.Run) error {
	open := slices.DeleteFunc(last.AllWorkspaces(), func(f *record.Workspace) bool { return !f.Open })
	if len(open) == 0 {
		return nil
	}
	p, done, err := r.look()
	if err != nil {
		return err
	}
	defer done()
	repo, err := r.openRepo(ctx, p, last.Merges.Into)
	if err != nil {
		return err
	}
	defer repo.Close()
	for _, one := range open {
		tree, failed := repo.Add(ctx, one.Dir, one.Branch, one.Base)
		changed := true
		if failed == nil { // also if its folder is gone: the run has what was last taken from it
			_, changed, failed = tree.Commit(ctx, worktree.Saves+" of a run that was killed")
		}
		switch {
		case failed == nil && !changed:
			failed = tree.Remove(ctx, "")
		case tree != nil:
			failed = errors.Join(failed, tree.Publish(ctx))
		}
		err = errors.Join(err, failed)
	}
	return err
}

// remove removes a workspace, unless it has work that is not merged.
func (l *lanes) remove(ctx context.Context, space *record.Workspace) error {
	tree := l.trees[space.Dir]
	if space.Open {
		if err := l.publish(ctx, space.Dir); err != nil {
			return err
		}
	} else if tree.Reset(ctx, l.Record.Merges.Commit) != nil {
		return errors.New("the folder cannot be set back")
	}
	return tree.Remove(ctx, l.Record.Merges.Commit)
}

// tidy removes the folders and branches whose work is on the person's branch. The others stay, and people hear where.
func (l *lanes) tidy(ctx context.Context) {
	isOpen := false
	for _, space := range l.Record.AllWorkspaces() {
		isOpen = isOpen || space.Open
		if l.trees[space.Dir] == nil {
			continue
		}
		switch err := l.remove(ctx, space); {
		case err != nil && space.WaitReason != "": // the summary says so
		case err != nil && space.Open:
			what := cmp.Or(plain.Line(space.Feature, 80), "the loop as a whole")
			l.Screen.Warn(fmt.Sprintf("the work on %s is not merged; it stays in %s, on the branch %s", what, space.Dir,
				space.Branch))
		default:
			l.stays(space.Dir, err)
		}
	}
	l.stays(l.merger.Dir(), l.merger.Remove(ctx, ""))
	_ = os.Remove(filepath.Dir(l.merger.Dir())) // if nothing stays
	if l.resumes && l.person.tried.IsZero() {
		return // it was refused when it was to go on, and has not looked whether the person's branch has all
	}
	m := &l.Record.Merges
	isPublished := m.Behind == "" || l.repo.At(ctx, l.Record.Branch()) == m.Commit
	if m.Behind == "" {
		_ = l.repo.Drop(ctx, l.Record.Branch(), m.Commit) // it stays if somebody has moved it
	}
	if isPublished && !isOpen {
		l.repo.Delete()
	}
}

// stays warns of a folder that could not be removed. All work in it is merged, or on a branch of its own.
func (l *lanes) stays(dir string, err error) {
	if err != nil {
		l.Screen.Warn(fmt.Sprintf("the folder %s stays: %v; nothing is lost if you delete it", dir, err))
	}
}
