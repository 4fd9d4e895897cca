package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Markdown writes the report as Markdown.
func (r *Report) Markdown(w io.Writer) error {
	r = r.withLastIterations()
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	row := func(name, value string) {
		if value != "" {
			say("| %s | %s |\n", name, plain.Markdown(value))
		}
	}
	say("# %s: %s\n\n", plain.Markdown(r.Name), r.Word())
	if r.Task != "" {
		say("%s\n\n", plain.Markdown(r.Task))
	}
	say("| | |\n|---|---|\n")
	row("reason", r.ExitReason)
	row("wrong", r.Wrong())
	row("next step", r.Then)
	if !r.NoList {
		row("features", r.Far())
	}
	row("iterations", fmt.Sprintf("%d of %d", r.Iteration, r.MaxIterations))
	row("time", Duration(r.Took))
	if r.Run != nil {
		row("agent", r.Agents())
		row("used", r.Spent.String())
		row("run", r.Run.ID)
	}
	row("project", r.Project)
	if of := r.OfLastRun(); of != "" {
		say("\n%s\n", of)
	}
	if c := r.Failed; c != nil {
		say("\n## Failed: %s\n\n%s, %s\n\n    %s\n", plain.Markdown(c.Name), plain.Markdown(c.Outcome),
			when(c.At), strings.ReplaceAll(c.Tail, "\n", "\n    "))
	}
	if len(r.Work) > 0 {
		say("\n## Features\n\n| state | feature | proven by | attempts | time | cost | commits |\n" +
			"|---|---|---|--:|--:|--:|---|\n")
	}
	for _, f := range r.WorstFirst() {
		var commits []string
		for _, c := range f.Commits {
			commits = append(commits, commitName(c))
		}
		say("| %s | %s | %s | %d | %s | %s | %s |\n", f.State, plain.Markdown(strings.TrimSpace(f.ID+" "+f.Title)),
			plain.Markdown(strings.Join(f.ProvenBy(), "; ")), f.Attempts, Duration(f.Took), f.Cost(),
			plain.Markdown(strings.Join(commits, "; ")))
	}
	if len(r.Commits) > 0 {
		say("\n## Other commits\n\n")
	}
	for _, c := range r.Commits {
		say("* %s\n", plain.Markdown(commitName(c)))
	}
	if r.Earlier > 0 {
		say("\nNot shown: %s.\n", plain.Count(r.Earlier, "earlier commit"))
	}
	if r.Run != nil && len(r.Run.ToMerge) > 0 {
		say("\n## To merge\n\n")
		for _, one := range r.Run.ToMerge {
			say("* %s\n", plain.Markdown(one))
		}
	}
	if table := record.LanesTable(r.ByLane); table != "" {
		say("\n## Lanes\n%s", table)
	}
	if len(r.Iterations) > 0 {
		say("\n## Iterations\n\n| iteration | feature | outcome | time | cost |\n|--:|---|---|--:|--:|\n")
	}
	if r.Gone > 0 {
		say("| | | not kept in the files any more: %s | | |\n", plain.Count(r.Gone, "older session"))
	}
	if r.EarlierIterations > 0 {
		say("| | | %s not shown | | |\n", plain.Count(r.EarlierIterations, "earlier session"))
	}
	for _, i := range r.Iterations {
		outcome := plain.Markdown(strings.TrimSpace(i.Result() + " " + i.Reason()))
		say("| %d | %s | %s | %s | %s |\n", i.Iteration, plain.Markdown(i.Feature), outcome, Duration(i.Took()), i.Cost())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// commitName is a commit as people name it.
func commitName(c tree.Commit) string { return short(c.Hash) + " " + c.Subject }

// short is the beginning of a hash.
func short(hash string) string { return hash[:min(len(hash), 10)] }
