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
	Exit       int       `json:"exit"` // of its command, -1 where it did not end by itself; 1 for a condition that does not hold
	DurationMS int64     `json:"durationMs"`
	Output     string    `json:"output"` // sha256 of its output
	At         time.Time `json:"at"`
	Tree       string    `json:"tree"` // of the contents it was made on; empty where they could not be read

	Passed bool   `json:"-"`
	Tail   string `json:"-"` // of the output, where it failed
}

// Proof tells how the claims of the list stand.
type Proof struct {
	Proven int // claimed features all of whose checks have passed
	Stale  int // of those: on other contents than now
}

// evidence is what is known of the claims: stored receipts, and the results of
// this stop's checks, by check and feature.
type evidence struct {
	stored, now map[[2]string]Receipt
}

func (s Snapshot) evidence() evidence {
	index := func(all []Receipt) map[[2]string]Receipt {
		m := make(map[[2]string]Receipt, len(all))
		for _, r := range all {
			m[[2]string{r.Check, r.Feature}] = r
		}
		return m
	}
	return evidence{index(s.Receipts), index(s.Results)}
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
func (s Snapshot) due(when string, need func(key [2]string) bool) (runs []Run) {
	for _, c := range s.Checks {
		for _, id := range s.subjects(c, when) {
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

// subjects are the features a check of when has to hold for now; the empty one
// is the whole tree.
func (s Snapshot) subjects(c Check, when string) (ids []string) {
	switch {
	case c.When != when:
		return nil
	case when != WhenFeature:
		return []string{""}
	}
	for _, item := range s.List.Items {
		if item.Passes && c.Covers(item.ID) {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// evaluate asks for the checks that are due, and for the reopening of features
// whose claim failed. With ok the verdict is made; else a feature is to be worked
// on, which d.Failure names if it is one that failed.
func (d *Decision) evaluate(s Snapshot) (_ Decision, ok bool) {
	e := s.evidence()
	lacks := func(m map[[2]string]Receipt) func([2]string) bool {
		return func(key [2]string) bool { _, has := m[key]; return !has }
	}
	unknown := func(key [2]string) bool { return lacks(e.stored)(key) && lacks(e.now)(key) }
	_, open := s.List.Next()
	runs := append(s.due(WhenFeature, unknown), s.due(WhenIteration, lacks(e.now))...)
	if len(runs) == 0 && !open && !slices.ContainsFunc(s.Results, failed) {
		stale := func(key [2]string) bool {
			r, has := e.stored[key]
			return has && lacks(e.now)(key) && (s.Recheck == RecheckAll || s.Recheck == RecheckStale && (r.Tree == "" || r.Tree != s.Contents))
		}
		if s.Contents == "" && len(e.stored) > 0 && s.Recheck == RecheckStale {
			return Decision{Verdict: NeedChecks}, true
		}
		runs = append(s.due(WhenFeature, stale), s.due(WhenComplete, lacks(e.now))...)
	}
	if len(runs) > 0 {
		return Decision{Verdict: NeedChecks, Runs: runs}, true
	}
	var reopen []string
	for _, r := range s.Results {
		if item, has := s.List.Find(r.Feature); !r.Passed && has && item.Passes && !slices.Contains(reopen, r.Feature) {
			reopen = append(reopen, r.Feature)
		}
	}
	if len(reopen) > 0 && !s.Unwritten {
		return Decision{Verdict: NeedReopen, Reopen: reopen}, true
	}
	d.Next.Proven = s.Proof().Proven
	if i := slices.IndexFunc(s.Results, failed); i >= 0 {
		d.Failure = &s.Results[i]
		d.Next.CheckFailures++
		return Decision{}, false
	}
	if len(s.Results) > 0 {
		d.Next.CheckFailures = 0
	}
	if open {
		return Decision{}, false
	}
	if slices.ContainsFunc(s.Checks, func(c Check) bool { return c.When != WhenFeature }) {
		d.Next.Proven = len(s.List.Items) // by the checks of the whole tree
	}
	return d.end(s, Complete, AllFeaturesPass), true
}

// Kept returns the receipts to store: of features that are still claimed, by
// checks that there still are.
func (s Snapshot) Kept() (kept []Receipt) {
	e := s.evidence()
	for _, c := range s.Checks {
		for _, id := range s.subjects(c, WhenFeature) {
			if r := e.last(c, id); r.Passed {
				kept = append(kept, r)
			}
		}
	}
	return kept
}

// Proof counts the claims that are proven.
func (s Snapshot) Proof() (p Proof) {
	e := s.evidence()
	for _, item := range s.List.Items {
		proven, stale := 0, false
		for _, c := range s.Checks {
			if c.When != WhenFeature || !c.Covers(item.ID) {
				continue
			}
			r := e.last(c, item.ID)
			if proven++; !r.Passed || !item.Passes {
				proven = 0
				break
			}
			stale = stale || s.Contents != "" && r.Tree != s.Contents
		}
		if proven > 0 {
			p.Proven++
			if stale {
				p.Stale++
			}
		}
	}
	return p
}
