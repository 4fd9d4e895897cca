package decide

import "fmt"

// Rate is how many conditions held in an iteration.
type Rate struct {
	Iteration int `json:"iteration,omitzero"` // 0: not known
	Passed    int `json:"passed"`
	Total     int `json:"total,omitzero"` // 0: only Passed is counted
}

// below reports whether a smaller part of the conditions holds than before.
func (r Rate) below(before Rate) bool {
	return r.Passed*max(1, before.Total) < before.Passed*max(1, r.Total)
}

func (r Rate) String() string { return fmt.Sprintf("%d of %d", r.Passed, r.Total) }

// Rates are those of the last iterations, the oldest first.
type Rates []Rate

// maxFalls is how many times in a row a rate may not fall.
const maxFalls = 2

// Add adds the rate of an iteration, in the place of an earlier one of the same iteration.
func (r Rates) Add(now Rate) Rates {
	if n := len(r); n > 0 && now.Iteration > 0 && r[n-1].Iteration == now.Iteration {
		r = r[:n-1]
	}
	return append(r[max(0, len(r)-maxFalls):len(r):len(r)], now)
}

// Last returns the last rate alone, so that it has not fallen.
func (r Rates) Last() Rates { return r[max(0, len(r)-1):] }

// Fall reports whether the rate fell again and again: the agent breaks what worked.
func (r Rates) Fall() bool {
	for i := 1; i < len(r); i++ {
		if !r[i].below(r[i-1]) {
			return false
		}
	}
	return len(r) > maxFalls
}
