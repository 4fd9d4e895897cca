package decide

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// rule looks at a stop, or at another event, for one thing. Its zero answer leaves the event to the next rule. Some
// rules count what they look at, so what no rule came to is not counted.
type rule func(*stop) answer

// answer says what happens at a stop or another event, or what must be known first.
type answer struct {
	verdict Verdict
	binding Binding // of an event that is no stop: what changes between the session and the loop
	status  Status  // the rest of an End: how the loop ends,
	reason  string  // why,
	needs   string  // and what a person must look at
	need    Need
}

func finish(status Status, reason, needs string) answer {
	return answer{verdict: End, status: status, reason: reason, needs: needs}
}

// stopRules are asked in this order at each stop of the loop's owner. The first that answers decides. If none does, the
// loop goes on.
var stopRules = []rule{
	stopRequested,
	// What is missing, and what no agent can repair.
	listOutOfDate, unrepairable,
	// The agent wants a person, or waits.
	agentAsksForPerson, pastDeadline, backgroundWork,
	// What is claimed is proven, and there is a feature to work on.
	claimedFeatures, nextFeature,
	// The loop has used what it may use, or gets nowhere.
	outOfBudget, noProgress, setAsideLeft,
	// Another session, or a later one, is to go on.
	hourFull, sessionFull,
}

// claimedFeatures looks at what is claimed, if the stop is about that.
func claimedFeatures(st *stop) answer {
	st.next.WasComplete = false // as it was at an earlier stop
	if st.NoClaims || st.List.Err != nil {
		return answer{}
	}
	st.evidence = st.Snapshot.evidence()
	st.open = st.List.Passed() < len(st.List.Items) || st.NoList && !st.claimed()
	return st.first(checksDue, countResults, checkCutAgain, evaluators)
}

// noProgress looks for a loop that gets nowhere. While no session has ended, none could have got nowhere.
func noProgress(st *stop) answer {
	if st.NoSession {
		return answer{}
	}
	return st.first(countUnchanged, guards, stagnation, blocksIgnored, outOfAttempts)
}

// stop is a stop, or another event, about which rules are asked.
type stop struct {
	*Snapshot // what is known; no rule changes it

	d       *Decision
	next    *State // of d: the record, in which is counted
	stopped Status // with which somebody has stopped the loop; InProgress: nobody has

	evidence    evidence        // of what is claimed
	open        bool            // a feature is open, or nobody claims that a loop without a list is complete
	feature     features.Item   // to work on next
	setAsideIDs map[string]bool // the ids of the features that are set aside
	passed      bool            // a feature passed in this iteration
	hears       bool            // the agent hears of work elsewhere before the loop ends
	rate        *Rate           // the features whose own checks have passed; nil: none ever has, or nobody looked
}

// answer makes the decision as rules say.
func (st *stop) answer(rules []rule) Need {
	d, s := st.d, st.Snapshot
	a := st.first(rules...)
	switch {
	case a.need.Kind != NeedNothing:
	case a.binding != "":
		d.Verdict, d.Binding = Pass, a.binding
	case a.verdict == "":
		st.goOn()
	case a.verdict == End:
		d.Next.Needs = a.needs
		d.end(s, a.status, a.reason)
	case a.verdict == Pass:
		*d = pass(s)
	default:
		d.Verdict = a.verdict
	}
	return a.need
}

// first returns the first answer of rules.
func (st *stop) first(rules ...rule) answer {
	for _, r := range rules {
		if a := r(st); a.verdict != "" || a.binding != "" || a.need.Kind != NeedNothing {
			return a
		}
	}
	return answer{}
}

// stopRequested ends a loop that a command, or the header of progress.txt, has stopped. An agent can write the header.
func stopRequested(st *stop) answer {
	if st.stopped == InProgress {
		return answer{}
	}
	return finish(st.stopped, st.stoppedBy(), st.next.Needs)
}

func listOutOfDate(st *stop) answer {
	if !st.ListIsOld || st.ConfigErr != nil {
		return answer{}
	}
	return answer{need: Need{Kind: NeedList}}
}

// maxKilled is how many hooks in a row may be killed before the loop ends. A person who presses Esc does that once or
// twice; what does it again and again is a fault or the agent's.
const maxKilled = 3

// unrepairable looks for what no agent can repair: what kills the hook, a ralph.json that cannot be used, a list
// without items, and one that cannot be read or is not a file.
func unrepairable(st *stop) answer {
	err := st.List.Err
	switch {
	case st.Killed >= maxKilled:
		return finish(Failed, InternalError,
			fmt.Sprintf("the hook was killed at %d stops in a row: find out what kills it", st.Killed))
	case st.ConfigErr != nil:
		err = st.ConfigErr
	case err == nil || !st.List.Missing && errors.As(err, new(*jsontext.Error)):
		st.d.Problem = err
		return answer{}
	}
	st.d.Problem = err
	return finish(Failed, Unusable, plain.Line(err.Error(), 500))
}

// agentAsksForPerson reads what the agent says about the whole loop. If it says that everything is complete, that is
// only a claim.
func agentAsksForPerson(st *stop) answer {
	if st.NoSession {
		return answer{}
	}
	status, why := ReadPromise(st.Message, st.Promises)
	if st.Claim != nil {
		status, why = st.Claim.Status, st.Claim.Why
	}
	if status == Blocked || status == Escalated {
		return finish(status, Asks, plain.Line(why, 500))
	}
	st.d.Promised = status == Complete && st.Broken == ""
	return answer{}
}

func pastDeadline(st *stop) answer {
	if !st.next.PastDeadline(st.Limits, st.Now) {
		return answer{}
	}
	return finish(ReachedLimit, Deadline, "")
}

// backgroundWork waits while something in the background will wake the session. A block would only make the agent poll.
// The wait is bounded and costs no iteration.
func backgroundWork(st *stop) answer {
	if len(st.Running) == 0 {
		st.next.WaitingSince, st.next.WaitingFor = time.Time{}, ""
		return answer{}
	}
	if st.next.WaitingSince.IsZero() || st.next.WaitingSince.After(st.Now) {
		st.next.WaitingSince = st.Now
	}
	if st.Now.Sub(st.next.WaitingSince) >= st.Limits.MaxWait {
		st.next.WaitingFor = ""
		return answer{}
	}
	st.next.WaitingFor = plain.Line(strings.Join(st.Running, " and "), 300)
	return answer{verdict: Wait}
}

// claimed reports whether somebody claims that a loop without a list is complete: the agent, an evaluator's command, or
// the host. The host's claim needs checks, since an agent that gives up may end like one that is done.
func (st *stop) claimed() bool {
	says := func(a Answer) bool { return a.Action == AnswerComplete }
	return st.d.Promised || slices.ContainsFunc(st.Answers, says) || st.Claimed && len(st.Checks) > 0
}

// checksDue looks for what must happen before the claims count: checks that must run, and features to reopen because a
// check of theirs failed. While other sessions work, what was merged is proven before, and the rest when they are done.
func checksDue(st *stop) answer {
	if st.OthersWork {
		return answer{}
	}
	whole := !st.open || slices.ContainsFunc(st.Evaluators, func(e Evaluator) bool {
		return e.Preset == EvaluateValidation || e.Preset == EvaluatePromise
	})
	unknown := func(c Check, id string) bool {
		_, known := st.evidence.stored[[2]string{c.Digest, id}]
		return !known && !st.tested(c, id)
	}
	notNow := func(c Check, id string) bool { return !st.tested(c, id) }
	runs := append(st.due(st.evidence, WhenClaim, unknown), st.due(st.evidence, WhenStop, notNow)...)
	if len(runs) == 0 && whole && !slices.ContainsFunc(st.Results, hasFailed) {
		if st.Contents == "" && len(st.evidence.stored) > 0 {
			return answer{need: Need{Kind: NeedChecks}}
		}
		runs = append(st.due(st.evidence, WhenClaim, st.stale), st.due(st.evidence, WhenEnd, notNow)...)
		runs = append(runs, st.dueWithoutClaims(runs)...)
	}
	if len(runs) > 0 {
		return answer{need: Need{Kind: NeedChecks, Runs: runs}}
	}
	if len(st.Results) == 0 || st.ListNotWritten {
		return answer{}
	}
	if reopen := st.disproven(); len(reopen) > 0 {
		return answer{need: Need{Kind: NeedReopen, Reopen: reopen}}
	}
	return answer{}
}

// tested reports whether the check has a result of this stop about the feature.
func (st *stop) tested(c Check, id string) bool {
	if !c.PerClaim {
		id = ""
	}
	_, ran := st.evidence.now[[2]string{c.Digest, id}]
	return ran
}

// stale reports whether the check has to run again for a claim that it ran for before: it failed, or files have changed
// since.
func (st *stop) stale(c Check, id string) bool {
	r, has := st.evidence.stored[[2]string{c.Digest, id}]
	isOld := r.Tree == "" || r.Tree != st.Contents
	return has && !st.tested(c, id) && (isOld || !r.Passed)
}

// dueWithoutClaims returns the runs of the checks that run once for all claims, where no claim of a feature says that
// the loop is complete. Those of other runs are left out.
func (st *stop) dueWithoutClaims(other []Run) (runs []Run) {
	for _, c := range st.Checks {
		same := func(r Run) bool { return r.Check.Digest == c.Digest }
		byClaims := !st.open && len(st.subjects(st.evidence, c)) > 0
		if c.When == WhenClaim && !c.PerClaim && !byClaims && !st.tested(c, "") && !slices.ContainsFunc(other, same) {
			runs = append(runs, Run{c, ""})
		}
	}
	return runs
}

// disproven returns the claimed features that a check of this stop has disproven: the feature that it ran for, or all
// new claims. A suite may be red until the last feature, so it disproves nothing before it has passed once.
func (st *stop) disproven() (ids []string) {
	for _, c := range st.Checks {
		if c.When != WhenClaim {
			continue
		}
		disproves := func(feature string) bool {
			r, ran := st.evidence.now[[2]string{c.Digest, feature}]
			return ran && !r.Passed && !r.NotRun
		}
		switch {
		case c.PerClaim:
			for _, id := range st.subjects(st.evidence, c) {
				if disproves(id) {
					ids = append(ids, id)
				}
			}
		case disproves("") && st.hasPassed(c):
			ids = append(ids, st.newClaims(st.evidence, c)...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// countResults records the results of the checks: what they prove, which one failed, and at how many stops in a row one
// did.
func countResults(st *stop) answer {
	proven := 0
	if st.evidence.claimed != nil {
		proven = st.Snapshot.Proven()
	}
	st.next.Proven = proven
	if proven > 0 || len(st.d.From.Rates) > 0 {
		st.rate = &Rate{Passed: proven}
	}
	st.d.Failure = st.FirstFailure()
	if st.d.Failure == nil && !st.open && st.wholeTree() {
		st.next.Proven = st.Provable()
	}
	counts := func(r Receipt) bool {
		return hasFailed(r) && !r.Cut && !(r.NotRun && st.Untrusted) && !(st.open && st.MayFail(r))
	}
	fails := st.Refused || slices.ContainsFunc(st.Results, counts)
	switch {
	case fails && len(st.newProofs()) == 0:
		st.next.CheckFailures++
	case !fails && slices.ContainsFunc(st.Results, func(r Receipt) bool { return r.Cut }): // it may hold or not
	case slices.ContainsFunc(st.Results, func(r Receipt) bool { return r.Passed }):
		st.next.CheckFailures = 0
	}
	return answer{}
}

// checkCutAgain ends the loop if the time of two stops in a row was too short for a check or an evaluator, and this one
// has not even proven a feature. The agent can do nothing about it.
func checkCutAgain(st *stop) answer {
	before := st.next.Cut
	st.next.Cut = ""
	i := slices.IndexFunc(st.Results, func(r Receipt) bool { return r.Cut })
	if i < 0 {
		return answer{}
	}
	st.next.Cut = st.Results[i].Label()
	if before == "" || slices.ContainsFunc(st.Results, func(r Receipt) bool { return r.Passed && r.Feature != "" }) {
		return answer{}
	}
	return finish(Blocked, CheckTime,
		fmt.Sprintf("the time of two stops in a row was too short for the %s", st.next.Cut))
}

// evaluators asks the evaluators in order, until one says how the loop ends.
func evaluators(st *stop) answer {
	all := st.Evaluators
	if len(all) == 0 {
		all = []Evaluator{{Preset: EvaluateDefault}}
	}
	ofEvaluator := func(r Receipt) bool { return r.Check == "" }
	for i, by := range all {
		switch {
		case by.Preset != "" || i < len(st.Answers):
		case slices.ContainsFunc(st.Results, ofEvaluator):
			return answer{} // this stop has no time for more
		default:
			return answer{need: Need{Kind: NeedAnswer, Evaluator: i}}
		}
		a := st.askEvaluator(i, by)
		if a.verdict != "" || a.need.Kind != NeedNothing || st.next.WasComplete {
			return a
		}
	}
	return answer{}
}

func (st *stop) askEvaluator(i int, by Evaluator) answer {
	proven := !st.open && st.d.Failure == nil
	everyCheckPassed := func() bool { return st.d.Failure == nil && st.everyCheckRan(st.evidence) }
	validated := by.Preset == EvaluateValidation && len(st.Checks) > 0 && everyCheckPassed()
	switch {
	case by.Preset == EvaluateDefault && proven, validated && !st.open:
		return st.endComplete(AllFeaturesPass)
	case validated:
		return st.endComplete(AllChecksPass)
	case by.Preset == EvaluatePromise && st.d.Promised && everyCheckPassed():
		return st.endComplete(ByPromise)
	case by.Preset != "":
		return answer{}
	}
	a := &st.Answers[i]
	switch {
	case a.Action == AnswerComplete && proven:
		return st.endComplete(AllFeaturesPass)
	case a.Action == AnswerEscalate && by.Refused:
		return finish(Blocked, Untrusted, untrusted("evaluator "+plain.Line(by.Name, 80)))
	}
	return st.take(a)
}

// take takes an answer that does not complete the loop. Of several, the last with a prompt counts.
func (st *stop) take(a *Answer) answer {
	switch {
	case a.Action != AnswerComplete && a.Action != AnswerContinue:
		return finish(Escalated, ByEvaluator, a.Reason)
	case st.d.Answer == nil || a.Prompt != "" || st.d.Answer.Prompt == "":
		st.d.Answer = a
	}
	return answer{}
}

// endComplete ends the loop, unless other sessions work, a hook of the agent's own keeps it going, or the run has more
// to do with it. reason is that of a loop with a list.
func (st *stop) endComplete(reason string) answer {
	if st.OthersWork {
		return answer{}
	}
	if st.AgentHooks && st.HookAnswers == nil {
		return answer{need: Need{Kind: NeedHooks}}
	}
	if a := Decisive(st.HookAnswers); a != nil && a.Action != AnswerComplete {
		return st.take(a)
	}
	a, holds := st.holdsInProject()
	if !holds {
		return a
	}
	switch {
	case st.MoreToDo:
		st.next.WasComplete = true
		return answer{}
	case !st.NoList:
	case len(st.Checks) > 0:
		reason = AllChecksPass
	case st.d.Promised:
		reason = ByPromise
	default:
		reason = ByEvaluator
	}
	return finish(Complete, reason, "")
}

// FailsInProject reports whether the checks have passed with what counts and failed in the project so often that a
// person has to decide about the changes that do not count. The agent is told of the first time.
func (s State) FailsInProject() bool { return s.ProjectFailures > 1 }

// holdsInProject reports whether the checks have also passed in the project as it is, if some of its changes do not
// count. That can only keep the loop from its end.
func (st *stop) holdsInProject() (a answer, holds bool) {
	switch {
	case len(st.Checks) == 0:
		return answer{}, true
	case st.Contents == "":
		return answer{need: Need{Kind: NeedChecks}}, false
	case len(st.NotCounted) == 0:
		st.next.ProjectFailures = 0
		return answer{}, true
	case st.InProject == nil:
		return answer{need: Need{Kind: NeedProject, Runs: st.allRuns()}}, false
	}
	i := slices.IndexFunc(st.InProject, hasFailed)
	if i < 0 {
		st.next.ProjectFailures = 0
		return answer{}, true
	}
	st.d.Failure = &st.InProject[i]
	st.d.InProject = true
	st.next.ProjectFailures++
	if !st.next.FailsInProject() {
		return answer{}, false
	}
	return finish(Blocked, AllBlocked, fmt.Sprintf("the %s passes with what counts, and fails in the project as it is, "+
		"where these changes do not count: %s", st.d.Failure.Label(), Names(st.NotCounted))), false
}

// allRuns returns the runs of all checks for all that is claimed.
func (st *stop) allRuns() (runs []Run) {
	for _, c := range st.Checks {
		if !c.PerClaim {
			runs = append(runs, Run{c, ""})
			continue
		}
		for _, id := range st.subjects(st.evidence, c) {
			runs = append(runs, Run{c, id})
		}
	}
	return runs
}

// choose returns the feature to work on, zero if there is none.
func (st *stop) choose() (feature features.Item) {
	if st.HandOut.Feature != nil {
		return *st.HandOut.Feature
	}
	again := ""
	switch fail := st.d.Failure; {
	case fail == nil:
	case fail.Feature != "" && !fail.NotRun:
		again = fail.Feature
	case len(st.Reopened) > 0:
		again = st.Reopened[0]
	}
	feature, has := st.List.Find(again)
	if !has || st.setAsideIDs[again] {
		feature, _ = st.List.NextBut(st.setAsideIDs)
	}
	return feature
}

// needsTrust reports whether a person has to trust a check before it proves what is claimed. No work of the agent's
// changes that.
func (st *stop) needsTrust() bool {
	fail := st.d.Failure
	return st.Untrusted && fail != nil && fail.NotRun && !fail.Cut && (!st.NoList || st.claimed())
}

// untrusted says what did not run.
func untrusted(what string) string {
	return "nobody has trusted the loop's commands, so the " + what + " did not run"
}

// nextFeature counts the attempts that failed, and chooses what to work on. Without a feature, the session waits for
// others, or the loop for a person.
func nextFeature(st *stop) answer {
	if st.NoClaims && st.HandOut.Feature == nil {
		return answer{}
	}
	st.next.Failures = st.CountFailures()
	st.setAsideIDs = st.setAside(st.next.Failures)
	st.feature = st.choose()
	open := st.List.Err == nil && st.List.Passed() < len(st.List.Items)
	broken := st.d.Failure != nil && !st.MayFail(*st.d.Failure)
	switch {
	case st.feature.ID != "":
	case st.OthersWork:
		return answer{verdict: Wait}
	case st.needsTrust():
		return finish(Blocked, Untrusted, untrusted(st.d.Failure.Label()))
	case open && len(st.setAsideIDs) > 0 && st.HandOut.Stuck == "": // see setAsideLeft
	case open && !broken, st.HandOut.Stuck != "":
		return finish(Blocked, AllBlocked, plain.Line(cmp.Or(st.HandOut.Stuck, st.List.Stuck()), 500))
	}
	return answer{}
}

// outOfBudget looks for a loop that has had its iterations, or a host that may spend no more. While other sessions
// work, that is not the end: what they do may complete the loop.
func outOfBudget(st *stop) answer {
	over := st.next.Iteration >= st.d.Limit
	if st.HandOut.SameIteration { // a limit that was lowered ends the loop when the session has ended
		over = !st.NoSession && st.next.Iteration > st.d.Limit
	}
	switch {
	case !over && st.Why == "":
		return answer{}
	case st.OthersWork:
		return answer{verdict: Wait}
	case over:
		return finish(ReachedLimit, MaxIterations, "")
	}
	st.next.Raise = st.Raise
	return finish(ReachedLimit, Budget, st.Why)
}

// countUnchanged counts the stops in a row without a change. It looks at the list first, and only if that did not
// change at the work tree, which is slower to read.
func countUnchanged(st *stop) answer {
	if st.Limits.Stagnation == 0 {
		return answer{}
	}
	list := st.List.Digest()
	if st.List.Err != nil {
		list = "broken: " + st.List.Err.Error()
	}
	before := st.next.ListDigest
	changed := before != list
	tree := ""
	switch {
	case st.HandOut.Feature != nil:
		changed = changed || st.HandOut.NewWork
	case before != "" && changed:
		st.next.Blocks = nil // the agent must have used a tool to change the list
	case st.Tree == "":
		return answer{need: Need{Kind: NeedTree}}
	default:
		tree = st.Tree
		changed = changed || st.next.TreeDigest != tree
	}
	st.next.Unchanged++
	if changed {
		st.next.Unchanged = 1
	}
	st.next.ListDigest, st.next.TreeDigest = list, tree
	return answer{}
}

func stagnation(st *stop) answer {
	most := st.Limits.Stagnation * st.workers()
	switch {
	case most == 0 || st.next.Unchanged < most:
		return answer{}
	case st.Trees == nil && st.HandOut.Feature == nil:
		return answer{need: Need{Kind: NeedTrees}}
	case len(st.Trees) > 0 && st.next.Unchanged == most: // the agent hears of them, once
		st.hears = true
		return answer{}
	}
	when := "at %d stops in a row"
	if st.next.Run() != "" {
		when = "after %d iterations in a row"
	}
	needs := fmt.Sprintf("neither the list nor the work changed "+when, st.next.Unchanged)
	if st.d.Problem != nil {
		needs = fmt.Sprintf("the list was broken "+when+": %s", st.next.Unchanged, plain.Line(st.d.Problem.Error(), 500))
	}
	if st.Broken != "" {
		needs = st.failureText() + "; " + needs
	}
	if len(st.Trees) > 0 {
		needs += ", but files changed in other work trees: " + Names(st.Trees)
	}
	return finish(Stagnated, NoProgress, needs)
}

// failureText says how the session broke off.
func (s *Snapshot) failureText() string {
	return "the last session failed: " + plain.Line(s.Broken, 300)
}

// maxBlocks bounds the times of blocks that the record keeps for one turn.
const maxBlocks = 1000

// blocksIgnored looks for an agent that was sent on so often without a tool call that the next block is the last that
// the host honours.
func blocksIgnored(st *stop) answer {
	most := min(max(1, st.BlockCap-1), maxBlocks)
	if st.BlockCap <= 0 || len(st.next.Blocks) < most {
		return answer{}
	}
	if st.Tail == nil {
		return answer{need: Need{Kind: NeedTail}}
	}
	st.next.Blocks = slices.DeleteFunc(slices.Clone(st.next.Blocks), func(at int64) bool {
		return at < st.Tail.ToolCall.UnixMilli() || at > st.Now.UnixMilli()
	})
	if len(st.next.Blocks) < most {
		return answer{}
	}
	return finish(Stagnated, NoProgress, "the agent was sent on "+plain.Count(len(st.next.Blocks), "time")+
		" without a tool call in its transcript, and most versions of Claude Code would soon end the turn in silence")
}

// setAsideLeft ends a loop in which only features are left that are set aside, and those that wait for them. What else
// ends it says more.
func setAsideLeft(st *stop) answer {
	switch {
	case len(st.setAsideIDs) == 0 || st.feature.ID != "" || st.NoList || st.List.Passed() == len(st.List.Items):
		return answer{}
	case st.hears:
		st.feature, _ = st.List.Next()
		return answer{}
	}
	return finish(Blocked, SetAside, setAsideInWords(st.setAsideIDs, st.next.Failures))
}

// outOfAttempts looks for checks that fail again and again.
func outOfAttempts(st *stop) answer {
	most := st.Limits.CheckFailures * st.workers()
	if most == 0 || st.next.CheckFailures < most {
		return answer{}
	}
	what := "a check failed"
	switch {
	case st.d.Failure != nil:
		what = "the " + st.d.Failure.Label() + " " + st.d.Failure.Outcome()
	case len(st.next.Lanes) > 0:
		what = "a check failed, or work was in conflict,"
	}
	return finish(ReachedLimit, Attempts, fmt.Sprintf("%s at %d stops in a row", what, st.next.CheckFailures))
}

// hourFull waits for the next hour, or hands the loop over, if this hour had enough iterations.
func hourFull(st *stop) answer {
	most := st.Limits.IterationsPerHour
	if most == 0 || st.HandOut.SameIteration {
		return answer{}
	}
	hour := st.next.LastHour(st.Now)
	if len(hour) < most {
		return answer{}
	}
	st.next.RetryAt = time.Unix(hour[len(hour)-most], 0).Add(time.Hour).UTC()
	if st.next.PastDeadline(st.Limits, st.next.RetryAt) && !st.OthersWork {
		return finish(ReachedLimit, Deadline, "")
	}
	if st.HandOut.Feature == nil { // this stop comes again
		st.next.Habits = st.d.From.Habits
		if st.FreshSession {
			st.next.Failures = st.d.From.Failures
		}
	}
	if st.FreshSession {
		return answer{verdict: Wait}
	}
	return finish(Handover, IterationsPerHour, "")
}

// sessionFull hands the loop over if this session has done its features, or its conversation is long.
func sessionFull(st *stop) answer {
	if most := st.Limits.FeaturesPerSession; most > 0 && st.next.SessionPassed >= most {
		return finish(Handover, SessionFull, "this session has done its "+plain.Count(st.next.SessionPassed, "feature"))
	}
	most := st.Limits.ContextTokens
	if most == 0 {
		return answer{}
	}
	if st.Tail == nil {
		return answer{need: Need{Kind: NeedTail}}
	}
	if st.Tail.Context >= 0 {
		st.next.Context = st.Tail.Context
	}
	if st.next.Context < most {
		return answer{}
	}
	return finish(Handover, SessionFull, fmt.Sprintf("the conversation has grown to %d tokens", st.next.Context))
}

// goOn begins the next iteration.
func (st *stop) goOn() {
	d, s := st.d, st.Snapshot
	d.Verdict, d.Feature = Continue, st.feature
	d.giveNote(s, true)
	if !s.HandOut.SameIteration {
		d.countIteration(s)
	}
	d.Next.Lanes = nil
	blocks := d.Next.Blocks[max(0, len(d.Next.Blocks)-maxBlocks+1):]
	d.Next.Blocks = append(slices.Clone(blocks), s.Now.UnixMilli())
	if s.List.Err != nil {
		return // no feature is worked on
	}
	d.Next.Feature = st.feature.ID
}
