package decide

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// A run may have several workers at once, which are called lanes. One process takes the steps of all of them, one
// after the other, so a decision is about one lane, and it knows what the others have.

// MaxLanes bounds the lanes of a run.
const MaxLanes = 256

// Lane is what the record has of one lane.
type Lane struct {
	Feature   string `json:"feature,omitempty"`   // the id of the feature that it has; "": none
	Attempts  int    `json:"attempts,omitempty"`  // iterations in a row given to Feature
	Iteration int    `json:"iteration,omitempty"` // the iteration that it works on; 0: it has no session
}

// mostAttempts returns how many iterations in a row the feature got that got most.
func (s *State) mostAttempts() int {
	most := s.Attempts
	for _, l := range s.Lanes {
		most = max(most, l.Attempts)
	}
	return most
}

// forLanes returns the limits of n lanes together. What one agent may do in a row, each lane may do.
func (l Limits) forLanes(n int) Limits {
	l.Stagnation *= max(1, n)
	l.CheckFailures *= max(1, n)
	return l
}

// workers returns how many agents work at once. Whoever only looks at a run with lanes says no number.
func (s *Snapshot) workers() int {
	if s.Lanes == 0 {
		return max(1, len(s.State.Lanes))
	}
	return s.Lanes
}

// othersWork reports whether other lanes have sessions, or work that is to be merged.
func (s *Snapshot) othersWork() bool { return s.Lane > 0 && s.Round.Busy > 0 }

// lanes returns what each lane has, and what this one has.
func (d *Decision) lanes(s *Snapshot) (all []Lane, own *Lane) {
	all = make([]Lane, max(s.Lane, s.Lanes))
	copy(all, d.Next.Lanes)
	return all, &all[s.Lane-1]
}

// taken returns the ids of the features that the lane cannot begin: those of other lanes, those that wait for a person,
// and those that are to come later. While no other lane works, nothing has to come later.
func (d *Decision) taken(s *Snapshot) map[string]bool {
	all, own := d.lanes(s)
	ids := s.left()
	for i := range all {
		if one := &all[i]; one != own && one.Feature != "" {
			ids[one.Feature] = true
		}
	}
	if s.othersWork() {
		for id, later := range s.Later {
			ids[id] = ids[id] || later
		}
	}
	return ids
}

// chooseOfLane returns the feature for the lane to work on, zero if there is none for it. A lane keeps its feature
// until that passes, because its work tree has work on it.
func (d *Decision) chooseOfLane(s *Snapshot) features.Item {
	_, own := d.lanes(s)
	taken := d.taken(s)
	if d.Failure != nil && !d.needsTrust(s) && !taken[d.Failure.Feature] {
		if failed, has := s.List.Find(d.Failure.Feature); has {
			return failed
		}
	}
	if kept, has := s.List.Find(own.Feature); has && kept.Workable() && !taken[kept.ID] {
		return kept
	}
	next, free := s.List.NextBut(taken)
	if !free && !s.othersWork() { // a lane that does not work has it
		next, _ = s.List.NextBut(s.left())
	}
	return next
}

// left returns the ids of the features that wait for a person.
func (s *Snapshot) left() map[string]bool {
	ids := make(map[string]bool, len(s.Left))
	for id := range s.Left {
		ids[id] = true
	}
	return ids
}

// stuck says why nobody can work on what is open.
func (s *Snapshot) stuck() string {
	var branches []string
	for _, id := range slices.Sorted(maps.Keys(s.Left)) {
		if item, has := s.List.Find(id); id == "" || has && !item.Passes {
			branches = append(branches, s.Left[id])
		}
	}
	why := s.List.Stuck()
	if len(branches) > 0 {
		look := "a person is to look at " + Names(branches) + ", and to merge that or mend it in its worktree"
		why = strings.TrimSuffix(look+"; "+why, "; ")
	}
	return why
}

// continues reports whether the lane gets an iteration that was given before. The first lane that begins gets the one
// that the record has, which nobody has worked on.
func (d *Decision) continues(s *Snapshot, feature string) bool {
	return s.Lane > 0 && (s.Begins && len(d.Next.Lanes) == 0 || d.givenBefore(s, feature) > 0)
}

// givenBefore returns the iteration that was given to a feature and that no session has ended: the run was killed, or
// the lane has not begun it. It stays that feature's, also in another lane, so no number is without a session. 0: none.
func (d *Decision) givenBefore(s *Snapshot, feature string) int {
	all, own := d.lanes(s)
	for i := range all {
		one := &all[i]
		if feature != "" && one.Feature == feature && one.Iteration > 0 && (one != own || s.Begins) {
			return one.Iteration
		}
	}
	return 0
}

// attempts returns the feature whose attempts count, and how many it has had.
func (d *Decision) attempts(s *Snapshot) (feature string, count int) {
	if s.Lane == 0 || len(d.Next.Lanes) == 0 {
		return d.Next.Feature, d.Next.Attempts
	}
	_, own := d.lanes(s)
	return own.Feature, own.Attempts
}

// give gives the lane a feature and an iteration. Another lane that has the feature and does not work loses it.
func (d *Decision) give(s *Snapshot, feature features.Item) {
	before, attempts := d.attempts(s)
	again := d.continues(s, feature.ID)
	all, own := d.lanes(s)
	if before != feature.ID {
		attempts = 0
	}
	if !again || attempts == 0 {
		attempts++
	}
	iteration := d.givenBefore(s, feature.ID)
	if !again {
		d.countIteration(s)
	}
	if iteration == 0 {
		iteration = d.Next.Iteration
	}
	for i := range all {
		if feature.ID != "" && all[i].Feature == feature.ID {
			all[i] = Lane{}
		}
	}
	*own = Lane{feature.ID, attempts, iteration}
	d.Next.Lanes = all
	d.Next.Feature = feature.ID
	d.Next.Attempts = attempts
}

// idle leaves the lane without a session until it asks again. A lane that only asked changes nothing.
func (d *Decision) idle(s *Snapshot) {
	if s.Begins {
		*d = pass(s)
		return
	}
	d.rest(s)
}

// rest ends the lane's iteration. The lane keeps its feature if that is still to be done.
func (d *Decision) rest(s *Snapshot) {
	all, own := d.lanes(s)
	feature, has := s.List.Find(own.Feature)
	own.Iteration = 0
	if !has || !feature.Workable() || d.taken(s)[own.Feature] {
		*own = Lane{}
	}
	d.Verdict, d.Next.Lanes = Wait, all
	shown := slices.IndexFunc(all, func(l Lane) bool { return l.Feature != "" })
	d.Next.Feature, d.Next.Attempts = "", 0
	if shown >= 0 {
		d.Next.Feature, d.Next.Attempts = all[shown].Feature, all[shown].Attempts
	}
}

// lanePassed reports whether nothing is left to do of the lane's feature: it has passed, or waits for a person.
func (d *Decision) lanePassed(s *Snapshot) bool {
	if s.Lane == 0 || s.Begins {
		return false
	}
	_, own := d.lanes(s)
	feature, has := s.List.Find(own.Feature)
	return has && feature.Passes || s.Left[own.Feature] != ""
}
