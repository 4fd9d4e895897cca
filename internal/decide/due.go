package decide

import "slices"

// Due returns the checks that must pass before features are claimed: their own and those of the whole tree. If no other
// feature is open, those that a loop must pass to be complete are among them.
func (s *Snapshot) Due(features ...string) []Run {
	with := s.claiming(features)
	open := with.List.Passed() < len(with.List.Items)
	e := with.evidence()
	own := func(_ Check, id string) bool { return slices.Contains(features, id) }
	always := func(Check, string) bool { return true }
	runs := append(with.due(e, WhenClaim, own), with.due(e, WhenStop, always)...)
	if !open {
		runs = append(runs, with.due(e, WhenEnd, always)...)
	}
	return runs
}

// Refuses reports whether the result of a check of Due says that the features may not be claimed.
func (s *Snapshot) Refuses(r Receipt, features ...string) bool {
	with := s.claiming(features)
	open := with.List.Passed() < len(with.List.Items)
	return !r.Passed && !(open && with.MayFail(r))
}

// claiming returns the snapshot with these features claimed.
func (s *Snapshot) claiming(features []string) *Snapshot {
	with := *s
	with.List.Items = slices.Clone(s.List.Items)
	for i := range with.List.Items {
		item := &with.List.Items[i]
		item.Passes = item.Passes || slices.Contains(features, item.ID)
	}
	return &with
}
