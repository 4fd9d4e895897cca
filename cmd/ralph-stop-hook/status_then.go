package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// verdictView is a line of iterations.jsonl, which an agent can write to as well.
type verdictView struct {
	Time      time.Time `json:"time"`
	Verdict   string    `json:"verdict"`
	Iteration int       `json:"iteration"`
	Reason    string    `json:"reason"`
	Feature   string    `json:"feature"`
}

// shownVerdicts is how many of the last ones are shown.
const shownVerdicts = 3

func lastVerdicts(s *loopdir.Store) []verdictView {
	views := []verdictView{}
	text, log := s.OpenLog(loopdir.IterationLog, shownVerdicts)
	log.Close()
	for line := range bytes.Lines(text) {
		var v verdictView
		if json.Unmarshal(line, &v) == nil {
			v.Verdict, v.Reason, v.Feature = plain.Line(v.Verdict, 20), plain.Line(v.Reason, 40), plain.Line(v.Feature, 80)
			views = append(views, v)
		}
	}
	slices.Reverse(views)
	return views
}

func (v verdictView) String() string {
	text := fmt.Sprintf("%s %s, iteration %d", wordsClock(v.Time), v.Verdict, v.Iteration)
	for _, more := range []string{v.Reason, v.Feature} {
		if more != "" {
			text += ", " + more
		}
	}
	return text
}

// wordsThen says what a person would do now.
func wordsThen(v statusView) string {
	do := doer(v.Name)
	begin := startLine(filepath.Join(v.Loop, loopdir.PromptFile))
	resume := do("resume")
	first, works := "mend what the reason names", v.Status == decide.InProgress
	switch {
	case works && v.fresh, v.Status == decide.Paused, v.Status == decide.Cancelled:
		return resume
	case works && v.Stale, v.Status == decide.Interrupted:
		return "claude --resume " + quoteArg(v.Session) + ", and type anything; or give its prompt to a new one: " + begin
	case works && v.Session == "" && v.bind == decide.BindPrompt:
		return begin
	case works && v.Session == "":
		return "claude, in this project"
	case works && v.Waiting != nil:
		return "nothing; the session wakes by itself"
	case works:
		return "nothing; it goes on by itself (" + do("pause") + " lets the next stop be allowed)"
	case v.Status == decide.Handover:
		return "give its prompt to a fresh session: " + begin
	case v.Status == decide.Complete && v.Features.Passed < v.Features.Total:
		return resume + ", since features are open again"
	case v.Status == decide.Complete:
		return "look at what was done"
	case v.ExitReason == decide.MaxIterations:
		return do("extend") + fmt.Sprintf(" --max-iterations %d", v.Iteration+decide.DefaultIterations)
	case v.ExitReason == decide.Deadline:
		return do("extend") + " --deadline 12h, counted from when it began"
	case v.Status == decide.ReachedLimit:
		first = do("log") + " shows what was tried"
	case v.Status == decide.Stagnated:
		first = do("log") + " shows where it stuck"
	case v.ExitReason == decide.ConfigChanged:
		first = do("trust") + ", or put it back"
	case v.ExitReason == decide.ListChanged:
		first = do("trust") + " --restore, or without --restore to accept it"
	case v.ExitReason == decide.AllBlocked:
		first = do("list") + " shows why"
	case v.Status == decide.Blocked, v.Status == decide.Escalated:
		first = "settle what it needs"
	}
	return first + "; then: " + resume
}
