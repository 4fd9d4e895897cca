package main

import (
	"cmp"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// noList reports whether the loop has no list: the person says its task, or it is there already.
func (i *initialiser) noList() bool {
	if i.task.Line == "" && i.list == "" {
		text, _ := loopdir.ReadAny(filepath.Join(i.dir, loopdir.ConfigFile), config.MaxBytes)
		if c, err := config.Parse(text); err == nil && c.NoList() {
			i.task.Line = cmp.Or(c.Task, i.name)
		}
	}
	return i.task.Line != ""
}

// prompt is the text that starts the session.
func (i *initialiser) prompt() string {
	folder := filepath.ToSlash(filepath.Join(loopdir.Below, i.name))
	if i.list == config.ListNone {
		return say.TaskPrompt(folder, cmp.Or(i.task.Text, i.task.Line))
	}
	next, _ := i.found.Next()
	list := loop.NameList(cmp.Or(i.list, folder+"/"+loopdir.ListFile))
	return say.ListPrompt(folder, list, say.ClaimIn(i.found.List, next, list))
}
