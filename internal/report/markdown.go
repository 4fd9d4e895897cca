package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Markdown writes the report as Markdown: what the page has, in its order.
func (r *Report) Markdown(w io.Writer) error {
	r = r.withLastIterations()
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	row := func(name, value string) {
		if value != "" {
			say("| %s | %s |\n", name, plain.Markdown(value))
		}
	}
	say("# %s\n\n%s\n\n", plain.Markdown(r.Headline()), plain.Markdown(r.Verdict()))
	if r.Task != "" && r.Task != r.Name {
		say("Asked: %s\n\n", plain.Markdown(r.Task))
	}
	say("| | |\n|---|---|\n")
	if !r.NoList {
		row("features", r.Progress())
	}
	if r.Run != nil {
		row("used", r.Spent.String())
	}
	row("time", Duration(r.Took))
	row("iterations", fmt.Sprintf("%d of %d", r.Iteration, r.MaxIterations))
	if of := r.OfLastRun(); of != "" {
		say("\n%s\n", of)
	}
	say("\n## Look at this yourself\n\n")
	for _, one := range r.Look() {
		say("* [ ] %s\n", plain.Markdown(strings.TrimSpace(one.Title+" "+one.Text)))
	}
	if c := r.Failed; c != nil {
		say("\n    %s\n", strings.ReplaceAll(c.Tail, "\n", "\n    "))
	}
	if r.Run != nil && len(r.Run.ToMerge) > 0 {
		say("\n### To merge\n\n")
		for _, one := range r.Run.ToMerge {
			say("* %s\n", plain.Markdown(one))
		}
	}
	r.featuresTo(say)
	if table := record.LanesTable(r.ByLane); table != "" {
		say("\n## Lanes\n%s", table)
	}
	say("\n## How it was proven\n\n| | |\n|---|---|\n")
	for _, one := range r.Proof() {
		row(strings.ToLower(one.Title), one.Text)
	}
	r.restTo(say)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) featuresTo(say func(format string, args ...any)) {
	if len(r.Work) > 0 {
		say("\n## Features\n\n| state | feature | proven by | attempts | time | cost | commits |\n" +
			"|---|---|---|--:|--:|--:|---|\n")
	}
	for _, f := range r.WorstFirst() {
		var commits []string
		for _, c := range f.Commits {
			commits = append(commits, commitName(c))
		}
		what := strings.TrimSpace(f.ID + " " + f.Title)
		if f.Why != "" {
			what += ": " + f.Why
		}
		say("| %s | %s | %s | %d | %s | %s | %s |\n", f.State, plain.Markdown(what),
			plain.Markdown(strings.Join(f.ProvenBy(), "; ")), f.Attempts, Duration(f.Took), f.Cost(),
			plain.Markdown(strings.Join(commits, "; ")))
	}
}

// restTo tells the commits that belong to no feature, and the iterations.
func (r *Report) restTo(say func(format string, args ...any)) {
	if len(r.Commits) > 0 {
		say("\n## Other commits\n\n")
	}
	for _, c := range r.Commits {
		say("* %s\n", plain.Markdown(commitName(c)))
	}
	if r.Earlier > 0 {
		say("\nNot shown: %s.\n", plain.Count(r.Earlier, "earlier commit"))
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
}

// commitName is a commit as people name it.
func commitName(c tree.Commit) string { return short(c.Hash) + " " + c.Subject }

// short is the beginning of a hash.
func short(hash string) string { return hash[:min(len(hash), 10)] }
