package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Loops returns how every loop of the project stands.
func (d *Desk) Loops(ctx context.Context) ([]verb.Status, error) {
	loops, err := d.Env.Where().All()
	if err != nil {
		return nil, err
	}
	all := []verb.Status{}
	for _, at := range loops {
		v, err := d.status(ctx, at)
		if err != nil {
			v = verb.Unreadable(at, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// status returns how a loop stands.
func (d *Desk) status(ctx context.Context, at *loopdir.Loop) (verb.Status, error) {
	if err := at.Check(); err != nil {
		return verb.Status{}, err
	}
	l, err := loop.Open(d.Env, at)
	if err != nil {
		return verb.Status{}, err
	}
	defer l.Close()
	return verb.Of(ctx, l)
}

// items returns the features of a loop's list.
func (d *Desk) items(at *loopdir.Loop) ([]verb.Item, error) {
	k, err := d.openAt(Call{}, at)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	p, err := k.Look()
	err = errors.Join(err, p.Snapshot.List.Err)
	if err != nil {
		return nil, err
	}
	items := verb.Items(p)
	for i := range items {
		it := &items[i]
		it.ID = plain.Line(it.ID, 80)
		it.Title = plain.Line(it.Title, 200)
		it.Why = plain.Line(it.Why, 300)
		it.Model = plain.Line(it.Model, 80)
	}
	return items, nil
}

// logLines is how many lines of a log are shown.
const logLines = 100

// logged returns the end of a loop's log of decisions.
func (d *Desk) logged(at *loopdir.Loop) (string, error) {
	k, err := d.openAt(Call{}, at)
	if err != nil {
		return "", err
	}
	defer k.Close()
	text, _ := k.Store.OpenLog(loopdir.HookLog, logLines)
	return plain.Text(string(text), len(text)), nil
}

// maxPrompt is the largest prompt that is read, in bytes.
const maxPrompt = 64 << 10

// Prompt returns the prompt of a session that works on a loop: the loop's own prompt, and the tools.
func (d *Desk) Prompt(name string) (string, error) {
	k, err := d.open(Call{}, name)
	if err != nil {
		return "", err
	}
	defer k.Close()
	own := fmt.Sprintf("Work on the Ralph loop %q.", k.name())
	if text, err := loopdir.ReadFile(k.At.Dir, loopdir.PromptFile, maxPrompt); err == nil {
		own = plain.Text(string(text), len(text))
	}
	if d.Hooked == nil || !d.Hooked(k.At.Project) {
		own = say.WithoutHook(own)
	}
	return own + fmt.Sprintf("\n\nCall iteration_start with taskId %q, then work on the feature that task_get names. "+
		"After each feature call iteration_validate, then iteration_next, which names the next one. When everything is "+
		"done, call iteration_complete.\n", k.name()), nil
}
