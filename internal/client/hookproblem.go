package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// HookProblem says what keeps the client's stops from the hook, and what a person does about it; both are empty if
// nothing does. It costs no process.
func (in Install) HookProblem() (why, fix string) {
	files := in.Settings(in.Scopes...)
	why, fix = in.SwitchedOff(files...)
	if why == "" {
		why, fix = in.NoEntry()
	}
	if why == "" {
		why, fix = in.badEntry(files)
	}
	return why, fix
}

// SwitchedOff says which of the settings files switches all hooks off: the first that says anything about that.
func (in Install) SwitchedOff(files ...Settings) (why, fix string) {
	i := slices.IndexFunc(files, func(s Settings) bool { return s.Disabled.Exists() })
	if !in.Strict || i < 0 || !files[i].Disabled.Bool() {
		return "", ""
	}
	why = in.displayPath(files[i]) + ` has "disableAllHooks": true, so the loop cannot work`
	return why, "take that out, or set it to false"
}

// NoEntry says that no settings call the hook, and which of them the client leaves out.
func (in Install) NoEntry() (why, fix string) {
	if in.Hooked() {
		return "", ""
	}
	why, fix = in.Ignored(in.Settings(in.Scopes...)...)
	switch {
	case why != "":
		return why, fix
	case in.Name == Usual:
		return "the hook is in no settings of this project, so no stop calls it", in.Init()
	}
	return "the hook is in no settings of " + in.Title, in.Init()
}

// badEntry says that the first entry for a stop calls no hook, or that its program is missing.
func (in Install) badEntry(files []Settings) (why, fix string) {
	for _, s := range files {
		stops := s.Ours(in.Events[0])
		if len(stops) == 0 {
			continue
		}
		why, fix = in.NoCall(s, stops[0])
		if why == "" {
			_, why, fix = in.Runs(s, stops[0])
		}
		return why, fix
	}
	return "", ""
}

// NoCall says that an entry of a settings file calls no hook. Of a line for a shell only that knows the words.
func (in Install) NoCall(s Settings, h *Hook) (why, fix string) {
	if !h.Exec || len(h.Args) == 0 {
		return "", ""
	}
	err := new(Call).Parse(h.Args[1:])
	if h.Args[0] != "hook" {
		err = fmt.Errorf("its first word is %q, not \"hook\"", plain.Line(h.Args[0], 80))
	}
	if err == nil {
		return "", ""
	}
	why = fmt.Sprintf("the entry for %s in %s is no call of the hook: %s", h.Event, in.displayPath(s),
		plain.Line(err.Error(), 300))
	return why, in.Init() + " --settings " + s.Scope
}

// Runs returns the program that an entry runs, or says that it is missing. Of a line for a shell only that knows it.
func (in Install) Runs(s Settings, h *Hook) (path, why, fix string) {
	name := strings.ReplaceAll(h.Command, "${CLAUDE_PROJECT_DIR}", in.Project)
	path, err := proc.LookPath(name, in.Get("PATH"))
	if !h.Exec || err == nil {
		return path, "", ""
	}
	why = fmt.Sprintf("the entry in %s runs %s, which is missing or not a program", in.displayPath(s), name)
	return "", why, "put it there, or run: " + in.Init()
}

// Init is the command that writes the client's entries.
func (in Install) Init() string {
	if in.Name == Usual {
		return "ralph-stop-hook init"
	}
	return "ralph-stop-hook init --client " + in.Name
}

func (in Install) displayPath(s Settings) string { return plain.Path(in.Project, s.Path) }
