package main

import (
	"os"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// makeLoop makes a loop without a list in the working folder, and trusts it, because a person said all of it. It does
// not become the current one.
func makeLoop(env loop.Env, task verb.Task, checks []string, limit int) (*loopdir.Loop, error) {
	text, err := verb.NewConfig{
		Task: task.Line, List: config.ListNone, Limits: decide.Limits{MaxIterations: limit},
		Given: func(string) bool { return false }, Checks: checks,
	}.Text()
	if err != nil {
		return nil, err
	}
	name := "task-" + record.NewID()
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
