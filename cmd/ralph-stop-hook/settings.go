package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// settingsEdit is an edit of a settings file that adds or removes the hook.
type settingsEdit struct {
	path      string // empty: none
	named     string // by init: path with the links that lead to it
	entry     client.Entry
	why       string // why it is this file, if that needs words
	old, text []byte // as it is, and as it is to become

	client *client.Client                  // nil: Claude Code
	with   func(event string) client.Entry // of an event; nil: entry

	again func(*settingsEdit) error // reads the file again and edits it; nil: that is a person's to do
}

// planHook chooses the file. It takes the one that already has the hook, else the project's with
// the bare name, if PATH finds this very program and the file can be shared, else the person's own
// with the absolute path.
func (i *initialiser) planHook() (err error) {
	var onPath bool
	f := &i.hook
	if f.entry, onPath, err = newEntry(i.v.Env); err != nil {
		return err
	}
	if f.client, err = client.Of(i.client); err != nil {
		return cli.Usagef("%w", err)
	}
	if f.client != nil {
		return i.planClient(onPath)
	}
	if i.scope == "none" {
		return nil
	}
	if !slices.Contains([]string{"project", "local", "user"}, i.scope) {
		return cli.Usagef("--settings %q; want project, local, user or none", i.scope)
	}
	in := i.v.install(i.project)
	// In the home folder the project's settings are the user's.
	if project, user := in.Files("project")[0], in.Files("user")[0]; i.scope == "project" &&
		(project == user || client.SameFile(project, user)) {
		i.scope = "user"
	}
	if i.given("settings") {
		err = i.refuseBeside()
	} else {
		if !onPath {
			i.scope = "local"
			f.why = "these settings are for this machine alone: PATH does not find " + program +
				", so the entry names it by its full path"
		}
		for _, scope := range []string{i.scope, "project", "local", "user"} {
			if slices.ContainsFunc(in.Files(scope), client.Installed) {
				i.scope, f.why = scope, ""
				break
			}
		}
	}
	if err != nil {
		return err
	}
	f.entry.Args = slices.Insert(f.entry.Args, 1, "--entry", i.scope)
	f.entry.Quiet = shared(i.scope, f.entry)
	// In a worktree the host reads the main tree's local settings too: a second entry
	// beside the one there would be a second answer to a stop.
	files := in.Files(i.scope)
	f.named = files[max(0, slices.IndexFunc(files, client.Installed))]
	f.path = real(f.named)
	return nil
}

// install returns where Claude Code reads its settings for a project.
func (v verbs) install(project string) client.Install {
	return client.Install{Vars: v.Env.Get, Home: v.Env.Home, Project: project}
}

// everywhere reports whether Claude Code calls this program in all projects. scope, the --entry of
// the call, says so. For an older entry without it, the settings do. An entry in the project's own
// settings calls it for this project only.
func everywhere(env loop.Env, project, scope string) bool {
	if scope != "" {
		return scope == "user" || scope == "plugin"
	}
	v := verbs{verb.Verbs{Env: env}}
	user, all := v.install(project).Files("user")[0], false
	for _, s := range v.newInspection(project).scopes {
		switch {
		case len(s.Ours(client.Stop)) == 0:
		case s.name == "user", s.name == "managed", client.SameFile(s.path, user):
			all = true
		default:
			return false
		}
	}
	return all
}

// newEntry returns the entry of this program, by its bare name if PATH finds it.
func newEntry(env loop.Env) (e client.Entry, onPath bool, err error) {
	if env.Self == "" {
		return e, false,
			errors.New("the system does not tell this program's path; add the hook to the settings yourself")
	}
	seconds := int(defaultTimeout.Seconds())
	e = client.Entry{
		Type: "command", Command: env.Self, Timeout: seconds,
		Args: []string{"hook", "--timeout", fmt.Sprintf("%ds", seconds)},
	}
	if found, err := proc.LookPath(program, env.Get("PATH")); err == nil && client.SameFile(found, env.Self) {
		e.Command, onPath = program, true
	}
	return e, onPath, nil
}

// shared reports whether an entry may be read where the program is missing: it names the bare
// program in settings that go with the repository. On Windows there may be no shell for it.
func shared(scope string, e client.Entry) bool {
	return scope == "project" && e.Command == program && runtime.GOOS != "windows"
}

// real follows a link, as dotfile managers make them: its target is edited.
func real(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// refuseBeside refuses a second entry beside an older one, because both would answer.
func (i *initialiser) refuseBeside() error {
	for _, scope := range client.Scopes[slices.Index(client.Scopes, i.scope)+1:] {
		for _, file := range i.v.install(i.project).Files(scope) {
			for _, e := range client.Entries(file, client.Stop) {
				if e.Flag("--entry") == "" {
					return fmt.Errorf("%s has an older entry of the hook, which would run beside a second one; "+
						"update it first: %s --settings %s",
						file, i.v.Env.Call("init", i.name), scope)
				}
			}
		}
	}
	return nil
}

func (f *settingsEdit) merge() (err error) {
	if f.path == "" {
		return nil
	}
	if f.old, err = loopdir.ReadAny(f.path, client.MaxBytes); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, dangling := os.Lstat(f.path); err != nil && dangling == nil {
		return fmt.Errorf("%s is a link to nothing; remove it", f.path)
	}
	f.text, f.again = f.old, (*settingsEdit).merge
	events := client.Events
	if f.client != nil {
		events = f.client.Events
	}
	for _, event := range events {
		entry := f.entry
		if f.with != nil {
			entry = f.with(event)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			f.text, _, err = client.Merge(f.text, event, entry)
		}
	}
	if err == nil && f.client == nil {
		_, err = client.ReadSettings(f.text) // or the client would leave it out
	}
	if err != nil {
		err = fmt.Errorf("%s: %w; fix it, or run init with --settings none and add the hook yourself", f.path, err)
	}
	return err
}

// outside refuses an edit of settings that are not the project's alone: by an agent, or through a
// link, because a repository may have brought the link.
func (i *initialiser) outside() error {
	f := &i.hook
	below, err := filepath.Rel(real(filepath.Dir(filepath.Dir(f.named))), f.path)
	switch {
	case f.path == "" || !f.changed():
	case i.scope == "user":
		return i.v.PersonOnly()
	case err != nil || !filepath.IsLocal(below):
		return fmt.Errorf("%s leads to %s, which may be for more than this project; say --settings user, or none and "+
			"add the hook yourself", f.named, f.path)
	}
	return nil
}

func (f *settingsEdit) changed() bool { return !bytes.Equal(f.text, f.old) }

func (f *settingsEdit) write() error {
	if f.path == "" {
		return nil
	}
	var err error
	for range 5 {
		err = loopdir.ReplaceIf(f.path, f.old, f.text)
		if f.again == nil || !errors.Is(err, loopdir.ErrChanged) {
			break
		}
		if err := f.again(f); err != nil || !f.changed() {
			return err
		}
	}
	return err
}

func (f *settingsEdit) report(i *initialiser, would string) {
	switch {
	case f.path == "":
		fmt.Fprintf(i.out, "  no settings were touched; the hook is: %s %s\n",
			plain.Arg(f.entry.Command), strings.Join(f.entry.Args, " "))
		return
	case !f.changed():
		fmt.Fprintf(i.out, "  kept     %s: the hook is installed\n", i.show(f.path))
	case would != "":
		fmt.Fprintf(i.out, "  would add the hook to %s\n", i.show(f.path))
	default:
		fmt.Fprintf(i.out, "  hook in  %s\n", i.show(f.path))
	}
	if f.why != "" {
		fmt.Fprintf(i.out, "           %s\n", f.why)
	}
	if f.client != nil && f.client.Trust != "" {
		fmt.Fprintf(i.out, "           %s\n", f.client.Trust)
	}
}

// preflight refuses a loop that cannot work with the settings as they will be, and reports files
// that the client ignores.
func (i *initialiser) preflight() error {
	f := &i.hook
	if f.client != nil {
		return nil // what switches the hooks of others off is not known
	}
	p := i.v.newInspection(i.project)
	here := func(s *scope) bool { return f.path != "" && real(s.path) == f.path }
	if at := slices.IndexFunc(p.scopes, here); at >= 0 {
		p.scopes[at].read(f.text)
	}
	p.look(beforeInit)
	for _, found := range p.found {
		if found.Level == "error" {
			return fmt.Errorf("%s; %s", found.Text, found.Fix)
		}
	}
	p.found = nil
	lookSettings(p)
	for _, found := range p.found {
		if found.Level == "error" {
			fmt.Fprintf(i.out, "  warning: %s\n", plain.Line(found.Text, 500))
		}
	}
	return nil
}
