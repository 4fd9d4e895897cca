package decide

import "slices"

// Due returns the checks that must pass before features are claimed: their own and those of the whole tree. If no other
// feature is open, those that a loop must pass to be complete are among them.
func (s *Snapshot) Due(features ...string) []Run {
	with := *s
	with.List.Items = nil
	open := false
	for _, item := range s.List.Items {
		item.Passes = item.Passes || slices.Contains(features, item.ID)
		open = open || !item.Passes
		with.List.Items = append(with.List.Items, item)
	}
	e := with.evidence()
	always := func([2]string) bool { return true }
	own := func(key [2]string) bool { return slices.Contains(features, key[1]) }
	runs := append(with.due(e, WhenFeature, own), with.due(e, WhenIteration, always)...)
	if !open {
		runs = append(runs, with.due(e, WhenComplete, always)...)
	}
	return runs
}
