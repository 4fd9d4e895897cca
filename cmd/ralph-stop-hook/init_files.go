package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// loopFile is a file of the loop folder that init writes.
type loopFile struct {
	name string
	text string
	kept bool // it is there already and stays
}

// planFiles returns the files of the loop folder. What exists stays, unless --force.
func (i *initialiser) planFiles() ([]loopFile, error) {
	text, err := verb.NewConfig{
		Task: cmp.Or(i.task.Line, i.name), List: i.list, Limits: i.limits, Given: i.given, Checks: i.checks,
		Confine: i.confine, OnComplete: i.onComplete,
	}.Text()
	if err == nil {
		err = checkLimits(text)
	}
	if err != nil {
		return nil, err
	}
	next, _ := i.found.Next()
	header := progress.Header{
		Status: string(decide.InProgress), Iteration: 1, MaxIterations: i.limits.MaxIterations,
		Feature: plain.Line(next.ID, 80),
	}
	list := []loopFile{
		{name: loopdir.ConfigFile, text: string(text)},
		{name: loopdir.ProgressFile, text: string(progress.Edit([]byte("\n# Notes\n"), header))},
		{name: loopdir.PromptFile, text: i.prompt()},
		{name: loopdir.IgnoreFile, text: verb.IgnoreText},
	}
	if i.list == "" {
		list = append([]loopFile{{name: loopdir.ListFile, text: verb.ExampleList}}, list...)
	}
	for n := range list {
		f := &list[n]
		// A list or a task is the person's: not even --force writes over it.
		task := f.name == loopdir.PromptFile && i.list == config.ListNone && i.task.Text == ""
		f.kept = exists(filepath.Join(i.dir, f.name)) && (!i.force || task || f.name == loopdir.ListFile)
		if f.kept && f.name == loopdir.ConfigFile {
			if err := i.keepConfig(); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// keepConfig reads the existing ralph.json, and refuses flags that contradict it.
func (i *initialiser) keepConfig() error {
	text, err := loopdir.ReadAny(filepath.Join(i.dir, loopdir.ConfigFile), config.MaxBytes)
	if err != nil {
		return err
	}
	c, err := config.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", i.show(filepath.Join(i.dir, loopdir.ConfigFile)), err)
	}
	if i.reading.Skip = c.SkipHeadings; i.list != "" && i.list != config.ListNone {
		if err := i.readList(filepath.Join(i.project, filepath.FromSlash(i.list))); err != nil {
			return err
		}
	}
	var shell []string
	for _, command := range c.Notifiers {
		if command.Event == config.OnComplete {
			shell = append(shell, command.String())
		}
	}
	var checks []string
	for _, check := range c.Checks {
		checks = append(checks, check.String())
	}
	differs := verb.OtherLimits(i.limits, c.Limits, i.given) ||
		i.list != "" && i.list != c.List || i.task.Text != "" && i.task.Line != c.Task ||
		len(i.onComplete) > 0 && !slices.Equal(shell, i.onComplete) ||
		len(i.checks) > 0 && !slices.Equal(checks, i.checks)
	if differs {
		return fmt.Errorf("the loop %q exists, and its ralph.json says something else; "+
			"edit that and run '%s', or start anew with --force", i.name, i.v.Env.Call("trust", i.name))
	}
	i.onComplete, i.checks = shell, checks
	i.limits.MaxIterations = cmp.Or(c.Limits.MaxIterations, decide.DefaultIterations)
	return nil
}

// findList looks for the list: none of a loop with a task, --features, else one at the project's root,
// else none, and an example will be written.
func (i *initialiser) findList() error {
	if i.noList() {
		i.list = config.ListNone
		return nil
	}
	candidates := listNames[:]
	if i.list != "" {
		named, err := i.namedList()
		if err != nil {
			return err
		}
		candidates = []string{named}
	}
	for _, rel := range candidates {
		path := filepath.Join(i.project, rel)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && i.list == "" {
			continue
		}
		if i.list = filepath.ToSlash(rel); i.list == config.ListNone {
			i.list = "./" + i.list // a file of that name
		}
		return i.readList(path)
	}
	if path := filepath.Join(i.dir, loopdir.ListFile); exists(path) {
		return i.readList(path) // of an earlier run
	}
	i.found.List, i.found.Err = features.Parse([]byte(verb.ExampleList))
	return i.found.Err
}

// namedList returns the path of --features, with its tag, below the project.
func (i *initialiser) namedList() (string, error) {
	rel, _ := features.Named(i.list)
	tag := i.list[len(rel):]
	if filepath.IsAbs(rel) {
		real, err := filepath.EvalSymlinks(rel)
		if err != nil {
			return "", err
		}
		if rel, err = filepath.Rel(i.project, real); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("the list %s is not below this folder; run init in the folder that holds it", i.list)
	}
	return filepath.Clean(rel) + tag, nil
}

func (i *initialiser) readList(path string) error {
	i.reading.Now = time.Now()
	i.found = loopdir.ReadList(path, i.reading, i.dir, i.project)
	return i.found.Err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// checkLimits refuses limits that ralph.json could not have.
func checkLimits(text []byte) error {
	_, err := config.Parse(text)
	if wrong := (*jsontext.Error)(nil); errors.As(err, &wrong) {
		return cli.Usagef("%s", wrong.Problem)
	}
	return err
}
