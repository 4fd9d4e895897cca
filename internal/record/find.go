package record

import (
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// LastLoop returns the loop of the project whose run began last.
func LastLoop(env loop.Env) (*loopdir.Loop, error) {
	at, err := search(env, func(r, best *Run) bool { return best == nil || r.StartedAt.After(best.StartedAt) })
	if err == nil && at == nil {
		err = fmt.Errorf("no loop of this project has had a run; to start one: %s", env.Program)
	}
	return at, err
}

// LoopOf returns the loop whose last run has the id.
func LoopOf(env loop.Env, id string) (*loopdir.Loop, error) {
	at, err := search(env, func(r, _ *Run) bool { return r.ID == id })
	if err == nil && at == nil {
		err = fmt.Errorf("no loop of this project has %q as its name or as the id of its last run", plain.Line(id, 80))
	}
	return at, err
}

// search returns the last loop whose record is taken. take gets a record and the one that was taken before.
func search(env loop.Env, take func(r, best *Run) bool) (at *loopdir.Loop, err error) {
	all, err := env.Where().All()
	if err != nil {
		return nil, err
	}
	var best *Run
	for _, one := range all {
		store, err := one.Open()
		if err != nil {
			continue // its own verbs say so
		}
		r, err := Load(store)
		store.Close()
		if err == nil && r != nil && take(r, best) {
			at, best = one, r
		}
	}
	return at, nil
}
