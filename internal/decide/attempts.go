package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Failure is what the record has of a feature at which an attempt failed.
type Failure struct {
	Attempts int    `json:"attempts"` // how many failed
	Why      string `json:"why"`      // why the last one did, in a line
}

// maxFailure bounds Failure.Why, in characters.
const maxFailure = 200

// Attempt returns which attempt at its feature the loop makes, from 1; 0: it works on no feature.
func (s *State) Attempt() int {
	if s.Feature == "" {
		return 0
	}
	return s.Failures[s.Feature].Attempts + 1
}

// CountFailures returns what the record has of failed attempts with those of this stop. An attempt fails when a check
// of the claimed feature fails, or when a fresh session ends without a claim. A feature that is claimed has none.
func (s *Snapshot) CountFailures() map[string]Failure {
	if s.List.Err != nil || s.NoList {
		return s.State.Failures
	}
	counted := maps.Clone(s.State.Failures)
	maps.DeleteFunc(counted, func(id string, _ Failure) bool {
		item, has := s.List.Find(id)
		return !has || item.Passes
	})
	if s.Event != EventStop || s.NoSession || s.NoClaims {
		return counted
	}
	for id, why := range s.failedAttempts() {
		if counted == nil {
			counted = map[string]Failure{}
		}
		counted[id] = Failure{Attempts: s.State.Failures[id].Attempts + 1, Why: plain.Line(why, maxFailure)}
	}
	return counted
}

// failedAttempts returns why the attempts that failed at this stop did, by the ids of the features.
func (s *Snapshot) failedAttempts() map[string]string {
	failed := map[string]string{}
	for i := range s.Results {
		r := &s.Results[i]
		if r.Feature != "" && !r.Passed && !r.NotRun && failed[r.Feature] == "" {
			failed[r.Feature] = r.cause()
		}
	}
	for _, id := range s.Reopened {
		if r := s.FirstFailure(); r != nil && failed[id] == "" {
			failed[id] = r.cause()
		}
	}
	id := s.State.Feature
	item, has := s.List.Find(id)
	switch {
	case !s.FreshSession, !has, item.Passes, failed[id] != "":
	case !s.Refused:
		failed[id] = "its session ended without a claim"
	case s.CheckFailed:
		failed[id] = "its work was not merged, since a check failed"
	}
	return failed
}

// cause says in a line why a check failed.
func (r *Receipt) cause() string {
	first, _, _ := strings.Cut(r.Tail, "\n")
	return "the " + r.Called() + " failed: " + first
}

// SetAside returns the open features at which as many attempts have failed as limits.attempts allows, with those of
// this stop. They are not handed out.
func (s *Snapshot) SetAside() map[string]bool {
	return s.setAside(s.CountFailures())
}

func (s *Snapshot) setAside(failures map[string]Failure) map[string]bool {
	ids := map[string]bool{}
	for id, f := range failures {
		item, has := s.List.Find(id)
		if s.Limits.Attempts > 0 && f.Attempts >= s.Limits.Attempts && has && !item.Passes {
			ids[id] = true
		}
	}
	return ids
}

// Next returns the feature to work on next, false if there is none.
func (s *Snapshot) Next() (features.Item, bool) { return s.List.NextBut(s.SetAside()) }

// maxNamed is how many features an ending names.
const maxNamed = 20

// setAsideInWords names the features that are set aside, each with its last failure.
func setAsideInWords(ids map[string]bool, failures map[string]Failure) string {
	lines := make([]string, 0, maxNamed)
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if len(lines) == maxNamed {
			lines = append(lines, fmt.Sprintf("and %d more", len(ids)-maxNamed))
			break
		}
		lines = append(lines, plain.Line(id, 80)+": "+failures[id].Why)
	}
	return plain.Count(len(ids), "feature") + " set aside: " + strings.Join(lines, "; ")
}
