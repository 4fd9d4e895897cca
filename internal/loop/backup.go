package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// A check, an evaluator or a tracker's command may run an agent's code, as the user. So the record
// is kept in memory meanwhile, and put back if it has changed. Nobody can tell which of the commands did that, so none
// that ran meanwhile counts.

// keeping calls what runs commands of the loop, and puts back what they change of the record. changed is the first such
// file, "" if there is none. The caller has the lock.
func (l *Loop) keeping(session string, run func()) (changed string, err error) {
	kept, err := l.Store.Backup(session)
	if err != nil {
		return "", err
	}
	run()
	return l.Store.Restore(kept)
}

// recordTouched says why what ran does not count if a file of the record was changed meanwhile.
func recordTouched(changed string) string {
	return fmt.Sprintf("while it ran, something wrote into the loop's own folder (%s); that was undone, and the run does "+
		"not count; if the work does that, have it leave that folder alone", plain.Line(changed, 300))
}

// discount has checks fail that ran while a file of the record was changed.
func (l *Loop) discount(results []decide.Receipt, changed string) {
	if changed == "" {
		return
	}
	l.Store.Log(undoneLine(time.Now(), changed), nil)
	for i := range results {
		r := &results[i]
		if r.NotRun {
			continue
		}
		r.Passed = false
		r.Tail = strings.TrimSpace(recordTouched(changed) + "\n" + r.Tail)
	}
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
