package verb

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Notify tries a loop's notifiers.
func (v Verbs) Notify() *cobra.Command {
	const short = "Run all notifiers now, with the exit reason \"test\""
	return v.Loop("notify", short, func(w io.Writer, l *loop.Loop) error {
		if err := v.PersonFor(l); err != nil {
			return err // an agent could have its person believe that a loop is over
		}
		p, err := l.Look()
		if err != nil {
			return err
		}
		for _, note := range say.ConfigNotes(p) {
			fmt.Fprintln(w, note)
		}
		failed := 0
		all := p.Try(background(), func(line string, err error) {
			fmt.Fprintln(w, line)
			if err != nil {
				failed++
			}
		})
		switch {
		case all == 0:
			return fmt.Errorf("the loop has no notifiers; name some in ralph.json (\"on_complete\"), then: %s",
				l.Call("trust"))
		case failed > 0:
			return fmt.Errorf("%s failed", plain.Count(failed, "notifier"))
		}
		return nil
	})
}
