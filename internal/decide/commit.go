package decide

// Committed is what became of what a stop has proven.
type Committed struct {
	Commit string // the id of the commit that was made; "": none
	Why    string // why none was made, or what it lacks, in words; "": it has all that had changed
}

// toCommit returns the need to commit what has changed, if the stop has proven something. The decision is made, and is
// made again when that is done.
func (d *Decision) toCommit(s *Snapshot) Need {
	if d.Verdict != Continue && d.Verdict != End || s.ConfigErr != nil {
		return Need{}
	}
	whole := d.Next.Complete || d.Verdict == End && d.Next.Status == Complete
	whole = whole && len(s.Checks) > 0 && d.Failure == nil
	ids := s.newProofs()
	if whole && s.wholeTree() {
		was := s.proofsBefore()
		ids = nil
		for i := range s.List.Items {
			item := &s.List.Items[i]
			if item.Passes && s.Holds(item.ID) && !was[item.ID].Proven {
				ids = append(ids, item.ID)
			}
		}
	}
	if len(ids) == 0 && !whole {
		return Need{}
	}
	d.Verdict = ""
	return Need{Kind: NeedCommit, Proven: ids}
}
