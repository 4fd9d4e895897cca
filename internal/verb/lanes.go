package verb

import (
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Lane is what one of several workers of a run has.
type Lane struct {
	Lane     int    `json:"lane"`    // from 1
	Feature  string `json:"feature"` // the id; "": none
	Title    string `json:"title"`
	Attempts int    `json:"attempts"` // failed attempts at the feature, and this one
	Works    bool   `json:"works"`    // whether it has a session, or work to merge
}

// lanes returns what the lanes have, and the next feature that none of them has.
func lanes(s *decide.Snapshot) (all []Lane, next features.Item) {
	l, state, taken := s.List.List, s.Record(), s.SetAside()
	for i, lane := range state.Lanes {
		taken[lane.Feature] = true
		item, _ := l.Find(lane.Feature)
		all = append(all, Lane{
			Lane: i + 1, Feature: plain.Line(lane.Feature, 80), Title: plain.Line(Title(item), 80),
			Attempts: state.Failures[lane.Feature].Attempts + 1, Works: lane.Iteration > 0,
		})
	}
	next, _ = l.NextBut(taken)
	return all, next
}

// String shows the lane in one line.
func (l Lane) String() string {
	switch {
	case l.Feature == "":
		return fmt.Sprintf("%d works", l.Lane)
	case !l.Works:
		return fmt.Sprintf("%d waits with %s", l.Lane, l.Feature)
	case l.Attempts > 1:
		return fmt.Sprintf("%d %s, attempt %d", l.Lane, l.Feature, l.Attempts)
	}
	return fmt.Sprintf("%d %s", l.Lane, l.Feature)
}
