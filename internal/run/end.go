package run

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
)

// end closes the record of the run and writes its summary.
func (r *Run) end(s *loop.Step) error {
	state := s.Decision.Next
	r.Record.Status, r.Record.ExitReason, r.Record.Waiting = state.Status, state.ExitReason, nil
	r.Record.EndedAt = time.Now().UTC()
	r.legStops(state)
	if err := r.save(); err != nil {
		return err
	}
	sum := Summarise(&r.Record, s)
	if r.folder.trouble != nil {
		sum.Logs = ""
	}
	r.folder.text("summary-"+r.Record.ID+".md", sum.Markdown())
	r.Screen.End(sum)
	r.hooks(s, endingHooks(state), r.told(s, state, nil))
	if err := r.folder.catchUp(); err != nil {
		r.Screen.Warn(fmt.Sprintf("%s/%s lacks sessions of this run: %v", Folder, iterations, err))
	}
	if err := r.tellLeft(); err != nil {
		r.Screen.Warn(fmt.Sprintf("not every notifier is told yet: %v; to tell them: ralph-stop-hook status --send-due", err))
	}
	return nil
}

// tellLeft tells what is not told yet: a notifier that could not be started, for example. Nobody comes after the run
// who would do that.
func (r *Run) tellLeft() error {
	l, err := loop.Open(r.env(), r.At)
	if err != nil {
		return err
	}
	defer l.Close()
	return l.Tell(context.Background())
}
