package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// DryRun runs the trusted commands among a loop's checks once, and says how they do, if a person is there to see it. It
// reports whether that took longer than loop.DryRunTime.
func DryRun(w io.Writer, l *loop.Loop) (isSlow bool) {
	if !cli.CanAsk() {
		return false
	}
	p, err := l.Look()
	if err != nil || !p.HasCopy() || p.Snapshot.ConfigErr != nil || p.Snapshot.List.Err != nil {
		return false // other words say so
	}
	runs := dryRuns(p)
	if len(runs) == 0 {
		return false
	}
	fmt.Fprintf(w, "  running %s once, as at a stop; Ctrl-C skips that\n", inWords(runs))
	all, err := p.DryRun(background(), runs)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "  skipped")
		return false
	case err != nil:
		fmt.Fprintf(w, "  warning: the checks cannot be tried now: %s\n", plain.Line(err.Error(), 500))
		return false
	}
	for i, one := range all {
		if i == maxDryRuns {
			fmt.Fprintf(w, "  and %s more\n", plain.Count(len(all)-i, "check"))
			break
		}
		showDryRun(w, l, one)
	}
	return slices.ContainsFunc(all, func(one loop.DryRun) bool { return one.InCopy.Cut })
}

// maxDryRuns is how many checks are named.
const maxDryRuns = 5

// dryRuns returns one run of each trusted command. What has passed on the same contents does not run again.
func dryRuns(p *loop.Picture) []decide.Run {
	runs, err := EachCheck(p)
	if err != nil {
		return nil
	}
	isCommand := map[string]bool{} // by digest
	for _, c := range p.Config.Checks {
		isCommand[c.Digest] = c.Runs() && !c.Untrusted && !c.LastMessage
	}
	contents := p.Contents(background())
	return slices.DeleteFunc(runs, func(run decide.Run) bool {
		isKnown := slices.ContainsFunc(p.Snapshot.Receipts, func(r decide.Receipt) bool {
			return r.Passed && r.Check == run.Check.Digest && r.Feature == "" && r.Tree == contents
		})
		return isKnown || !isCommand[run.Check.Digest]
	})
}

func inWords(runs []decide.Run) string {
	if len(runs) > 1 {
		return plain.Count(len(runs), "check")
	}
	return plain.Line(runs[0].Check.Name, 200)
}

// showDryRun says how one check does. That it fails is what the loop is for, unless it fails in the copy alone.
func showDryRun(w io.Writer, l *loop.Loop, one loop.DryRun) {
	name, r := plain.Line(one.InCopy.Name, 200), one.InCopy
	switch {
	case r.Passed:
		fmt.Fprintf(w, "  passes now: %s\n", name)
	case r.Cut:
		fmt.Fprintf(w, "  not done after %g s: %s\n", loop.DryRunTime.Seconds(), name)
	case r.NotRun:
		fmt.Fprintf(w, "  warning: %s: %s\n", name, plain.Line(r.Tail, 500))
	case one.InProject == nil || !one.InProject.Passed:
		fmt.Fprintf(w, "  fails now: %s\n%s", name, indent(lastLines(r.Tail)))
	default:
		fmt.Fprintf(w, "  warning: %s passes in the project, and fails in the clean copy where checks run:\n%s", name,
			indent(r.Tail))
		fmt.Fprintf(w, "    %s; then run: %s\n", remedy(r.Tail), l.Call("trust"))
	}
}

// remedy says which key of ralph.json may help a check that fails in the copy alone, by what it printed.
func remedy(tail string) string {
	if strings.Contains(tail, "not a git repository") {
		return `it asks git: set "git": true in ralph.json`
	}
	return `the copy has what git does not ignore: in ralph.json, have commands make the rest there ("prepare"), ` +
		`link it ("link"), or run the check in the project ("in": "` + config.InProject + `")`
}

// lastLines returns the last lines of what a check printed, without empty ones.
func lastLines(tail string) string {
	const most = 4
	lines := slices.DeleteFunc(strings.Split(tail, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
