package say

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// maxLocked is how many locked files a prompt names.
const maxLocked = 12

// Locked tells the agent in one line which files are locked, "" if none is. files are the hashes of these files. Of
// those that "protect" names it names the patterns.
func Locked(c config.Config, files map[string]string) string {
	var names []string
	for _, pattern := range c.Protect {
		names = append(names, pattern.Text)
	}
	if len(c.Work) > 0 {
		files = nil // Yours says it the other way round
	}
	for _, key := range slices.Sorted(maps.Keys(files)) {
		if files[key] != "" && !c.Protects(key) {
			names = append(names, key)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Do not change: " + plain.First(names, maxLocked, 400) + ".\n"
}

// Changed tells a person which locked files have changed, or else which features no check runs for; "" if there are
// none.
func Changed(p *loop.Picture) string {
	changed := p.Snapshot.Changed
	if len(changed) == 0 {
		return untrusted(p)
	}
	return fmt.Sprintf("%s; the next stop asks the agent to put that back; to accept it: %s", decide.Differs(changed),
		p.Loop.Call("trust"))
}

// untrusted names the features that came into the list after a person trusted the checks. Nobody knows whether a person
// or an agent has added them, so no check runs for them.
func untrusted(p *loop.Picture) string {
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
