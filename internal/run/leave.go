package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// leave leaves proven work on the branch that the record names, where it waits for a person.
func (l *lanes) leave(ctx context.Context, one *lane) error {
	m := l.Record.Merging
	if err := l.repo.Leave(ctx, m.Branch, m.New); err != nil {
		return err
	}
	l.Record.Leave(record.Left{Feature: m.Feature, Branch: m.Branch, Base: m.Old, Commit: m.New})
	if err := l.closed(one); err != nil {
		return err
	}
	return l.openPR(&l.Record.Left[len(l.Record.Left)-1])
}

// openPRs runs the commands for all branches for which they have not ended well yet.
func (l *lanes) openPRs() error {
	for i := range l.Record.Left {
		if err := l.openPR(&l.Record.Left[i]); err != nil {
			return err
		}
	}
	return nil
}

// openPR runs the commands for a branch that waits for a person. If one fails, people are told, and all of them run
// again when the run goes on. A run that is killed before they are noted runs them again, too.
func (l *lanes) openPR(one *record.Left) error {
	p, done, err := l.look()
	if err != nil {
		return err
	}
	defer done()
	commands := l.commands(p, config.OpenPR)
	if one.Told || len(commands) == 0 {
		return nil
	}
	s, err := l.lookAt()
	if err != nil {
		return err
	}
	item, _ := p.Snapshot.List.Find(one.Feature)
	t := l.told(s, s.Decision.Next, nil)
	t.Event = config.OpenPR
	t.Feature = plain.Line(one.Feature, 500)
	t.Branch = one.Branch
	t.Base = l.repo.Branch()
	vars := append(t.vars(), "RALPH_FEATURE="+t.Feature, "RALPH_TITLE="+plain.Line(item.Title(), 200),
		"RALPH_BRANCH="+t.Branch, "RALPH_BASE="+t.Base)
	for _, c := range commands {
		if err := p.RunHook(context.Background(), c, t, vars); err != nil {
			l.Screen.Warn(fmt.Sprintf("the command for the branch %s failed: %s: %v; --resume runs it again", one.Branch,
				plain.Line(c.String(), 100), err))
			return nil
		}
	}
	one.Told = true
	return l.save()
}

// takeMerged claims the features whose branches people have merged since the loop's branch was looked at last. If
// somebody has deleted a branch without that, its feature is open again.
func (l *lanes) takeMerged(ctx context.Context) error {
	if len(l.Record.Left) == 0 {
		return nil
	}
	head, err := l.repo.Head(ctx)
	if err != nil || head == l.looked {
		return err
	}
	l.looked = head
	s, err := l.lookAt()
	if err != nil {
		return err
	}
	var merged []string
	var stay []record.Left
	for _, one := range l.Record.Left {
		item, has := s.Picture.Snapshot.List.Find(one.Feature)
		if has && item.Passes {
			continue // somebody has claimed it
		}
		landed, err := l.repo.Landed(ctx, one.Feature, one.Base, one.Commit)
		switch {
		case err != nil:
			return err
		case landed && has:
			merged = append(merged, one.Feature)
			l.Screen.Merged(0, one.Feature, "", "")
		case landed:
		case l.repo.HasBranch(ctx, one.Branch):
			stay = append(stay, one)
		default:
			l.Screen.Warn(fmt.Sprintf("the branch %s is gone, and its work is not on %s; %s is open again", one.Branch,
				plain.Line(l.repo.Branch(), 200), l.named(one.Feature)))
		}
	}
	if len(merged) > 0 {
		lp, err := loop.Open(l.Env, l.At)
		if err != nil {
			return err
		}
		defer lp.Close()
		if err := lp.SetClaims(ctx, merged, true, nil); err != nil { // the loop's next stop proves them
			return err
		}
	}
	if len(stay) == len(l.Record.Left) {
		return nil
	}
	l.Record.Left = slices.Clip(stay)
	return l.save()
}

// revive puts the loop back to work if a limit of the run's own ended it, which is raised now, or if it ended because
// branches waited for a person, who may have merged them.
func (r *Run) revive(ctx context.Context) error {
	s, err := r.lookAt()
	if err != nil {
		return err
	}
	state := s.Decision.From
	own := state.Session == r.Record.Session() && state.Needs != "" // the loop's own limits on iterations need nothing
	limit := slices.Contains([]string{decide.Cost, decide.Tokens, decide.MaxIterations}, state.ExitReason)
	if !own || !limit && (len(r.Record.Left) == 0 || state.ExitReason != decide.AllBlocked) {
		return nil
	}
	l, err := loop.Open(r.Env, r.At)
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.Revive(ctx, "resume", func(*loop.Picture, *decide.State) error { return nil })
	return err
}
