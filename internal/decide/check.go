package decide

import (
	"slices"
	"time"
)

// When a check is due.
const (
	WhenFeature   = "feature"   // a feature is newly claimed
	WhenIteration = "iteration" // at each stop
	WhenComplete  = "complete"  // every feature is claimed
)

// What becomes of stale receipts when every feature is claimed.
const (
	RecheckStale = "stale" // they are made again
	RecheckAll   = "all"   // and fresh ones too, unless this stop made them
	RecheckNever = "never" // they count as they are
)

// Check is what a decision has to know of a check.
type Check struct {
	Name     string
	Digest   string   // of all that it does: an edited check has no receipts
	When     string   // WhenFeature, WhenIteration or WhenComplete
	Features []string // ids that it is for; none: all
}

// Run asks for one check, of a feature or (empty) of the whole tree.
type Run struct {
	Check   Check
	Feature string
}

// Receipt is the result of a check. Those of features are stored, if they passed.
type Receipt struct {
	Feature    string    `json:"feature"` // empty: of the whole tree
	Check      string    `json:"check"`   // its digest
	Name       string    `json:"name"`
	DurationMS int64     `json:"durationMs"`
	At         time.Time `json:"at"`
	Tree       string    `json:"tree"` // of the contents it was made on; empty where they could not be read

	Passed bool   `json:"-"`
	NotRun bool   `json:"-"` // it proves nothing, and disproves nothing
	Tail   string `json:"-"` // of the output, where it failed
}

// Proof tells how the claims of the list stand.
type Proof struct {
	Proven int // claimed features all of whose checks have passed
	Stale  int // of those: on other contents than now
	Manual int // claimed features that say something only a person can look at
}

// evidence is what is known of the claims: stored receipts, and the results of
// this stop's checks, by check and feature; and whether a feature is claimed.
type evidence struct {
	stored, now map[[2]string]Receipt
	claimed     map[string]bool
}

func (s *Snapshot) evidence() evidence {
	index := func(all []Receipt) map[[2]string]Receipt {
		m := make(map[[2]string]Receipt, len(all))
		for _, r := range all {
			m[[2]string{r.Check, r.Feature}] = r
		}
		return m
	}
	e := evidence{stored: index(s.Receipts), now: index(s.Results)}
	if len(s.Checks)+len(s.Manual) == 0 {
		return e // most lists, some of them large
	}
	e.claimed = make(map[string]bool, len(s.List.Items))
	for _, item := range s.List.Items {
		e.claimed[item.ID] = item.Passes
	}
	return e
}

// last returns the newest receipt of a check, one that did not pass where there
// is none.
func (e evidence) last(c Check, feature string) Receipt {
	key := [2]string{c.Digest, feature}
	if r, now := e.now[key]; now {
		return r
	}
	return e.stored[key]
}

// due returns the checks of when that need says have to be run.
func (s *Snapshot) due(e evidence, when string, need func(key [2]string) bool) (runs []Run) {
	for _, c := range s.Checks {
		if c.When != when {
			continue
		}
		for _, id := range s.subjects(e, c) {
			if need([2]string{c.Digest, id}) {
				runs = append(runs, Run{c, id})
			}
		}
	}
	return runs
}

func failed(r Receipt) bool { return !r.Passed }

// Covers tells whether the check is one of the feature's.
func (c Check) Covers(id string) bool {
	return len(c.Features) == 0 || slices.Contains(c.Features, id)
}

// subjects are the claimed features that a check has to hold for now; the empty
// one is the whole tree.
func (s *Snapshot) subjects(e evidence, c Check) (ids []string) {
	if c.When != WhenFeature {
		return []string{""}
	}
	for _, id := range c.Features {
		if e.claimed[id] {
			ids = append(ids, id)
		}
	}
	if len(c.Features) > 0 {
		return ids // without a look at the list: each of its features may bring a check
	}
	for _, item := range s.List.Items {
		if item.Passes {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// Kept returns the receipts to store: of features that are still claimed, by
// checks that there still are.
func (s *Snapshot) Kept() (kept []Receipt) {
	e := s.evidence()
	for _, c := range s.Checks {
		if c.When != WhenFeature {
			continue
		}
		for _, id := range s.subjects(e, c) {
			if r := e.last(c, id); r.Passed {
				kept = append(kept, r)
			}
		}
	}
	return kept
}

// Proof counts the claims that are proven.
func (s *Snapshot) Proof() (p Proof) {
	e := s.evidence()
	type sum struct{ lacking, stale bool }
	sums := map[string]sum{} // of the claimed features that have checks
	for _, c := range s.Checks {
		if c.When != WhenFeature {
			continue
		}
		for _, id := range s.subjects(e, c) {
			r, of := e.last(c, id), sums[id]
			of.lacking = of.lacking || !r.Passed
			of.stale = of.stale || s.Contents != "" && r.Tree != s.Contents
			sums[id] = of
		}
	}
	for _, of := range sums {
		if !of.lacking {
			p.Proven++
			if of.stale {
				p.Stale++
			}
		}
	}
	for id := range s.Manual {
		if e.claimed[id] {
			p.Manual++
		}
	}
	return p
}
