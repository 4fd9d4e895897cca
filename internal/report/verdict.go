package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Headline says in a few words what became of the loop.
func (r *Report) Headline() string {
	word := map[string]string{
		"NEEDS YOU": "needs you", string(decide.Failed): "has failed", string(decide.Cancelled): "was cancelled",
		string(decide.ReachedLimit): "has reached its limit", string(decide.Escalated): "needs you",
		string(decide.Handover): "waits for a new session",
	}[r.Word()]
	return r.Name + " " + cmp.Or(word, "is "+strings.ToLower(r.Word()))
}

// Verdict says in a sentence how far the loop is.
func (r *Report) Verdict() string {
	c := r.Features
	switch {
	case r.NoList || c.Total == 0:
		return "There is no list of features."
	case isClaimed(r.Status):
		return fmt.Sprintf("%d of %s are claimed. No check has proven them.", c.Passed, plain.Count(c.Total, "feature"))
	case c.Proven == 1 && c.Total == 1:
		return "The feature is proven: its checks passed."
	case c.Proven == c.Total:
		return fmt.Sprintf("All %d features are proven: their checks passed.", c.Total)
	}
	said := fmt.Sprintf("%d of %s are proven", c.Proven, plain.Count(c.Total, "feature"))
	for _, one := range []struct {
		n    int
		word string
	}{{c.Claimed, "claimed"}, {c.SetAside, "set aside"}, {c.Remaining() - c.SetAside, "open"}} {
		if one.n > 0 {
			said += fmt.Sprintf(", %d %s", one.n, one.word)
		}
	}
	return said + "."
}

// Facts are the four numbers of the loop.
func (r *Report) Facts() []Fact {
	features := Fact{Name: "Features", Value: "0", Of: "there is no list"}
	if r.Features.Total > 0 {
		features = FeaturesOf(r.Status)
	}
	money := Fact{Name: "Money", Value: cmp.Or(r.Spent.Cost(), "unknown")}
	spent := Fact{Name: "Time", Value: cmp.Or(spanOrNone(r.Took), "unknown")}
	from, to := span(&r.Detail)
	if !from.IsZero() {
		spent.Add(zoned(from, to))
	}
	work := Fact{Name: "Iterations", Value: fmt.Sprint(r.Iteration)}
	if r.MaxIterations > 0 {
		work.Of = fmt.Sprint("of ", r.MaxIterations)
	}
	if r.Run != nil {
		if r.Run.MaxCostUSD > 0 {
			money.Of = "of " + Budget(r.Run.MaxCostUSD)
		}
		money.Add(r.Spent.String())
		work.Add(plain.Count(r.Run.Sessions, "session") + " of " + r.Agents())
	}
	return []Fact{features, money, spent, work}
}

// zoned says from when to when something went on, in the time of this machine.
func zoned(from, to time.Time) string {
	from, to = from.Local(), to.Local()
	end := to.Format("15:04")
	if from.Format(time.DateOnly) != to.Format(time.DateOnly) {
		end = to.Format("Jan 2 15:04")
	}
	return from.Format("Jan 2 15:04") + " to " + end + from.Format(", UTC-07:00")
}

// Remark is something that a reader should know, or look at.
type Remark struct{ Title, Text string }

// Look returns what a reader should look at: what went wrong, what to do, what is not proven, and what took long.
func (r *Report) Look() (all []Remark) {
	add := func(title, text string) {
		if text != "" {
			all = append(all, Remark{title, text})
		}
	}
	add("What went wrong:", r.Wrong())
	add("What to do now:", r.Then)
	if c := r.Failed; c != nil {
		add("Check "+c.Name+" failed:", c.Outcome+", "+when(c.At))
	}
	for _, one := range r.SetAside {
		add(one.ID+" was set aside", fmt.Sprintf("after %s: %s", plain.Count(one.Attempts, "attempt"), one.Why))
	}
	claimed, long := []string{}, []string{}
	for _, f := range r.Work {
		if f.State == decide.FeatureClaimed {
			claimed = append(claimed, f.ID)
		}
		if f.Attempts > 2 {
			long = append(long, fmt.Sprintf("%s (%d)", f.ID, f.Attempts))
		}
	}
	add("Claimed, and not proven:", first(claimed))
	add("Took three attempts or more:", first(long))
	add("Not counted:", r.NotUsed)
	for _, one := range r.Notes {
		add("", one)
	}
	return all
}

// first names the first ones of many.
func first(names []string) string { return plain.First(names, 20, 2000) }

// Proof says with what the features were proven, and where all is.
func (r *Report) Proof() (all []Remark) {
	add := func(title, text string) {
		if text != "" {
			all = append(all, Remark{title, text})
		}
	}
	state := r.Word()
	if r.ExitReason != "" {
		state += " (" + r.ExitReason + ")"
	}
	add("State", state)
	for i, one := range r.checkSums() {
		if i < maxNamed {
			add("Check", fmt.Sprintf("%s: passed %s, failed %s", one.name, times(one.passed), times(one.failed)))
		}
	}
	add("Confined", r.Confined)
	if r.Run != nil {
		run := fmt.Sprintf("%s; %s, of which %d counted", r.Run.ID, plain.Count(r.Run.Sessions, "session"), r.Run.Iterations)
		add("Run", run)
		add("Agent", strings.Trim(r.Agents()+"; "+r.Run.Step, "; "))
	}
	add("Project", r.Project)
	add("List", r.List)
	return all
}

func times(n int) string { return plain.Count(n, "time") }

type checkSum struct {
	name           string
	passed, failed int
}

// checkSums counts how often each check passed and failed in the sessions that are known.
func (r *Report) checkSums() (all []checkSum) {
	at := map[string]int{}
	for _, i := range r.Iterations {
		for _, c := range i.Checks {
			n, has := at[c.Name]
			if !has {
				n = len(all)
				at[c.Name] = n
				all = append(all, checkSum{name: c.Name})
			}
			if c.Passed {
				all[n].passed++
			} else {
				all[n].failed++
			}
		}
	}
	return all
}

// Diffs are all commits, the first one first.
func (r *Report) Diffs() []tree.Commit {
	all := slices.Clone(r.Commits)
	seen := map[string]bool{}
	for _, f := range r.Work {
		all = append(all, f.Commits...)
	}
	all = slices.DeleteFunc(all, func(c tree.Commit) bool {
		was := seen[c.Hash]
		seen[c.Hash] = true
		return was
	})
	slices.SortStableFunc(all, func(a, b tree.Commit) int { return a.At.Compare(b.At) })
	return all
}

// Strip draws what the sessions did over time.
func (r *Report) Strip() Strip { return StripOf(&r.Detail, r.MadeAt) }

// LastCommits are the last three commits for the feature.
func (f Feature) LastCommits() []tree.Commit { return f.Commits[max(0, len(f.Commits)-3):] }
