package run

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// MakeLoop makes a loop without a list in the working folder, and trusts it, because a person said all of it. It does
// not become the current one.
func MakeLoop(env loop.Env, task verb.Task, checks []string, limit int) (*loopdir.Loop, error) {
	text, err := verb.NewConfig{
		Task: task.Line, List: config.ListNone, Limits: decide.Limits{MaxIterations: limit},
		Given: func(string) bool { return false }, Checks: checks,
	}.Text()
	if err != nil {
		return nil, err
	}
	name := "task-" + newID()
	folder := filepath.Join(loopdir.Below, name)
	dir := filepath.Join(env.Cwd, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	env.LoopDir = dir
	at, err := loopdir.Find(env.Where())
	if err != nil {
		return nil, err
	}
	l, err := loop.Open(env, at)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return at, l.Store.Alone(loop.LockWait, func() error {
		record, err := l.NewTrust(text, decide.List{}, false)
		if err == nil {
			err = l.SetTrust(record, "")
		}
		prompt := say.TaskPrompt(filepath.ToSlash(folder), task.Text)
		for _, f := range [][2]string{
			{loopdir.ConfigFile, string(text)}, {loopdir.PromptFile, prompt}, {loopdir.IgnoreFile, verb.IgnoreText},
		} {
			if err == nil {
				err = l.Store.WriteFile(f[0], []byte(f[1]))
			}
		}
		return err
	})
}

// LastLoop returns the loop of the project whose run began last.
func LastLoop(env loop.Env) (*loopdir.Loop, error) {
	at, err := search(env, func(r, best *Record) bool { return best == nil || r.StartedAt.After(best.StartedAt) })
	if err == nil && at == nil {
		err = fmt.Errorf("no loop of this project has had a run; to begin one: %s", env.Program)
	}
	return at, err
}

// LoopOf returns the loop whose last run has the id.
func LoopOf(env loop.Env, id string) (*loopdir.Loop, error) {
	at, err := search(env, func(r, _ *Record) bool { return r.ID == id })
	if err == nil && at == nil {
		err = fmt.Errorf("no loop of this project has %q as its name or as the id of its last run", plain.Line(id, 80))
	}
	return at, err
}

// search returns the last loop whose record is taken. take gets a record and the one that was taken before.
func search(env loop.Env, take func(r, best *Record) bool) (at *loopdir.Loop, err error) {
	all, err := env.Where().All()
	if err != nil {
		return nil, err
	}
	var best *Record
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
