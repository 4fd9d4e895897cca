package verb

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Verify runs the checks of a loop by hand.
func (v Verbs) Verify() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "verify [NAME] [FEATURE]...",
		Short: "Run a loop's checks now",
		RunE: cli.Run(func(w io.Writer, words []string) error {
			name, ids, err := v.loopBefore(words)
			if err != nil {
				return err
			}
			return v.OnLoop(func(w io.Writer, l *loop.Loop) error { return v.verify(w, l, ids, all) })(w, name)
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "check open features, too")
	return cmd
}

// loopBefore splits words into the name of a loop, if they begin with one, and the ids of
// features. It refuses a word that could be either.
func (v Verbs) loopBefore(words []string) (name, ids []string, err error) {
	if len(words) == 0 || !slices.Contains(v.Names(), words[0]) {
		return nil, words, nil
	}
	if at, err := v.Find(nil); err == nil && at.Name != words[0] {
		if l, err := loop.Open(v.Env, at); err == nil {
			defer l.Close()
			p, err := l.Look()
			if _, found := p.Snapshot.List.Find(words[0]); err == nil && found {
				id := plain.Arg(words[0])
				return nil, nil, fmt.Errorf("%s is a loop, and a feature of the loop %s; for the feature say: %s %s; "+
					"for the loop: %s, and then: %s verify", id, plain.Arg(at.Name), l.Call("verify"), id,
					v.Env.Call("use", words[0]), v.Env.Program)
			}
		}
	}
	return words[:1], words[1:], nil
}

// verify plans which checks to run, runs them and shows the results.
func (v Verbs) verify(w io.Writer, l *loop.Loop, ids []string, all bool) error {
	p, err := l.Look()
	p.AskTracker(background())
	err = errors.Join(err, p.Snapshot.ConfigErr, p.Snapshot.List.Err)
	if err != nil {
		return err
	}
	runs, err := planRuns(p, ids, all)
	if err != nil {
		return err
	}
	// An agent chooses the environment of its calls, so they prove nothing.
	results, err := p.RunChecks(background(), runs, !l.Env.ByAgent, func(run decide.Run, done *decide.Receipt) {
		said := "runs"
		if done != nil {
			said = passed(*done)
		}
		fmt.Fprintf(w, "%s: %s\n", plain.Line(run.Check.Name+" "+run.Feature, 160), said)
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	showResults(w, results)
	if names := say.FilesNotCounted(p); names != "" {
		fmt.Fprintf(w, "not counted by the checks: %s\n", names)
	}
	if names := p.Withheld(); names != "" {
		fmt.Fprintf(w, "checks do not get these variables, which changed after 'trust': %s\n", names)
	}
	failed := slices.DeleteFunc(slices.Clone(results), func(r decide.Receipt) bool { return r.Passed })
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("%s did not hold; the whole output is in %s",
		plain.Count(len(failed), "check"), plain.Path(l.At.Project, l.At.Dir)+"/"+loopdir.ChecksLog)
}

// EachCheck returns one run of each check, for the first feature that it is for.
func EachCheck(p *loop.Picture) ([]decide.Run, error) {
	runs, err := planRuns(p, nil, true)
	return slices.CompactFunc(runs, func(a, b decide.Run) bool { return a.Check.Digest == b.Check.Digest }), err
}

// planRuns returns the checks to run: of these features, of the claimed ones, or of all.
func planRuns(p *loop.Picture, ids []string, all bool) (runs []decide.Run, err error) {
	s := &p.Snapshot
	for _, id := range ids {
		if _, found := s.List.Find(id); !found {
			return nil, fmt.Errorf("the list has no feature %q", plain.Line(id, 80))
		}
	}
	for _, c := range s.Checks {
		if c.PerClaim {
			runs = append(runs, featureRuns(s, c, ids, all)...)
		} else if len(ids) == 0 {
			runs = append(runs, decide.Run{Check: c})
		}
	}
	if len(s.Checks) == 0 {
		return nil, errors.New("nothing to check: the loop has no checks")
	}
	if len(runs) == 0 {
		return nil, errors.New("nothing to check: no check is for a claimed feature; --all also runs the checks of " +
			"open features")
	}
	return runs, nil
}

// featureRuns returns the runs of a check of features.
func featureRuns(s *decide.Snapshot, c decide.Check, ids []string, all bool) (runs []decide.Run) {
	items := s.List.Items
	if len(c.Features) == 1 { // a check that a feature brings; there may be as many as features
		item, _ := s.List.Find(c.Features[0])
		items = []features.Item{item}
	}
	for _, item := range items {
		wanted := slices.Contains(ids, item.ID) || len(ids) == 0 && (all || item.Passes) && s.Holds(item.ID)
		if wanted && c.IsFor(item.ID) {
			runs = append(runs, decide.Run{Check: c, Feature: item.ID})
		}
	}
	return runs
}

// showResults shows a table, with the end of a failed check's output below its row. An
// output that several checks have is shown once, below the last of them.
func showResults(w io.Writer, results []decide.Receipt) {
	rows := [][]string{{"CHECK", "FEATURE", "RESULT", "TIME"}}
	tails := make([]string, len(results)+1)
	last := map[string]int{}
	for i, r := range results {
		rows = append(rows, []string{r.Name, r.Feature, passed(r), fmt.Sprintf("%.1f s", float64(r.DurationMS)/1000)})
		if !r.Passed {
			tail := indent(r.Tail)
			tails[last[r.Name+tail]] = ""
			last[r.Name+tail] = i + 1
			tails[i+1] = tail
		}
	}
	var shown strings.Builder
	cli.Table(&shown, rows)
	lines := strings.SplitAfter(shown.String(), "\n")
	for i, tail := range tails {
		io.WriteString(w, lines[i]+tail)
	}
	io.WriteString(w, strings.Join(lines[len(tails):], ""))
}

// tailLines and tailLine bound what a person is shown of a failed check's output.
const tailLines, tailLine = 10, 160

// indent shows a person the end of what the prompt shows the agent.
func indent(tail string) (text string) {
	lines := strings.Split(tail, "\n")
	for _, line := range lines[max(0, len(lines)-tailLines):] {
		text += "    " + plain.Text(line, tailLine) + "\n"
	}
	return text
}

func passed(r decide.Receipt) string {
	switch {
	case r.Passed:
		return "ok"
	case r.NotRun:
		return "not run"
	}
	return "failed"
}
