package decide

// Due returns the checks that must pass before a feature is claimed, on a work tree with these contents: those of the
// feature and of the whole tree, and those of other features that are stale. If it is the last one, those that a loop
// must pass to be complete are among them.
func (s *Snapshot) Due(feature, contents string) []Run {
	with := *s
	with.Contents, with.Results = contents, nil
	with.List.Items = nil
	passed := 0
	for _, item := range s.List.Items {
		if item.ID == feature {
			item.Passes = true
		}
		if item.Passes {
			passed++
		}
		with.List.Items = append(with.List.Items, item)
	}
	e := with.evidence()
	stale := func(key [2]string) bool {
		r, has := e.stored[key]
		return !has || with.mustRecheck(r)
	}
	always := func([2]string) bool { return true }
	runs := append(with.due(e, WhenFeature, stale), with.due(e, WhenIteration, always)...)
	if passed == len(with.List.Items) {
		runs = append(runs, with.due(e, WhenComplete, always)...)
	}
	return runs
}
