package decide

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// When a check runs.
const (
	WhenClaim = "claim" // when a feature is newly claimed, or the loop without a list
	WhenStop  = "stop"  // at each stop
	WhenEnd   = "end"   // when every feature is claimed, or the loop without a list
)

// Check is what a decision needs to know about a check.
type Check struct {
	Name     string
	Digest   string   // of all that the check does, so that an edited check has no receipts
	When     string   // WhenClaim, WhenStop or WhenEnd
	PerClaim bool     // with WhenClaim: it runs for each claimed feature, and not once for all
	Features []string // with PerClaim: the ids of the features that it is for; none: all features
}

// Run asks to run one check for a feature, or for the whole tree if Feature is empty.
type Run struct {
	Check   Check
	Feature string // id
}

// InWords says in words which checks or evaluator a need is about, "" for none.
func (s *Snapshot) InWords(need Need) string {
	if need.Kind == NeedAnswer {
		return "evaluator " + plain.Line(s.Evaluators[need.Evaluator].Name, 100)
	}
	if len(need.Runs) == 0 {
		return ""
	}
	what := need.Runs[0].Check.Name
	if id := need.Runs[0].Feature; id != "" {
		what += " of " + id
	}
	if more := len(need.Runs) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return plain.Line(what, 200)
}

// Receipt is the result of a check. The record keeps the receipts of features whose
// check passed, and the last one of a check that runs once for all claims.
type Receipt struct {
	Feature    string    `json:"feature"` // id; empty: the whole tree
	Check      string    `json:"check"`   // the check's digest; empty: of an evaluator that did not come to its end
	Name       string    `json:"name"`
	DurationMS int64     `json:"durationMs"`
	At         time.Time `json:"at"`
	Tree       string    `json:"tree"` // hash of the contents that the check ran on; empty: they could not be read
	// the check runs once for all claims, and failed when it ran last; that did not reopen the feature
	Failed bool `json:"failed,omitempty"`

	Passed bool   `json:"-"`
	NotRun bool   `json:"-"` // the check did not run to its end: the claim is neither proven nor disproven
	Cut    bool   `json:"-"` // it did not, because the time of the stop was over
	Tail   string `json:"-"` // the end of the output of a check that failed
}

// Label returns what people and the agent know by the name of the receipt.
func (r Receipt) Label() string {
	kind := "check "
	if r.Check == "" {
		kind = "evaluator "
	}
	return kind + plain.Line(r.Name, 80)
}

// Outcome says what became of a check that did not pass.
func (r Receipt) Outcome() string {
	if r.NotRun {
		return "did not run"
	}
	return "failed"
}

// evidence is what a decision knows about the claims. The key of a receipt is the check's digest
// and the feature's id.
type evidence struct {
	stored  map[[2]string]Receipt // from the record
	now     map[[2]string]Receipt // of the checks that ran at this stop
	claimed map[string]bool       // whether a feature is claimed, by its id; nil if nothing needs it
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
	if len(s.Checks) == 0 {
		return e // most loops, some with a large list, need no claims
	}
	e.claimed = make(map[string]bool, len(s.List.Items))
	for _, item := range s.List.Items {
		e.claimed[item.ID] = item.Passes
	}
	return e
}

// last returns the newest receipt of a check for a feature. If there is none, it returns a receipt
// of a check that did not pass. The result of a check that runs once for all claims is about each.
func (e evidence) last(c Check, feature string) Receipt {
	key := [2]string{c.Digest, feature}
	if r, now := e.now[key]; now {
		return r
	}
	if r, now := e.now[[2]string{c.Digest, ""}]; now && !r.NotRun {
		r.Feature = feature
		return r
	}
	return e.stored[key]
}

// due returns the runs that are due: of each check with this when, for the features that need accepts. A check that
// runs once for all claims is due if it is for one of them.
func (s *Snapshot) due(e evidence, when string, need func(c Check, id string) bool) (runs []Run) {
	for _, c := range s.Checks {
		if c.When != when {
			continue
		}
		for _, id := range s.subjects(e, c) {
			if !need(c, id) {
				continue
			}
			if !c.PerClaim {
				runs = append(runs, Run{c, ""})
				break
			}
			runs = append(runs, Run{c, id})
		}
	}
	return runs
}

// hasPassed reports whether a check that runs once for all claims has passed in this loop before this stop.
func (s *Snapshot) hasPassed(c Check) bool {
	return slices.ContainsFunc(s.Receipts, func(r Receipt) bool {
		return r.Check == c.Digest && r.Feature == "" && r.Passed
	})
}

// MayFail reports whether a check that failed says nothing against what is claimed while features are open: it is to
// pass at the end, or it runs once for all claims and has not passed in this loop.
func (s *Snapshot) MayFail(r Receipt) bool {
	return r.Feature == "" && slices.ContainsFunc(s.Checks, func(c Check) bool {
		suite := c.When == WhenClaim && !c.PerClaim
		return c.Digest == r.Check && (c.When == WhenEnd || suite && !s.hasPassed(c))
	})
}

// newClaims returns the claimed features for which a check did not run before this stop.
func (s *Snapshot) newClaims(e evidence, c Check) (ids []string) {
	for _, id := range s.subjects(e, c) {
		if _, known := e.stored[[2]string{c.Digest, id}]; !known {
			ids = append(ids, id)
		}
	}
	return ids
}

func hasFailed(r Receipt) bool { return !r.Passed }

// FirstFailure returns the result of the first check of this stop that failed and says something against what is
// claimed, else of the first that failed, else of the first that did not run; nil: all have passed.
func (s *Snapshot) FirstFailure() (failure *Receipt) {
	for i := range s.Results {
		r := &s.Results[i]
		if hasFailed(*r) && (failure == nil || s.gravity(*r) > s.gravity(*failure)) {
			failure = r
		}
	}
	return failure
}

// gravity orders the results of checks that did not pass.
func (s *Snapshot) gravity(r Receipt) int {
	switch open := s.List.Passed() < len(s.List.Items); {
	case r.NotRun:
		return 0
	case open && s.MayFail(r):
		return 1
	}
	return 2
}

// IsFor reports whether the check is for the feature.
func (c Check) IsFor(id string) bool {
	return len(c.Features) == 0 || slices.Contains(c.Features, id)
}

// allOf returns the ids of the features that a check is for.
func (s *Snapshot) allOf(c Check) (ids []string) {
	if len(c.Features) > 0 {
		return c.Features // every feature may bring a check, so a pass over the list for each is too slow
	}
	for i := range s.List.Items {
		if id := s.List.Items[i].ID; s.Holds(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// subjects returns the ids of the claimed features that a check is for. For a check that is not about claims it returns
// one empty id.
func (s *Snapshot) subjects(e evidence, c Check) (ids []string) {
	if c.When != WhenClaim {
		return []string{""}
	}
	for _, id := range s.allOf(c) {
		if e.claimed[id] && s.Holds(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Holds reports whether a person trusted the feature. A feature that an agent has added is never
// checked, because its id would reach the checks' commands.
func (s *Snapshot) Holds(id string) bool {
	item, _ := s.List.Find(id)
	return !item.IsAdded
}

// everyCheckRan reports whether each check of features has a result for each of its features. All
// of these must be claimed.
func (s *Snapshot) everyCheckRan(e evidence) bool {
	for _, c := range s.Checks {
		unclaimed := func(id string) bool { return !e.claimed[id] }
		if c.PerClaim && slices.ContainsFunc(s.allOf(c), unclaimed) {
			return false
		}
	}
	return true
}

// ReceiptsToStore returns the receipts to store. A receipt is dropped when its feature is no
// longer claimed, or its check is gone.
func (s *Snapshot) ReceiptsToStore() (kept []Receipt) {
	e := s.evidence()
	for _, c := range s.Checks {
		if c.When != WhenClaim {
			continue
		}
		if !c.PerClaim {
			kept = append(kept, s.receiptsOfAll(e, c)...)
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

// receiptsOfAll returns the receipts to store of a check that runs once for all claims: of when it passed last, and of
// the claims for which it ran. If it failed, these are proven no more, but it does not run for them again until the
// end. New claims that it disproved have none.
func (s *Snapshot) receiptsOfAll(e evidence, c Check) (kept []Receipt) {
	passed := e.last(c, "")
	if !passed.Passed {
		passed = e.stored[[2]string{c.Digest, ""}]
	}
	if passed.Passed {
		kept = append(kept, passed)
	}
	for _, id := range s.subjects(e, c) {
		r := e.last(c, id)
		_, known := e.stored[[2]string{c.Digest, id}]
		r.Failed = !r.Passed
		if r.Passed || known || r.Check != "" && !passed.Passed {
			kept = append(kept, r)
		}
	}
	return kept
}

// Proven counts the proven features.
func (s *Snapshot) Proven() int { return CountProven(s.Proofs()) }

// CountProven counts the proven features of Proofs.
func CountProven(proofs map[string]bool) (n int) {
	for _, proven := range proofs {
		if proven {
			n++
		}
	}
	return n
}

// Proofs returns of each claimed feature that has checks, by its id, whether it is proven: all of them passed.
func (s *Snapshot) Proofs() map[string]bool {
	e, all := s.evidence(), map[string]bool{}
	for _, c := range s.Checks {
		if c.When != WhenClaim {
			continue
		}
		for _, id := range s.subjects(e, c) {
			proven, seen := all[id]
			all[id] = e.last(c, id).Passed && (proven || !seen)
		}
	}
	return all
}

// newProofs returns the ids of the features that this stop has proven.
func (s *Snapshot) newProofs() (ids []string) {
	if len(s.Results) == 0 {
		return nil
	}
	now, was := s.Proofs(), s.proofsBefore()
	for i := range s.List.Items {
		if id := s.List.Items[i].ID; now[id] && !was[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// proofsBefore returns what was known before the checks of this stop ran.
func (s *Snapshot) proofsBefore() map[string]bool {
	before := *s
	before.Results = nil
	return before.Proofs()
}

// ProofsShown is Proofs for people and agents: of a complete loop, the checks of the whole tree have proven features,
// too.
func (s *Snapshot) ProofsShown() map[string]bool {
	all := s.Proofs()
	if s.State.Status == Complete && s.wholeTree() && s.State.Proven >= s.Provable() {
		for i := range s.List.Items {
			item := &s.List.Items[i]
			if item.Passes && s.Holds(item.ID) {
				all[item.ID] = true
			}
		}
	}
	return all
}

// DoneFeatures returns the ids of the features that are proven, with the loop's record as it is now. Without checks,
// they are those that are claimed.
func (s *Snapshot) DoneFeatures(state State) (ids []string) {
	now := *s
	now.State = state
	proven := now.ProofsShown()
	for i := range s.List.Items {
		item := &s.List.Items[i]
		if item.Passes && (len(s.Checks) == 0 || proven[item.ID]) {
			ids = append(ids, item.ID)
		}
	}
	return ids
}
