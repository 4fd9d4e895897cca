package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// forClient tells everything below which client calls, if that is not Claude Code.
func (h *hook) forClient() {
	if h.client == nil {
		return
	}
	h.env.Agent, h.env.Client, h.env.ProjectDir = h.client.Name, h.client.Name, h.client.Project(h.env.Get)
	h.env.OfHost = func(name string) bool { return client.IsClaudeVar(name) || h.client.IsVar(name) }
	h.env.IsSecret = func(name string) bool { return client.IsClaudeSecret(name) || h.client.IsSecret(name) }
}

// planClient chooses the settings of another client than Claude Code: those that have the hook, else the project's.
func (i *initialiser) planClient(onPath bool) error {
	f, c := &i.hook, i.hook.client
	i.v.Env.Client = c.Name
	if i.scope == "none" {
		f.entry.Args = slices.Insert(f.entry.Args, 1, "--client", c.Name)
		return nil
	}
	if runtime.GOOS == "windows" {
		return fmt.Errorf("%s has not called the hook on Windows yet; run both in WSL", c.Title)
	}
	path := func(scope string) string { return c.Path(scope, i.project, i.v.Env.Home, i.v.Env.Get) }
	switch {
	case !slices.Contains(client.OtherScopes, i.scope):
		return cli.Usagef("--settings %q; for %s want project, user or none", i.scope, c.Title)
	case !i.given("settings") && c.Installed(path("user")) && !c.Installed(path("project")):
		i.scope = "user"
	}
	f.named = path(i.scope)
	f.path = real(f.named)
	bare, name := i.scope == "project" && onPath, f.entry.Command
	f.with = func(event string) client.Entry { return c.Entry(event, i.scope, name, bare, defaultTimeout) }
	if i.scope == "project" && !onPath {
		f.why = "PATH does not find " + program + ", so the entry names it by its full path, and is for this machine alone"
	}
	return nil
}

// everywhere reports whether the client calls this program in all projects.
func (h *hook) everywhere() bool {
	if h.client == nil {
		return everywhere(h.env, h.project(), h.entry)
	}
	return h.entry == "user" || h.entry == "" && !h.client.Installed(h.clientPath("project"))
}

// clientOutranked reports whether the project's entry answers this event instead of the user's.
func (h *hook) clientOutranked() bool {
	project, user := h.clientPath("project"), h.clientPath("user")
	return h.entry == "user" && !client.SameFile(project, user) && h.client.Installed(project)
}

func (h *hook) clientPath(scope string) string {
	return h.client.Path(scope, h.project(), h.env.Home, h.env.Get)
}

// clients returns the places of the hook that clients other than Claude Code read.
func (v verbs) clients(project string) []client.Place {
	return client.Places(project, v.Env.Home, v.Env.Get)
}

// lookClients looks at the entries for other clients than Claude Code.
func lookClients(in *inspection) {
	for _, p := range in.v.clients(in.project) {
		in.before = len(in.found)
		shown, fix := plain.Path(in.project, p.Path), "ralph-stop-hook init --client "+p.Client.Name+" --settings "+p.Scope
		if missing := p.Missing(); len(missing) > 0 {
			in.warning(fix, "the entry in %s is not for %s, so the hook gets no such event", shown,
				strings.Join(missing, ", "))
		}
		for _, h := range p.Hooks {
			if words := notHook(h); words != "" {
				in.warning(fix, "the entry for %s in %s is no call of the hook: %s", h.Event, shown, words)
			} else if _, err := proc.LookPath(h.Command, in.v.Env.Get("PATH")); err != nil && h.Exec {
				in.failure(fix, "the entry for %s in %s runs %s, which is missing or not a program", h.Event, shown,
					h.Command)
			}
		}
		in.fine("the hook of %s is in %s", p.Client.Title, shown)
		if p.Client.Trust != "" {
			in.note(p.Client.Trust, "%s runs the hook only if a person has trusted it", p.Client.Title)
		}
	}
}
