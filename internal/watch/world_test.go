package watch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// world is a user with projects and loops.
type world struct {
	testing.TB
	env loop.Env
	dir string
}

func newWorld(t testing.TB) world {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := loop.Env{
		Program: "ralph-runner", Agent: "claude", Cwd: dir, StateDir: filepath.Join(dir, "state"),
		Clients: func(string) (ask, resume []string) { return []string{"client"}, []string{"client", "--resume"} },
	}
	return world{t, env, dir}
}

func (w world) write(path, text string) {
	w.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

// list returns a list of n features, of which some pass.
func list(n, passed int) string {
	var items []map[string]any
	for i := range n {
		item := map[string]any{"id": fmt.Sprint("f", i), "title": fmt.Sprint("Feature ", i), "passes": i < passed}
		items = append(items, item)
	}
	text, _ := json.Marshal(items)
	return string(text)
}

// loop makes a loop at work, in a project of its own.
func (w world) loop(name string) *loopdir.Loop {
	w.Helper()
	folder := filepath.Join(w.dir, "projects", name, loopdir.Below, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		w.Fatal(err)
	}
	w.write(filepath.Join(folder, loopdir.ListFile), list(10, 3))
	where := w.env.Where()
	where.LoopDir = folder
	at, err := loopdir.Find(where)
	if err != nil {
		w.Fatal(err)
	}
	w.commit(at, func(*decide.State) {})
	return at
}

// commit changes the record of a loop.
func (w world) commit(at *loopdir.Loop, edit func(*decide.State)) {
	w.Helper()
	store, err := at.Open()
	if err != nil {
		w.Fatal(err)
	}
	defer store.Close()
	err = store.Locked(time.Minute, func() error {
		state, err := store.State()
		if err != nil {
			return err
		}
		if state.Schema == 0 {
			state = decide.State{
				Schema:  decide.SchemaVersion,
				Name:    at.Name,
				Loop:    at.Dir,
				Ending:  decide.Ending{Status: decide.InProgress, StartedAt: time.Now()},
				Counted: decide.Counted{Iteration: 1},
				Owner:   decide.Owner{Session: "s1", SessionPID: os.Getpid(), ClientStart: proc.Start(os.Getpid())},
			}
		}
		edit(&state)
		return store.Commit(state)
	})
	if err != nil {
		w.Fatal(err)
	}
}

// run gives the loop a run.
func (w world) run(at *loopdir.Loop, r record.Run) {
	w.Helper()
	store, err := at.Open()
	if err != nil {
		w.Fatal(err)
	}
	defer store.Close()
	r.Schema, r.Loop, r.Name, r.Options.SessionTimeout = 1, at.Dir, at.Name, time.Hour
	text, err := json.Marshal(r)
	if err == nil {
		err = store.SaveRun(text)
	}
	if err != nil {
		w.Fatal(err)
	}
}
