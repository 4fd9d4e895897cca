package main

import (
	"fmt"
	"io"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// followPause is how long log -f sleeps between two looks.
const followPause = 200 * time.Millisecond

func logCommand() *command {
	var lines int
	var follow, asJSON bool
	cmd := loopVerb("log", "Show what the hook did", func(w io.Writer, s *loopdir.Store) error {
		if lines < 0 {
			return &usageError{fmt.Errorf("-n %d; want 0 or more", lines)}
		}
		name := loopdir.HookLog
		if asJSON {
			name = loopdir.IterationLog
		}
		text, f := s.OpenLog(name, lines)
		defer f.Close()
		for {
			// An agent can write to the log too.
			if _, err := io.WriteString(w, plain.Text(string(text), len(text))); err != nil || !follow {
				return err
			}
			time.Sleep(followPause)
			text = f.More()
		}
	})
	cmd.long = logHelp
	cmd.letters = map[string]string{"n": "lines", "f": "follow"}
	cmd.flags.IntVar(&lines, "lines", 20, "how many of the last lines, `N`")
	cmd.flags.BoolVar(&follow, "follow", false, "go on showing what is added, until interrupted")
	cmd.flags.BoolVar(&asJSON, "json", false, "iterations.jsonl instead: one object a verdict")
	return cmd
}

const logHelp = `Show what the hook did, since the loop began: what it did in an earlier run, before
'init --force', is in hook.log.old and iterations.jsonl.old in the loop's folder.`
