package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
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
		one.Current.Merge = record.Merged
		one.outcome = outcome{moved: true}
		return
	}
	before := one.Refusal
	one.Refusal = ""
	list, claims, err := l.listOf(one)
	if err == nil {
		one.work, one.outcome.moved, err = l.commit(ctx, one, list)
	}
	switch {
	case ctx.Err() != nil: // a signal ends the run, which merges it when it goes on
		one.stage = ended
	case errors.Is(err, worktree.ErrHistory):
		l.giveBack(ctx, one, missingBase, before)
	case err != nil:
		l.giveBack(ctx, one, err.Error(), before)
	case one.Feature == "" && !one.outcome.moved: // work for the loop as a whole has no claim
	case one.Feature != "" && !claims:
		one.Refusal = "the session before yours did not claim the feature in the list"
	default:
		if left := l.trees[one.Dir].Unresolved(); len(left) > 0 {
			l.giveBack(ctx, one, "conflict markers are left in "+plain.Line(strings.Join(left, ", "), 1000), before)
			return
		}
		one.stage = queued
	}
}

const missingBase = "the branch in this folder has lost the commit from which it began; " +
	"put it back, with your work on top"

// commit commits what is in a lane's folder. What is merged then is one commit, with what the agent has written into
// its own ones, or said at last.
func (l *lanes) commit(ctx context.Context, one *lane, list features.List) (w worktree.Work, moved bool, err error) {
	item, _ := list.Find(one.Feature)
	message := plain.Line(titleOf(one.Feature, item), maxTitle)
	commit, moved, err := l.trees[one.Dir].Commit(ctx, message)
	if err != nil {
		return w, moved, err
	}
	if left := l.trees[one.Dir].BuildOutputs(); left != "" {
		l.Screen.Warn(fmt.Sprintf("lane %d has left %s, which looks like the output of a build and is not committed: "+
			"let git ignore it, or have the agent commit it", one.Number, left))
	}
	own, err := l.trees[one.Dir].Messages(ctx)
	if err != nil {
		return w, moved, err
	}
	text := message
	for _, one := range own {
		if !strings.HasPrefix(one, worktree.Saves) && len(text) < 4*maxAgentText {
			text += "\n\n" + strings.TrimSpace(one)
		}
	}
	if last := words(one.Current.Message); text == message && last != "" { // it has committed nothing itself
		text += "\n\n" + last
	}
	w = worktree.Work{
		Commit: commit, Base: l.trees[one.Dir].Base(), Feature: one.Feature,
		Message: plain.Text(text, maxAgentText), More: l.trailers(one.Current.Agent),
	}
	if feature := one.Feature; feature != "" {
		w.Mark = func(text []byte) []byte { return list.PassIn(text, feature) }
	}
	return w, moved, nil
}

// maxAgentText is how much of an agent's own messages is kept, in characters.
const maxAgentText = 20_000

// giveBack gives work back to its agent. If that is for the same reason as before, which is none of a check, it waits
// for a person.
func (l *lanes) giveBack(ctx context.Context, one *lane, why, before string) {
	one.stage = tested
	one.Refusal = why
	one.outcome.refused = true
	one.Current.Merge = cmp.Or(one.Current.Merge, record.GivenBack)
	if why == before {
		l.park(ctx, one, why)
		return
	}
	first, _, _ := strings.Cut(why, "\n")
	l.Screen.ShowMerge(one.Number, one.Feature, "", strings.TrimSuffix(first, ":"))
}

// refuse gives back work that does not fit, unless that is up to a person.
func (l *lanes) refuse(ctx context.Context, one *lane, r refusal) {
	before := ""
	if r.waits {
		before = r.why
	}
	l.giveBack(ctx, one, r.why, before)
}

// listOf returns the list, and whether the agent of a lane claims its feature in its copy.
func (l *lanes) listOf(one *lane) (list features.List, claims bool, err error) {
	p, done, err := l.look()
	if err != nil {
		return list, false, err
	}
	defer done()
	list = p.Snapshot.List.List
	p, err = p.InWorkTree(one.Dir)
	if err != nil {
		return list, false, err
	}
	there := p.WorkTreeList()
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
	if err := l.person.join(ctx); err != nil {
		return err
	}
	b.below = l.Record.Merges.Commit
	l.proving = b
	l.at = ""
	go func() {
		l.merge(l.checks, b)
		l.messages <- laneMessage{batch: b}
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
			b.refused[one] = refusal{why: missingBase}
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
	p, err = p.InWorkTree(l.merger.Dir())
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
		one.Current.Merge = record.Conflict
		l.giveBack(ctx, one, one.Refusal, "")
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
		next = l.queue.passed(err == nil && head != l.person.head)
	} else {
		next = l.queue.failed(len(b.merged))
	}
	switch next {
	case merge:
		return l.take(ctx, b, head)
	case giveBack:
		for one := range b.merged {
			one.outcome.results, one.outcome.tip = b.results, b.tip
			one.outcome.failed = !b.unfit.waits
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
		one.Current.Merge = record.Merged
		one.stage = tested
		one.outcome = outcome{results: b.results, tip: b.tip, moved: one.outcome.moved}
	}
	if err := l.save(); err != nil {
		return err
	}
	l.person.moveBranch(ctx, before)
	if err := l.claim(ctx, ids, b.results); err != nil { // listed does it when it can
		l.Screen.Warn(err.Error())
	}
	for _, one := range b.lanes {
		if _, is := b.merged[one]; is {
			l.Screen.ShowMerge(one.Number, one.Feature, "", "")
		}
	}
	_ = l.person.bring(ctx, head)
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

// listReady reports whether the list can be used, and claims in it what is merged: a person may have put back an older
// one. A list that is half saved, or that another branch has not, is waited for.
func (l *lanes) listReady(ctx context.Context) bool {
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

// finish brings what is merged to the person's branch, waits a while for another git command, unless a signal ends the
// run, and tidies up.
func (l *lanes) finish(ctx context.Context, s *loop.Step) {
	stopped := ctx.Done()
	ctx = context.WithoutCancel(ctx)
	m := &l.Record.Merges
	l.person.checkBranch(ctx)
	if s.Decision.Next.Status == decide.Complete {
		m.Joined = false // the loop has proven it
	}
	end := time.After(whileMended)
	for waits := true; waits; {
		err := l.person.bring(ctx, "")
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
