package main

import (
	"fmt"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/held"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// maxHeldShown bounds how much that is held is shown.
const maxHeldShown = 20

func (i *initialiser) farewell() {
	for _, check := range i.checks {
		of := ""
		if verb.PerFeature(check) && i.list != config.ListNone {
			of = " for each feature"
		}
		fmt.Fprintf(i.out, "  must hold%s: %s\n", of, plain.Line(check, 300))
	}
	for _, command := range i.onComplete {
		fmt.Fprintf(i.out, "  at the end: %s\n", plain.Line(command, 300))
	}
	for _, key := range i.held[:min(len(i.held), maxHeldShown)] {
		fmt.Fprintf(i.out, "  held as it is: %s\n", plain.Line(key, 300))
	}
	if more := len(i.held) - maxHeldShown; more > 0 {
		fmt.Fprintf(i.out, "  held as they are: %d more; ralph-stop-hook trust %s shows them\n", more,
			plain.Arg(i.name))
	}
	verb.ShowNotHeld(i.out, i.notHeld, "  ")
	if i.pathInside != "" {
		fmt.Fprintf(i.out, "  warning: %s\n", i.pathInside)
	}
	for _, path := range i.absent {
		fmt.Fprintf(i.out, "  warning: %s does not exist yet, and runs only after you have written it and said: "+
			"ralph-stop-hook trust %s; if the agent should make it, name it in \"not_held\"\n", plain.Line(path, 300),
			plain.Arg(i.name))
	}
	if checks, _ := held.ListChecks(i.v.Env.Get("PATH"), i.found); len(checks) > 0 {
		fmt.Fprintf(i.out, "\nThe list brings %s of its own. To look at them and let them run:\n"+
			"  ralph-stop-hook trust %s\n", plain.Count(len(checks), "check"), plain.Arg(i.name))
	}
	if i.over != "" { // its record outlives its folder
		name := plain.Arg(i.name)
		fmt.Fprintf(i.out, "\nAn earlier loop of this name has ended (%s). To continue it, "+
			"or to start anew:\n  ralph-stop-hook resume %s\n  ralph-stop-hook init %s --force\n", i.over, name,
			name)
		return
	}
	switch {
	case i.list == "":
		fmt.Fprintf(i.out, "\nThe list is an example; write yours into %s first.\n",
			i.show(filepath.Join(i.dir, loopdir.ListFile)))
	case len(i.checks) > 0:
	case i.list == config.ListNone:
		fmt.Fprintf(i.out, "\nWithout a --check, the agent's word alone completes the loop.\n")
	case i.found.Passed() == len(i.found.Items):
		fmt.Fprintf(i.out, "\nEvery feature of the list passes already, so the loop will end at its first stop.\n")
	}
	fmt.Fprintf(i.out, "\nStart it with:\n  %s\nor with fresh sessions:\n  %s\n",
		say.Start(i.v.Env, &loopdir.Loop{Dir: i.dir, Project: i.project}), say.StartRun(i.v.Env, i.name))
}
