package run

// queue decides how much finished work is tested together, and what becomes of it. It tests all that waits; half as
// much after a failure, until the work that fails stands alone; and twice as much after a success.
type queue struct {
	limit int // how much is tested together; 0: all that waits
	moves int // how often in a row work was tested again because a person had committed meanwhile
}

// verdict is what happens to work that was merged on trial and tested.
type verdict int

const (
	merge     verdict = iota // it becomes the work of the run
	testAgain                // it waits, and is tested once more
	giveBack                 // it goes back to its agent
)

// maxMoves is how often in a row work is tested again because a person commits meanwhile.
const maxMoves = 3

// size returns how much of the waiting work is tested now.
func (q *queue) size(waiting int) int {
	if q.limit == 0 {
		return waiting
	}
	return min(waiting, q.limit)
}

// passed takes that a batch holds together. personCommitted: it was not tested with what a person committed meanwhile.
func (q *queue) passed(personCommitted bool) verdict {
	if personCommitted && q.moves < maxMoves {
		q.moves++
		return testAgain
	}
	q.moves = 0
	q.limit *= 2
	return merge
}

// failed takes that a batch of that size does not hold together.
func (q *queue) failed(size int) verdict {
	if size > 1 {
		q.limit = size / 2
		return testAgain
	}
	q.moves = 0
	return giveBack
}
