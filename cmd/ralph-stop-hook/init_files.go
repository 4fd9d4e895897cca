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
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// loopFile is a file of the loop folder that init writes.
type loopFile struct {
	name string
	text string
	kept bool // it is there already and stays
}

// planFiles decides on the files of the loop folder. What exists stays, unless --force.
func (i *initialiser) planFiles() error {
	text, err := verb.NewConfig{
		Task: cmp.Or(i.task.Line, i.name), List: i.list, Limits: i.limits, Given: i.given, Checks: i.checks,
		Confine: i.confine, OnComplete: i.onComplete,
	}.Text()
	if err == nil {
		err = checkLimits(text)
	}
	if err != nil {
		return err
	}
	next, _ := i.found.Next()
	header := progress.Header{
		Status: string(decide.InProgress), Iteration: 1, MaxIterations: i.limits.MaxIterations,
		Feature: plain.Line(next.ID, 80),
	}
	i.files = []loopFile{
		{name: loopdir.ConfigFile, text: string(text)},
		{name: loopdir.ProgressFile, text: string(progress.Edit([]byte("\n# Notes\n"), header))},
		{name: loopdir.PromptFile, text: i.prompt()},
		{name: loopdir.IgnoreFile, text: verb.IgnoreText},
	}
	if i.list == "" {
		i.files = slices.Insert(i.files, 0, loopFile{name: loopdir.ListFile, text: verb.ExampleList})
	}
	for n := range i.files {
		f := &i.files[n]
		// A list or a task is the person's: not even --force writes over it.
		task := f.name == loopdir.PromptFile && i.list == config.ListNone && i.task.Text == ""
		f.kept = exists(filepath.Join(i.dir, f.name)) && (!i.force || task || f.name == loopdir.ListFile)
		if f.kept && f.name == loopdir.ConfigFile {
			if err := i.keepConfig(); err != nil {
				return err
			}
		}
	}
	return nil
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
		i.list = filepath.ToSlash(rel)
		if i.list == config.ListNone {
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

// checkList says what is wrong with the list, and refuses one in which nothing can be worked.
// It is as 'list check' has it.
func (i *initialiser) checkList() error {
	if i.list == config.ListNone {
		return nil
	}
	path := filepath.Join(i.dir, loopdir.ListFile)
	if i.list != "" {
		path = filepath.Join(i.project, filepath.FromSlash(i.list))
	}
	data, how, err := verb.ReadList(path)
	if err != nil {
		return nil // an example, which init is to write
	}
	how.Skip, how.Now = i.reading.Skip, i.reading.Now
	list, problems, remarks := how.Check(data)
	shown, _ := features.Named(path)
	shown = i.show(shown)
	_, open := list.Next()
	done := list.Passed() == len(list.Items)
	switch {
	case open || i.takenUp():
	case done && len(i.checks) > 0:
		fmt.Fprintf(i.out, "every feature of %s passes already: the first stop runs the checks\n", shown)
	case done:
		return fmt.Errorf("every feature of %s passes already, so there is nothing to do; add what there is more to do, "+
			"or open a feature again, and run init again", shown)
	default:
		return fmt.Errorf("nothing in %s can be worked on: %s; fix that, and run init again (ralph-stop-hook list check "+
			"%s says where)", shown, plain.Line(list.Stuck(), 500), plain.Arg(shown))
	}
	i.warnOfOthers()
	tell := func(level string, found []error) {
		for _, err := range found[:min(len(found), maxProblems)] {
			fmt.Fprintf(i.out, "%s: %s: %s\n", level, shown, plain.Line(err.Error(), 500))
		}
		if more := len(found) - maxProblems; more > 0 {
			fmt.Fprintf(i.out, "%s: %d more; ralph-stop-hook list check %s shows them\n", level, more, plain.Arg(shown))
		}
	}
	tell("warning", problems)
	tell("remark", remarks)
	return nil
}

// takenUp reports whether init finds a loop that was made before, and leaves it as it is.
func (i *initialiser) takenUp() bool {
	text, err := loopdir.ReadAny(filepath.Join(i.dir, loopdir.ConfigFile), config.MaxBytes)
	return err == nil && text != nil && !i.force
}

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
