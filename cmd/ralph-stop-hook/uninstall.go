package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/newloop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func (v verbs) uninstall() *cobra.Command {
	u := &uninstaller{v: v}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the hook from the settings",
		Long:  uninstallHelp,
		RunE: cli.Run(func(w io.Writer, _ []string) error {
			u.out = w
			return u.run()
		}),
	}
	f := cmd.Flags()
	f.StringVar(&u.scope, "settings", "", "remove it from `WHICH` settings: project, local, user or all "+
		"(default: project and local, else user)")
	f.BoolVar(&u.purge, "purge", false, "also remove the project's loops")
	f.BoolVar(&u.yes, "yes", false, "with --purge: do not ask; needed without a terminal")
	f.BoolVar(&u.dryRun, "dry-run", false, "only show what would be done")
	return cmd
}

const uninstallHelp = `Remove the hook, and what init created for it, from the settings. A file that is
then empty is deleted.

Loops stay. --purge asks, and then also removes the project's loops, with their lists, logs
and records.`

// uninstaller is one run of uninstall. It plans, shows, asks and then acts.
type uninstaller struct {
	v                  verbs
	out                io.Writer
	scope              string
	purge, yes, dryRun bool

	project string
	files   []client.FileChange // settings files that lose the hook
	loops   []*loopdir.Loop     // the project's loops
	records []string            // --purge: what is kept of them outside the project
	copies  []string            // --purge: the copies for their checks
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
	u.project, err = u.v.projectHere()
	if err != nil {
		return err
	}
	if err := u.planFiles(); err != nil {
		return err
	}
	u.loops, err = u.v.Env.Where().All()
	if err != nil || !u.purge {
		return err
	}
	if err := inProgress(u.loops); err != nil {
		return err
	}
	if loopdir.CanFind(u.project) != nil {
		u.loops = nil // only the link to them goes
	}
	u.records, err = u.v.Env.Where().Remains(u.project)
	u.copies = nil
	for _, path := range u.records { // the state folder of a loop, or the file of a session
		u.copies = append(u.copies, loopdir.CopyFolders(u.v.Env.CacheDir, path, u.project)...)
	}
	return err
}

func (u *uninstaller) do() error {
	for i := range u.files {
		f := &u.files[i]
		if err := f.Make(); err != nil {
			return err
		}
		dir := filepath.Dir(f.Path)
		ofClient := func(c client.Client) bool { return dir == filepath.Join(u.project, c.Folder) }
		if f.Text == nil && slices.ContainsFunc(client.All, ofClient) {
			_ = os.Remove(dir) // fails if something else is in it
		}
	}
	if !u.purge {
		return nil
	}
	for _, dir := range u.copies {
		if err := loopdir.RemoveAll(dir); err != nil {
			return err
		}
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
		if f.Text == nil {
			say("removed", "remove", plain.Path(u.project, f.Path)+" (only this hook was in it)")
		} else {
			say("took the hook out of", "take the hook out of", plain.Path(u.project, f.Path))
		}
	}
	if len(u.files) == 0 {
		fmt.Fprintln(u.out, "the hook is in none of these settings")
	}
	if !u.purge {
		u.showWhatStays()
		return
	}
	removed := slices.Concat(u.records, u.copies)
	for _, l := range u.loops {
		removed = append(removed, l.Dir)
	}
	for _, path := range removed {
		say("removed", "remove", plain.Path(u.project, path))
	}
}

func (u *uninstaller) showWhatStays() {
	for _, l := range u.loops {
		fmt.Fprintf(u.out, "the loop %s stays in %s\n", plain.Line(l.Name, 100), plain.Path(u.project, l.Dir))
	}
	in := u.v.install(client.Find(client.Usual), u.project)
	user := in.Files("user")[0]
	if u.scope == "" && in.Installed(user) && len(u.files) > 0 && u.files[0].Path != user {
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
	return newloop.WorkingFolder()
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
		for n := range client.All {
			in := u.v.install(&client.All[n], u.project)
			path := in.Files(scope)[0]
			if !slices.Contains(in.Scopes, scope) || !in.Strict && len(in.Entries(path, "")) == 0 {
				continue // a file of another client that has no entry may be written in any way
			}
			f, err := withoutHook(path)
			if err != nil {
				return err
			}
			if f.Changed() {
				u.files = append(u.files, f)
			}
		}
	}
	return nil
}

// withoutHook plans to take our entries out of a settings file. If there are none, nothing changes.
func withoutHook(path string) (client.FileChange, error) {
	f, err := client.PlanChange(path, func(text []byte) ([]byte, error) {
		if len(bytes.TrimSpace(text)) == 0 {
			return text, nil
		}
		return client.Remove(text)
	})
	if err != nil {
		err = fmt.Errorf("%w; fix it, or take the hook out yourself", err)
	}
	return f, err
}

func inProgress(loops []*loopdir.Loop) error {
	var names []string
	for _, l := range loops {
		s, err := l.Open()
		if err != nil {
			return err
		}
		// A loop with an unreadable record cannot continue.
		if state, err := s.State(); err == nil && state.Status == decide.InProgress && !s.HasRequest(loopdir.RequestCancel) {
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
