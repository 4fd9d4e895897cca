package verb

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Phase says what a loop does, in words that all views share.
type Phase string

// The phases. A loop that is over may need somebody, too.
const (
	NotStarted Phase = "never begun"
	Working    Phase = "working"   // a session or a run is at it, as far as can be seen
	Stuck      Phase = "STUCK"     // likewise, but all its sessions have been silent for long
	Waiting    Phase = "waiting"   // for background work, or for a provider; it goes on by itself
	NeedsYou   Phase = "needs you" // Status.Then says what to do
	Ended      Phase = "ended"
)

// phase returns the phase of a loop, of which everything else is known, and since when it lasts, if that is known.
func phase(v *Status, p *loop.Picture, state decide.State, run *ran) (now Phase, since time.Time) {
	switch state.Status {
	case decide.InProgress:
	case decide.Paused, decide.Cancelled:
		switch {
		case run.inSession(state) && !v.stuck.IsZero():
			return Stuck, v.stuck
		case run.inSession(state):
			return Working, state.Seen
		case state.Status == decide.Cancelled:
			return Ended, state.EndedAt
		}
		return NeedsYou, state.EndedAt
	case decide.Complete, decide.ReachedLimit, decide.Stagnated, decide.Failed:
		return Ended, state.EndedAt
	default:
		return NeedsYou, state.EndedAt
	}
	s := &p.Snapshot
	hook := p.Checking()
	switch {
	case v.Doom != "":
		return NeedsYou, time.Time{}
	case s.Brought == "" && state.StartedAt.IsZero() && !state.Waits:
		return NotStarted, time.Time{}
	case p.Stale():
		return NeedsYou, state.Seen
	case hook != nil:
		return Working, hook.Since
	case s.CutOff != nil:
		return NeedsYou, s.CutOff.Since
	case state.Session == "", state.Waits:
		return NeedsYou, state.Seen
	case v.stopped > 0:
		return NeedsYou, time.Time{}
	case state.WaitingFor != "" && time.Now().After(v.Waits.Until): // only its client's next event continues it
		return NeedsYou, v.Waits.Until
	case v.Waits != nil:
		return Waiting, v.Waits.Since
	case hasHookProblem(p, state):
		return NeedsYou, time.Time{}
	case !state.Idle.IsZero():
		return NeedsYou, state.Idle
	case v.trouble != "":
		return NeedsYou, time.Time{}
	case !v.stuck.IsZero():
		return Stuck, v.stuck
	}
	return Working, state.Seen
}

// hasHookProblem reports whether the loop belongs to a session whose stops do not reach it. Those of a client that
// takes its features by MCP need not.
func hasHookProblem(p *loop.Picture, state decide.State) bool {
	why, _ := say.LoopHookProblem(p, state)
	return why != "" && !state.OfClient()
}

// stoppedOf returns the process that works the loop if it was stopped, as by Ctrl-Z; 0: none was.
func stoppedOf(state decide.State, run *ran) int {
	by := proc.Process{PID: state.SessionPID, Start: state.ClientStart}
	if state.Run() != "" && run != nil {
		by = proc.Process{PID: run.PID, Start: run.Start}
	}
	if by.PID > 0 && proc.Stopped(by) {
		return by.PID
	}
	return 0
}

// Waits is what a loop waits for.
type Waits struct {
	For   string    `json:"for"`
	Since time.Time `json:"since,omitzero"` // zero: not known
	Until time.Time `json:"until"`          // when it continues
}

// waits returns what a loop in progress waits for; nil: it does not.
func waits(p *loop.Picture, state decide.State, run *ran) *Waits {
	switch {
	case state.Status != decide.InProgress:
		return nil
	case state.WaitingFor != "":
		return &Waits{
			For: state.WaitingFor, Since: state.WaitingSince, Until: state.WaitingSince.Add(p.Snapshot.Limits.MaxWait),
		}
	case !run.works(state) || run.Waiting == nil:
		return nil
	}
	return &Waits{For: plain.Line(run.Waiting.Why, 200), Until: run.Waiting.Until}
}

// ran is what a verb shows of the last run over a loop; record.Run has the rest.
type ran struct {
	ID      string    `json:"id"`
	PID     int       `json:"pid"`
	Start   string    `json:"start"`
	EndedAt time.Time `json:"endedAt"`
	Options struct {
		Agent  string `json:"agent"`
		Engine string `json:"engine"`
	} `json:"options"`
	Current    current   `json:"current"`
	Lanes      []ranLane `json:"lanes"`
	Workspaces []ranLane `json:"workspaces"` // that no lane has
	Waiting    *struct {
		Until  time.Time `json:"until"`
		Why    string    `json:"why"`
		Worker bool      `json:"worker"`
	} `json:"waiting"`
	Spent   Spent  `json:"spent"`
	Problem string `json:"problem"`
	Merges  struct {
		Into   string `json:"into"`
		Commit string `json:"commit"`
		Behind string `json:"behind"`
		Away   bool   `json:"away"`
	} `json:"merges"`
	Commits struct {
		Uncommitted string `json:"uncommitted"`
	} `json:"commits"`
	Unmerged []struct {
		Name string `json:"name"`
		Into string `json:"into"`
	} `json:"unmerged"`
}

// current is a session of a run that has begun, and of which the loop does not know yet.
type current struct {
	Feature   string    `json:"feature"`
	Session   int       `json:"session"`
	StartedAt time.Time `json:"startedAt"`
	Outcome   string    `json:"outcome"` // "": it has not ended
}

type ranLane struct {
	Number     int     `json:"number"`
	Current    current `json:"current"`
	Feature    string  `json:"feature"`
	Branch     string  `json:"branch"`
	Open       bool    `json:"open"` // there may be work on the branch
	WaitReason string  `json:"waitReason"`
}

// runs reports whether the agent of the session works, if the run does.
func (c current) runs() bool { return c.Session > 0 && c.Outcome == "" }

// runs reports whether the process of the run works. r may be nil.
func (r *ran) runs() bool { return r != nil && r.EndedAt.IsZero() && proc.Alive(r.PID, r.Start) }

// works reports whether the run works and owns the loop. r may be nil.
func (r *ran) works(s decide.State) bool { return r.runs() && s.Run() == r.ID }

// inSession reports whether an agent of the run works on the loop: a person's pause lets it end its session first.
func (r *ran) inSession(s decide.State) bool {
	inLane := func(l ranLane) bool { return l.Current.runs() }
	return r.works(s) && (r.Current.runs() || slices.ContainsFunc(r.Lanes, inLane))
}

// lastRun returns the last run over a loop; nil: there was none, or its record cannot be read.
func lastRun(p *loop.Picture) *ran {
	var run ran
	text, err := p.Loop.Store.Run()
	if err != nil || text == nil || json.Unmarshal(text, &run) != nil {
		return nil
	}
	return &run
}

// waiting says by feature why it waits for a person, and on which branch if somebody has worked on it. r may be nil.
func (r *ran) waiting() map[string]string {
	all := map[string]string{}
	if r == nil {
		return all
	}
	for _, one := range r.Workspaces {
		if one.WaitReason == "" {
			continue
		}
		waits := "waits"
		if one.Open {
			waits += " on " + plain.Line(one.Branch, 150)
		}
		all[one.Feature] = waits + ": " + plain.Line(one.WaitReason, 300)
	}
	return all
}

// wrong says what went wrong in the run's last session; "" if nothing did, or if others have worked on the loop since.
func (r *ran) wrong(s decide.State) string {
	if s.Run() != r.ID || s.Status == decide.Complete {
		return ""
	}
	return plain.Line(r.Problem, 300)
}

// Spent is what the last run over a loop has used.
type Spent struct {
	Input       int64   `json:"inputTokens"`
	Output      int64   `json:"outputTokens"`
	CacheRead   int64   `json:"cacheReadTokens"`
	CacheWrite  int64   `json:"cacheWriteTokens"`
	CostUSD     float64 `json:"costUsd"`
	TokensKnown bool    `json:"tokensKnown"`
	CostKnown   bool    `json:"costKnown"` // false: no session reported its cost
	Estimated   bool    `json:"estimated"` // partly, from prices
	Unknown     int     `json:"unknown"`   // sessions that did not report their cost

	UnknownTokens int `json:"unknownTokens"` // sessions that did not report all tokens
}

// Tokens returns all tokens.
func (s *Spent) Tokens() int64 { return s.Input + s.Output + s.CacheRead + s.CacheWrite }

// Cost says what was spent, as far as it is known; "" if nothing is known. s may be nil.
func (s *Spent) Cost() string {
	switch {
	case s == nil || s.CostUSD == 0 && !s.CostKnown:
		return ""
	case s.Unknown > 0:
		return "≥" + plain.Dollars(s.CostUSD, s.Estimated)
	}
	return plain.Dollars(s.CostUSD, s.Estimated)
}

// String says what was used. s may be nil.
func (s *Spent) String() string {
	if s == nil {
		return ""
	}
	said := []string{}
	atLeast := ""
	if s.UnknownTokens > 0 {
		atLeast = "≥"
	}
	if s.Tokens() > 0 || s.TokensKnown && s.UnknownTokens == 0 {
		said = append(said, atLeast+plain.Tokens(s.Tokens())+" tokens")
	}
	said = append(said, cmp.Or(s.Cost(), "cost unknown"))
	if s.Cost() != "" && s.Unknown > 0 {
		said = append(said, "cost of "+plain.Count(s.Unknown, "session")+" unknown")
	}
	return strings.Join(said, ", ") + " in the last run"
}

// words are what people see of the phase of a loop that goes on. Programs get the Phase itself.
var words = map[Phase]string{
	NotStarted: "NOT STARTED", Working: "RUNNING", Stuck: "STUCK", Waiting: "WAITING", NeedsYou: "NEEDS YOU",
}

// Word is the state of a loop in a word or two.
func (v *Status) Word() string {
	switch {
	case words[v.Phase] != "" && (v.Status == decide.InProgress || v.Phase == Stuck):
		return words[v.Phase]
	case v.Phase == Working && v.Status == decide.Paused:
		return "PAUSING"
	case v.Phase == Working:
		return "CANCELLING"
	}
	return string(v.Status)
}

// Works reports whether the loop is at work: a session or a run works on it.
func (v *Status) Works() bool { return v.Phase == Working || v.Phase == Waiting || v.Phase == Stuck }

// The groups of loops, in the order in which a person wants to see them.
const (
	RankNeedsYou = iota // it needs its person, or did not reach its end
	RankStuck
	RankWorking
	RankWaiting
	RankNotStarted
	RankEnded
)

// Rank returns the group of a loop.
func (v *Status) Rank() int {
	switch {
	case v.Phase == Stuck:
		return RankStuck
	case v.Phase == Working:
		return RankWorking
	case v.Phase == Waiting:
		return RankWaiting
	case v.Phase == NotStarted:
		return RankNotStarted
	case v.Status == decide.Complete, v.Status == decide.Cancelled:
		return RankEnded
	}
	return RankNeedsYou
}

// Colour is the colour of a loop's group in a terminal. Red is for what needs its person.
func (v *Status) Colour() int {
	return []int{cli.Red, cli.Yellow, cli.Cyan, cli.Dim, cli.Yellow, cli.Green}[v.Rank()]
}

// NeedYou says how many loops need their person.
func NeedYou(n int) string {
	if n == 1 {
		return "1 needs you"
	}
	return fmt.Sprintf("%d need you", n)
}

// Wrong says in one line what went wrong; "" if nothing did, as far as is known.
func (v *Status) Wrong() string {
	said := []string{}
	add := func(text string) {
		if text != "" {
			said = append(said, text)
		}
	}
	needs := v.Needs
	if v.ExitReason == decide.Asks {
		needs = "the agent asks: " + needs
	}
	switch {
	case v.Phase == "" && len(v.Notes) > 0:
		return strings.Join(v.Notes, "; ")
	case v.Phase == Stuck:
	case v.Status == decide.Complete, v.Status == decide.Cancelled, v.Status == decide.Paused:
		return ""
	case v.Doom != "":
		return v.Doom
	}
	for _, one := range v.Silent {
		add(one.String())
	}
	add(needs)
	add(v.broken)
	if v.Failed != nil {
		add(v.Failed.Says())
	}
	switch {
	case v.trouble != "":
		add("the last stop gave up: " + v.trouble)
	case v.Waits != nil && v.Phase == Waiting:
		add("waits: " + v.Waits.For + ", until " + say.Clock(v.Waits.Until))
	case v.Phase == NeedsYou && v.Status == decide.InProgress && v.unheard != "":
		add(v.unheard)
	case v.Phase == NeedsYou && v.Status == decide.InProgress:
		add("no session works on it")
	case len(said) == 0 && v.ExitReason != "":
		add(strings.ReplaceAll(v.ExitReason, "_", " "))
	}
	return strings.Join(said, "; ")
}
