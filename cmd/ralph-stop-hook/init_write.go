package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/held"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

func (i *initialiser) write() error {
	if err := os.MkdirAll(i.dir, 0o755); err != nil {
		return err
	}
	where := i.v.Env.Where()
	where.LoopDir = i.dir
	at, err := loopdir.Find(where)
	if err != nil {
		return err
	}
	l, err := loop.Open(i.v.Env, at)
	if err != nil {
		return err
	}
	defer l.Close()
	return l.Store.Alone(loop.LockWait, func() error {
		if err := i.writeLocked(l); err != nil {
			return err
		}
		return at.MakeCurrent()
	})
}

func (i *initialiser) writeLocked(l *loop.Loop) error {
	// Read before the first write, so that a refusal leaves nothing behind.
	before, err := l.Store.State()
	if err != nil && !i.force {
		return err
	}
	what := "no list, " + say.Checks(len(i.checks))
	if all := len(i.found.Items); i.list != config.ListNone {
		what = fmt.Sprintf("%s, %d of them open", plain.Count(all, "feature"), all-i.found.Passed())
	}
	fmt.Fprintf(i.out, "loop %q: %s; at most %s\n", i.name, what, plain.Count(i.limits.MaxIterations, "iteration"))
	if dropped := say.Dropped(i.found.List); dropped != "" {
		fmt.Fprintf(i.out, "  %s\n", dropped)
	}
	if file, tag := features.Named(i.list); tag == "" && len(i.found.Tags) > 1 {
		fmt.Fprintf(i.out, "  it has the tags %s, and this is #master; another one: --features %s#TAG\n",
			plain.Line(strings.Join(i.found.Tags, ", "), 300), plain.Line(file, 300))
	}
	for _, f := range i.files {
		if err := i.writeFile(l, f); err != nil {
			return err
		}
	}
	if before.Schema == 0 || i.force {
		return i.begin(l)
	}
	if !before.Status.GoesOn() {
		i.over = before.Status
	}
	return nil
}

func (i *initialiser) writeFile(l *loop.Loop, f loopFile) error {
	path := i.show(filepath.Join(i.dir, f.name))
	if f.kept {
		fmt.Fprintf(i.out, "  kept     %s\n", path)
		return nil
	}
	// Trusted first: if init is cut off in between, the next init writes both again.
	if f.name == loopdir.ConfigFile {
		if err := i.trust(l, []byte(f.text)); err != nil {
			return err
		}
	}
	if f.name == loopdir.ProgressFile || f.name == loopdir.ConfigFile || f.name == loopdir.PromptFile {
		if err := i.backUp(l, f); err != nil {
			return err
		}
	}
	if err := l.Store.WriteFile(f.name, []byte(f.text)); err != nil {
		return err
	}
	fmt.Fprintf(i.out, "  wrote    %s\n", path)
	return nil
}

// backUp copies a file that --force writes over, unless it says what init writes.
func (i *initialiser) backUp(l *loop.Loop, f loopFile) error {
	old, err := loopdir.ReadAny(filepath.Join(i.dir, f.name), maxBackUp)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case f.name == loopdir.ProgressFile && string(progress.Edit(old, progress.Parse([]byte(f.text)))) == f.text,
		string(old) == f.text:
		return nil
	}
	name := f.name + ".bak"
	if err := l.Store.WriteFile(name, old); err != nil {
		return err
	}
	fmt.Fprintf(i.out, "  kept     what it was as %s\n", i.show(filepath.Join(i.dir, name)))
	return nil
}

// maxBackUp is the largest file that init --force copies before it writes over it, in bytes.
const maxBackUp = 16 << 20

// trust records that a person trusts the ralph.json that init writes.
func (i *initialiser) trust(l *loop.Loop, text []byte) error {
	// What a person trusted is a person's to replace, even if the file itself is gone.
	if trust, err := l.Store.Trust(); trust != nil || err != nil {
		if err := i.v.PersonOnly(); err != nil {
			return err
		}
	}
	list := i.found
	if i.list == "" {
		list = decide.List{} // an example, which the person writes over
	}
	record, err := l.NewTrust(text, list, false)
	if err != nil {
		return err
	}
	if err := l.SetTrust(record, l.At.ListPath(i.list, "")); err != nil && l.Store.Protected {
		return err // an unprotected loop has no command to trust
	}
	for _, key := range slices.Sorted(maps.Keys(record.Files)) {
		switch {
		case record.Files[key] != "":
			i.held = append(i.held, key)
		case !config.Optional(key):
			i.absent = append(i.absent, key)
		}
	}
	if c, err := config.Parse(text); err == nil {
		if i.notHeld = l.NotHeld(c); len(c.Commands()) > 0 {
			i.pathInside = l.PathInside(record.SearchPath)
		}
	}
	return nil
}

func (i *initialiser) begin(l *loop.Loop) error {
	text, err := l.Store.Progress()
	if err != nil {
		return err
	}
	if i.force {
		if err := errors.Join(l.Store.ClearCancel(), l.Store.ClearLogs()); err != nil {
			return err
		}
	}
	begin := decide.Snapshot{
		Folder: decide.Folder{Header: progress.Parse(text), LogIteration: l.Store.LogIteration()},
	}
	state := begin.Record()
	next, _ := i.found.Next()
	state.Loop = l.At.Dir
	state.Name = l.At.Name
	state.List = l.At.ListPath(i.list, "")
	state.Feature = next.ID
	state.Attempts = 1
	state.Bind = decide.BindPrompt
	state.Client = i.v.Env.Client
	return l.Store.SaveState(state)
}

// show shortens a path below the project.
func (i *initialiser) show(path string) string { return plain.Path(i.project, path) }

// maxHeldShown bounds how much that is held is shown.
const maxHeldShown = 20

func (i *initialiser) farewell() {
	for _, check := range i.checks {
		of := ""
		if verb.PerFeature(check) && i.list != config.ListNone {
			of = " for each feature"
		}
		fmt.Fprintf(i.out, "  must hold%s: %s\n", of, plain.Line(check, 300))
	}
	for _, command := range i.onComplete {
		fmt.Fprintf(i.out, "  at the end: %s\n", plain.Line(command, 300))
	}
	for _, key := range i.held[:min(len(i.held), maxHeldShown)] {
		fmt.Fprintf(i.out, "  held as it is: %s\n", plain.Line(key, 300))
	}
	if more := len(i.held) - maxHeldShown; more > 0 {
		fmt.Fprintf(i.out, "  held as they are: %d more; ralph-stop-hook trust %s shows them\n", more,
			plain.Arg(i.name))
	}
	verb.ShowNotHeld(i.out, i.notHeld, "  ")
	if i.pathInside != "" {
		fmt.Fprintf(i.out, "  warning: %s\n", i.pathInside)
	}
	for _, path := range i.absent {
		fmt.Fprintf(i.out, "  warning: %s does not exist yet, and runs only after you have written it and said: "+
			"ralph-stop-hook trust %s; if the agent should make it, name it in \"not_held\"\n", plain.Line(path, 300),
			plain.Arg(i.name))
	}
	if checks, _ := held.ListChecks(i.v.Env.Get("PATH"), i.found); len(checks) > 0 {
		fmt.Fprintf(i.out, "\nThe list brings %s of its own. To look at them and let them run:\n"+
			"  ralph-stop-hook trust %s\n", plain.Count(len(checks), "check"), plain.Arg(i.name))
	}
	if i.over != "" { // its record outlives its folder
		name := plain.Arg(i.name)
		fmt.Fprintf(i.out, "\nAn earlier loop of this name has ended (%s). To continue it, "+
			"or to start anew:\n  ralph-stop-hook resume %s\n  ralph-stop-hook init %s --force\n", i.over, name,
			name)
		return
	}
	switch {
	case i.list == "":
		fmt.Fprintf(i.out, "\nThe list is an example; write yours into %s first.\n",
			i.show(filepath.Join(i.dir, loopdir.ListFile)))
	case len(i.checks) > 0:
	case i.list == config.ListNone:
		fmt.Fprintf(i.out, "\nWithout a --check, the agent's word alone completes the loop.\n")
	case i.found.Passed() == len(i.found.Items):
		fmt.Fprintf(i.out, "\nEvery feature of the list passes already, so the loop will end at its first stop.\n")
	}
	fmt.Fprintf(i.out, "\nStart it with:\n  %s\nor with fresh sessions:\n  %s\n",
		say.Start(i.v.Env, &loopdir.Loop{Dir: i.dir, Project: i.project}), say.StartRun(i.v.Env, i.name))
}
