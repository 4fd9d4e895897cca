package run

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// turn is the turn of one lane: its session has ended, or it has none and asks for work. The loop's rules know one
// agent at one feature. So the run hands out the features, asks the rules with a snapshot of what the lane has, and
// puts into the record what all lanes have then.
type turn struct {
	lane, lanes int               // the number of the lane, from 1; how many there are
	worker      string            // who has worked the session elsewhere, and is not to be believed; "": nobody
	newWork     bool              // the session changed files of the lane's work tree
	patient     bool              // a list or a configuration that cannot be used changes nothing: a better one may come
	later       map[string]bool   // ids of features that no lane may begin while other lanes work
	branches    map[string]string // those that wait for a person, by the id of the feature
}

// decide asks the loop's rules about the lane.
func (t turn) decide(s decide.Snapshot) (decide.Decision, decide.Need) {
	was := s.State
	pass := decide.Decision{Verdict: decide.Pass, Next: was, From: was}
	if t.patient && unusable(&s) != nil && s.RequestedStatus() == decide.InProgress {
		return pass, decide.Need{}
	}
	h := handout{turn: t, Snapshot: &s, all: make([]decide.Lane, max(t.lane, t.lanes))}
	copy(h.all, was.Lanes)
	h.lane = &h.all[t.lane-1]
	h.showRecord()
	h.showFeature(len(was.Lanes) == 0)
	h.showWork()
	d, need := decide.Decide(s)
	d.From, d.Lane = was, t.lane
	switch {
	case d.Verdict == decide.Pass, d.Verdict == decide.Wait && s.NoSession && d.Next.RetryAt.IsZero():
		return pass, need // a lane that only asked changes nothing
	case d.Verdict == decide.Continue:
		h.give(&d)
	case d.Verdict == decide.Wait:
		h.rest(&d)
	case t.worker != "" && slices.Contains([]string{decide.Asks, decide.PermissionDenied}, d.Next.ExitReason):
		d.Next.Needs = "the worker " + plain.Line(t.worker, 80) + " says: " + d.Next.Needs
	}
	return d, need
}

// handout is a turn about which the rules are asked.
type handout struct {
	turn
	*decide.Snapshot
	all  []decide.Lane // what the lanes have
	lane *decide.Lane
}

// showRecord shows what the lane has. An agent in a lane has copies: it can put nothing back, and repair no list.
func (h *handout) showRecord() {
	if len(h.State.Lanes) > 0 {
		h.State.Feature = h.lane.Feature
	}
	h.State.Lanes = h.all
	if h.List.Err != nil {
		h.List.Err = errors.New(h.List.Err.Error())
	}
}

// showFeature shows what the lane gets next. If it only asks, and there is a feature for it or others work, it need not
// know how the loop stands. first: no lane has had anything, so it gets the iteration that the record has.
func (h *handout) showFeature(first bool) {
	feature := h.choose(nil)
	h.NoClaims = h.NoSession && (h.OthersWork || feature.ID != "")
	if failure := h.FirstFailure(); !h.NoClaims {
		feature = h.choose(failure)
		h.HandOut.Stuck = h.stuck(failure)
	}
	h.HandOut.Feature = &feature
	h.HandOut.SameIteration = h.NoSession && first || h.pendingIteration(feature.ID) > 0
}

// showWork shows what the session did. Lanes work in trees of their own, so nobody looks at the project's.
func (h *handout) showWork() {
	feature, has := h.List.Find(h.lane.Feature)
	done := !h.NoSession && (has && feature.Passes || h.branches[h.lane.Feature] != "")
	h.HandOut.NewWork, h.Changes = h.newWork || done, nil
	if done && h.List.Err == nil {
		h.State.Passed = min(h.State.Passed, h.List.Passed()-1) // the turn of another lane may have counted it
	}
	if done && !h.Refused && len(h.Results) == 0 {
		h.State.CheckFailures = 0
	}
}

// unavailable returns the ids of the features that the lane cannot begin: those of other lanes, those that wait for a
// person, and those that are to come later. While no other lane works, nothing has to come later.
func (h *handout) unavailable() map[string]bool {
	ids := h.waiting()
	for i := range h.all {
		if one := &h.all[i]; one != h.lane && one.Feature != "" {
			ids[one.Feature] = true
		}
	}
	if h.OthersWork {
		maps.Copy(ids, h.later)
	}
	return ids
}

// waiting returns the ids of the features that wait for a person, or are set aside.
func (h *handout) waiting() map[string]bool {
	ids := h.SetAside()
	for id := range h.branches {
		ids[id] = true
	}
	return ids
}

// choose returns the feature for the lane to work on, zero if there is none for it. A lane keeps its feature until that
// passes, because its work tree has work on it. What a check failed for comes first, unless the check waits for trust.
func (h *handout) choose(failure *decide.Receipt) features.Item {
	taken := h.unavailable()
	if failure != nil && !(h.Untrusted && failure.NotRun && !failure.Cut) && !taken[failure.Feature] {
		if failed, has := h.List.Find(failure.Feature); has {
			return failed
		}
	}
	if kept, has := h.List.Find(h.lane.Feature); has && kept.Workable() && !taken[kept.ID] {
		return kept
	}
	next, free := h.List.NextBut(taken)
	if !free && !h.OthersWork { // a lane that does not work has it
		next, _ = h.List.NextBut(h.waiting())
	}
	return next
}

// stuck says why nobody can work on what is open, or on what the loop as a whole lacks, if a person is to look at
// branches first.
func (h *handout) stuck(failure *decide.Receipt) string {
	var branches []string
	for _, id := range slices.Sorted(maps.Keys(h.branches)) {
		if item, has := h.List.Find(id); id == "" || has && !item.Passes {
			branches = append(branches, h.branches[id])
		}
	}
	if len(branches) == 0 || failure != nil && h.branches[""] == "" {
		return ""
	}
	look := "a person is to look at " + decide.Names(branches) + ", and to merge that or fix it there"
	return strings.TrimSuffix(look+"; "+h.List.Stuck(), "; ")
}

// pendingIteration returns the iteration that was given to a feature and that no session has ended: the run was killed,
// or the lane has not started it. It stays that feature's, also in another lane, so no number is without a session. 0:
// no iteration.
func (h *handout) pendingIteration(feature string) int {
	for i := range h.all {
		one := &h.all[i]
		if feature != "" && one.Feature == feature && one.Iteration > 0 && (one != h.lane || h.NoSession) {
			return one.Iteration
		}
	}
	return 0
}

// give gives the lane its feature and an iteration. Another lane that has the feature and does not work loses it.
func (h *handout) give(d *decide.Decision) {
	given := decide.Lane{
		Feature: d.Feature.ID, Iteration: cmp.Or(h.pendingIteration(d.Feature.ID), d.Next.Iteration),
	}
	for i := range h.all {
		if given.Feature != "" && h.all[i].Feature == given.Feature {
			h.all[i] = decide.Lane{}
		}
	}
	*h.lane = given
	d.Next.Lanes = h.all
}

// rest ends the lane's iteration. The lane keeps its feature if that is still to be done.
func (h *handout) rest(d *decide.Decision) {
	feature, has := h.List.Find(h.lane.Feature)
	h.lane.Iteration = 0
	if !has || !feature.Workable() || h.unavailable()[h.lane.Feature] {
		*h.lane = decide.Lane{}
	}
	d.Next.Lanes = h.all
	d.Next.Feature = ""
	shown := slices.IndexFunc(h.all, func(l decide.Lane) bool { return l.Feature != "" })
	if shown >= 0 {
		d.Next.Feature = h.all[shown].Feature
	}
	d.Next.Header = decide.HeaderOf(d.Next, d.Limit)
}
