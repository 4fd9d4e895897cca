package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// end closes the record of the run and writes its summary.
func (r *Run) end(s *loop.Step) error {
	state := s.Decision.Next
	for _, c := range r.Record.AllCurrent() {
		if !c.HasEnded() && state.Status.Judges() { // no lane has gone on with it
			r.writeOff(c)
		}
	}
	r.Record.Status = state.Status
	r.Record.ExitReason = state.ExitReason
	r.Record.Waiting = nil
	again := !r.Record.EndedAt.IsZero() // only the pull request was left
	r.Record.EndedAt = time.Now().UTC()
	if step := r.Record.Step(); step != nil && step.Status == decide.InProgress { // it is not over
		step.Status, step.EndedAt = state.Status, r.Record.EndedAt
	}
	sum := record.Summarise(&r.Record, s)
	if r.files.Trouble != nil {
		sum.Logs = ""
	}
	unwritten := r.files.Text("summary-"+r.Record.ID+".md", sum.Markdown())
	if err := r.save(); err != nil { // from here on --resume does nothing more for this run
		return err
	}
	if unwritten != nil {
		r.Screen.Warn(fmt.Sprintf("the summary cannot be written: %v", unwritten))
	}
	r.reports(s)
	r.Screen.End(sum)
	if status, code, _ := state.Status.Outcome(); status != "" && !again {
		r.hooks(s, loop.EndingEvents(code), r.inputOf(s, state, nil))
	}
	if err := r.files.CatchUp(); err != nil {
		r.Screen.Warn(fmt.Sprintf("%s/%s lacks sessions of this run: %v", record.Folder, record.Iterations, err))
	}
	if err := r.finishPending(); err != nil {
		r.Screen.Warn(fmt.Sprintf("not every notifier is told yet: %v; to tell them: ralph-stop-hook status --send-due", err))
	}
	return nil
}

// finishPending tells what is not told yet: a notifier that could not be started, for example. It also writes a header
// of progress.txt that could not be written. Nobody comes after the run who would do that.
func (r *Run) finishPending() error {
	l, err := loop.Open(r.env(), r.At)
	if err != nil {
		return err
	}
	defer l.Close()
	l.Store.FinishCommit(loop.LockWait)
	if r.cutOff {
		return errors.New("a second signal has cut one off")
	}
	l.Env.Catch = r.untilKilled
	return l.Tell(context.Background())
}

// ReportName returns the name of the file with a run's report.
func ReportName(id string) string { return "report-" + id + ".html" }

// reportPath returns where the report of the run is written, "" if there are none.
func (r *Run) reportPath() string {
	if r.Report == nil || r.files == nil || r.files.Trouble != nil {
		return ""
	}
	return filepath.Join(r.At.Project, record.Folder, ReportName(r.Record.ID))
}

// reports writes the report of a run that has ended. It does so before the notifiers are told, who get its path, and
// once more when the record of the run is complete.
func (r *Run) reports(s *loop.Step) {
	if s.Decision.Verdict != decide.End || r.reportPath() == "" {
		return
	}
	if err := r.Report(r.At.Dir, ReportName(r.Record.ID)); err != nil {
		r.Screen.Warn(fmt.Sprintf("the report cannot be written: %v", err))
	}
}
