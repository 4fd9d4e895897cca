package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// The texts that init writes.

const exampleList = `{
  "$schema": "` + features.Schemas + `features.schema.json",
  "features": [
    {
      "id": "hello",
      "title": "Say hello",
      "description": "hello.txt holds one line: Hello, world.",
      "passes": false
    },
    {
      "id": "goodbye",
      "title": "Say goodbye",
      "description": "goodbye.txt holds one line: Goodbye, world.",
      "dependencies": ["hello"],
      "passes": false
    }
  ]
}
`

const ignoreText = `# what the hook writes for itself
hook.log*
checks.log*
iterations.jsonl*
*.bak
.*.txt[0-9]*
`

// prompt is the text that starts the session.
func (i *initialiser) prompt() string {
	folder := filepath.ToSlash(filepath.Join(loopdir.Below, i.name))
	next, _ := i.found.Next()
	list := loop.NameList(cmp.Or(i.list, folder+"/"+loopdir.ListFile))
	return fmt.Sprintf(loopdir.Marker+`%s

Work through the features in %s, one at a time, the most important first.

For each feature:
%s
End your turn after each feature. A Stop hook then gives you the next one, until
every feature passes.

%s`, folder, list, say.Steps(say.ClaimIn(i.found.List, next, list), folder+"/"+loopdir.ProgressFile), say.GiveUp)
}

// config is the text of ralph.json.
func (i *initialiser) config() ([]byte, error) {
	var checks []map[string]string
	for _, c := range i.checks {
		checks = append(checks, map[string]string{"command": c})
	}
	return jsontext.Indent(struct {
		Task       string              `json:"task"`
		List       string              `json:"list,omitempty"`
		Bind       string              `json:"bind"`
		Continue   string              `json:"continue_with"`
		Limits     map[string]any      `json:"limits"`
		Checks     []map[string]string `json:"checks,omitempty"`
		Confine    bool                `json:"confine,omitempty"`
		OnComplete []string            `json:"on_complete,omitempty"`
	}{i.name, i.list, decide.BindPrompt, config.ContinueAuto, verb.LimitsJSON(i.limits, i.given), checks,
		i.confine, i.onComplete})
}

// maxHeldShown bounds how much that is held is shown.
const maxHeldShown = 20

func (i *initialiser) farewell() {
	for _, check := range i.checks {
		fmt.Fprintf(i.out, "  must hold: %s\n", plain.Line(check, 300))
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
	if checks, _ := i.v.Env.ListChecks(i.found); len(checks) > 0 {
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
	if i.list == "" {
		fmt.Fprintf(i.out, "\nThe list is an example; write yours into %s first.\n",
			i.show(filepath.Join(i.dir, loopdir.ListFile)))
	} else if i.found.Passed() == len(i.found.Items) && len(i.checks) == 0 {
		fmt.Fprintf(i.out, "\nEvery feature of the list passes already, so the loop will end at its first stop.\n")
	}
	fmt.Fprintf(i.out, "\nStart it with:\n  %s\n", say.Start(i.v.Env, &loopdir.Loop{Dir: i.dir, Project: i.project}))
}
