package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// listNames are the lists that init finds by itself, in a project's root.
var listNames = [...]string{loopdir.ListFile, "prd.json"}

// workingFolder returns the working folder, with its links resolved.
func workingFolder() (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(cwd)
}

// projectFolder returns the project: the working folder or, in a subfolder of a repository that
// has neither a list nor a loop, the nearest folder above that has.
func (i *initialiser) projectFolder() (string, error) {
	cwd, err := workingFolder()
	root := loopdir.RepoRoot(cwd)
	if err != nil || i.list+i.task.Line != "" || root == "" {
		return cwd, err
	}
	for dir := cwd; ; dir = filepath.Dir(dir) {
		has := func(name string) bool { return exists(filepath.Join(dir, name)) }
		if slices.ContainsFunc(listNames[:], has) || has(loopdir.Below) {
			if dir != cwd {
				fmt.Fprintf(i.out, "the project is %s, which has the list or the loops\n", plain.Line(dir, 4096))
			}
			return dir, nil
		}
		if dir == root || dir == i.v.Env.Home {
			return cwd, nil
		}
	}
}

// warnOfOthers warns of other loops that work the same list: their sessions would claim the
// same features.
func (i *initialiser) warnOfOthers() {
	where := i.v.Env.Where()
	where.Cwd = i.project
	loops, _ := where.All() // what cannot be read is not at work
	path := (&loopdir.Loop{Dir: i.dir, Project: i.project}).ListPath(i.list, "")
	for _, at := range loops {
		if at.Dir == i.dir || at.Check() != nil {
			continue
		}
		l, err := loop.Open(i.v.Env, at)
		if err != nil {
			continue
		}
		p, err := l.Look()
		state := p.Snapshot.Record()
		if err == nil && !p.Config.Source.Given() && p.ListPath() == path && state.Status.GoesOn() {
			fmt.Fprintf(i.out, "warning: the loop %s works this list too, and their sessions would do the same features; "+
				"to end that one: %s\n", plain.Line(at.Name, 100), l.Call("cancel"))
		}
		l.Close()
	}
}
