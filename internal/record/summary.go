package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Summary is what a person wants to know when a run is over. All texts in it are clean.
type Summary struct {
	RunID, Loop, Agent string
	Branch             string // that the run has checked out; "": the one that was there
	Status             decide.Status
	Ending             string // one sentence: how it ended, and what to do next
	Iterations         int
	Sessions           int
	Took               time.Duration
	Spent              string
	Denied             int // uses of tools that the agent's permissions refused
	Work               []Work
	Steps              []Step            // of a chain
	Switches           []Switch          // of the agent and the model
	Lanes              []LaneSum         // of a run with lanes
	ToMerge            []string          // what a person is to do so that all work is merged
	Titles             map[string]string // of features, by id
	Logs               string            // where the logs of the sessions are
	File               string            // where the whole summary is
	Problem            string            // what went wrong in the last session; "": nothing
}

// Worst returns the work on features, the worst first: a check failed, many attempts, a long time.
func (s Summary) Worst() []Work {
	failed := func(w Work) int { return strings.Count(w.Checks, " failed") }
	return slices.SortedStableFunc(slices.Values(s.Work), func(a, b Work) int {
		return cmp.Or(failed(b)-failed(a), b.Attempts-a.Attempts, cmp.Compare(b.Took, a.Took))
	})
}

// Summarise sums up a run after its last step.
func Summarise(r *Run, s *loop.Step) Summary {
	p, state := s.Picture, s.Decision.Next
	sum := Summary{
		RunID: r.ID, Loop: plain.Line(r.Name, 100), Agent: plain.Line(r.Options.Agent, 80), Status: state.Status,
		Ending: ending(r, s), Iterations: r.Iterations, Sessions: r.Sessions, Took: r.EndedAt.Sub(r.StartedAt),
		Branch: branchOf(r, p),
		Spent:  Bill(r.Spent), Denied: r.Denied, Titles: map[string]string{}, Logs: Folder + "/logs/" + r.ID,
		ToMerge: r.ToMerge(),
		File:    Folder + "/summary-" + r.ID + ".md", Problem: plain.Line(r.Problem, 300),
	}
	if r.Chain != nil {
		sum.Agent, sum.Steps = plain.Line(r.Chain.Definition, 300), r.Chain.Steps
	}
	for _, one := range r.Switches {
		one.Feature, one.Agent = plain.Line(one.Feature, 80), plain.Line(one.Agent, 80)
		one.Model, one.Why = plain.Line(one.Model, 80), plain.Line(one.Why, 200)
		sum.Switches = append(sum.Switches, one)
	}
	if len(r.Lanes) > 0 {
		sum.Lanes = ByLane(Sessions(p.Loop.At.Project, r.ID))
	}
	for _, w := range r.Work {
		if item, is := p.Snapshot.List.Find(w.Feature); is {
			sum.Titles[w.Feature] = plain.Line(item.Title(), 80)
		}
		w.Feature, w.Checks = plain.Line(w.Feature, 80), plain.Line(w.Checks, 300)
		sum.Work = append(sum.Work, w)
	}
	return sum
}

// branchOf says which branch the run had checked out, and which one is now, if a person has switched.
func branchOf(r *Run, p *loop.Picture) string {
	name := plain.Line(r.Options.Branch, 200)
	if name == "" {
		return ""
	}
	now := r.OtherBranch(p.Loop.Env.Vars, p.Loop.At.Project)
	if now != "" {
		now = "; at the end " + now + " is checked out"
	}
	return name + now
}

// OtherBranch returns what is checked out in the project in the place of the run's branch, in words; "": that branch
// is.
func (r *Run) OtherBranch(env []string, project string) string {
	switch now := tree.Branch(env, project); now {
	case plain.Line(r.Options.Branch, 300):
		return ""
	case "":
		return "no branch"
	default:
		return "the branch " + now
	}
}

// ending says how the run ended. A person's pause ends the run, and the loop has no step that says so.
func ending(r *Run, s *loop.Step) string {
	if a := say.DecisionAnswer(s.Picture, s.Decision); a.End {
		if why := r.Uncommitted(); why != "" {
			return a.Message + " · not committed: " + why
		}
		return a.Message
	}
	state, l := s.Decision.Next, s.Picture.Loop
	return fmt.Sprintf("Ralph loop %s: %s: %s at iteration %d. '%s' continues it.", state.Status,
		plain.Line(l.At.Name, 100), say.StoppedBy(state.ExitReason), state.Iteration,
		s.Picture.Resume(state))
}

// Markdown returns the summary as a file.
func (s Summary) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Run %s: %s\n\n%s\n\n", s.RunID, s.Status, plain.Markdown(s.Ending))
	fmt.Fprintf(&b, "| | |\n|---|---|\n| loop | %s |\n| agent | %s |\n| iterations | %d |\n| sessions | %d |\n"+
		"| time | %s |\n| used | %s |\n| logs | `%s` |\n", plain.Markdown(s.Loop),
		plain.Markdown(s.Agent), s.Iterations, s.Sessions,
		plain.Duration(s.Took), plain.Markdown(s.Spent), s.Logs)
	if s.Branch != "" {
		fmt.Fprintf(&b, "| branch | %s |\n", plain.Markdown(s.Branch))
	}
	if s.Problem != "" {
		fmt.Fprintf(&b, "| last session | %s |\n", plain.Markdown(s.Problem))
	}
	if s.Denied > 0 {
		fmt.Fprintf(&b, "| refused | %s, by the agent's permissions |\n", plain.Count(s.Denied, "tool call"))
	}
	if len(s.Steps) > 0 {
		b.WriteString("\n| step | ended | iterations | time | used |\n|---|---|--:|--:|---|\n")
	}
	for i, step := range s.Steps {
		fmt.Fprintf(&b, "| %d %s | %s | %d of %d | %s | %s |\n", i+1, plain.Markdown(plain.Line(step.Agent, 80)),
			plain.Markdown(step.Ended()), step.Iterations, step.Limit, plain.Duration(step.Took),
			plain.Markdown(Bill(step.Spent)))
	}
	if len(s.Switches) > 0 {
		b.WriteString("\n| from session | feature | agent | model | why |\n|--:|---|---|---|---|\n")
	}
	for _, one := range s.Switches {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", one.Session, plain.Markdown(one.Feature), plain.Markdown(one.Agent),
			plain.Markdown(one.Model), plain.Markdown(one.Why))
	}
	b.WriteString(LanesTable(s.Lanes))
	if len(s.ToMerge) > 0 {
		b.WriteString("\n| to merge |\n|---|\n")
	}
	for _, one := range s.ToMerge {
		fmt.Fprintf(&b, "| %s |\n", plain.Markdown(one))
	}
	if len(s.Work) == 0 {
		return b.String()
	}
	b.WriteString("\n| feature | attempts | time | used | checks |\n|---|--:|--:|---|---|\n")
	for _, w := range s.Work {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", plain.Markdown(s.Feature(w.Feature)), w.Attempts,
			plain.Duration(w.Took), plain.Markdown(Bill(w.Spent)), plain.Markdown(w.Checks))
	}
	return b.String()
}

// Feature names a feature of the work.
func (s Summary) Feature(id string) string {
	switch title := s.Titles[id]; {
	case id == "":
		return "the loop as a whole"
	case title == "":
		return id
	default:
		return id + " " + title
	}
}
