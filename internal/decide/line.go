package decide

import (
	"cmp"
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Line returns the decision's line in hook.log, without its time. It has ids and reasons only, and no text of the
// conversation.
func (d *Decision) Line() string {
	line := fmt.Sprintf("%s iteration %d/%d", d.Word(), d.Next.Iteration, d.Limit)
	if d.Lane > 0 {
		line = fmt.Sprintf("%s lane %d iteration %d/%d", d.Word(), d.Lane, d.Next.Iteration, d.Limit)
	}
	switch {
	case d.Verdict == End:
		line += fmt.Sprintf(" %s %s", d.Next.Status, d.Next.ExitReason)
	case d.Binding != "":
		line += " session " + plain.Line(cmp.Or(d.Next.Session, d.From.Session), 80)
	case d.Verdict == Wait && d.Next.WaitingFor != "":
		line += " for " + d.Next.WaitingFor
	case d.Feature.ID != "":
		line += " next " + plain.Line(d.Feature.ID, 80)
	}
	if d.Failure != nil {
		line += fmt.Sprintf(": the %s %s", d.Failure.Label(), d.Failure.Outcome())
	}
	if d.Problem != nil {
		line += ": " + plain.Line(d.Problem.Error(), 300)
	}
	return line
}
