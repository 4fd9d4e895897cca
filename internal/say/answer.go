// Package say has the texts for the agent, and those for people that more than one place prints. A
// verb's own lines are in the verb.
//
//   - Errors go to standard error after "error:", in lower case, without a full stop,
//     and end with what to do next.
//   - A hook prints nothing but its one answer; an error is that answer's message.
//   - Foreign text (paths, ids, titles, errors that quote them) is cleaned by package
//     plain before it leaves.
package say

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Answer is an answer to a host, in words that belong to no host. The zero Answer is silence.
type Answer struct {
	Prompt  string // not empty: the agent goes on with this prompt
	Message string // for the person
	Context string // for the agent, beside a prompt of the person's
	End     bool   // the loop is over
}

// Trouble returns the message of the hook when it could not do its work for a host.
func Trouble(err error) string {
	what := strings.TrimRight(plain.Line(err.Error(), 1000), ".?")
	return "ralph-stop-hook: " + what + ". The turn may end; no loop was continued."
}

// DecisionAnswer returns the answer to the host for a decision about a loop.
func DecisionAnswer(p *loop.Picture, d decide.Decision) Answer {
	at := fmt.Sprintf("iteration %d/%d", d.Next.Iteration, d.Limit)
	switch d.Binding {
	case decide.Note:
		message := ""
		if d.WarnOtherHook {
			message = "ralph: " + at + otherHookNote
		}
		if p.Snapshot.Event == decide.EventStart {
			if doom, _ := Doom(p); doom != "" {
				message = "ralph: " + at + " · " + doom
			}
		}
		if message == "" && p.Snapshot.CutOff != nil {
			message = "ralph: " + at + cutOffNote
		}
		return Answer{Message: message, Context: NoteOf(d)}
	case decide.Take:
		return take(p, d, at)
	case decide.Tell:
		return Answer{Message: Tell(p, d)}
	}
	switch d.Verdict {
	case decide.End:
		return Answer{End: true, Message: ending(p, d.Next) + notes(p, d)}
	case decide.Wait:
		return Answer{Message: "ralph: waiting for " + d.Next.WaitingFor + " · " + at + notes(p, d)}
	case decide.Continue:
		return Answer{Prompt: Prompt(p, d, ""), Message: progress(p, d, at) + notes(p, d)}
	}
	return Answer{}
}

// progress says in one line how far the loop is.
func progress(p *loop.Picture, d decide.Decision, at string) string {
	if d.Problem != nil {
		return "ralph: the list is broken · " + at + " · " + plain.Line(d.Problem.Error(), 300)
	}
	message := "ralph: "
	if d.From.Schema == 0 && !p.Config.Trusted {
		message += "this session works on the loop " + plain.Line(p.Loop.At.Name, 100) + ", which somebody made by hand; " +
			"to stop it: " + p.Loop.Call("cancel") + " · "
	}
	message += standing(p, at)
	if d.Feature.ID != "" {
		message += " · next " + plain.Line(d.Feature.ID, 80)
		if n := d.Next.Attempt(); n > 1 {
			message += fmt.Sprintf(" · attempt %d", n)
		}
	}
	if len(p.Snapshot.List.Changes) > 0 {
		message += " · " + NotCounted(p)
	}
	if trees := p.Snapshot.Trees; len(trees) > 0 {
		message += " · files changed in other work trees: " + decide.Names(trees)
	}
	switch {
	case d.Failure == nil:
	case d.Failure.Cut:
		message += fmt.Sprintf(" · the time of this stop was too short for the %s: %s", d.Next.Cut, RaiseTimeout)
	default:
		message += fmt.Sprintf(" · the %s %s", d.Failure.Label(), d.Failure.Outcome())
	}
	return message
}

// RaiseTimeout is what a person does if a check does not fit into the time of a stop.
const RaiseTimeout = `raise "timeout" and --timeout of the hook's entry in the settings`

// standing says how much is done, and how much of the limit is used.
func standing(p *loop.Picture, at string) string {
	if p.Snapshot.NoList {
		return at + " · " + Checks(len(p.Snapshot.Checks))
	}
	list := p.Snapshot.List
	return fmt.Sprintf("%d/%d features · %s", list.Passed(), len(list.Items), at)
}

// take tells a person that the session works on the loop now. If a loop continues, or is elsewhere, it tells the agent,
// too.
func take(p *loop.Picture, d decide.Decision, at string) Answer {
	name := plain.Line(p.Loop.At.Name, 100)
	a := Answer{Message: "ralph: this session works on the loop " + name + " · " + standing(p, at) + notes(p, d)}
	if old := d.From.Session; old != "" && old != d.Next.Session {
		a.Message += " · taken over from session " + plain.Line(old, 80)
	}
	if inAnotherTree(p) {
		a.Message += fmt.Sprintf(" · its list and its checks are in another work tree, %s; for a loop of this one: "+
			"ralph-stop-hook init", plain.Line(p.Loop.At.Project, 300))
		a.Context = thisTree + workThere(p)
	}
	switch d.From.Status {
	case decide.Handover:
		a.Message += fmt.Sprintf(" · it was handed over (%s)", d.From.ExitReason)
	case decide.Interrupted:
		a.Message += fmt.Sprintf(" · it was interrupted (%s)", d.From.ExitReason)
		a.Context += fmt.Sprintf("The Ralph loop %q was interrupted and continues at iteration %d of %d. ",
			name, d.Next.Iteration, d.Limit)
		if p.Snapshot.NoList {
			a.Context += task(p, "") + Finish
		} else {
			a.Context += fmt.Sprintf("Work on the next feature in %s that does not pass; end your turn when it does.",
				plain.Path(p.Loop.At.Project, p.ListName()))
		}
	}
	a.Context += NoteOf(d)
	return a
}

// Tell says how a loop stands: to a prompt, why its session does not get the loop; to a session
// that starts, how the loop would continue.
func Tell(p *loop.Picture, d decide.Decision) string {
	name, s := plain.Line(p.Loop.At.Name, 100), d.From
	switch {
	case d.Refusal == decide.Deadline:
		return fmt.Sprintf("ralph: the time of the loop %s is up; to give it more, in a terminal: %s",
			name, p.MoreTime(d.Next))
	case d.Refusal == decide.MaxIterations:
		return fmt.Sprintf("ralph: the loop %s has used up its %s; to give it more, in a terminal: %s",
			name, plain.Count(d.Limit, "iteration"), p.MoreIterations(d.Next))
	case d.Refusal == decide.IterationsPerHour:
		return fmt.Sprintf("ralph: the loop %s has used its iterations for this hour; send this prompt again after %s",
			name, Clock(s.RetryAt))
	case d.Refusal != "":
		return fmt.Sprintf("ralph: the loop %s was handed over (%s); give its prompt to a fresh session: /clear, or "+
			"another window", name, d.Refusal)
	case s.Session == "" && (s.Status == decide.InProgress || s.Status == decide.Interrupted):
		prompt := plain.Path(p.Loop.At.Project, filepath.Join(p.Loop.At.Dir, loopdir.PromptFile))
		return fmt.Sprintf("ralph: the loop %s waits at iteration %d/%d; "+
			"to work on it in this session, send its prompt (%s) or run 'ralph-stop-hook use %s --session self'",
			name, s.Iteration, d.Limit, prompt, plain.Arg(p.Loop.At.Name))
	case s.Status == decide.Interrupted:
		return fmt.Sprintf("ralph: the loop %s was interrupted (%s) at iteration %d/%d; "+
			"your next prompt continues it", name, s.ExitReason, s.Iteration, d.Limit)
	case s.Status == decide.InProgress:
		return fmt.Sprintf("ralph: session %s works on the loop %s; "+
			"this session does not get it ('ralph-stop-hook use %s --no-session' takes it away from that session)",
			plain.Line(s.Session, 80), name, plain.Arg(p.Loop.At.Name))
	}
	return fmt.Sprintf("ralph: the loop %s is %s; %s", name, s.Status, Continues(p, s))
}

// Continues says how a loop that has ended goes on.
func Continues(p *loop.Picture, s decide.State) string {
	resume := p.Resume(s)
	switch {
	case s.Status == decide.Complete && p.Snapshot.NoList:
		return "another task makes another loop"
	case s.Status == decide.Complete && p.Config.ListSHA256 != "":
		return fmt.Sprintf("add features to its list, or reopen one there; '%s' shows what differs and accepts it, and "+
			"'%s' continues the loop", p.Loop.Call("trust"), resume)
	case s.Status == decide.Complete:
		return fmt.Sprintf("add features to its list, or reopen one there, and '%s' continues it", resume)
	case s.ExitReason == decide.MaxIterations:
		return "to give it more: " + p.MoreIterations(s)
	case s.ExitReason == decide.Deadline:
		return "to give it more: " + p.MoreTime(s)
	case s.ExitReason == decide.Budget:
		return "to go on: " + ResumeRunWith(p, s)
	}
	return fmt.Sprintf("'%s' continues it", resume)
}

// Refused returns why a session that asks for a loop does not get it, nil if it does.
func Refused(p *loop.Picture, d decide.Decision) error {
	switch {
	case d.Verdict == decide.End:
		return fmt.Errorf("progress.txt says %s; set it to IN_PROGRESS first", d.Next.Status)
	case d.Binding != decide.Take:
		return errors.New(strings.TrimPrefix(Tell(p, d), "ralph: "))
	}
	return nil
}

// Waits says in one line that there is a loop which no stop begins, and how a person begins it.
func Waits(l *loop.Loop, why string) string {
	return fmt.Sprintf("ralph: the loop %s has not started: %s; to start it, run '%s' in a terminal in %s",
		plain.Line(l.At.Name, 100), strings.TrimRight(plain.Line(why, 400), ".?"), l.Call("resume"),
		plain.Line(l.At.Project, 300))
}

// Paused says in one line that a loop was paused, and how it goes on.
func Paused(l *loop.Loop) string {
	resume := l.Call("resume")
	p, err := l.Look()
	if err == nil {
		resume = p.Resume(p.Snapshot.State)
	}
	return fmt.Sprintf("ralph: the loop %s is PAUSED; '%s' continues it", plain.Line(l.At.Name, 100), resume)
}

// otherHookNote is said once a session.
const otherHookNote = " · another Stop hook or /goal can keep this session running after the loop ends, " +
	"and its blocks count toward Claude Code's limit; to stop it, type /goal clear or remove that hook from the settings"

// cutOffNote is said at the first prompt after a stop whose hook was killed.
const cutOffNote = " · the last stop was cut off: its hook was killed; the next stop does its work again"

// CutOff says that the last stop was cut off, "" if it was not.
func CutOff(p *loop.Picture) string {
	hook := p.Snapshot.CutOff
	if hook == nil {
		return ""
	}
	at := "at " + Clock(hook.Since)
	if hook.What != "" {
		at = "while " + plain.Line(hook.What, 200) + " ran, since " + Clock(hook.Since)
	}
	if p.Snapshot.State.Run() != "" {
		return "the run was stopped or killed " + at
	}
	return "the last stop was cut off " + at + ": the hook was killed (Esc, or the client's timeout)"
}

// notes returns what a person should know beside the verdict.
func notes(p *loop.Picture, d decide.Decision) string {
	var notes strings.Builder
	add := func(note string) { notes.WriteString(" · " + note) }
	if d.WarnOtherHook {
		notes.WriteString(otherHookNote)
	}
	if d.Unshown != nil {
		add(plain.Line(d.Unshown.Error(), 300))
	}
	for _, note := range ConfigNotes(p) {
		add(note)
	}
	if d.Binding == decide.Take { // a later stop ends the loop, and says so then
		if doom, _ := Doom(p); doom != "" {
			add(doom)
		}
	}
	if d.Verdict == decide.End {
		if len(p.Snapshot.List.Changes) > 0 {
			add(NotCounted(p))
		}
		if names := FilesNotCounted(p); names != "" {
			add("not counted: " + names)
		}
		for _, err := range p.MutedNotifiers(context.Background()) {
			add(err.Error())
		}
	}
	return notes.String()
}

// NotCounted says in a line what the file of the list changes that a person has trusted.
func NotCounted(p *loop.Picture) string {
	if p.Snapshot.List.Missing {
		return fmt.Sprintf("%s is gone, so nothing in it counts as done", plain.Path(p.Loop.At.Project, p.ListName()))
	}
	var changes []string
	for _, change := range p.Snapshot.List.Changes {
		changes = append(changes, plain.Line(change.ID, 80)+" was "+change.How)
	}
	return fmt.Sprintf("not counted: %s: %s", plain.Path(p.Loop.At.Project, p.ListName()), decide.Names(changes))
}

// ListDiffers says what a person should know of a list whose file is not as it was trusted; "": it is, or features were
// only added.
func ListDiffers(p *loop.Picture) string {
	switch list := &p.Snapshot.List; {
	case len(list.Changes) == 0:
		return ""
	case list.Missing:
		return NotCounted(p) + "; put it back"
	}
	return fmt.Sprintf("%s; '%s' shows the list as it is now and accepts it", NotCounted(p), p.Loop.Call("trust"))
}

// ConfigNotes returns which parts of ralph.json are not in force.
func ConfigNotes(p *loop.Picture) (notes []string) {
	trust := p.Loop.Call("trust")
	switch {
	case p.Config.Broken != nil:
		notes = append(notes, fmt.Sprintf("ralph.json cannot be used: %s; the trusted version stays in force; mend it, or "+
			"delete it and put the trusted one back: %s", plain.Line(p.Config.Broken.Error(), 300), trust))
	case p.Config.Changed:
		notes = append(notes, "ralph.json changed after it was trusted; the trusted version stays in force; "+
			"to accept the change: "+trust)
	case p.Config.Missing:
		notes = append(notes, "ralph.json is gone; the trusted version stays in force; to put it back: "+trust)
	}
	if p.Config.Untrusted > 0 {
		notes = append(notes, plain.Count(p.Config.Untrusted, "command")+
			" that nobody has trusted must not run; to accept: "+trust)
	}
	if p.Config.UntrustedOfList > 0 {
		notes = append(notes, fmt.Sprintf("the list brings %s of its own, which nobody has trusted; "+
			"to look at them and accept: %s", plain.Count(p.Config.UntrustedOfList, "check"), trust))
	}
	return notes
}

// Clock shows a time to a person.
func Clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// ConfinedTo says where confined commands can write.
func ConfinedTo(c config.Config) string {
	first := "the project"
	switch {
	case !c.NeedsBaseline():
	case c.RunsInProject():
		first = "the copy, or the project if they run there"
	default:
		first = "the copy"
	}
	return strings.Join(append([]string{first, "a temporary folder"}, c.Writable...), ", ")
}
