package loop

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// A check, an evaluator or a tracker's command may run an agent's code, as the user. So the record
// is kept in memory meanwhile, and put back if it has changed.

// keeping lets a verb run commands when no other process does. It calls first under the lock, then
// run without it, and then under the lock again, unless the record was changed.
func (p *Picture) keeping(wait time.Duration, first, run func(), then func() error) error {
	l, state := p.Loop, p.recorded()
	checks, err := l.Store.LockChecks(wait)
	if err != nil {
		return err
	}
	defer checks()
	var kept *loopdir.Kept
	err = l.Store.Locked(LockWait, func() (err error) {
		first()
		kept, err = l.Store.Keep(state, state.Session)
		return err
	})
	if err != nil {
		return err
	}
	run()
	changed, unlock, err := l.Store.Mend(kept, LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if changed != "" {
		return fmt.Errorf("%s was changed while a command of the loop ran, and is put back; "+
			"so nothing is proven; find out who did that", changed)
	}
	return then()
}

// recorded returns the record. If there is none yet, it returns the one that a first event would
// begin, as a commit without a change would write it.
func (p *Picture) recorded() decide.State {
	state := p.Snapshot.State
	if state.Schema == 0 {
		state = p.Snapshot.Record()
	}
	state.Loop = p.Loop.At.Dir
	state.Name = p.Loop.At.Name
	state.List = p.ListPath()
	return state
}

// runsCommands reports whether a need makes trusted commands run.
func (p *Picture) runsCommands(need decide.Need) bool {
	if !p.Config.Trusted || p.Config.Revoked {
		return false
	}
	switch need.Kind {
	case decide.NeedList, decide.NeedReopen, decide.NeedAnswer:
		return true
	}
	if p.Config.RoomTree != "" && len(need.Runs) > 0 {
		return true // a condition on a file needs the room, too
	}
	command := map[string]bool{} // by digest
	for _, c := range p.Config.Checks {
		command[c.Digest] = c.Runs()
	}
	return slices.ContainsFunc(need.Runs, func(r decide.Run) bool { return command[r.Check.Digest] })
}

// alone makes this the only process that runs the loop's commands. It reports whether it had to
// wait for another one, because the loop may have changed by then. In that case it frees the lock.
func (s *stepper) alone() (waited bool, err error) {
	if s.checks != nil {
		return false, nil
	}
	s.checks, err = s.loop.Store.LockChecks(0)
	if !errors.Is(err, loopdir.ErrLocked) {
		return false, err
	}
	s.release()
	wait := time.Until(s.ev.At.Add(s.picture.CheckTime(s.ev.Timeout)))
	if s.judges {
		s.checks, err = s.loop.Store.LockChecks(wait)
		return true, err
	}
	s.checks, err = s.loop.Store.LockChecksForStop(wait)
	return true, err
}
