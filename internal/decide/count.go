package decide

import "github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"

// Counts is the state of a list in a payload and in `status --json`.
type Counts struct {
	Total  int      `json:"total"`
	Passed int      `json:"passed"` // as the list claims
	Proven int      `json:"proven"` // by our own checks
	Open   []string `json:"open"`   // ids, at most 100
}

const maxOpen = 100

// Count counts the features of the list. proven is how many of them our checks have proven.
func (l List) Count(proven int) Counts {
	open := l.Open()
	for i := range open {
		open[i] = plain.Line(open[i], 80)
	}
	passed := l.Passed()
	return Counts{
		Total: len(l.Items), Passed: passed, Proven: min(proven, passed), Open: open[:min(len(open), maxOpen)],
	}
}
