package say

import (
	"cmp"
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// ending says in one line how a loop ended and how it goes on.
func ending(p *loop.Picture, s decide.State, problem error) string {
	return fmt.Sprintf("Ralph loop %s: %s: %s", s.Status, plain.Line(p.Loop.At.Name, 100), why(p, s, problem))
}

// why says how the features stand, and what a person would do next.
func why(p *loop.Picture, s decide.State, problem error) string {
	list, do := p.Snapshot.List, p.Loop.Call
	so := Proof(list.Passed(), len(list.Items), s.Proven, s.Manual, len(p.Snapshot.Checks))
	after := ", after " + plain.Count(s.Iteration, "iteration") + "."
	switch s.ExitReason {
	case decide.AllFeaturesPass:
		return so + after
	case decide.AllChecksPass:
		return "every check holds; " + so + after
	case decide.ByPromise:
		return "on the agent's word alone; " + so + after
	case decide.ByEvaluator:
		return fmt.Sprintf("%s; %s. '%s' goes on.", s.Needs, so, do("resume"))
	case decide.MaxIterations:
		return fmt.Sprintf("used up its %s; %s. To give it more: %s",
			plain.Count(s.Iteration, "iteration"), so, p.MoreIterations(s))
	case decide.Deadline:
		return fmt.Sprintf("its time is up, %s after it began; %s. To give it more: %s",
			plain.Duration(s.EndedAt.Sub(s.StartedAt)), so, p.MoreTime(s))
	case decide.FeatureAttempts, decide.CheckFailures:
		return fmt.Sprintf("%s; %s. '%s' gives it another try.", s.Needs, so, do("resume"))
	case decide.NoToolUse:
		return fmt.Sprintf("sent on %s, the agent used no tool that its transcript shows, and "+
			"Claude Code would soon end the turn without telling anybody; %s. '%s' goes on.",
			plain.Count(len(p.Snapshot.State.Blocks), "time"), so, do("resume"))
	case decide.IterationsPerHour:
		return fmt.Sprintf("it has used the %s that an hour may have; %s. Its prompt goes on after %s.",
			plain.Count(p.Snapshot.Limits.IterationsPerHour, "iteration"), so, Clock(s.RetryAt))
	case decide.FeaturesPerSession:
		return fmt.Sprintf("this session has done its %s; %s. The loop's prompt in a fresh session goes on.",
			plain.Count(s.SessionPassed, "feature"), so)
	case decide.ContextTokens:
		return fmt.Sprintf("the conversation has grown to %d tokens; %s. The loop's prompt in a fresh session goes on.",
			s.Context, so)
	case decide.NoProgress:
		if list.Err != nil {
			so = plain.Line(list.Err.Error(), 500)
		}
		return fmt.Sprintf("nothing changed at %d stops in a row; %s. '%s' goes on.", s.Unchanged, so, do("resume"))
	case decide.ConfigChanged:
		return fmt.Sprintf("%s; %s. Look at it; '%s' accepts it as it is now, and '%s' goes on. "+
			"What the agent may edit can be named in \"not_held\".", s.Needs, so, do("trust"), do("resume"))
	case decide.RecordChanged:
		return fmt.Sprintf("%s; %s. What ran in checks.log's last lines may have done that: "+
			"see who wrote it, and what else; '%s' goes on, "+
			"and \"confine\" in ralph.json keeps commands from such places.", s.Needs, so, do("resume"))
	case decide.ListChanged:
		return fmt.Sprintf("parts of the list are gone, or ask for something else than when they were trusted: "+
			"%s; %s. '%s --restore' puts them back, '%s' accepts the list as it is; then '%s'.",
			s.Needs, so, do("trust"), do("trust"), do("resume"))
	case decide.AllBlocked:
		return fmt.Sprintf("nothing that is open can be worked on: %s; %s. '%s' shows why; when that is mended, "+
			"'%s' goes on.",
			s.Needs, so, do("list"), do("resume"))
	case decide.PromiseBlocked, decide.PromiseEscalate:
		return fmt.Sprintf("the agent needs a person: %s; %s. '%s' goes on.",
			plain.Line(cmp.Or(s.Needs, "it did not say why"), 500), so, do("resume"))
	case decide.APIError, decide.RateLimit:
		until := ""
		if !s.RetryAt.IsZero() {
			until = ", until " + Clock(s.RetryAt)
		}
		return fmt.Sprintf("the turn died of an API error (%s%s); %s. "+
			"A prompt in its session, or the loop's prompt in a new one, goes on.", s.ExitReason, until, so)
	case decide.SessionEnded:
		return fmt.Sprintf("its session has ended; %s. A prompt in it when it is resumed, or the loop's prompt in a "+
			"new one, goes on.", so)
	case decide.ByPerson, decide.ByAgent, decide.ByHeader:
		by := map[string]string{
			decide.ByPerson: "stopped by a person", decide.ByAgent: "stopped by the agent",
			decide.ByHeader: "stopped by the header of progress.txt",
		}[s.ExitReason]
		return fmt.Sprintf("%s at iteration %d; %s. '%s' goes on.", by, s.Iteration, so, do("resume"))
	}
	reason := s.ExitReason
	if problem != nil {
		reason = plain.Line(problem.Error(), 500)
	}
	return reason + ". When that is mended, '" + do("resume") + "' goes on."
}

// Doom says how the loop will end whatever the agent does, and what a person does about it;
// "" if it need not.
func Doom(p *loop.Picture) string {
	d, is := p.Doomed()
	if !is {
		return ""
	}
	what, do := d.Next.Needs, p.Loop.Call
	switch {
	case d.Next.ExitReason == decide.AllBlocked:
		what = fmt.Sprintf("nothing that is open can be worked on: %s; '%s' shows why", what, do("list"))
	case d.Next.ExitReason == decide.ConfigChanged:
		what += fmt.Sprintf("; put it back, or look at it and accept it: %s", do("trust"))
	case d.Problem != nil:
		what = plain.Line(d.Problem.Error(), 500)
	}
	return fmt.Sprintf("the loop will end %s: %s", d.Next.Status, what)
}

// Proof says how the claims stand. Nothing is called proven that no check has proven.
func Proof(claimed, total, proven, manual, checks int) (text string) {
	switch {
	case checks == 0:
		text = fmt.Sprintf("%d of %d features claimed, none checked", claimed, total)
	case proven == claimed:
		text = fmt.Sprintf("%d of %d features proven", proven, total)
	default:
		text = fmt.Sprintf("%d of %d features claimed, %d proven", claimed, total, proven)
	}
	if manual > 0 {
		text += fmt.Sprintf(", %d with points for a person to look at", manual)
	}
	return text
}
