package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// change loads a loop under its lock, lets edit change the record, and commits.
func change(s *loopdir.Store, verb string, edit func(l *loaded, next *decide.State) error) (decide.State, error) {
	unlock, err := s.Lock(lockWait)
	if err != nil {
		return decide.State{}, err
	}
	defer unlock()
	l, err := loadNow(s)
	if err != nil {
		return decide.State{}, err
	}
	d := decide.Decision{Next: l.snap.Record()}
	// What a person has written into the header is not written over.
	stopped := d.ReadHeader(&l.snap)
	next := d.Next
	next.Loop, next.Name, next.List = s.Dir, s.Name, l.listPath()
	if err := edit(l, &next); err != nil {
		return decide.State{}, err
	}
	if stopped != decide.InProgress && next.Status == decide.InProgress && verb != "resume" && verb != "extend" {
		return decide.State{}, fmt.Errorf("progress.txt says %s; set it to IN_PROGRESS first", stopped)
	}
	next.Header, next.Before = decide.Face(next, next.Limit(l.snap.Limits)), l.snap.Header
	if err := s.Commit(next); err != nil {
		return decide.State{}, err
	}
	// From here on nothing but the new header is ours, so that a person may put it
	// back to what it was before this verb, and be heard; but the verb is done.
	if next.Before != next.Header {
		next.Before = next.Header
		_ = s.SaveState(next)
	}
	s.Log(wordsLogVerb(verb, next), nil)
	return next, nil
}

func cancelCommand() *command {
	return loopVerb("cancel", "End a loop; only resume brings it back", func(w io.Writer, s *loopdir.Store) error {
		// The word is left first, without the lock: it holds even if
		// nothing else can be written.
		if err := s.AskCancel(); err != nil {
			return fmt.Errorf("cannot cancel: %w", err)
		}
		over := false
		next, err := change(s, "cancel", func(_ *loaded, next *decide.State) error {
			if next.Status == decide.Cancelled {
				over = true
				return nil
			}
			if !next.Status.GoesOn() && next.Status != decide.Paused {
				over = true
				return s.ClearCancel()
			}
			next.Status, next.ExitReason, next.EndedAt = decide.Cancelled, decide.ByPerson, time.Now()
			next.Endings++
			next.Feature, next.Attempts = "", 0
			return nil
		})
		if err != nil {
			fmt.Fprintf(w, "%s: cancelled; the next stop ends it\n", plain.Line(s.Name, 100))
			return fmt.Errorf("the loop's own files could not be brought up to date: %w", err)
		}
		if over {
			fmt.Fprintf(w, "%s is over already: %s (%s)\n", plain.Line(s.Name, 100), next.Status, next.ExitReason)
			return nil
		}
		fmt.Fprintf(w, "%s: cancelled at iteration %d; '%s' brings it back\n", plain.Line(s.Name, 100), next.Iteration, doer(s.Name)("resume"))
		return nil
	})
}

func pauseCommand() *command {
	return loopVerb("pause", "Let the next stop be allowed; resume goes on", func(w io.Writer, s *loopdir.Store) error {
		next, err := change(s, "pause", func(_ *loaded, next *decide.State) error {
			if !next.Status.GoesOn() {
				return fmt.Errorf("nothing to pause: the loop is %s (%s)", next.Status, next.ExitReason)
			}
			next.Status, next.ExitReason, next.EndedAt = decide.Paused, decide.ByPerson, time.Now()
			next.Endings++
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: paused at iteration %d; '%s' goes on\n", plain.Line(s.Name, 100), next.Iteration, doer(s.Name)("resume"))
		return nil
	})
}

func resumeCommand() *command {
	return loopVerb("resume", "Take up a loop that has ended, or that came with the repository", func(w io.Writer, s *loopdir.Store) error {
		return revive(w, s, "resume", func(*decide.State) {})
	})
}

func extendCommand() *command {
	var iterations int
	var deadline time.Duration
	var cmd *command
	cmd = loopVerb("extend", "Raise a limit of a loop, and take it up again if it had reached it", func(w io.Writer, s *loopdir.Store) error {
		switch {
		case !cmd.given("max-iterations") && !cmd.given("deadline"):
			return &usageError{errors.New("extend what? say --max-iterations N or --deadline T")}
		case cmd.given("max-iterations") && (iterations < 1 || iterations > config.MaxCount):
			return errIterations
		case cmd.given("deadline") && deadline <= 0:
			return &usageError{errors.New("--deadline must be a duration of more than 0, such as 12h")}
		}
		return revive(w, s, "extend", func(next *decide.State) {
			if cmd.given("max-iterations") {
				next.Extended, next.Lowered = iterations, 0
			}
			if cmd.given("deadline") {
				next.ExtendedDeadline = deadline
			}
		})
	})
	cmd.flags.IntVar(&iterations, "max-iterations", 0, "the iterations, `N`, that the loop may have in all")
	cmd.flags.DurationVar(&deadline, "deadline", 0, "the time, `T`, that it may take in all, from when it began, such as 12h")
	return cmd
}

// usedUp refuses to go on where that would end at the next stop.
func usedUp(l *loaded, next *decide.State) error {
	limits, now := l.snap.Limits, time.Now()
	if limit := next.Limit(limits); next.Iteration >= limit {
		if ceiling := limits.CeilingIterations; ceiling > 0 && next.Iteration >= ceiling {
			return fmt.Errorf("%d iterations are used up, and your own ceiling for all loops is %d; raise it in config.json of ralph-stop-hook in your configuration folder", next.Iteration, ceiling)
		}
		return fmt.Errorf("%d of %d iterations are used up; give it more: %s --max-iterations %d", next.Iteration, limit, doer(next.Name)("extend"), next.Iteration+decide.DefaultIterations)
	}
	if next.Late(limits, now) {
		ran := now.Sub(next.StartedAt)
		if ceiling := limits.CeilingDeadline; ceiling > 0 && ran >= ceiling {
			return fmt.Errorf("the loop began %v ago, and your own ceiling for all loops is %v; raise it in config.json of ralph-stop-hook in your configuration folder", ran.Round(time.Second), ceiling)
		}
		return fmt.Errorf("the loop began %v ago and may take %v; give it more: %s --deadline %v", ran.Round(time.Second), next.Deadline(limits), doer(next.Name)("extend"), (ran + next.Deadline(limits)).Round(time.Minute))
	}
	return nil
}

// errIterations refuses a --max-iterations that ralph.json could not hold.
var errIterations = &usageError{fmt.Errorf("--max-iterations must be from 1 to %d", config.MaxCount)}

// revive puts a loop back to work for a person, after edit changed its limits.
func revive(w io.Writer, s *loopdir.Store, verb string, edit func(*decide.State)) error {
	if err := personOnly(); err != nil {
		return err
	}
	// An ending that is still to be told is told before it is undone.
	takeOver(s, "", time.Now().Add(maxSend), due)
	if l, err := loadNow(s); err == nil {
		l.freshen() // an item may have been opened again since
	}
	next, err := change(s, verb, func(l *loaded, next *decide.State) error {
		if l.snap.List.Err == nil && l.snap.List.Passed() == len(l.snap.List.Items) && (len(l.snap.Checks)+len(l.snap.Evaluators) == 0 || next.Status == decide.Complete) {
			return fmt.Errorf("nothing to %s: no feature is open; add what there is more to do to %s, or open one there again, and repeat this; or make the loop anew: %s --force", verb, relative(l.Project, l.listName()), doer(s.Name)("init"))
		}
		edit(next)
		if err := usedUp(l, next); err != nil {
			return err
		}
		if err := s.ClearCancel(); err != nil {
			return err
		}
		next.Status, next.ExitReason, next.Needs, next.EndedAt = decide.InProgress, "", "", time.Time{}
		if l.snap.State.Status != decide.InProgress {
			next.RetryAt, next.SessionPassed, next.Blocks = time.Time{}, 0, nil
			next.Warned, next.CheckFailures = false, 0
			next.ListDigest, next.TreeDigest, next.Unchanged = "", "", 0
		}
		next.Hour = slices.DeleteFunc(next.Hour, func(at int64) bool { return at > time.Now().Unix() })
		// A first stop would not take it from an owner that is gone; a prompt does.
		if next.Bind != decide.BindPrompt && next.SessionPID != 0 && !proc.Alive(next.SessionPID, next.ClientStart) {
			next.Session, next.SessionPID = "", 0
		}
		return nil
	})
	if err != nil {
		return err
	}
	then := "type anything in session " + plain.Line(next.Session, 80)
	switch {
	case next.Session != "":
	case next.Bind == decide.BindPrompt:
		then = "start a session with its prompt: " + startLine(plain.Line(filepath.Join(s.Dir, loopdir.PromptFile), 4096))
	default:
		then = "the first session that stops in the project takes it"
	}
	fmt.Fprintf(w, "%s: goes on at iteration %d of %d; %s\n", plain.Line(s.Name, 100), next.Iteration, next.Header.MaxIterations, then)
	return nil
}
