package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

func notifyCommand() *command {
	var test bool
	cmd := loopVerb("notify", "Try a loop's notifiers: run each now, with the exit reason \"test\"", func(w io.Writer, s *loopdir.Store) error {
		if !test {
			return &usageError{errors.New("notify only tests; say 'ralph-stop-hook notify --test'")}
		}
		l, err := loadNow(s)
		if err != nil {
			return err
		}
		commands := commandsFor(l.config, os.Getenv("RALPH_ON_COMPLETE"), config.OnComplete, config.OnStagnation, config.OnFailure, config.OnIteration)
		for _, note := range wordsConfigNotes(l) {
			fmt.Fprintln(w, note)
		}
		if len(commands) == 0 {
			return fmt.Errorf("the loop has no notifiers; name some in ralph.json (\"on_complete\"), then: %s", doer(l.Name)("trust"))
		}
		state := l.snap.Record()
		state.Status, state.ExitReason, state.EndedAt = decide.Complete, "test", time.Now()
		failed := 0
		runNotifiers(l, commands, newPayload(l, state, "test"), time.Now().Add(maxSend), func(line string, err error) {
			fmt.Fprintln(w, line)
			if err != nil {
				failed++
			}
		})
		if failed > 0 {
			return fmt.Errorf("%s failed", plural(failed, "notifier"))
		}
		return nil
	})
	cmd.flags.BoolVar(&test, "test", false, "run every notifier of the loop")
	return cmd
}
