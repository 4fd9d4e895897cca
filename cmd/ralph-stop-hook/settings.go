package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// settingsEdit adds the hook to a settings file.
type settingsEdit struct {
	client.FileChange        // without a path there is none
	named             string // the path with the links that lead to it
	client            *client.Client
	entry             func(event string) client.Entry
	why               string // why it is this file, if that needs words
}

// planHook chooses the file. It takes the one that already has the hook, else the project's with
// the bare name, if PATH finds this very program and the file can be shared, else the person's own
// with the absolute path.
func (i *initialiser) planHook() (err error) {
	f := &i.hook
	f.client, err = client.Of(i.client)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	if i.client != client.Usual {
		i.v.Env.Client, i.Env.Client = i.client, i.client
	}
	name, err := client.EntryName(program, i.v.Env.Self, i.v.Env.Get("PATH"))
	if err != nil {
		return err
	}
	f.entry = func(event string) client.Entry { return f.client.Entry(event, name, client.UsualTimeout) }
	in, scopes := i.v.install(f.client, i.Project), f.client.Scopes
	switch {
	case i.scope == "none":
		return nil
	case !slices.Contains(scopes, i.scope):
		return cli.Usagef("--settings %q; for %s want %s or none", i.scope, f.client.Title, strings.Join(scopes, ", "))
	case !f.client.Exec && runtime.GOOS == "windows":
		return fmt.Errorf("%s has not called the hook on Windows yet; run both in WSL", f.client.Title)
	}
	// In the home folder the project's settings are the user's.
	if project, user := in.Files("project")[0], in.Files("user")[0]; i.scope == "project" &&
		(project == user || loopdir.SameFile(project, user)) {
		i.scope = "user"
	}
	if !i.HasFlag("settings") {
		if name != program {
			i.scope = scopes[0]
			f.why = "PATH does not find " + program + ", so the entry names it by its full path, and is for this machine " +
				"alone"
		}
		for _, scope := range append([]string{i.scope}, scopes...) {
			if slices.ContainsFunc(in.Files(scope), in.Installed) {
				i.scope, f.why = scope, ""
				break
			}
		}
	}
	// In a worktree the host reads the main tree's local settings too: a second entry
	// beside the one there would be a second answer to a stop.
	files := in.Files(i.scope)
	f.named = files[max(0, slices.IndexFunc(files, in.Installed))]
	f.Path = real(f.named)
	return nil
}

// install returns where a client reads its settings for a project.
func (v verbs) install(c *client.Client, project string) client.Install {
	return client.Install{Client: c, Get: v.Env.Get, Home: v.Env.Home, Project: project}
}

// real follows a link, as dotfile managers make them: its target is edited.
func real(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// merge plans what becomes of the file.
func (f *settingsEdit) merge() (err error) {
	if f.Path == "" {
		return nil
	}
	f.FileChange, err = client.PlanChange(f.Path, func(text []byte) ([]byte, error) {
		var err error
		for _, event := range f.client.Events {
			if err == nil {
				text, err = client.Merge(text, event, f.entry(event))
			}
		}
		if err == nil {
			_, err = f.client.ReadSettings(text) // or the client would leave it out
		}
		return text, err
	})
	if err != nil {
		err = fmt.Errorf("%w; fix it, or run init with --settings none and add the hook yourself", err)
	}
	return err
}

// outside refuses an edit of settings that are not the project's alone: by an agent, or through a
// link, because a repository may have brought the link.
func (i *initialiser) outside() error {
	f := &i.hook
	below, err := filepath.Rel(real(filepath.Dir(filepath.Dir(f.named))), f.Path)
	switch {
	case f.Path == "" || !f.Changed():
	case i.scope == "user":
		return i.v.PersonOnly()
	case err != nil || !filepath.IsLocal(below):
		return fmt.Errorf("%s leads to %s, which may be for more than this project; say --settings user, or none and "+
			"add the hook yourself", f.named, f.Path)
	}
	return nil
}

// write adds the hook.
func (f *settingsEdit) write() error {
	if f.Path == "" {
		return nil
	}
	return f.Make()
}

func (f *settingsEdit) report(i *initialiser) {
	switch {
	case f.Path == "":
		entry := f.entry(f.client.Events[0])
		fmt.Fprintf(i.Out, "  no settings were touched; the hook is: %s %s\n",
			plain.Arg(entry.Command), strings.Join(entry.Args, " "))
		return
	case !f.Changed():
		fmt.Fprintf(i.Out, "  kept     %s: the hook is installed\n", i.Show(f.Path))
	case i.dryRun:
		fmt.Fprintf(i.Out, "  would add the hook to %s\n", i.Show(f.Path))
	default:
		fmt.Fprintf(i.Out, "  hook in  %s\n", i.Show(f.Path))
	}
	if f.why != "" {
		fmt.Fprintf(i.Out, "           %s\n", f.why)
	}
	if f.client.Trust != "" {
		fmt.Fprintf(i.Out, "           %s\n", f.client.Trust)
	}
}

// preflight refuses a loop that cannot work with the settings as they will be, and reports files
// that the client ignores.
func (i *initialiser) preflight() error {
	f := &i.hook
	if i.client != client.Usual {
		return nil // what switches the hooks of others off is not known
	}
	p := i.v.newInspection(i.Project, *f.client)
	for n := range p.settings {
		if s := &p.settings[n]; f.Path != "" && real(s.Path) == f.Path {
			s.File, s.Err = f.client.ReadSettings(f.Text)
		}
	}
	p.look([]probe{{"hooks", lookSwitchedOff}, {"program", lookProgram}, {"settings", lookSettings}})
	for _, found := range p.found {
		switch {
		case found.Level != "error":
		case found.Check == "settings": // the client ignores a file
			fmt.Fprintf(i.Out, "  warning: %s\n", plain.Line(found.Text, 500))
		default: // a loop cannot work
			return fmt.Errorf("%s; %s", found.Text, found.Fix)
		}
	}
	return nil
}
