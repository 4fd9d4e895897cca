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

	Check string `json:"check,omitempty"` // the digest of the check that failed in the last one; "": none did
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

// CountFailures returns what the record has of failed attempts with that of this stop. An attempt at the feature that
// was handed out fails when a check of its claim fails, or when a fresh session ends without a claim. A feature that is
// claimed has none, and neither has one that failed at a check of the whole tree that passes now.
func (s *Snapshot) CountFailures() map[string]Failure {
	if s.List.Err != nil || s.NoList {
		return s.State.Failures
	}
	counted := maps.Clone(s.State.Failures)
	maps.DeleteFunc(counted, func(id string, f Failure) bool {
		item, has := s.List.Find(id)
		passes := func(r Receipt) bool { return r.Passed && r.Feature == "" && r.Check == f.Check }
		return !has || item.Passes || slices.ContainsFunc(s.Results, passes)
	})
	if s.Event != EventStop || s.NoSession || s.NoClaims || len(s.Results) == 0 && !s.FreshSession {
		return counted
	}
	id := s.handedOut()
	f := s.failedAttempt(id)
	if f.Why == "" {
		return counted
	}
	if counted == nil {
		counted = map[string]Failure{}
	}
	f.Attempts = counted[id].Attempts + 1
	f.Why = plain.Line(f.Why, maxFailure)
	counted[id] = f
	return counted
}

// handedOut returns the id of the feature that the agent was asked for. After 'resume' in its session that may be none;
// then it is the first of which a claim fails.
func (s *Snapshot) handedOut() string {
	if s.State.Feature != "" {
		return s.State.Feature
	}
	if r := s.FirstFailure(); r != nil {
		return r.Feature
	}
	return ""
}

// failedAttempt returns why the attempt at a feature failed at this stop; no Why: it did not. A claim of a feature that
// nobody asked for is no attempt.
func (s *Snapshot) failedAttempt(id string) Failure {
	item, has := s.List.Find(id)
	if !has || item.Passes {
		return Failure{}
	}
	for i := range s.Results {
		if r := &s.Results[i]; r.Feature == id && !r.Passed && !r.NotRun {
			return Failure{Why: r.cause(), Check: r.Check}
		}
	}
	r := s.FirstFailure()
	switch {
	case slices.Contains(s.Reopened, id) && r != nil:
		return Failure{Why: r.cause(), Check: r.Check}
	case !s.FreshSession:
		return Failure{}
	case !s.Refused && !item.InFile():
		return Failure{Why: "its entry is not in the list, so nobody can claim it"}
	case !s.Refused && s.Broken != "":
		return Failure{Why: s.failureText()}
	case !s.Refused:
		return Failure{Why: "its session ended without a claim"}
	case s.CheckFailed:
		return Failure{Why: "its work was not merged, since a check failed"}
	}
	return Failure{}
}

// cause says in a line why a check failed.
func (r *Receipt) cause() string {
	first, _, _ := strings.Cut(r.Tail, "\n")
	return "the " + r.Label() + " failed: " + first
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
