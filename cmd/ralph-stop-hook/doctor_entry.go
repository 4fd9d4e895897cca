package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func lookEntry(in *inspection) {
	first := in.lookScopes()
	plugin := in.plugin(program)
	switch {
	case first != nil:
		in.lookEvents(first)
		in.lookWords()
		in.fine("the hook is in %s", first.shown)
		in.lookTimeout(first)
	case plugin != "":
		in.good("the hook comes with the plugin %s", plugin)
	case len(in.v.clients(in.project)) > 0:
		in.note("ralph-stop-hook init", "the hook is in no settings of Claude Code, so that does not call it")
	default:
		in.failure("ralph-stop-hook init", "the hook is in no settings of this project, so no stop calls it")
	}
}

// renewing is a warning that goes away with a new entry in a scope.
func (in *inspection) renewing(s *scope, fix, format string, args ...any) {
	in.warning(fix, format, args...).mend = s.renew
}

// lookScopes finds the settings that have our entries, and returns the narrowest scope.
func (in *inspection) lookScopes() (first *scope) {
	for _, s := range in.scopes {
		hooks := s.Ours(client.Stop)
		if len(hooks) == 0 {
			continue
		}
		said, fix := hooks[0].Flag("--entry"), "ralph-stop-hook init --settings "+s.name
		// A later entry gives way to the first, unless it is an older one.
		older := said == "" || s.name == "local" && !hooks[0].Exec
		switch {
		case said != "" && said != s.name && s.name != "managed":
			in.renewing(s, fix, "the entry in %s has --entry %s, so it does not count in that file", s.shown,
				plain.Line(said, 80))
		case first != nil && older:
			in.renewing(s, fix, "the older entry in %s and the one in %s both answer a stop", s.shown, first.shown)
		}
		if first == nil {
			first = s
		}
	}
	return first
}

// lookEvents checks that each event calls the hook once.
func (in *inspection) lookEvents(first *scope) {
	var absent []string
	twice := false
	for _, event := range client.Events {
		has := false
		for _, s := range in.scopes {
			n := len(s.Ours(event))
			has, twice = has || n > 0, twice || n > 1
		}
		if !has {
			absent = append(absent, event)
		}
	}
	if twice {
		in.renewing(first, "ralph-stop-hook init", "the hook is twice in one file, so a stop may call it twice")
	}
	if len(absent) > 0 {
		in.renewing(first, "ralph-stop-hook init", "the entry in %s is not for %s, so the hook gets no such event",
			first.shown, strings.Join(absent, ", "))
	}
}

// lookWords checks that our entries call the hook. For a misspelt call the host only reports a
// problem, and no stop is answered. One fix renews all entries of a file.
func (in *inspection) lookWords() {
	for _, s := range in.scopes {
		for _, h := range s.Ours("") {
			if wrong := notHook(h); wrong != "" {
				in.renewing(s, "ralph-stop-hook init --settings "+s.name,
					"the entry for %s in %s is no call of the hook: %s", h.Event, s.shown, wrong)
				break
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
	case !h.Exec:
		return "" // the shell reads its other words
	}
	if err := (&hook{}).parseFlags(args[1:]); err != nil {
		return plain.Line(errors.Unwrap(err).Error(), 300)
	}
	return ""
}

// plugin returns the first enabled plugin of one of these names, with where it
// comes from.
func (in *inspection) plugin(names ...string) string {
	for _, s := range in.scopes {
		for _, plugin := range s.Plugins {
			if name, _, _ := strings.Cut(plugin, "@"); slices.Contains(names, name) {
				return plugin
			}
		}
	}
	return ""
}

// renew makes the entries of one file one for each event, like that of a stop.
func (s *scope) renew() error {
	f := settingsEdit{path: real(s.path)}
	if s.name != "user" && f.path != s.path { // a repository may have brought the link
		return fmt.Errorf("%s leads to %s, which may be for more than this project", s.path, f.path)
	}
	var err error
	if f.entry, _, err = newEntry(s.env); err != nil {
		return err
	}
	h := s.Ours(client.Stop)[0]
	if h.Exec {
		f.entry.Command = h.Command
	}
	if timeout := h.Flag("--timeout"); timeout != "" && h.Timeout > 0 {
		f.entry.Args, f.entry.Timeout = []string{"hook", "--timeout", timeout}, h.Timeout
	}
	f.entry.Args = slices.Insert(f.entry.Args, 1, "--entry", s.name)
	f.entry.Quiet = shared(s.name, f.entry)
	if err := f.merge(); err != nil {
		return err
	}
	return f.write()
}

// lookTimeout compares the timeout that the client uses with the one that the hook expects.
func (in *inspection) lookTimeout(s *scope) {
	for _, h := range s.Ours(client.Stop) {
		own := defaultTimeout
		if value := h.Flag("--timeout"); value != "" {
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				in.failure("ralph-stop-hook init", "the entry in %s has --timeout %s, which is not a duration",
					s.shown, value)
				return
			}
			own = d
		}
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

// rivalPlugins keep a session going too.
var rivalPlugins = []string{"ralph-loop", "ralph-wiggum"}

func lookRivals(in *inspection) {
	if plugin := in.plugin(rivalPlugins...); plugin != "" {
		in.warning("claude plugin disable "+plugin, "the plugin %s blocks stops too", plugin)
	}
	for _, s := range in.scopes {
		for _, h := range s.Hooks {
			if h.Event == client.Stop && !h.Ours {
				in.note("check whether it can block: a loop's limits do not bind it",
					"%s has another Stop hook: %s", s.shown, h.Command)
			}
		}
	}
	if path := filepath.Join(in.project, ".claude", "ralph-loop.local.md"); exists(path) {
		in.warning("remove that file, or end that loop with /cancel-ralph",
			"the ralph-loop plugin has a loop in this project (%s)", path)
	}
	in.fine("no other Stop hook")
}
