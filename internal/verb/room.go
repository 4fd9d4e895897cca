package verb

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/room"
)

// Room shows the folder in which a loop's checks run.
func (v Verbs) Room() *cobra.Command {
	var reset bool
	const short = "Show the room in which a loop's checks run"
	cmd := v.Loop("room", short, func(w io.Writer, l *loop.Loop) error {
		p, err := l.Look()
		if err != nil {
			return err
		}
		if !p.HasRoom() {
			return fmt.Errorf("the checks of this loop run in the project; for a room, write \"room\": true into %s, "+
				"then: %s", plain.Path(l.At.Project, l.At.Dir)+"/"+loopdir.ConfigFile, l.Call("trust"))
		}
		if reset {
			if err := v.PersonFor(l); err != nil {
				return err
			}
			if err := p.ResetRoom(); err != nil {
				return err
			}
			fmt.Fprintf(w, "%s: the next check makes its room anew\n", name(l))
			return nil
		}
		return showRoom(w, p)
	})
	cmd.Flags().BoolVar(&reset, "reset", false, "remove it; the next check makes a new one")
	return cmd
}

func showRoom(w io.Writer, p *loop.Picture) error {
	if _, err := p.LookAtRoom(background()); err != nil {
		return err
	}
	r := p.Room()
	fmt.Fprintln(w, plain.Line(r.Dir, 4096))
	if _, err := os.Stat(r.Dir); err != nil {
		fmt.Fprintln(w, "it is not made yet; the first check makes it")
	} else {
		files, bytes := r.Size()
		fmt.Fprintf(w, "%s, %d MB\n", plain.Count(files, "file"), bytes>>20)
	}
	left := p.NotUsed(background())
	for _, name := range p.IgnoredWork(background()) {
		left = append(left, room.Change{Path: name, Why: "git ignores it"})
	}
	if len(left) == 0 {
		fmt.Fprintln(w, "no change of the project is left out")
		return nil
	}
	rows := [][]string{{"NOT USED", "WHY"}}
	for _, change := range left {
		rows = append(rows, []string{plain.Line(change.Path, 300), plain.Line(change.Why, 300)})
	}
	cli.Table(w, rows)
	return nil
}
