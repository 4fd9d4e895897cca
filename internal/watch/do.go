package watch

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Action is what a person can do with a loop from a view. It does what its verb does.
type Action struct {
	Name string
	Verb string
	Ask  string   // the question before it is done; %s is the loop's name
	More []string // the words behind the verb and the loop's name

	command func(verb.Verbs) *cobra.Command
}

// Actions returns the actions that make sense for the loop as it is.
func (l *Loop) Actions() (all []Action) {
	for _, a := range actions() {
		switch a.Name {
		case "resume":
			a.More = l.more
		case "more":
			for _, word := range l.more {
				if strings.HasSuffix(word, "h") { // it needs more time, too
					a.More = append(a.More, word)
				}
			}
		}
		if l.can(a) {
			all = append(all, a)
		}
	}
	return all
}

// actions returns all actions.
func actions() []Action {
	return []Action{
		{Name: "pause", Verb: "pause", Ask: "Pause %s after this turn?", command: verb.Verbs.Pause},
		{Name: "resume", Verb: "resume", Ask: "Continue %s?", command: verb.Verbs.Resume},
		{
			Name: "more", Verb: "resume", Ask: "Give %s ten more iterations?", More: []string{"+10"},
			command: verb.Verbs.Resume,
		},
		{Name: "note", Verb: "note", Ask: "Tell %s something?", command: verb.Verbs.Note},
		{
			Name: "cancel", Verb: "cancel", Ask: "Cancel %s? Only resume brings it back.",
			command: verb.Verbs.Cancel,
		},
	}
}

// Label is what a button for the action says.
func (a Action) Label() string { return strings.Join(append([]string{a.Verb}, a.More...), " ") }

func (l *Loop) can(a Action) bool {
	if l.ExitReason == decide.Budget { // only the command that resumes its run gives that more
		return false
	}
	on := l.Status.Status.GoesOn()
	switch a.Name {
	case "pause":
		return on
	case "note":
		return on || l.Status.Status == "PAUSED" || l.ExitReason == decide.Asks
	case "cancel":
		return on || l.Status.Status == "PAUSED"
	case "resume":
		return !on || l.Phase == verb.NeedsYou
	}
	return l.MaxIterations > 0
}

// commandLine is the command that does the action.
func (a Action) commandLine(l *loop.Loop) string {
	line := l.Call(a.Verb)
	if a.Verb == "note" {
		line = l.Env.Call("note", l.At.Name) + " 'TEXT'"
	}
	return loop.InProject(l.Env, l.At, strings.Join(append([]string{line}, a.More...), " "))
}

// Do does an action with the loop in the folder dir, and returns what the verb says.
func Do(env loop.Env, dir string, a Action) (said string, err error) {
	env.LoopDir, env.ProjectDir = dir, ""
	var out bytes.Buffer
	command := a.command(verb.Verbs{Env: env})
	command.SetOut(&out)
	err = command.RunE(command, a.More)
	return strings.TrimSpace(plain.Text(out.String(), 4000)), err
}
