package say

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// ending says in one line how a loop ended and how a person continues it.
func ending(p *loop.Picture, s decide.State) string {
	text := fmt.Sprintf("Ralph loop %s: %s: %s", s.Status, plain.Line(p.Loop.At.Name, 100), why(p, s))
	for _, note := range ListNotes(p.Snapshot.List.List, ShownNotes) {
		text += " " + strings.ToUpper(note[:1]) + note[1:] + "."
	}
	return text
}

// ShownNotes is how many notes of a kind ListNotes is asked for where there is little space.
const ShownNotes = 3

// ListNotes says which items of a list are no work, which checkboxes are not written as usual, and which dependencies
// cannot be read. Of each kind it shows at most so many.
func ListNotes(list features.List, most int) []string {
	leftOut := list.LeftOut
	if leftOut.All == 0 {
		leftOut.All = len(list.Dropped)
		for _, item := range list.Dropped[:min(most, leftOut.All)] {
			name := item.Title()
			if !item.Derived || name == "" {
				name = strings.TrimSpace(item.ID + " " + name)
			}
			leftOut.First = append(leftOut.First, plain.Line(name, 60))
		}
	}
	return slices.Concat(lineNotes("left out: ", leftOut, most), lineNotes("unusual boxes: ", list.Slips, most),
		lineNotes("dependencies that cannot be read: ", list.Unread, most))
}

// lineNotes returns at most one text.
func lineNotes(what string, notes features.LineNotes, most int) []string {
	if notes.All == 0 {
		return nil
	}
	most = min(most, len(notes.First))
	text := what + strings.Join(notes.First[:most], "; ")
	if more := notes.All - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []string{text}
}

// why says how the features stand, and what a person does next.
func why(p *loop.Picture, s decide.State) string {
	list, do := p.Snapshot.List, p.Loop.Call
	so := Proof(p.Snapshot.Counts(s), len(p.Snapshot.Checks))
	after := ", after " + plain.Count(s.Iteration, "iteration") + "."
	if unproven := p.Snapshot.Unproven(); unproven != "" {
		after += " " + unproven + "."
	}
	if p.Snapshot.NoList {
		so = "it is not complete"
		if s.Status == decide.Complete {
			return NoListProof(s.Status, s.ExitReason, len(p.Snapshot.Checks)) + after
		}
	}
	if list.Err != nil { // nobody knows how many features there are
		so = "the list cannot be read: " + plain.Line(list.Err.Error(), 500)
	}
	switch s.ExitReason {
	case decide.AllFeaturesPass:
		return so + after
	case decide.AllChecksPass:
		return "every check holds; " + so + after
	case decide.ByPromise:
		return "on the agent's word alone; " + so + after
	case decide.MaxIterations:
		return fmt.Sprintf("used up its %s; %s. To give it more: %s",
			plain.Count(s.Iteration, "iteration"), so, p.MoreIterations(s))
	case decide.Deadline:
		if !s.RetryAt.IsZero() {
			return fmt.Sprintf("it could go on at %s, and its time is up before that; %s. To give it more: %s",
				Clock(s.RetryAt), so, p.MoreTime(s))
		}
		return fmt.Sprintf("its time is up, %s after it began; %s. To give it more: %s",
			plain.Duration(s.EndedAt.Sub(s.StartedAt)), so, p.MoreTime(s))
	case decide.IterationsPerHour:
		return fmt.Sprintf("it has used its %s for this hour; %s. Its prompt continues it after %s.",
			plain.Count(p.Snapshot.Limits.IterationsPerHour, "iteration"), so, Clock(s.RetryAt))
	case decide.Budget:
		return fmt.Sprintf("%s; %s. To go on: %s", s.Needs, so, ResumeRunWith(p, s))
	case decide.SessionFull:
		return fmt.Sprintf("%s; %s. The loop's prompt in a fresh session continues it.", s.Needs, so)
	case decide.Attempts:
		return fmt.Sprintf("%s; %s. '%s' gives it another try.", s.Needs, so, p.Resume(s))
	case decide.SetAside:
		return fmt.Sprintf("%s; %s. '%s' tries again.", s.Needs, so, p.Resume(s))
	case decide.ByEvaluator, decide.NoProgress:
		if list.Err != nil && strings.Contains(s.Needs, plain.Line(list.Err.Error(), 500)) {
			break
		}
		return fmt.Sprintf("%s; %s. '%s' continues it.", s.Needs, so, p.Resume(s))
	case decide.PermissionDenied:
		return fmt.Sprintf("%s; %s. Allow what the work needs in .claude/settings.json, such as {\"permissions\": "+
			"{\"allow\": [\"Bash(npm test:*)\"]}}; then '%s' continues it.", s.Needs, so, p.Resume(s))
	case decide.Asks:
		return fmt.Sprintf("the agent needs a person: %s; %s. To answer and continue: %s ANSWER",
			plain.Line(cmp.Or(s.Needs, "it did not say why"), 500), so, do("note"))
	case decide.CheckTime:
		return fmt.Sprintf("%s; %s. To give it more, %s; then '%s' continues the loop.", s.Needs, so, RaiseTimeout,
			p.Resume(s))
	case decide.Untrusted:
		return fmt.Sprintf("%s; %s. '%s' shows them and trusts them; then '%s' continues the loop.", s.Needs, so,
			do("trust"), p.Resume(s))
	case decide.AllBlocked:
		if s.FailsInProject() {
			return fmt.Sprintf("%s; %s. Look at them: put them back, or '%s' has them count; then '%s' continues the loop.",
				s.Needs, so, do("trust"), p.Resume(s))
		}
		return fmt.Sprintf("no open feature can be worked on: %s; %s. '%s' shows why; "+
			"when that is fixed, '%s' continues the loop.",
			s.Needs, so, do("list"), p.Resume(s))
	case decide.APIError, decide.RateLimit, decide.SessionEnded:
		return cutOff(p, s, so)
	case decide.ByPerson, decide.ByAgent, decide.ByHeader:
		return fmt.Sprintf("%s at iteration %d; %s. '%s' continues it.", StoppedBy(s.ExitReason), s.Iteration, so,
			p.Resume(s))
	}
	return cmp.Or(s.Needs, s.ExitReason) + ". When that is fixed, '" + p.Resume(s) + "' continues the loop."
}

// cutOff says what kept the agent from going on.
func cutOff(p *loop.Picture, s decide.State, so string) string {
	if s.ExitReason == decide.SessionEnded {
		if s.Run() != "" {
			return fmt.Sprintf("%s; %s. '%s' continues it.", cmp.Or(s.Needs, "the run was stopped"), so, ResumeRunWith(p, s))
		}
		return fmt.Sprintf("%s; %s. "+
			"A prompt in the resumed session, or the loop's prompt in a new one, continues it.",
			cmp.Or(s.Needs, "its session has ended"), so)
	}
	until := ""
	if !s.RetryAt.IsZero() {
		until = ", until " + Clock(s.RetryAt)
	}
	if s.Run() != "" {
		return fmt.Sprintf("the agent could not go on: %s (%s%s); %s. '%s' continues it.",
			cmp.Or(strings.TrimRight(plain.Line(s.Needs, 160), "."), "it did not say why"), s.ExitReason, until, so,
			ResumeRunWith(p, s))
	}
	return fmt.Sprintf("the turn ended with an API error (%s%s); %s. "+
		"A prompt in its session, or the loop's prompt in a new one, continues it.", s.ExitReason, until, so)
}

// StoppedBy says who stopped a loop that is paused or cancelled.
func StoppedBy(exitReason string) string {
	switch exitReason {
	case decide.ByAgent:
		return "stopped by the agent"
	case decide.ByHeader:
		return "stopped by the header of progress.txt"
	}
	return "stopped by a person"
}

// Doom says how the loop will end whatever the agent does, and what a person does about it; "" if that is open. A
// person must fix something first: the list or ralph.json cannot be used. It also returns that ending.
func Doom(p *loop.Picture) (text string, d decide.Decision) {
	s := p.Snapshot
	if state := s.Record(); !state.Status.GoesOn() {
		return "", d
	}
	s.State.Status = decide.InProgress
	d, need := decide.Preview(s)
	ends := need.Kind == decide.NeedNothing && d.Verdict == decide.End
	if !ends || d.Next.Status != decide.Blocked && d.Next.Status != decide.Failed {
		return "", d
	}
	what, do := d.Next.Needs, p.Loop.Call
	if d.Next.ExitReason == decide.AllBlocked {
		what = fmt.Sprintf("nothing that is open can be worked on: %s; '%s' shows why", what, do("list"))
	}
	return fmt.Sprintf("the loop will end %s: %s", d.Next.Status, what), d
}

// Warnings says what a person should know who is about to put a loop to work: what of ralph.json is not in force, and
// what keeps the loop from its end.
func Warnings(p *loop.Picture) []string {
	doom, _ := Doom(p)
	warnings := ConfigNotes(p)
	for _, one := range []string{cmp.Or(doom, Unchecked(p)), ListDiffers(p)} {
		if one != "" {
			warnings = append(warnings, one)
		}
	}
	return warnings
}

// Proof says how the claims stand. Nothing is called proven that no check has proven.
func Proof(c decide.Counts, checks int) string {
	switch {
	case checks == 0:
		return fmt.Sprintf("%d of %d features claimed, none checked", c.Passed, c.Total)
	case c.Claimed == 0:
		return fmt.Sprintf("%d of %d features proven", c.Proven, c.Total)
	}
	return fmt.Sprintf("%d of %d features proven, %d claimed", c.Proven, c.Total, c.Claimed)
}

// Progress says how far a list is, to people who look at the loop.
func Progress(c decide.Counts, checks int) string {
	progress := Proof(c, checks)
	if c.SetAside > 0 {
		progress += fmt.Sprintf(", %d set aside", c.SetAside)
	}
	if c.Added > 0 {
		progress += fmt.Sprintf(", %d added", c.Added)
	}
	return progress
}
