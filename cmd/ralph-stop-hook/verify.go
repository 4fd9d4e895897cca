package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func verifyCommand() *command {
	var all bool
	cmd := &command{
		name:  "verify",
		args:  "[FEATURE]...",
		short: "Run the checks of the current loop by hand: of what is claimed, or of these features",
		run: func(w io.Writer, ids []string) error {
			return onLoop(func(w io.Writer, s *loopdir.Store) error { return verify(w, s, ids, all) })(w, nil)
		},
	}
	cmd.flags.BoolVar(&all, "all", false, "of features that are open, too")
	return cmd
}

func verify(w io.Writer, s *loopdir.Store, ids []string, all bool) error {
	l, err := loadNow(s)
	l.freshen()
	if err = errors.Join(err, l.snap.ConfigErr, l.snap.List.Err); err != nil {
		return err
	}
	if len(l.snap.Lost) > 0 {
		return fmt.Errorf("features are gone, or ask for something else than when they were trusted: %s; '%s --restore' puts them back", plain.Line(strings.Join(l.snap.Lost, ", "), 500), doer(l.Name)("trust"))
	}
	for _, id := range ids {
		if _, has := l.snap.List.Find(id); !has {
			return fmt.Errorf("the list has no feature %q", plain.Line(id, 80))
		}
	}
	var runs []decide.Run
	for _, c := range l.snap.Checks {
		if c.When != decide.WhenFeature && len(ids) == 0 {
			runs = append(runs, decide.Run{Check: c})
		}
		if c.When != decide.WhenFeature {
			continue
		}
		items := l.snap.List.Items
		if len(c.Features) == 1 { // as a list's own checks are, and there may be as many as features
			item, _ := l.snap.List.Find(c.Features[0])
			items = []features.Item{item}
		}
		for _, item := range items {
			wanted := slices.Contains(ids, item.ID) || len(ids) == 0 && (all || item.Passes)
			if c.Covers(item.ID) && wanted {
				runs = append(runs, decide.Run{Check: c, Feature: item.ID})
			}
		}
	}
	if len(runs) == 0 {
		return errors.New("there is nothing to check: no check is for what is claimed; with --all those of open features run too")
	}
	if path := l.changed(); path != "" {
		return errors.New(path + notAsTrusted + "; look at it and run: " + doer(l.Name)("trust"))
	}
	ctx, stop := terminated()
	defer stop()
	r := runner{loaded: l, deadline: time.Now().Add(maxSend), contents: contents(ctx, l), hear: func(run decide.Run, done *decide.Receipt) {
		said := "runs"
		if done != nil {
			said = wordsPassed(*done)
		}
		fmt.Fprintf(w, "%s: %s\n", plain.Line(run.Check.Name+" "+run.Feature, 160), said)
	}}
	results := r.run(ctx, runs)
	if r.swapped != "" {
		return fmt.Errorf("%s was touched while a check ran, so nothing is proven; see who did that", r.swapped)
	}
	// An agent chooses the environment in which it calls: that proves nothing.
	if personOnly() == nil {
		if err := keepReceipts(s, results); err != nil {
			return err
		}
	}
	rows := [][]string{{"CHECK", "FEATURE", "RESULT", "TIME"}}
	failed := 0
	tails, last := make([]string, len(results)+1), map[string]int{} // what several have, below the last of them
	for i, r := range results {
		rows = append(rows, []string{r.Name, r.Feature, wordsPassed(r), fmt.Sprintf("%.1f s", float64(r.DurationMS)/1000)})
		if !r.Passed {
			failed++
			tail := wordsTail(r.Tail)
			tails[last[r.Name+tail]] = ""
			last[r.Name+tail], tails[i+1] = i+1, tail
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.points)) {
		if len(ids) == 0 || slices.Contains(ids, id) {
			for _, point := range l.points[id] {
				rows = append(rows, []string{point, id, "manual", ""})
			}
		}
	}
	var shown strings.Builder
	table(&shown, rows)
	fmt.Fprintln(w)
	shows := strings.SplitAfter(shown.String(), "\n")
	for i, tail := range tails {
		io.WriteString(w, shows[i]+tail)
	}
	io.WriteString(w, strings.Join(shows[len(tails):], ""))
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%s did not hold; all that was printed is in %s", plural(failed, "check"), relative(s.Project, s.Dir)+"/"+loopdir.ChecksLog)
}

// tailLines and tailLine bound what a person is shown of a failed check's output.
const tailLines, tailLine = 10, 160

// wordsTail shows a person the end of what the prompt shows the agent.
func wordsTail(tail string) (text string) {
	lines := strings.Split(tail, "\n")
	for _, line := range lines[max(0, len(lines)-tailLines):] {
		text += "    " + plain.Text(line, tailLine) + "\n"
	}
	return text
}

func wordsPassed(r decide.Receipt) string {
	switch {
	case r.Passed:
		return "ok"
	case r.NotRun:
		return "not run"
	}
	return "failed"
}

// keepReceipts stores results beside those that the loop has by now.
func keepReceipts(s *loopdir.Store, results []decide.Receipt) error {
	return locked(s, func() error {
		l, err := loadNow(s)
		if err != nil {
			return err
		}
		l.snap.Results = results
		return s.SetReceipts(l.snap.Kept())
	})
}
