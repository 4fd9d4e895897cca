package loop

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Whoever edits the settings can give the hook any variable, and no list can say which variables
// change what a command does. So what a trusted loop runs gets only variables that are as they
// were when a person trusted it, and those that ralph.json names.

// CheckVar is set for checks, evaluators and trackers. If it is set, the caller of this program is
// not a person.
const CheckVar = "RALPH_CHECK"

// RunVar has the run's id in the environment of an agent that a program of ours has started. If it
// is set, the caller of this program is not a person.
const RunVar = "RALPH_RUN"

// environ returns the session's environment. No program of the project's is on its PATH.
func (l *Loop) environ() []string { return proc.EnvOutside(l.Env.Vars, l.At.Project) }

// environ returns the environment of what the loop runs, and the names of the session's variables
// that are left out. Without trust it is the session's environment: then only git runs, and the
// command of the host's own entry.
func (p *Picture) environ(named ...string) (env, dropped []string) {
	if !p.Config.Trusted {
		return p.Loop.environ(), nil
	}
	kept := proc.Kept{Salt: p.Config.EnvSalt, Sums: p.Config.EnvSums, Values: map[string]string{}}
	maps.Copy(kept.Values, p.Config.EnvValues)
	kept.Values["PATH"], _ = proc.Outside(p.Config.SearchPath, p.Loop.At.Project)
	return kept.Same(p.Loop.Env.Vars, named)
}

// notByName says why a variable cannot be named in ralph.json; "" if it can be.
func notByName(name string) string {
	switch {
	case proc.IsPlace(name):
		return "which commands always get as it is when you trust them"
	case strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"):
		return "by which whoever edits the settings would have every program load other code"
	}
	return ""
}

// PathInside returns the folders of a PATH in which commands are not looked up; "" for none.
func (l *Loop) PathInside(path string) string {
	_, left := proc.Outside(path, l.At.Project)
	if len(left) == 0 {
		return ""
	}
	return "PATH is passed on without the folders that an agent can write to; name their programs with the folder: " +
		plain.Line(strings.Join(left, ", "), 300)
}

// checkEnv returns the environment of checks, without the host's keys if nobody names them.
func (p *Picture) checkEnv() []string {
	env, _ := p.environ(p.Config.Env...)
	env = proc.Without(env, func(name string) bool {
		return !slices.Contains(p.Config.Env, name) && p.Loop.Env.IsSecret != nil && p.Loop.Env.IsSecret(name)
	})
	return append(env, CheckVar+"=1", "CLAUDE_PROJECT_DIR="+p.Loop.At.Project)
}

// maxWithheld is how many variables Withheld names.
const maxWithheld = 10

// Withheld names the session's variables that checks do not get, because they changed after a
// person trusted the loop; "" for none. It leaves out variables that differ in every session.
func (p *Picture) Withheld() string {
	_, names := p.environ(p.Config.Env...)
	names = slices.DeleteFunc(names, func(name string) bool {
		ofHost := p.Loop.Env.OfHost != nil && p.Loop.Env.OfHost(name)
		return ofHost || strings.HasPrefix(name, "RALPH_") || proc.IsTerminal(name)
	})
	more := ""
	if n := len(names) - maxWithheld; n > 0 {
		names, more = names[:maxWithheld], fmt.Sprintf(" and %d more", n)
	}
	for i, name := range names {
		names[i] = plain.Line(name, 60)
	}
	return strings.Join(names, ", ") + more
}

// notifierEnv returns the environment of a notifier. It has those that named lists, too.
func (p *Picture) notifierEnv(named []string) []string {
	env, _ := p.environ(named...)
	return proc.Without(env, func(name string) bool {
		is := func(one string) bool { return proc.SameName(one, name) }
		return !proc.IsPlace(name) && !proc.IsDesktop(name) && !slices.ContainsFunc(named, is)
	})
}
