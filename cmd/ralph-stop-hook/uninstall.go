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

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func (v verbs) uninstall() *cli.Command {
	u := &uninstaller{v: v}
	cmd := &cli.Command{
		Name:  "uninstall",
		Short: "Take the hook out of the settings",
		Long:  uninstallHelp,
		Run: func(w io.Writer, _ []string) error {
			u.out = w
			return u.run()
		},
	}
	f := &cmd.Flags
	f.StringVar(&u.scope, "settings", "", "`WHICH` settings to take it out of: project, local, user or all "+
		"(default the project's and local ones that have it; else the user's)")
	f.BoolVar(&u.purge, "purge", false, "remove the project's loops too, with their records")
	f.BoolVar(&u.yes, "yes", false, "with --purge: do not ask")
	f.BoolVar(&u.dryRun, "dry-run", false, "show what would be done, and do nothing")
	return cmd
}

const uninstallHelp = `Take the hook's entries out of the settings, with what init made for them. If nothing
else has changed, the files are the same to the byte as before init. Only a person may
do this; an agent may use --dry-run.

Loops stay, unless --purge is given. It removes the loop folders of this project, with
the lists and logs in them, and their records outside of the project. It lists all that
and asks first; without a terminal it needs --yes. It refuses while a loop is in
progress; cancel that loop first.`

// uninstaller is one run of uninstall. It plans, shows, asks and then acts.
type uninstaller struct {
	v                  verbs
	out                io.Writer
	scope              string
	purge, yes, dryRun bool

	project string
	files   []settingsEdit  // settings files that lose the hook
	loops   []*loopdir.Loop // the project's loops
	records []string        // --purge: what is kept of them outside the project
}

func (u *uninstaller) run() error {
	if !u.dryRun {
		if err := u.v.PersonOnly(); err != nil {
			return err // without its hook a loop stops, and nobody is told
		}
	}
	if err := u.plan(); err != nil {
		return err
	}
	if u.dryRun {
		u.show(true)
		return nil
	}
	if u.purge && !u.yes && len(u.loops)+len(u.records) > 0 {
		u.show(true)
		if err := cli.Confirm(u.out, "remove all this?", "nothing was removed"); err != nil {
			return err
		}
		if err := u.plan(); err != nil { // a loop may have been begun meanwhile
			return err
		}
	}
	if err := u.do(); err != nil {
		return err
	}
	u.show(false)
	return nil
}

// plan decides what to remove. It refuses everything that can be refused.
func (u *uninstaller) plan() (err error) {
	if u.project, err = u.v.projectHere(); err != nil {
		return err
	}
	if err := u.planFiles(); err != nil {
		return err
	}
	if u.loops, err = u.v.Env.Where().All(); err != nil || !u.purge {
		return err
	}
	if err := inProgress(u.loops); err != nil {
		return err
	}
	u.records, err = u.v.Env.Where().Remains(u.project)
	return err
}

func (u *uninstaller) do() error {
	for _, f := range u.files {
		if err := f.remove(u.project); err != nil {
			return err
		}
	}
	if !u.purge {
		return nil
	}
	return u.v.Env.Where().Purge(u.project, u.records)
}

func (u *uninstaller) show(would bool) {
	say := func(done, todo, what string) {
		if would {
			done = "would " + todo
		}
		fmt.Fprintln(u.out, done+" "+what)
	}
	for _, f := range u.files {
		if f.text == nil {
			say("removed", "remove", plain.Path(u.project, f.path)+", where nothing else was")
		} else {
			say("took the hook out of", "take the hook out of", plain.Path(u.project, f.path))
		}
	}
	if len(u.files) == 0 {
		fmt.Fprintln(u.out, "the hook is in none of these settings")
	}
	if !u.purge {
		u.showWhatStays()
		return
	}
	removed := slices.Clone(u.records)
	for _, l := range u.loops {
		if filepath.Dir(l.Dir) == filepath.Join(u.project, loopdir.Below) { // else only a link to it goes
			removed = append(removed, l.Dir)
		}
	}
	for _, path := range removed {
		say("removed", "remove", plain.Path(u.project, path))
	}
}

func (u *uninstaller) showWhatStays() {
	for _, l := range u.loops {
		fmt.Fprintf(u.out, "the loop %s stays in %s\n", plain.Line(l.Name, 100), plain.Path(u.project, l.Dir))
	}
	user := u.v.install(u.project).Files("user")[0]
	if u.scope == "" && client.Installed(user) && len(u.files) > 0 && u.files[0].path != user {
		fmt.Fprintf(u.out, "the hook is in %s too, for all your projects; to take it out there: "+
			"ralph-stop-hook uninstall --settings user\n", plain.Line(user, 300))
	}
}

// projectHere returns the project of a verb that concerns no single loop: the one of the loops
// found from here, else this folder.
func (v verbs) projectHere() (string, error) {
	loops, err := v.Env.Where().All()
	if err == nil && len(loops) > 0 {
		return loops[0].Project, nil
	}
	return workingFolder()
}

// planFiles looks for the settings files that have entries of ours, and what they become without them.
func (u *uninstaller) planFiles() error {
	u.files = nil
	scopes := []string{"project", "local", "user"}
	switch {
	case slices.Contains(scopes, u.scope):
		scopes = []string{u.scope}
	case u.scope != "" && u.scope != "all":
		return cli.Usagef("--settings %q; want project, local, user or all", u.scope)
	}
	for _, scope := range scopes {
		if scope == "user" && u.scope == "" && len(u.files) > 0 {
			break // it is for other projects, too
		}
		paths := u.v.install(u.project).Files(scope)[:1]
		for _, p := range u.v.clients(u.project) {
			if p.Scope == scope {
				paths = append(paths, p.Path)
			}
		}
		for _, path := range paths {
			f, err := withoutHook(path)
			if err != nil {
				return err
			}
			if f.changed() {
				u.files = append(u.files, f)
			}
		}
	}
	return nil
}

// withoutHook plans to take our entries out of a settings file. If there are none, the edit
// changes nothing.
func withoutHook(path string) (f settingsEdit, err error) {
	f.path = real(path)
	f.old, err = loopdir.ReadAny(f.path, client.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(f.old)) == 0 {
		f.old = nil
		return f, nil
	}
	if err == nil {
		f.text, err = client.Remove(f.old)
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w; fix it, or take the hook out yourself", f.path, err)
	}
	if f.text == nil && f.path != path {
		f.text = []byte("{}\n") // else the link would lead to nothing
	}
	return f, nil
}

// remove writes settings without our entries, or removes a file, and the project's
// folder of settings, that had nothing else in it.
func (f *settingsEdit) remove(project string) error {
	if f.text != nil {
		return f.write()
	}
	if err := os.Remove(f.path); err != nil {
		return err
	}
	dir := filepath.Dir(f.path)
	ofClient := func(h client.Client) bool { return dir == filepath.Join(project, h.Folder) }
	if dir == filepath.Join(project, ".claude") || slices.ContainsFunc(client.Others, ofClient) {
		_ = os.Remove(dir) // fails if something else is in it
	}
	return nil
}

func inProgress(loops []*loopdir.Loop) error {
	var names []string
	for _, l := range loops {
		s, err := l.Open()
		if err != nil {
			return err
		}
		// A loop with an unreadable record cannot continue.
		if state, err := s.State(); err == nil && state.Status == decide.InProgress && !s.CancelAsked() {
			names = append(names, plain.Line(l.Name, 100))
		}
		s.Close()
	}
	if len(names) > 0 {
		return fmt.Errorf("in progress: %s; nothing was done; end it first: ralph-stop-hook cancel %s",
			strings.Join(names, ", "), plain.Arg(names[0]))
	}
	return nil
}
