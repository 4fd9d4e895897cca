package verb

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// followPause is how long log -f sleeps between two looks.
const followPause = 200 * time.Millisecond

// Log shows what the hook did.
func (v Verbs) Log() *cobra.Command {
	var lines int
	var follow, asJSON bool
	cmd := v.Loop("log", "Show what the hook did", func(w io.Writer, l *loop.Loop) error {
		if lines < 0 {
			return cli.Usagef("-n %d; want 0 or more", lines)
		}
		file := loopdir.HookLog
		if asJSON {
			file = loopdir.StopLog
		}
		text, f := l.Store.OpenLog(file, lines)
		for {
			// An agent can write to the log, too.
			_, err := io.WriteString(w, plain.Text(string(text), len(text)))
			if err == nil && !follow && !asJSON {
				err = logWhy(w, l)
			}
			if err != nil || !follow {
				return err
			}
			time.Sleep(followPause)
			text = f.More()
		}
	})
	cmd.Long = logHelp
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "show the last `N` lines")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep showing new lines")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print stops.jsonl: one object for each verdict")
	return cmd
}

// logWhy shows what the last check that failed has printed, and what went wrong in the last session of a run.
func logWhy(w io.Writer, l *loop.Loop) error {
	p, err := l.Look()
	if err != nil {
		return nil // the log is there to find out why
	}
	if run := lastRun(p); run != nil && run.wrong(p.Snapshot.Record()) != "" {
		_, err = fmt.Fprintf(w, "\nthe last session of the run: %s\n  %s has what the sessions have printed\n",
			run.wrong(p.Snapshot.Record()), plain.Line(loopdir.RunFolder+"/logs/"+run.ID, 300))
	}
	c := lastFailure(nameChecks(Checks(l, MaxChecked), p.Snapshot.Checks))
	if c == nil || err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s: %s\n%s\n", c.Name, c.Outcome, c.Tail)
	return err
}

const logHelp = `Show what the hook did since the loop began. Earlier logs are hook.log.old and
stops.jsonl.old in the loop's folder.`
