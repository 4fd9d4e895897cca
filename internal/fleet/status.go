package fleet

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// Status is what the engine of a loop has.
type Status struct {
	Loop    string   `json:"loop"`
	URL     string   `json:"url"`
	Problem string   `json:"problem,omitempty"` // why no worker gets a feature; "": none
	Workers []string `json:"workers"`           // those with a key
	Open    int      `json:"open"`              // features without a worker
	Merged  int      `json:"merged"`            // accepted features
	Holders []Holder `json:"holders"`
}

// Holder says who has a feature.
type Holder struct {
	Feature string    `json:"feature"` // its id
	Attempt int       `json:"attempt"` // how often it was handed out
	Worker  string    `json:"worker"`  // the name of its key
	Machine string    `json:"machine"` // where it says it runs
	State   string    `json:"state"`   // "claimed" or "submitted"
	Since   time.Time `json:"since"`   // when the worker took it
}

// Look returns what the engine of a loop has. The error is jobs.ErrNoEngine if no run of the loop has had one.
func Look(at *loopdir.Loop) (Status, error) {
	e, err := jobs.Look(filepath.Join(at.StatePath(), jobs.Folder))
	if err != nil {
		return Status{}, err
	}
	store, err := at.Open()
	if err != nil {
		return Status{}, err
	}
	defer store.Close()
	r, err := record.Load(store)
	if err != nil {
		return Status{}, err
	}
	s := Status{Loop: e.Loop, URL: e.URL, Workers: append([]string{}, e.Workers...), Holders: []Holder{}}
	if r == nil || !r.EndedAt.IsZero() || !proc.Alive(r.PID, r.Start) {
		s.Problem = "it does not run"
		return s, nil
	}
	s.Merged = len(r.Merges.Done)
	for _, l := range r.Lanes {
		c := l.Current
		switch {
		case c == nil:
		case c.Claim != nil:
			h := Holder{
				Feature: keyOf(c.Feature), Attempt: c.Claim.Attempt, Machine: c.Claim.Machine, State: "claimed",
				Since: c.Claim.Since,
			}
			h.Worker, _, _ = strings.Cut(c.Claim.ID, ".")
			if c.HasEnded() {
				h.State = "submitted"
			}
			s.Holders = append(s.Holders, h)
		case !c.HasEnded():
			s.Open++
		}
	}
	return s, nil
}
