package decide

import (
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The states of a feature, for people and programs. A feature that no check has proven is called claimed.
const (
	FeatureOpen     = "open"
	FeatureSetAside = "set_aside" // open, and not handed out, because too many attempts at it failed
	FeatureClaimed  = "claimed"
	FeatureProven   = "proven"
)

// Counts counts the features of a list, for whoever shows a loop: nothing else counts them.
type Counts struct {
	Total    int      `json:"total"`
	Passed   int      `json:"passed"`   // as the list claims: those that are proven, too
	Proven   int      `json:"proven"`   // by our own checks
	Claimed  int      `json:"claimed"`  // and not proven
	SetAside int      `json:"setAside"` // of those that are open: too many attempts failed
	Added    int      `json:"added"`    // after a person trusted the list, so no check proves them
	Open     []string `json:"open"`     // ids, at most 100
}

// Remaining is how many features are open.
func (c Counts) Remaining() int { return c.Total - c.Passed }

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

// FeatureStates returns the state of each feature, in the order of the list.
func (s *Snapshot) FeatureStates() []string {
	states := make([]string, len(s.List.Items))
	proven, aside := s.ProofsShown(), s.SetAside()
	for i := range s.List.Items {
		item := &s.List.Items[i]
		switch {
		case aside[item.ID]:
			states[i] = FeatureSetAside
		case !item.Passes:
			states[i] = FeatureOpen
		case proven[item.ID]:
			states[i] = FeatureProven
		default:
			states[i] = FeatureClaimed
		}
	}
	return states
}

// Counts counts the features, with the loop's record as it is now.
func (s *Snapshot) Counts(state State) Counts {
	now := *s
	now.State = state
	open := s.List.Open()
	c := Counts{Total: len(s.List.Items), Passed: len(s.List.Items) - len(open), Open: open[:min(len(open), maxOpen)]}
	for i, state := range now.FeatureStates() {
		switch state {
		case FeatureProven:
			c.Proven++
		case FeatureClaimed:
			c.Claimed++
		case FeatureSetAside:
			c.SetAside++
		}
		if s.List.Items[i].IsAdded {
			c.Added++
		}
	}
	for i := range c.Open {
		c.Open[i] = plain.Line(c.Open[i], 80)
	}
	return c
}
