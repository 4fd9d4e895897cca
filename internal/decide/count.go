package decide

import (
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Counts is the state of a list in a payload and in `status --json`.
type Counts struct {
	Total  int      `json:"total"`
	Passed int      `json:"passed"` // as the list claims
	Proven int      `json:"proven"` // by our own checks
	Open   []string `json:"open"`   // ids, at most 100
}

const maxOpen = 100

// Unproven says which claimed features came into the list after a person trusted its checks, which prove none of these;
// "" if there are none.
func (s *Snapshot) Unproven() string {
	var ids []string
	for i := range s.List.Items {
		if item := &s.List.Items[i]; item.IsAdded && item.Passes {
			ids = append(ids, plain.Line(item.ID, 80))
		}
	}
	switch {
	case len(s.Checks) == 0, len(ids) == 0:
		return ""
	case len(ids) == 1:
		return "1 added feature is not proven: " + ids[0]
	}
	return fmt.Sprintf("%d added features are not proven: %s", len(ids), Names(ids))
}

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
