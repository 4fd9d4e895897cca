package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

func lookEntry(in *inspection) {
	first := in.lookScopes()
	plugin := in.install.Plugin(program)
	switch {
	case first != nil:
		in.lookEvents(first)
		in.lookWords(first)
		in.fine("the hook is in %s", first.shown)
		in.lookTimeout(first)
	case plugin != "":
		in.good("the hook comes with the plugin %s", plugin)
	case slices.ContainsFunc(client.All[1:], func(c client.Client) bool { return in.v.install(&c, in.project).Hooked() }):
		in.note("ralph-stop-hook init", "the hook is in no settings of Claude Code, so that does not call it")
	case slices.ContainsFunc(in.scopes, func(s *scope) bool { return s.Err != nil }): // it may be in what cannot be read
	case in.ofRunner():
		in.note("ralph-stop-hook init", "the hook is in no settings of this project; a run of ralph-runner needs none")
	default:
		in.failure("ralph-stop-hook init", "the hook is in no settings of this project, so no stop calls it")
	}
}

// ofRunner reports whether a run of ralph-runner was the last to work the loop.
func (in *inspection) ofRunner() bool {
	if in.loop == nil {
		return false
	}
	l, err := loop.Open(in.v.Env, in.loop)
	if err != nil {
		return false
	}
	defer l.Close()
	state, err := l.Store.State()
	return err == nil && state.Run() != ""
}

// renewing is a warning that goes away with a new entry in a scope.
func (in *inspection) renewing(s *scope, fix, format string, args ...any) *finding {
	f := in.warning(fix, format, args...)
	f.mend = func() error { return in.renew(s) }
	return f
}

// lookScopes finds the settings that have our entries, and returns the narrowest scope. Entries that an administrator
// has switched off do not count.
func (in *inspection) lookScopes() (first *scope) {
	managedOnly := slices.ContainsFunc(in.scopes, func(s *scope) bool {
		return s.Scope == client.Managed && s.ManagedOnly
	})
	for _, s := range in.scopes {
		hooks := s.Ours(client.Stop)
		if len(hooks) == 0 || managedOnly && s.Scope != client.Managed {
			continue
		}
		said, fix := hooks[0].Flag("--entry"), "ralph-stop-hook init --settings "+s.Scope
		switch {
		case said != "" && said != s.Scope && !managedOnly: // the only entries that run answer
			in.renewing(s, fix, "the entry in %s has --entry %s, so it does not count in that file", s.shown,
				plain.Line(said, 80))
		case first != nil && (said == "" || s.Scope == "local" && !hooks[0].Exec): // else it gives way to the first
			in.renewing(s, fix, "the entry in %s and the one in %s both answer a stop", s.shown, first.shown)
		}
		if first == nil {
			first = s
		}
	}
	return first
}

// lookEvents checks that each event calls the hook once.
func (in *inspection) lookEvents(first *scope) {
	var all []*client.Hook
	twice := false
	for _, s := range in.scopes {
		all = append(all, s.Hooks...)
		twice = twice || slices.ContainsFunc(in.install.Events, func(event string) bool { return len(s.Ours(event)) > 1 })
	}
	if twice {
		in.renewing(first, "ralph-stop-hook init", "the hook is twice in one file, so a stop may call it twice")
	}
	if absent := in.install.Missing(all); len(absent) > 0 {
		in.renewing(first, "ralph-stop-hook init", "the entry in %s is not for %s, so the hook gets no such event",
			first.shown, strings.Join(absent, ", "))
	}
}

// lookWords checks that our entries call the hook. Claude Code reports a misspelt call as a problem, and goes on. No
// stop is answered if the entry for stops in first is misspelt. One fix renews all entries of a file.
func (in *inspection) lookWords(first *scope) {
	for _, s := range in.scopes {
		var told *finding
		for _, h := range s.Ours("") {
			wrong := notHook(h)
			answers := s == first && h.Event == client.Stop
			if wrong == "" || told != nil && !answers {
				continue
			}
			told = in.renewing(s, "ralph-stop-hook init --settings "+s.Scope,
				"the entry for %s in %s is no call of the hook: %s", h.Event, s.shown, wrong)
			if answers {
				told.Level = "error"
			}
		}
	}
}

// notHook says why an entry does not call the hook, "" if it does.
func notHook(h *client.Hook) string {
	args := h.Args
	if !h.Exec { // a line for the shell
		args = args[min(1, len(args)):]
		if filepath.Base(h.Args[0]) != program {
			args = nil // after another program, where "hook" made it ours
		}
	}
	switch {
	case len(args) == 0: // the bare program
		return ""
	case args[0] != "hook":
		return fmt.Sprintf("its first word is %q, not \"hook\"", plain.Line(args[0], 80))
	}
	words := args[1:]
	if !h.Exec { // the shell reads them, and the timeout alone is looked at
		words = nil
		if said := h.Flag("--timeout"); said != "" {
			words = []string{"--timeout", said}
		}
	}
	if err := (&hook{client: client.Find(client.Usual)}).parseFlags(words); err != nil {
		return plain.Line(errors.Unwrap(err).Error(), 300)
	}
	return ""
}

// renew makes the entries of one file one for each event, like that of a stop.
func (in *inspection) renew(s *scope) error {
	f := settingsEdit{FileChange: client.FileChange{Path: real(s.Path)}, client: in.install.Client}
	if s.Scope != "user" && f.Path != s.Path { // a repository may have brought the link
		return fmt.Errorf("%s leads to %s, which may be for more than this project", s.Path, f.Path)
	}
	name, err := client.EntryName(program, in.v.Env.Self, in.v.Env.Get("PATH"))
	if err != nil {
		return err
	}
	h := s.Ours(client.Stop)[0]
	if h.Exec {
		name = h.Command
	}
	timeout := timeoutOf(h)
	if timeout < time.Second { // the client counts in seconds
		timeout = defaultTimeout
	}
	f.entry = func(event string) client.Entry { return f.client.Entry(event, s.Scope, name, timeout) }
	if err := f.merge(); err != nil {
		return err
	}
	return f.write()
}

// lookTimeout compares the timeout that the client uses with the one that the hook expects.
func (in *inspection) lookTimeout(s *scope) {
	for _, h := range s.Ours(client.Stop) {
		own := timeoutOf(h)
		switch {
		case h.Timeout == 0:
			in.warning("ralph-stop-hook init",
				"the entry in %s has no \"timeout\": the client kills the hook at its own default, "+
					"but the hook expects %v", s.shown, own)
		case own > time.Duration(h.Timeout)*time.Second:
			in.warning(fmt.Sprintf("make both the same: \"timeout\": %d", int(own.Seconds())),
				"the entry in %s gives the hook %d s, but the hook expects %v: a later answer is lost",
				s.shown, h.Timeout, own)
		}
	}
}

// timeoutOf returns the timeout that an entry says. lookWords reports one that is none.
func timeoutOf(h *client.Hook) time.Duration {
	own, err := time.ParseDuration(h.Flag("--timeout"))
	if err != nil || own <= 0 {
		return defaultTimeout
	}
	return own
}

// rivalPlugins keep a session going too.
var rivalPlugins = []string{"ralph-loop", "ralph-wiggum"}

func lookRivals(in *inspection) {
	for _, name := range rivalPlugins {
		if plugin := in.install.Plugin(name); plugin != "" {
			in.warning("claude plugin disable "+plugin, "the plugin %s blocks stops too", plugin)
		}
	}
	for _, s := range in.scopes {
		for _, h := range s.Hooks {
			if h.Event == client.Stop && !h.Ours {
				in.note("check whether it can block: a loop's limits do not bind it",
					"%s has another Stop hook: %s", s.shown, h.Command)
			}
		}
	}
	if path := filepath.Join(in.project, ".claude", "ralph-loop.local.md"); loopdir.Exists(path) {
		in.warning("remove that file, or end that loop with /cancel-ralph",
			"the ralph-loop plugin has a loop in this project (%s)", path)
	}
	in.fine("no other Stop hook")
}

// lookClients looks at the entries for other clients than Claude Code.
func lookClients(in *inspection) {
	for n := range client.All[1:] {
		in.lookClient(&client.All[1+n])
	}
}

// lookClient looks at the entries for one of them. Those of the narrowest scope answer its stops.
func (in *inspection) lookClient(c *client.Client) {
	install := in.v.install(c, in.project)
	report := in.failure
	for _, scope := range c.Scopes {
		path := install.Files(scope)[0]
		hooks := c.Entries(path, "")
		if len(hooks) == 0 {
			continue
		}
		in.before = len(in.found)
		shown := plain.Path(in.project, path)
		fix := "ralph-stop-hook init --client " + c.Name + " --settings " + scope
		if missing := c.Missing(hooks); len(missing) > 0 {
			in.warning(fix, "the entry in %s is not for %s, so the hook gets no such event", shown,
				strings.Join(missing, ", "))
		}
		for _, h := range hooks {
			report := report
			if h.Event != c.Events[0] {
				report = in.warning // the hook still gets stops
			}
			if words := notHook(h); words != "" {
				report(fix, "the entry for %s in %s is no call of the hook: %s", h.Event, shown, words)
			} else if _, err := proc.LookPath(h.Command, in.v.Env.Get("PATH")); err != nil && h.Exec {
				report(fix, "the entry for %s in %s runs %s, which is missing or not a program", h.Event, shown, h.Command)
			}
		}
		in.fine("the hook of %s is in %s", c.Title, shown)
		if c.Trust != "" {
			in.note(c.Trust, "%s runs the hook only if a person has trusted it", c.Title)
		}
		report = in.warning
	}
}
