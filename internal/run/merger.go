package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// Lanes merge into a branch of the run's own. No person works there, so nothing that people do in the project can stop
// it. The record says which commit is merged: if somebody moves the branch, it is put back. A person's branch, and the
// project's files, follow when they can.

// batch is work that is tested together: merged one after the other, and then proven once.
type batch struct {
	below   string // the commit on which it is merged
	tip     string // all of it together
	lanes   []*lane
	merged  map[*lane]string // the commits of what fits together
	refused map[*lane]refusal
	results []decide.Receipt // of the checks on tip
	unfit   refusal          // why tip is not merged; zero: it can be
	err     error            // then nothing is known
}

// refusal says why work does not fit.
type refusal struct {
	why       string
	conflicts []worktree.Conflict
	waits     bool // for a person: nobody has trusted its check
}

// outcome is what became of a session's work.
type outcome struct {
	results []decide.Receipt // of the checks on the merged work
	tip     string           // the commit on which they ran
	moved   bool             // the session changed files
	refused bool             // the work is given back: it is in conflict, or a check failed
	failed  bool             // with refused: a check failed
}

// submit saves what a session has done. If its agent claims the feature, that is to be tested.
func (l *lanes) submit(ctx context.Context, one *lane) {
	one.stage = tested
	if !one.Open { // the run was killed after the merge
		one.Current.Ended.Merge = record.Merged
		one.done = outcome{moved: true}
		return
	}
	before := one.Given
	one.Given = ""
	list, claims, err := l.claimed(one)
	if err == nil {
		one.work, one.done.moved, err = l.commit(ctx, one, list)
	}
	switch {
	case ctx.Err() != nil: // a signal ends the run, which merges it when it goes on
		one.stage = ended
	case errors.Is(err, worktree.ErrHistory):
		l.giveBack(ctx, one, lostBase, before)
	case err != nil:
		l.giveBack(ctx, one, err.Error(), before)
	case one.Feature == "" && !one.done.moved: // work for the loop as a whole has no claim
	case one.Feature != "" && !claims:
		one.Given = "the session before yours did not claim the feature in the list"
	default:
		if left := l.trees[one.Dir].Unresolved(); len(left) > 0 {
			l.giveBack(ctx, one, "conflict markers are left in "+plain.Line(strings.Join(left, ", "), 1000), before)
			return
		}
		one.stage = queued
	}
}

const lostBase = "the branch in this folder has lost the commit from which it began; " +
	"put it back, with your work on top"

// commit commits what is in a lane's folder. What is merged then is one commit, with what the agent has written into
// its own ones, or said at last.
func (l *lanes) commit(ctx context.Context, one *lane, list features.List) (w worktree.Work, moved bool, err error) {
	item, _ := list.Find(one.Feature)
	message := plain.Line(strings.TrimSpace(one.Feature+" "+item.Title()), 200)
	commit, moved, err := l.trees[one.Dir].Commit(ctx, message)
	if err != nil {
		return w, moved, err
	}
	if left := l.trees[one.Dir].Left(); left != "" {
		l.Screen.Warn(fmt.Sprintf("lane %d has left %s, which looks like the output of a build and is not committed: "+
			"let git ignore it, or have the agent commit it", one.Number, left))
	}
	own, err := l.trees[one.Dir].Messages(ctx)
	if err != nil {
		return w, moved, err
	}
	text := message
	for _, one := range own {
		if !strings.HasPrefix(one, worktree.Saves) && len(text) < 4*maxOwn {
			text += "\n\n" + strings.TrimSpace(one)
		}
	}
	if last := words(one.Current.Ended.Message); text == message && last != "" { // it has committed nothing itself
		text += "\n\n" + last
	}
	agent := plain.Line(one.Current.Agent, 80)
	w = worktree.Work{
		Commit: commit, Base: l.trees[one.Dir].Base(), Feature: one.Feature,
		Message: plain.Text(text, maxOwn), More: []string{"Ralph-Run: " + l.Record.ID, "Ralph-Agent: " + agent},
	}
	if feature := one.Feature; feature != "" {
		w.Mark = func(text []byte) []byte { return list.PassIn(text, feature) }
	}
	return w, moved, nil
}

// maxOwn is how much of an agent's own messages is kept, in characters.
const maxOwn = 20_000

// giveBack gives work back to its agent. If that is for the same reason as before, which is none of a check, it waits
// for a person.
func (l *lanes) giveBack(ctx context.Context, one *lane, why, before string) {
	one.stage = tested
	one.Given = why
	one.done.refused = true
	one.Current.Ended.Merge = cmp.Or(one.Current.Ended.Merge, record.GivenBack)
	if why == before {
		l.park(ctx, one, why)
		return
	}
	first, _, _ := strings.Cut(why, "\n")
	l.Screen.Merged(one.Number, one.Feature, "", strings.TrimSuffix(first, ":"))
}

// refuse gives back work that does not fit, unless that is up to a person.
func (l *lanes) refuse(ctx context.Context, one *lane, r refusal) {
	before := ""
	if r.waits {
		before = r.why
	}
	l.giveBack(ctx, one, r.why, before)
}

// claimed returns the list, and whether the agent of a lane claims its feature in its copy.
func (l *lanes) claimed(one *lane) (list features.List, claims bool, err error) {
	p, done, err := l.look()
	if err != nil {
		return list, false, err
	}
	defer done()
	list = p.Snapshot.List.List
	p, err = p.Beside(one.Dir)
	if err != nil {
		return list, false, err
	}
	there := p.ListThere()
	item, has := there.Find(one.Feature)
	return list, there.Err == nil && has && item.Passes, nil
}

// test begins to test the work that waits, if nothing is tested now.
func (l *lanes) test(ctx context.Context) error {
	if l.proving != nil {
		return nil
	}
	b := &batch{merged: map[*lane]string{}, refused: map[*lane]refusal{}}
	for _, one := range l.all {
		if one.stage == queued {
			b.lanes = append(b.lanes, one)
		}
	}
	if len(b.lanes) == 0 {
		return nil
	}
	b.lanes = b.lanes[:l.queue.size(len(b.lanes))]
	if err := l.join(ctx); err != nil {
		return err
	}
	b.below = l.Record.Merges.Commit
	l.proving = b
	l.at = ""
	go func() {
		l.merge(l.checks, b)
		l.heard <- heard{batch: b}
	}()
	return nil
}

// merge merges the work of a batch, and proves it. Only the goroutine of the batch calls it.
func (l *lanes) merge(ctx context.Context, b *batch) {
	b.tip = b.below
	var ids []string
	for _, one := range b.lanes {
		m, err := l.repo.Merge(ctx, b.tip, one.work)
		switch {
		case ctx.Err() != nil:
			b.err = ctx.Err()
			return
		case errors.Is(err, worktree.ErrHistory):
			b.refused[one] = refusal{why: lostBase}
		case err != nil:
			b.refused[one] = refusal{why: err.Error()}
		case len(m.Conflicts) > 0 && b.tip != b.below: // the next batch shows whether it fits to what is merged then
		case len(m.Conflicts) > 0:
			b.refused[one] = refusal{conflicts: m.Conflicts}
		default:
			b.tip = m.Commit
			b.merged[one] = m.Commit
			ids = append(ids, one.work.Feature)
		}
	}
	if len(ids) > 0 {
		b.results, b.unfit, b.err = l.prove(ctx, b.tip, ids)
	}
}

// prove runs the checks of merged features, and says why they do not hold. The loop is looked at anew each time: a
// person may have changed and trusted a check meanwhile.
func (l *lanes) prove(ctx context.Context, commit string, features []string) (all []decide.Receipt, unfit refusal,
	err error) {
	if err := l.merger.Reset(ctx, commit); err != nil {
		return nil, unfit, err
	}
	p, done, err := l.look()
	if err != nil {
		return nil, unfit, err
	}
	defer done()
	if err := unusable(&p.Snapshot); err != nil { // it may be half saved, and would not say what is to be proven
		return nil, unfit, err
	}
	p, err = p.Beside(l.merger.Dir())
	if err != nil {
		return nil, unfit, err
	}
	if !p.HasCopy() {
		if err := l.prepareTree(ctx, l.merger); err != nil {
			unfit.why = err.Error()
			return nil, unfit, ctx.Err()
		}
	}
	all, err = p.RunChecks(ctx, p.Snapshot.Due(features...), false, nil)
	err = cmp.Or(err, ctx.Err())
	if err != nil { // a check that was stopped says nothing
		return nil, unfit, err
	}
	untrusted := func(r decide.Receipt) bool { return r.NotRun && p.Snapshot.Untrusted }
	refuses := func(r decide.Receipt) bool { return p.Snapshot.Refuses(r, features...) && !untrusted(r) }
	failed := slices.IndexFunc(all, refuses)
	i := failed
	if failed < 0 {
		i = slices.IndexFunc(all, untrusted)
	}
	if i < 0 {
		return all, unfit, nil
	}
	what := "the check " + plain.Line(all[i].Name, 100)
	if all[i].Feature != "" {
		what += " of " + plain.Line(all[i].Feature, 80)
	}
	unfit.waits = failed < 0
	if unfit.waits {
		what += " did not run"
	} else {
		what += " failed, with what others have done"
	}
	unfit.why = what + ":\n" + all[i].Tail
	return all, unfit, nil
}

const (
	mostBroken    = 3   // how often in a row it may be impossible to test
	mostConflicts = 5   // after so many with one file, a feature waits for a person
	maxInConflict = 500 // files of one merge; if there are more, it waits, too
)

// judge takes what became of a batch. Work that does not hold together is tested again, in smaller batches.
func (l *lanes) judge(ctx context.Context, b *batch) error {
	l.proving = nil
	if b.err != nil {
		if l.checks.Err() != nil {
			return nil // the run ends, and tests it when it goes on
		}
		l.broken++
		if l.broken == mostBroken {
			return b.err
		}
		return nil
	}
	l.broken = 0
	l.noteDurations(b.results)
	if len(b.merged) > 0 { // else the merger's folder may be at a commit of others
		l.at = b.tip
	}
	for one, r := range b.refused {
		if len(r.conflicts) == 0 {
			l.refuse(ctx, one, r)
			continue
		}
		if n := len(r.conflicts); n > maxInConflict { // no agent resolves them, and a liar fills the record with them
			why := fmt.Sprintf("it is in conflict in %d files", n)
			l.giveBack(ctx, one, why, why)
			continue
		}
		one.Conflict(r.conflicts)
		one.Current.Ended.Merge = record.Conflict
		l.giveBack(ctx, one, one.Given, "")
		for file, times := range one.Touched {
			if times == mostConflicts {
				l.park(ctx, one, fmt.Sprintf("it is in conflict in %s again and again", plain.Line(file, 200)))
				break
			}
		}
	}
	if len(b.merged) == 0 {
		return l.save()
	}
	var next verdict
	head := ""
	if b.unfit.why == "" {
		var err error
		head, err = l.repo.Head(ctx)
		// Nothing gets to a person's branch that was not proven with what is there.
		next = l.queue.passed(err == nil && head != l.joined)
	} else {
		next = l.queue.failed(len(b.merged))
	}
	switch next {
	case merge:
		return l.take(ctx, b, head)
	case giveBack:
		for one := range b.merged {
			one.done.results, one.done.tip = b.results, b.tip
			one.done.failed = !b.unfit.waits
			l.refuse(ctx, one, b.unfit)
		}
		return l.save()
	}
	return nil // it is tested again
}

// slowCheck is how long a check takes at least for others to run beside it: each of them needs a copy of the project,
// and that of a large one takes seconds.
const slowCheck = 500 * time.Millisecond

// noteDurations lets as many checks run at the same time as there are lanes, two on each core at most, once one is
// known to take a while.
func (l *lanes) noteDurations(results []decide.Receipt) {
	isSlow := func(r decide.Receipt) bool { return r.DurationMS >= slowCheck.Milliseconds() }
	if slices.ContainsFunc(results, isSlow) {
		l.Env.ChecksAtOnce = min(l.Record.Options.Workers, 2*runtime.NumCPU())
	}
}

// take makes proven work the work of the run, and claims its features. From the save on it is merged, also if the run
// is killed: what is missing then is made up for.
func (l *lanes) take(ctx context.Context, b *batch, head string) error {
	m := &l.Record.Merges
	before := m.Commit
	m.Commit, m.Joined = b.tip, false
	if m.Done == nil {
		m.Done = map[string]string{}
	}
	var ids []string
	for _, one := range b.lanes {
		commit, is := b.merged[one]
		if !is {
			continue
		}
		if one.Feature != "" {
			m.Done[one.Feature] = commit
			ids = append(ids, one.Feature)
		}
		one.Open, one.Touched = false, nil
		one.Current.Ended.Merge = record.Merged
		one.stage = tested
		one.done = outcome{results: b.results, tip: b.tip, moved: one.done.moved}
	}
	if err := l.save(); err != nil {
		return err
	}
	l.moveBranch(ctx, before)
	if err := l.claim(ctx, ids, b.results); err != nil { // listed does it when it can
		l.Screen.Warn(err.Error())
	}
	for _, one := range b.lanes {
		if _, is := b.merged[one]; is {
			l.Screen.Merged(one.Number, one.Feature, "", "")
		}
	}
	_ = l.bring(ctx, head)
	return nil
}

// claim claims features in the loop's list, and stores what checks proved.
func (l *lanes) claim(ctx context.Context, ids []string, results []decide.Receipt) error {
	if len(ids) == 0 {
		return nil
	}
	lp, err := loop.Open(l.Env, l.At)
	if err != nil {
		return err
	}
	defer lp.Close()
	return lp.SetClaims(ctx, ids, true, results)
}

// How long a run waits for what a person or a program may be about to mend, and for a person who has another branch
// than the loop's checked out.
const (
	whileMended = time.Minute
	whileAway   = time.Hour
)

// patience is how long a run waits until it says what is wrong with list or configuration, and ends.
func (l *lanes) patience() time.Duration {
	if l.away {
		return whileAway
	}
	return whileMended
}

// listed reports whether the list can be used, and claims in it what is merged: a person may have put back an older
// one. A list that is half saved, or that another branch has not, is waited for.
func (l *lanes) listed(ctx context.Context) bool {
	p, done, err := l.look()
	if err == nil {
		defer done()
		err = unusable(&p.Snapshot)
	}
	if err == nil {
		l.unread = time.Time{}
		var open []string
		for id := range l.Record.Merges.Done {
			if item, has := p.Snapshot.List.Find(id); has && !item.Passes {
				open = append(open, id)
			}
		}
		if err := l.claim(ctx, open, nil); err != nil {
			l.Screen.Warn(err.Error())
		}
		return true
	}
	l.away = l.repo.OnBranch(ctx) != nil
	if l.unread.IsZero() {
		l.unread = time.Now()
		if l.Record.Sessions == 0 && !l.away { // it was not right when the run began, and somebody is there
			l.unread = l.unread.Add(-whileMended)
			return true
		}
		l.Screen.Warn(fmt.Sprintf("no work is given out until this is fixed, for %s at most: %s",
			plain.Duration(l.patience()), err))
	}
	return time.Since(l.unread) > l.patience()
}

// unusable says why no work can be given out with the list and the configuration as they are.
func unusable(s *decide.Snapshot) error {
	return cmp.Or(s.ConfigErr, s.List.Err)
}

// moveBranch moves the run's branch to what is merged now. before is what was merged before.
func (l *lanes) moveBranch(ctx context.Context, before string) {
	ctx = context.WithoutCancel(ctx)
	if l.repo.Move(ctx, l.Record.Branch(), before, l.Record.Merges.Commit) != nil {
		l.checkBranch(ctx)
	}
}

// checkBranch puts the run's branch where the record has it. An agent could have moved it: then people are warned.
func (l *lanes) checkBranch(ctx context.Context) {
	branch, commit := l.Record.Branch(), l.Record.Merges.Commit
	at := l.repo.At(ctx, branch)
	if at == commit {
		return
	}
	if err := l.repo.Point(ctx, branch, commit); err != nil {
		l.Screen.Warn(fmt.Sprintf("the branch %s cannot be moved to what is merged, %.12s: %v", branch, commit, err))
	} else if was, err := l.repo.Descends(ctx, commit, at); at != "" && (err != nil || !was) { // else it was not moved yet
		l.Screen.Warn(fmt.Sprintf("somebody moved the branch %s to %.12s, which nobody has proven; it is at %.12s again",
			branch, at, commit))
	}
}

// join merges what people have committed to their branch since it was looked at last.
func (l *lanes) join(ctx context.Context) error {
	head, err := l.repo.Head(ctx)
	if err != nil || head == l.joined {
		return nil // if the branch is lost, bring says so
	}
	m := &l.Record.Merges
	l.joined = head
	l.clash = ""
	commit, conflicts, err := l.repo.Join(ctx, m.Commit, head)
	switch {
	case err != nil:
		l.clash = err.Error()
	case len(conflicts) > 0:
		l.clash = fmt.Sprintf("it is in conflict with %s in %s", l.Record.Branch(), plain.Line(conflicts[0].File, 200))
	}
	if commit == "" || commit == m.Commit {
		return nil
	}
	before := m.Commit
	m.Joined = commit != head
	m.Commit = commit
	if err := l.save(); err != nil {
		return err
	}
	l.moveBranch(ctx, before)
	return nil
}

// bring brings what is merged to the person's branch, which is at the commit head, and to the project's files. If it
// cannot, the record says why.
func (l *lanes) bring(ctx context.Context, head string) error {
	m := &l.Record.Merges
	ctx = context.WithoutCancel(ctx) // a signal waits for it: half of a merge would confuse people
	l.tried = time.Now()
	lacks, err := l.forward(ctx, head)
	behind, why := "", ""
	if lacks {
		why = fmt.Sprint(err)
		branch := plain.Line(m.Into, 200)
		behind = fmt.Sprintf("%s has not all of %s: %v; then type: %s", branch, l.Record.Branch(), err, say.Merge(m.Commit))
		if l.Record.Options.NoMerge {
			behind = fmt.Sprintf("the work waits beside %s; to take it there, type: %s", branch, say.Merge(m.Commit))
		}
	}
	if why != l.behind && !l.Record.Options.NoMerge {
		l.pause = nap
		if lacks {
			l.Screen.Warn(behind)
		}
	}
	l.behind = why
	m.Behind = behind
	m.Away = lacks && errors.Is(err, worktree.ErrElsewhere)
	_ = l.save() // a later save says so if it fails
	return err
}

// bringAgain is bring, now and then, while something stands in the way.
func (l *lanes) bringAgain(ctx context.Context) {
	if l.Record.Merges.Behind != "" && !l.Record.Options.NoMerge && time.Since(l.tried) >= l.pause {
		l.pause = min(2*l.pause, whileMended/2)
		_ = l.bring(ctx, "")
	}
}

// forward moves the person's branch from the commit head; "": from where it is. lacks: it has not all that is merged;
// then the error says why.
func (l *lanes) forward(ctx context.Context, head string) (lacks bool, err error) {
	m := &l.Record.Merges
	if m.New != "" { // an earlier call was cut off
		err := l.repo.Recover(ctx, m.Old, m.New)
		if errors.Is(err, worktree.ErrLocked) {
			return true, err
		}
		m.Old, m.New = "", ""
		if err != nil { // once: it names a file that is left as it is
			l.Screen.Warn(err.Error())
		}
	}
	if head == "" {
		head, err = l.repo.Head(ctx)
		if err != nil {
			return true, err
		}
	}
	if head != l.joined { // a person has committed, and may have merged it
		if has, err := l.repo.Descends(ctx, head, m.Commit); err != nil || has {
			return err != nil, err
		}
		// What is merged may have it all, as when a run goes on that was killed before it moved the branch.
		if is, err := l.repo.Descends(ctx, m.Commit, head); err != nil || is {
			if err != nil {
				return true, err
			}
			l.joined, l.clash = head, ""
		}
	}
	switch {
	case head == m.Commit:
		return false, nil
	case l.Record.Options.NoMerge:
		project := l.At.Project
		env := proc.EnvOutside(l.Env.Vars, project)
		return !tree.HasFiles(env, project, "refs/heads/"+m.Into, m.Commit, filepath.ToSlash(l.list)), nil
	case l.clash != "":
		return true, errors.New(l.clash)
	case head != l.joined || m.Joined:
		return true, errors.New("it has commits that are not proven together with those of the run")
	}
	m.Old, m.New = head, m.Commit
	if err := l.save(); err != nil {
		return true, err
	}
	if err := l.repo.Forward(ctx, head, m.Commit); err != nil {
		return true, err
	}
	m.Old, m.New = "", ""
	l.joined = m.Commit
	return false, nil
}

// finish brings what is merged to the person's branch, waits a while for another git command, unless a signal ends the
// run, and tidies up.
func (l *lanes) finish(ctx context.Context, s *loop.Step) {
	stopped := ctx.Done()
	ctx = context.WithoutCancel(ctx)
	m := &l.Record.Merges
	l.checkBranch(ctx)
	if s.Decision.Next.Status == decide.Complete {
		m.Joined = false // the loop has proven it
	}
	end := time.After(whileMended)
	for waits := true; waits; {
		err := l.bring(ctx, "")
		if !errors.Is(err, worktree.ErrLocked) {
			break
		}
		select {
		case <-time.After(nap):
		case <-end:
			waits = false
		case <-stopped:
			waits = false
		}
	}
	l.openPR(s)
	l.tidy(ctx)
}

// tellsLater reports whether the notifiers are told of an ending when a command has opened a pull request. Another
// process that comes after a run that was killed before that tells them without it.
func (r *Run) tellsLater(s *loop.Step) bool {
	ends := r.Record.Options.Workers > 0 && s.Decision.Verdict == decide.End
	return ends && len(r.commands(s.Picture, config.OpenPR)) > 0
}

// openPR runs the commands for the run's branch, if it has new work. If one fails, the run says so when it has ended,
// and all of them run again when it goes on. A run that is killed before they are noted runs them again, too.
func (l *lanes) openPR(s *loop.Step) {
	m := &l.Record.Merges
	p, done, err := l.look()
	if err != nil {
		return
	}
	defer done()
	commands := l.commands(p, config.OpenPR)
	m.Failed = ""
	if m.Behind == "" || m.Told == m.Commit || len(commands) == 0 {
		return
	}
	t := l.told(s, s.Decision.Next, nil)
	t.Event = config.OpenPR
	t.Branch = l.Record.Branch()
	t.Base = m.Into
	var titles []string
	for _, w := range l.Record.Work {
		if item, has := p.Snapshot.List.Find(w.Feature); has && m.Done[w.Feature] != "" {
			titles = append(titles, strings.TrimSpace(w.Feature+" "+item.Title()))
		}
	}
	vars := append(t.vars(), "RALPH_TITLE="+plain.Line(strings.Join(titles, ", "), 200), "RALPH_BRANCH="+t.Branch,
		"RALPH_BASE="+t.Base)
	address := regexp.MustCompile(`https?://[^\s"'<>\x00-\x1f]+`)
	for _, c := range commands {
		output, err := p.RunHook(context.Background(), c, t, vars)
		if err != nil {
			m.Failed = fmt.Sprintf("the command for the branch %s failed: %s: %v", t.Branch,
				plain.Line(c.String(), 100), err)
			return
		}
		if found := address.FindAllString(string(output), -1); len(found) > 0 { // gh prints that of the pull request last
			m.PR = plain.Line(found[len(found)-1], 500)
		}
	}
	m.Told = m.Commit
	_ = l.save() // the end of the run saves it again
}

// revives reports whether the run puts its loop back to work, which is paused or has ended: a person resumes it. A run
// that was killed after its loop had judged the last session first finishes what it could not, unless the loop ended
// because of a limit of the run, which is raised now, or because features waited for a person.
func (r *Run) revives(state decide.State) bool {
	features := state.ExitReason == decide.AllBlocked && len(r.Record.LeftBranches()) > 0
	if state.Session == r.Record.Session() && (state.ExitReason == decide.Budget || features) {
		return true
	}
	over := !r.resumes || !r.Record.EndedAt.IsZero()
	// Without a record, the loop's header may say that it has ended.
	return r.Resume && (state.Status == "" || !state.Status.GoesOn() && (over || !state.Status.Judges()))
}

// revive puts the loop back to work if revives says so.
func (r *Run) revive(ctx context.Context) error {
	s, err := r.lookAt()
	if err != nil || !r.revives(s.Decision.From) {
		return err
	}
	l, err := loop.Open(r.Env, r.At)
	if err != nil {
		return err
	}
	defer l.Close()
	_, _ = l.TellAgain(ctx) // what cannot be told now stays in the record
	_, err = l.Revive(ctx, "resume", func(*loop.Picture, *decide.State) error { return nil })
	r.Revived = err == nil
	switch state := s.Decision.From; {
	case err == nil, r.opensPRAgain(state):
		return nil
	default:
		return r.notRevived(state, err)
	}
}

// opensPRAgain reports whether a complete loop lacks nothing but the pull request, whose command failed.
func (r *Run) opensPRAgain(state decide.State) bool {
	return state.Status == decide.Complete && r.Record.Merges.Failed != ""
}

func (r *Run) notRevived(state decide.State, err error) error {
	return fmt.Errorf("the loop %s is %s; %w", plain.Line(r.At.Name, 100), cmp.Or(state.Status, decide.InProgress), err)
}
