package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Summary is what a person wants to know when a run is over. All texts in it are clean.
type Summary struct {
	RunID, Loop, Agent string
	Status             decide.Status
	Ending             string // one sentence: how it ended, and what to do next
	Iterations         int
	Sessions           int
	Took               time.Duration
	Spent              string
	Denied             int // uses of tools that the agent's permissions refused
	Work               []Work
	Legs               []Leg             // of a chain
	Switches           []Switch          // of the agent and the model
	Titles             map[string]string // of features, by id
	Logs               string            // where the logs of the sessions are
}

// Summarise sums up a run after its last step.
func Summarise(r *Record, s *loop.Step) Summary {
	p, state := s.Picture, s.Decision.Next
	sum := Summary{
		RunID: r.ID, Loop: plain.Line(r.Name, 100), Agent: plain.Line(r.Options.Agent, 80), Status: state.Status,
		Ending: ending(r, s), Iterations: r.Iterations, Sessions: r.Sessions, Took: r.EndedAt.Sub(r.StartedAt),
		Spent: Bill(r.Spent), Denied: r.Denied, Titles: map[string]string{}, Logs: Folder + "/logs/" + r.ID,
	}
	if r.Chain != nil {
		sum.Agent, sum.Legs = plain.Line(r.Chain.Definition, 300), r.Chain.Legs
	}
	for _, one := range r.Switches {
		one.Feature, one.Agent = plain.Line(one.Feature, 80), plain.Line(one.Agent, 80)
		one.Model, one.Why = plain.Line(one.Model, 80), plain.Line(one.Why, 200)
		sum.Switches = append(sum.Switches, one)
	}
	for _, w := range r.Work {
		if item, is := p.Snapshot.List.Find(w.Feature); is {
			sum.Titles[w.Feature] = plain.Line(item.Title(), 80)
		}
		w.Feature = plain.Line(w.Feature, 80)
		sum.Work = append(sum.Work, w)
	}
	return sum
}

// ending says how the run ended. A person's pause ends the run, and the loop has no step that says so.
func ending(r *Record, s *loop.Step) string {
	if a := say.DecisionAnswer(s.Picture, s.Decision); a.End {
		return a.Message
	}
	state, l := s.Decision.Next, s.Picture.Loop
	how := l.Call("resume")
	if state.Status == decide.Paused {
		how = say.ResumeRun(r.ID)
	}
	return fmt.Sprintf("Ralph loop %s: %s: stopped by a person at iteration %d. '%s' continues it.", state.Status,
		plain.Line(l.At.Name, 100), state.Iteration, how)
}

// AllTokens returns all tokens of a session.
func AllTokens(u agent.Usage) int64 { return tokens(u) }

// Bill says what sessions used.
func Bill(s Sum) string {
	var parts []string
	if s.TokensKnown {
		parts = append(parts, Tokens(tokens(s.Usage))+" tokens")
	}
	return strings.Join(append(parts, dollars(s)), ", ")
}

// dollars says what sessions cost, as far as it is known.
func dollars(s Sum) string {
	switch {
	case !s.CostKnown:
		return "cost unknown"
	case s.Unknown > 0:
		return fmt.Sprintf("at least %s (of %s unknown)", Dollars(s.CostUSD, s.Estimated), plain.Count(s.Unknown, "session"))
	}
	return Dollars(s.CostUSD, s.Estimated)
}

// Dollars shows a cost. One that is reckoned from prices is marked.
func Dollars(usd float64, estimated bool) string {
	if estimated {
		return fmt.Sprintf("≈$%.3f", usd)
	}
	return fmt.Sprintf("$%.3f", usd)
}

// Tokens shows a number of tokens in short.
func Tokens(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 10_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// Used says what one session used.
func Used(u agent.Usage) string {
	s := Sum{}
	s.add(u)
	return Bill(s)
}

// Markdown returns the summary as a file.
func (s Summary) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Run %s: %s\n\n%s\n\n", s.RunID, s.Status, escape(s.Ending))
	fmt.Fprintf(&b, "| | |\n|---|---|\n| loop | %s |\n| agent | %s |\n| iterations | %d |\n| sessions | %d |\n"+
		"| time | %s |\n| used | %s |\n| logs | `%s` |\n", escape(s.Loop), escape(s.Agent), s.Iterations, s.Sessions,
		plain.Duration(s.Took), escape(s.Spent), s.Logs)
	if s.Denied > 0 {
		fmt.Fprintf(&b, "| refused | %s, by the agent's permissions |\n", plain.Count(s.Denied, "tool call"))
	}
	if len(s.Legs) > 0 {
		b.WriteString("\n| leg | ended | iterations | time | used |\n|---|---|--:|--:|---|\n")
	}
	for i, leg := range s.Legs {
		fmt.Fprintf(&b, "| %d %s | %s | %d of %d | %s | %s |\n", i+1, escape(plain.Line(leg.Agent, 80)),
			escape(leg.Ended()), leg.Iterations, leg.Limit, plain.Duration(leg.Took()), escape(Bill(leg.Spent)))
	}
	if len(s.Switches) > 0 {
		b.WriteString("\n| from session | feature | agent | model | why |\n|--:|---|---|---|---|\n")
	}
	for _, one := range s.Switches {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", one.Session, escape(one.Feature), escape(one.Agent),
			escape(one.Model), escape(one.Why))
	}
	if len(s.Work) == 0 {
		return b.String()
	}
	b.WriteString("\n| feature | attempts | time | used | checks |\n|---|--:|--:|---|---|\n")
	for _, w := range s.Work {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", escape(s.Feature(w)), w.Attempts, plain.Duration(w.Took),
			escape(Bill(w.Spent)), escape(w.Checks))
	}
	return b.String()
}

// Feature names a feature of the work.
func (s Summary) Feature(w Work) string {
	switch title := s.Titles[w.Feature]; {
	case w.Feature == "":
		return "the loop as a whole"
	case title == "":
		return w.Feature
	default:
		return w.Feature + " " + title
	}
}

// escape keeps foreign text from being Markdown or HTML.
func escape(text string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "`", "\\`", "*", "\\*", "_", "\\_",
		"[", "\\[", "]", "\\]", "#", "\\#").Replace(text)
}
