package verb

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Use makes a loop the one that commands without a name mean.
func (v Verbs) Use() *cobra.Command {
	return &cobra.Command{
		Use: "use [NAME]", Short: "Select the loop that commands use by default",
		RunE: cli.Run(func(w io.Writer, args []string) error {
			if len(args) == 0 {
				at, err := v.Find(nil)
				if err == nil {
					fmt.Fprintf(w, "the current loop is %s\n", plain.Line(at.Name, 100))
				}
				return err
			}
			if err := v.PersonOnly(); err != nil {
				return err // a loop of a bind of "first" would begin in sessions of the agent's choice
			}
			at, err := v.Find(args)
			if err == nil {
				err = at.Check()
			}
			if err == nil {
				err = at.MakeCurrent()
			}
			if err == nil {
				fmt.Fprintf(w, "%s: it is the current loop now; sessions keep the loop that they work on\n",
					plain.Line(at.Name, 100))
			}
			return err
		}),
	}
}
