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
func (st *stop) lanes() (all []Lane, own *Lane) {
	all = make([]Lane, max(st.Lane, st.Lanes))
	copy(all, st.next.Lanes)
	return all, &all[st.Lane-1]
}

// taken returns the ids of the features that the lane cannot begin: those of other lanes, those that wait for a person,
// and those that are to come later. While no other lane works, nothing has to come later.
func (st *stop) taken() map[string]bool {
	all, own := st.lanes()
	ids := st.left()
	for i := range all {
		if one := &all[i]; one != own && one.Feature != "" {
			ids[one.Feature] = true
		}
	}
	if st.othersWork() {
		for id, later := range st.Later {
			ids[id] = ids[id] || later
		}
	}
	return ids
}

// chooseOfLane returns the feature for the lane to work on, zero if there is none for it. A lane keeps its feature
// until that passes, because its work tree has work on it.
func (st *stop) chooseOfLane() features.Item {
	_, own := st.lanes()
	taken := st.taken()
	if st.d.Failure != nil && !st.needsTrust() && !taken[st.d.Failure.Feature] {
		if failed, has := st.List.Find(st.d.Failure.Feature); has {
			return failed
		}
	}
	if kept, has := st.List.Find(own.Feature); has && kept.Workable() && !taken[kept.ID] {
		return kept
	}
	next, free := st.List.NextBut(taken)
	if !free && !st.othersWork() { // a lane that does not work has it
		next, _ = st.List.NextBut(st.left())
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
func (st *stop) continues(feature string) bool {
	return st.Lane > 0 && (st.Begins && len(st.next.Lanes) == 0 || st.givenBefore(feature) > 0)
}

// givenBefore returns the iteration that was given to a feature and that no session has ended: the run was killed, or
// the lane has not begun it. It stays that feature's, also in another lane, so no number is without a session. 0: none.
func (st *stop) givenBefore(feature string) int {
	all, own := st.lanes()
	for i := range all {
		one := &all[i]
		if feature != "" && one.Feature == feature && one.Iteration > 0 && (one != own || st.Begins) {
			return one.Iteration
		}
	}
	return 0
}

// attempts returns the feature whose attempts count, and how many it has had.
func (st *stop) attempts() (feature string, count int) {
	if st.Lane == 0 || len(st.next.Lanes) == 0 {
		return st.next.Feature, st.next.Attempts
	}
	_, own := st.lanes()
	return own.Feature, own.Attempts
}

// give gives the lane a feature and an iteration. Another lane that has the feature and does not work loses it.
func (st *stop) give(feature features.Item) {
	before, attempts := st.attempts()
	again := st.continues(feature.ID)
	all, own := st.lanes()
	if before != feature.ID {
		attempts = 0
	}
	if !again || attempts == 0 {
		attempts++
	}
	iteration := st.givenBefore(feature.ID)
	if !again {
		st.d.countIteration(st.Snapshot)
	}
	if iteration == 0 {
		iteration = st.next.Iteration
	}
	for i := range all {
		if feature.ID != "" && all[i].Feature == feature.ID {
			all[i] = Lane{}
		}
	}
	*own = Lane{feature.ID, attempts, iteration}
	st.next.Lanes = all
	st.next.Feature = feature.ID
	st.next.Attempts = attempts
}

// idle leaves the lane without a session until it asks again. A lane that only asked changes nothing.
func (st *stop) idle() answer {
	if st.Begins {
		return answer{verdict: Pass}
	}
	return st.rest()
}

// rest ends the lane's iteration. The lane keeps its feature if that is still to be done.
func (st *stop) rest() answer {
	all, own := st.lanes()
	feature, has := st.List.Find(own.Feature)
	own.Iteration = 0
	if !has || !feature.Workable() || st.taken()[own.Feature] {
		*own = Lane{}
	}
	st.next.Lanes = all
	shown := slices.IndexFunc(all, func(l Lane) bool { return l.Feature != "" })
	st.next.Feature, st.next.Attempts = "", 0
	if shown >= 0 {
		st.next.Feature, st.next.Attempts = all[shown].Feature, all[shown].Attempts
	}
	return answer{verdict: Wait}
}

// lanePassed reports whether nothing is left to do of the lane's feature: it has passed, or waits for a person.
func (st *stop) lanePassed() bool {
	if st.Lane == 0 || st.Begins {
		return false
	}
	_, own := st.lanes()
	feature, has := st.List.Find(own.Feature)
	return has && feature.Passes || st.Left[own.Feature] != ""
}
