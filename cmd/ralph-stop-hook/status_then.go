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
	again := "claude --resume " + quoteArg(v.Session)
	switch v.Status {
	case decide.InProgress:
		switch {
		case v.fresh:
			return resume
		case v.Stale:
			return again + ", and type anything; or give its prompt to a new one: " + begin
		case v.Session == "" && v.bind == decide.BindPrompt:
			return begin
		case v.Session == "":
			return "claude, in this project"
		case v.Waiting != nil:
			return "nothing; the session wakes by itself"
		}
		return "nothing; it goes on by itself (" + do("pause") + " lets the next stop be allowed)"
	case decide.Complete:
		if v.Features.Passed < v.Features.Total {
			return resume + ", since features are open again"
		}
		return "look at what was done"
	case decide.ReachedLimit:
		switch v.ExitReason {
		case decide.MaxIterations:
			return do("extend") + fmt.Sprintf(" --max-iterations %d", v.Iteration+decide.DefaultIterations)
		case decide.Deadline:
			return do("extend") + " --deadline 12h, counted from when it began"
		}
		return do("log") + " shows what was tried; then: " + resume
	case decide.Stagnated:
		return do("log") + " shows where it stuck; then: " + resume
	case decide.Blocked, decide.Escalated:
		switch v.ExitReason {
		case decide.ConfigChanged:
			return do("trust") + ", or put it back; then: " + resume
		case decide.ListChanged:
			return do("trust") + " --restore, or without --restore to accept it; then: " + resume
		case decide.AllBlocked:
			return do("list") + " shows why; then: " + resume
		}
		return "settle what it needs; then: " + resume
	case decide.Handover:
		return "give its prompt to a fresh session: " + begin
	case decide.Interrupted:
		return again + ", and type anything; or give its prompt to a new one: " + begin
	case decide.Paused, decide.Cancelled:
		return resume
	}
	return "mend what the reason names; then: " + resume
}
