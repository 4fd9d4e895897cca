package verb

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Cancel ends a loop.
func (v Verbs) Cancel() *cobra.Command {
	return v.Loop("cancel", "End a loop; resume continues it", func(w io.Writer, l *loop.Loop) error {
		over := false
		var picture *loop.Picture
		cancel := func(asked bool) (decide.State, error) {
			return stop(l, "cancel", func(p *loop.Picture, next *decide.State) error {
				picture = p
				if asked && next.Status == decide.Cancelled { // the process that had the lock has done it
					return nil
				}
				over = !next.Status.GoesOn() && next.Status != decide.Paused
				if over {
					return nil
				}
				end(l, next, decide.Cancelled)
				next.Feature = ""
				return nil
			})
		}
		next, err := cancel(false)
		if err != nil {
			err = request(l, loopdir.Request{Verb: loopdir.RequestCancel}, err)
		}
		for tries := 4; tries > 0 && errors.Is(err, errRequested); tries-- { // the request ends the checks that run
			changed, failed := cancel(true)
			if !errors.Is(failed, loopdir.ErrLocked) {
				next, err = changed, failed
			}
		}
		if err != nil {
			return later(w, l, err, "they are told to end, and it is cancelled then")
		}
		if over {
			fmt.Fprintf(w, "%s is over already: %s (%s)\n", name(l), next.Status, next.ExitReason)
			return nil
		}
		fmt.Fprintf(w, "%s: cancelled at iteration %d; '%s' brings it back\n", name(l), next.Iteration,
			picture.Resume(next))
		return nil
	})
}

// errRequested means that the process that has the lock will do what a verb could not do.
var errRequested = errors.New("checks run now")

// request leaves a person's request with the process that has the lock, and returns errRequested. failed is why the
// verb could not do it itself. To cancel works with a record that cannot be used, too. An agent's request counts only
// together with a notice of it, so an agent leaves none.
func request(l *loop.Loop, r loopdir.Request, failed error) error {
	locked := errors.Is(failed, loopdir.ErrLocked)
	if l.Env.ByAgent || !locked && r.Verb != loopdir.RequestCancel {
		return failed
	}
	err := l.Store.Ask(r)
	switch {
	case err != nil:
		return fmt.Errorf("cannot %s: %w", r.Verb, err)
	case !locked:
		return fmt.Errorf("%s is cancelled at its next stop, since its files cannot be brought up to date now: %w",
			name(l), failed)
	}
	return errRequested
}

// later says what the process that has the lock will do, if err is errRequested.
func later(w io.Writer, l *loop.Loop, err error, then string) error {
	if err != errRequested {
		return err
	}
	fmt.Fprintf(w, "%s: %v; %s\n", name(l), err, then)
	return nil
}

// end gives a loop an ending by who calls.
func end(l *loop.Loop, next *decide.State, status decide.Status) {
	reason := decide.ByPerson
	if l.Env.ByAgent {
		reason = decide.ByAgent
	}
	next.Stop(status, reason, time.Now())
}

// stop is Loop.Change for a verb that stops the loop. If an agent calls it, the notifiers are
// told, but none that the agent's environment names.
func stop(l *loop.Loop, verb string, edit func(*loop.Picture, *decide.State) error) (decide.State, error) {
	if l.Env.ByAgent {
		l.Env.OnComplete = ""
	}
	next, err := l.Change(verb, edit)
	if err == nil && l.Env.ByAgent {
		_ = l.TellForAgent(background()) // else the next event of the session does
	}
	return next, err
}

// Pause lets the next turn end.
func (v Verbs) Pause() *cobra.Command {
	now := false
	const short = "Stop a loop after this turn; resume continues it"
	cmd := v.Loop("pause", short, func(w io.Writer, l *loop.Loop) error {
		var picture *loop.Picture
		next, err := stop(l, "pause", func(p *loop.Picture, next *decide.State) error {
			picture = p
			if !next.Status.GoesOn() {
				return fmt.Errorf("nothing to pause: the loop is %s (%s)", next.Status, next.ExitReason)
			}
			end(l, next, decide.Paused)
			next.StopNow = now
			return nil
		})
		if err != nil {
			err = request(l, loopdir.Request{Verb: loopdir.RequestPause, Now: now}, err)
			return later(w, l, err, "it is paused at this stop, or at the next one")
		}
		fmt.Fprintf(w, "%s: paused at iteration %d; '%s' continues it\n", name(l), next.Iteration, picture.Resume(next))
		return nil
	})
	cmd.Flags().BoolVar(&now, "now", false, "stop a run's agent at once; its session does not count")
	return cmd
}

// maxNote is how long the notes for one prompt may be, in characters.
const maxNote = 1000

var errNoteLong = fmt.Errorf("the notes for the next prompt have more than %d characters; make them shorter", maxNote)

// Note gives the agent a text once. It continues a loop whose agent waits for an answer.
func (v Verbs) Note() *cobra.Command {
	return &cobra.Command{
		Use: "note [NAME] TEXT...", Short: "Add a text to the agent's next prompt; answer an agent that asks",
		RunE: cli.Run(func(w io.Writer, words []string) error {
			var named []string
			if len(words) > 1 && slices.Contains(v.Names(), words[0]) {
				named, words = words[:1], words[1:]
			}
			text := strings.TrimSpace(plain.Text(strings.Join(words, " "), 2*maxNote))
			switch {
			case text == "":
				return cli.Usagef("note what? the text is empty")
			case utf8.RuneCountInString(text) > maxNote:
				return errNoteLong
			}
			return v.OnLoop(func(w io.Writer, l *loop.Loop) error { return v.note(w, l, text) })(w, named)
		}),
	}
}

func (v Verbs) note(w io.Writer, l *loop.Loop, text string) error {
	if err := v.PersonFor(l); err != nil {
		return err
	}
	then := ""
	add := func(p *loop.Picture, next *decide.State) error {
		if !next.Status.GoesOn() {
			then = "; " + say.Continues(p, *next)
		}
		if next.Status == decide.Complete {
			return fmt.Errorf("the loop is %s, so no prompt follows%s", next.Status, then)
		}
		all := strings.TrimPrefix(next.Note+"\n"+text, "\n")
		if utf8.RuneCountInString(all) > maxNote {
			return errNoteLong
		}
		next.Note = all
		return nil
	}
	state, err := l.Store.State()
	if err == nil && !state.Status.GoesOn() && state.ExitReason == decide.Asks {
		err = v.answer(w, l, add)
		if err == nil {
			return nil
		}
	}
	_, err = l.Change("note", add) // a loop that cannot continue yet gets it later
	if err != nil {
		err = request(l, loopdir.Request{Verb: loopdir.RequestNote, Text: text}, err)
		return later(w, l, err, "the next prompt will include your note")
	}
	fmt.Fprintf(w, "%s: the next prompt will include your note%s\n", name(l), then)
	return nil
}

// answer continues a loop whose agent waits for an answer, which add adds to the next prompt.
func (v Verbs) answer(w io.Writer, l *loop.Loop, add func(*loop.Picture, *decide.State) error) error {
	var picture *loop.Picture
	next, err := l.Revive(background(), func(p *loop.Picture, next *decide.State) error {
		picture = p
		return add(p, next)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: the next prompt will include your answer; it continues at iteration %d of %d\n  %s\n", name(l),
		iterationOf(next), next.Header.MaxIterations, say.GoOn(picture, next))
	return nil
}
