package decide

// A run may have several workers at once, which are called lanes. The run hands out the work; the record says what each
// has, and what one agent may do in a row, each of them may do.

// MaxLanes bounds the lanes of a run.
const MaxLanes = 256

// Lane is what the record has of one lane.
type Lane struct {
	Feature   string `json:"feature,omitempty"`   // the id of the feature that it has; "": none
	Iteration int    `json:"iteration,omitempty"` // the iteration that it works on; 0: it has no session
}

// forLanes returns the limits of n lanes together.
func (l Limits) forLanes(n int) Limits {
	l.Stagnation *= max(1, n)
	l.CheckFailures *= max(1, n)
	return l
}

// workers returns how many agents work at once.
func (s *Snapshot) workers() int { return max(1, len(s.State.Lanes)) }
