package loop

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// A check, an evaluator or a tracker's command may run an agent's code, as the user. So the record
// is kept in memory meanwhile, and put back if it has changed.

// keeping calls what runs commands of the loop. The caller has the lock.
func (l *Loop) keeping(session string, run func()) error {
	kept, err := l.Store.Keep(session)
	if err != nil {
		return err
	}
	run()
	changed, err := l.Store.Mend(kept)
	return errors.Join(err, changedMeanwhile(changed))
}

// changedMeanwhile says that a file of the record was changed while commands ran.
func changedMeanwhile(file string) error {
	if file == "" {
		return nil
	}
	return fmt.Errorf("%s was changed while a command of the loop ran, and is put back; "+
		"so nothing is proven; find out who did that", file)
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
	if p.HasCopy() && len(need.Runs) > 0 {
		return true // a condition on a file needs the copy, too
	}
	command := map[string]bool{} // by digest
	for _, c := range p.Config.Checks {
		command[c.Digest] = c.Runs()
	}
	return slices.ContainsFunc(need.Runs, func(r decide.Run) bool { return command[r.Check.Digest] })
}
