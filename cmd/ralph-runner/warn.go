package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
)

// warn says before the start that the permissions of an agent will refuse most of the work. A session cannot ask
// anybody. What goes for several agents is said once.
func (k *runner) warn(r *run.Run) {
	told, working := map[string]bool{}, []string{r.Record.Options.Agent}
	if r.Record.Chain != nil {
		names, _ := r.Record.Chain.Agents()
		working = append(working, names...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Rows)) {
		asked := r.Record.Options.AgentOptions
		if !slices.Contains(working, name) {
			asked = asked.StandIn()
		}
		for _, words := range k.warnings(r, r.Rows[name], asked) {
			if !told[words] {
				fmt.Fprintf(os.Stderr, "%s: warning: %s\n", program, words)
			}
			told[words] = true
		}
	}
}

// warnings are what to know of one agent.
func (k *runner) warnings(r *run.Run, row agent.Row, asked agent.Options) (all []string) {
	if r.Record.Options.Engine != "" { // a worker's agent has the permissions of its own machine
		return all
	}
	all = append(all, row.Warnings(asked, loopdir.RepoRoot(r.At.Project) != "")...)
	if row.Output != agent.OutputClaude || row.PermissionFlag == "" { // what another program passes on is not known
		return all
	}
	words := strings.Join(row.Command, " ")
	mode := asked.Permission
	switch {
	case asked.SkipPermissions, strings.Contains(words, "--dangerously-skip-permissions"),
		strings.Contains(words, "--allowed"), strings.Contains(words, "--permission-mode") && mode == "":
		return all
	}
	in := client.Install{Client: client.Find(client.Usual), Get: k.Env.Get, Home: k.Env.Home, Project: r.At.Project}
	permissions := in.Permissions(mode, strings.Split(asked.Allowed, ","))
	if permissions.RefuseAll() {
		return append(all, "the permissions of Claude Code refuse every edit and command that nobody has allowed, and a "+
			"session cannot ask; allow tools with --allowed-tools or in .claude/settings.json (\"permissions\"), or run "+
			"it with --permission-mode acceptEdits or, in a sandbox, --dangerously-skip-permissions")
	}
	var refused []string
	for _, command := range k.checked {
		if permissions.Refuse(command) {
			refused = append(refused, plain.Line(command, 200))
		}
	}
	if len(refused) == 0 {
		return all
	}
	what := refused[0] + ", so it cannot try what that check proves"
	if more := len(refused) - 1; more > 0 {
		what = fmt.Sprintf("%s and %s of checks, so it cannot try what they prove", refused[0],
			plain.Count(more, "other command"))
	}
	return append(all, fmt.Sprintf("the agent may not run %s; to allow it: --allowed-tools %s", what,
		plain.Arg("Bash("+refused[0]+")")))
}

// warnOfLess is warnOfLimit for a run that goes on with more iterations.
func (k *runner) warnOfLess(p *loop.Picture, r *record.Run) {
	more := r.Options.MaxIterations - r.Iterations
	if step := r.Step(); step != nil {
		more = step.Limit - step.Iterations
	}
	k.warnOfLimit(p, more, "the run may have "+plain.Count(more, "more iteration"))
}

// warnOfLimit says that the loop's own limit would end a run before it has had its iterations.
func (k *runner) warnOfLimit(p *loop.Picture, wanted int, words string) {
	state := p.Snapshot.Record()
	left := state.Limit(p.Snapshot.Limits) - state.Iteration
	if state.Status == "" || !state.Status.Judges() {
		left++ // the iteration is not over
	}
	if missing := wanted - left; missing > 0 {
		fmt.Fprintf(os.Stderr, "%s: warning: %s, and the loop has %d left; to give it more: %s +%d\n", program, words,
			max(0, left), p.Loop.Call("resume"), missing)
	}
}

// warnOfFixes says which step of a chain has too few iterations to fix what is opened again. open is how many features
// are open.
func warnOfFixes(c *record.Chain, open int) {
	warn := func(step record.Step, why string, enough int) {
		name := plain.Line(step.Agent, 80)
		fmt.Fprintf(os.Stderr, "%s: warning: %s:%d cannot fix what %s; give it more, such as %s:%d\n", program, name,
			step.Limit, why, name, enough)
	}
	for i, step := range c.Steps {
		switch {
		case i+1 < len(c.Steps) && c.Steps[i+1].Reviews && step.Limit <= open:
			warn(step, fmt.Sprintf("%s opens again: %s, and each takes one iteration",
				plain.Line(c.Steps[i+1].Agent, 80), plain.Count(open, "open feature")), open+max(3, open/2))
		case step.Tests() && step.Limit == 1:
			warn(step, "it opens again: that takes another iteration", 3)
		}
	}
}
