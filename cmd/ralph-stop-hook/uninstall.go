package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/settings"
)

func uninstallCommand() *command {
	var scope string
	var purge, dryRun, yes bool
	cmd := &command{
		name:  "uninstall",
		short: "Take the hook out of the settings, which are then as they were before init",
		long:  uninstallHelp,
		run: func(w io.Writer, _ []string) error {
			return uninstall(w, scope, purge, dryRun, yes)
		},
	}
	f := &cmd.flags
	f.StringVar(&scope, "settings", "", "`WHICH` settings to take it out of: project, local, user or all (default the project's and local ones that have it; else the user's)")
	f.BoolVar(&purge, "purge", false, "remove the project's loops too, with their records")
	f.BoolVar(&yes, "yes", false, "with --purge: do not ask")
	f.BoolVar(&dryRun, "dry-run", false, "say what would be done, and do nothing")
	return cmd
}

const uninstallHelp = `Take the hook's entries out of the settings, with what init made for them: where
nothing else has changed since, the files are as they were before, to the byte.

Loops stay, unless --purge. That is for a person, and removes the loop folders of
this project, with the lists and logs in them, and what is kept of them outside of
it. It lists all that and asks first; where there is no terminal, it wants --yes. It
refuses while a loop that is there is in progress; cancel that first.`

func uninstall(w io.Writer, scope string, purge, dryRun, yes bool) error {
	project, err := projectHere()
	if err != nil {
		return err
	}
	files, err := hookedFiles(project, scope)
	if err != nil {
		return err
	}
	loops, err := where().All()
	if err != nil {
		return err
	}
	would := func(done, todo string) string {
		if dryRun {
			return "would " + todo
		}
		return done
	}
	var remains []string
	if purge {
		if err := personOnly(); err != nil {
			return err
		}
		if err := inProgress(loops); err != nil {
			return err
		}
		if remains, err = where().Remains(project); err != nil {
			return err
		}
		if !dryRun && !yes && len(loops)+len(remains) > 0 {
			if err := uninstall(w, scope, purge, true, yes); err != nil {
				return err
			}
			if err := confirm(w, "remove all this?", "nothing was removed"); err != nil {
				return err
			}
			return uninstall(w, scope, purge, dryRun, true) // a loop may have been begun meanwhile
		}
	}
	for _, f := range files {
		said := would("took the hook out of", "take the hook out of") + " " + relative(project, f.path)
		if f.text == nil {
			said = would("removed", "remove") + " " + relative(project, f.path) + ", where nothing else was"
		}
		if !dryRun {
			if err := f.remove(project); err != nil {
				return err
			}
		}
		fmt.Fprintln(w, said)
	}
	if len(files) == 0 {
		fmt.Fprintln(w, "the hook is in none of these settings")
	}
	if !purge {
		for _, l := range loops {
			fmt.Fprintf(w, "the loop %s stays in %s\n", plain.Line(l.Name, 100), relative(project, l.Dir))
		}
		if user := settingsFiles("user", project)[0]; scope == "" && hasHook(user) && len(files) > 0 && files[0].path != user {
			fmt.Fprintf(w, "the hook is in %s too, for all your projects; to take it out there: ralph-stop-hook uninstall --settings user\n", plain.Line(user, 300))
		}
		return nil
	}
	if !dryRun {
		if err := where().Purge(project, remains); err != nil {
			return err
		}
	}
	for _, l := range loops {
		if filepath.Dir(l.Dir) == filepath.Join(project, loopdir.Below) { // else only a link to it is gone
			remains = append(remains, l.Dir)
		}
	}
	for _, path := range remains {
		fmt.Fprintln(w, would("removed", "remove")+" "+relative(project, path))
	}
	return nil
}

// projectHere is the project of a verb that is about no one loop: the one that
// the loops found from here are of, else this folder.
func projectHere() (string, error) {
	loops, err := where().All()
	if err == nil && len(loops) > 0 {
		return loops[0].Project, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(cwd)
}

// hookedFiles are the settings files that have entries of ours, with what they
// become without them. Everything that can be refused is refused here.
func hookedFiles(project, scope string) (files []settingsFile, err error) {
	names := []string{"project", "local", "user"}
	switch {
	case slices.Contains(names, scope):
		names = []string{scope}
	case scope != "" && scope != "all":
		return nil, &usageError{fmt.Errorf("--settings %q; want project, local, user or all", scope)}
	}
	for _, name := range names {
		if name == "user" && scope == "" && len(files) > 0 {
			break // it is for other projects too
		}
		path := settingsFiles(name, project)[0]
		f := settingsFile{path: real(path)}
		f.old, err = readFile(f.path, settings.MaxBytes)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(f.old)) == 0 {
			continue
		}
		if err == nil {
			f.text, err = settings.Remove(f.old)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; mend it, or take the hook out yourself", f.path, err)
		}
		if f.text == nil && f.path != path {
			f.text = []byte("{}\n") // or the link would lead to nothing
		}
		if f.changed() {
			files = append(files, f)
		}
	}
	return files, nil
}

// remove writes settings without our entries, or takes away a file, and the
// project's folder of settings, that had nothing else in it.
func (f *settingsFile) remove(project string) error {
	if f.text != nil {
		return f.write()
	}
	if err := os.Remove(f.path); err != nil {
		return err
	}
	if dir := filepath.Dir(f.path); dir == filepath.Join(project, ".claude") {
		_ = os.Remove(dir) // which does not go where something else is in it
	}
	return nil
}

// inProgress refuses where one of the loops is.
func inProgress(loops []*loopdir.Loop) error {
	var names []string
	for _, l := range loops {
		s, err := l.Open()
		if err != nil {
			return err
		}
		// A record that cannot be read is of no loop that could go on.
		if state, err := s.State(); err == nil && state.Status == decide.InProgress && !s.CancelAsked() {
			names = append(names, plain.Line(l.Name, 100))
		}
		s.Close()
	}
	if len(names) > 0 {
		return fmt.Errorf("in progress: %s; nothing was done; end it first: ralph-stop-hook cancel %s", strings.Join(names, ", "), quoteArg(names[0]))
	}
	return nil
}
