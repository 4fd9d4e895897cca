package decide

import "slices"

// maxNamed is how many features a commit names.
const maxNamed = 100

// Committed is what became of what a stop has proven.
type Committed struct {
	Commit string // the id of the commit that was made; "": none
	Why    string // why none was made, or what it lacks, in words; "": it has all that had changed
}

// toCommit returns the need to commit what has changed, if the stop has proven something. The decision is made, and is
// made again when that is done. The record keeps which features the next commit is to name.
func (d *Decision) toCommit(s *Snapshot) Need {
	whole := d.Next.Complete || d.Verdict == End && d.Next.Status == Complete
	whole = whole && len(s.Checks) > 0 && d.Failure == nil
	ids := s.newlyProven(whole)
	proves := len(ids) > 0 || whole
	ids = append(d.unnamed(s, ids), ids...)
	ids = ids[:min(len(ids), maxNamed)]
	if c := s.Committed; c != nil {
		d.Next.Uncommitted = c.Why
		d.Next.Unnamed = nil
		if c.Commit == "" && c.Why != "" && d.Next.Status != Complete { // after that a person commits what is left
			d.Next.Unnamed = ids
		}
		return Need{}
	}
	if s.Foreign+s.Tampered != "" || len(s.Changed) > 0 || s.ConfigErr != nil || s.List.Err != nil {
		return Need{}
	}
	d.Next.Unnamed = ids
	if d.Verdict != Continue && d.Verdict != End || !proves {
		return Need{}
	}
	d.Verdict = ""
	return Need{Kind: NeedCommit, Proven: ids}
}

// newlyProven returns the features that this stop has proven. whole: the loop as a whole is.
func (s *Snapshot) newlyProven(whole bool) (ids []string) {
	before := *s
	before.Results = nil
	now, was := s.Proofs(), before.Proofs()
	for _, item := range s.List.Items {
		proven := now[item.ID].Proven || whole && s.wholeTree() && item.Passes && s.Holds(item.ID)
		if proven && !was[item.ID].Proven {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// unnamed returns the features that earlier stops have proven and no commit names, but for some others and those that
// were reopened.
func (d *Decision) unnamed(s *Snapshot, but []string) []string {
	return slices.DeleteFunc(slices.Clone(d.Next.Unnamed), func(id string) bool {
		item, _ := s.List.Find(id)
		return !item.Passes || slices.Contains(but, id)
	})
}
