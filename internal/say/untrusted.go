package say

import (
	"fmt"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Unchecked names the features that came into the list after a person trusted the checks. Nobody knows whether a person
// or an agent has added them, so no check runs for them.
func Unchecked(p *loop.Picture) string {
	s := &p.Snapshot
	ofFeatures := func(c decide.Check) bool { return c.When == decide.WhenClaim && len(c.Features) == 0 }
	var added []string
	for _, item := range s.List.Items {
		if item.IsAdded {
			added = append(added, plain.Line(item.ID, 80))
		}
	}
	if len(added) == 0 || !slices.ContainsFunc(s.Checks, ofFeatures) {
		return ""
	}
	return fmt.Sprintf("no check runs for %s: added to the list after its checks were trusted; look at that, then: %s",
		decide.Names(added), p.Loop.Call("trust"))
}
