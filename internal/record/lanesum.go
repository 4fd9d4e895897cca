package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// What became of the work of a lane's session.
const (
	Merged    = "merged"     // it is on the run's branch
	Waits     = "waits"      // it is on the lane's branch, for a person to look at
	GivenBack = "given back" // a check failed on the merged work
	Conflict  = "conflict"   // it did not fit to what others had done
)

// LaneSum is what a lane did in a run.
type LaneSum struct {
	Lane        int      `json:"lane"`
	Workers     []string `json:"workers,omitempty"` // names and machines
	Features    []string `json:"features"`          // by first session
	Sessions    int      `json:"sessions"`
	DurationSec float64  `json:"durationSec"`
	Merged      int      `json:"merged"`
	Waits       int      `json:"waits"` // waits for a person
	GivenBack   int      `json:"givenBack"`
	Conflicts   int      `json:"conflicts"`
}

// ByLane sums up the sessions of a run by lane; none if the run had no lanes.
func ByLane(lines []Session) (all []LaneSum) {
	at := map[int]int{}
	for _, l := range lines {
		if l.Lane < 1 {
			continue
		}
		i, has := at[l.Lane]
		if !has {
			i, at[l.Lane] = len(all), len(all)
			all = append(all, LaneSum{Lane: l.Lane, Features: []string{}})
		}
		s := &all[i]
		s.Sessions++
		s.DurationSec += l.DurationSec
		if !slices.Contains(s.Features, l.Feature) && l.Feature != "" {
			s.Features = append(s.Features, l.Feature)
		}
		who := strings.TrimSuffix(l.Worker+" on "+l.Machine, " on ")
		if l.Worker != "" && !slices.Contains(s.Workers, who) {
			s.Workers = append(s.Workers, who)
		}
		switch l.Merge {
		case Merged:
			s.Merged++
		case Waits:
			s.Waits++
		case GivenBack:
			s.GivenBack++
		case Conflict:
			s.Conflicts++
		}
	}
	slices.SortFunc(all, func(a, b LaneSum) int { return cmp.Compare(a.Lane, b.Lane) })
	return all
}

// Took returns how long the lane's sessions took together.
func (s LaneSum) Took() time.Duration { return time.Duration(s.DurationSec * float64(time.Second)) }

// Where says who worked the lane.
func (s LaneSum) Where() string { return cmp.Or(strings.Join(s.Workers, ", "), "here") }

// Did names the features of the lane.
func (s LaneSum) Did() string { return strings.Join(s.Features, ", ") }

// LanesTable returns a table of lanes as Markdown, with an empty line before it; "" if there are no lanes.
func LanesTable(all []LaneSum) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| lane | worked | sessions | time | merged | waits | given back | conflicts | features |\n" +
		"|--:|---|--:|--:|--:|--:|--:|--:|---|\n")
	for _, s := range all {
		took := plain.Duration(s.Took())
		fmt.Fprintf(&b, "| %d | %s | %d | %s | %d | %d | %d | %d | %s |\n", s.Lane, plain.Markdown(s.Where()),
			s.Sessions, took, s.Merged, s.Waits, s.GivenBack, s.Conflicts, plain.Markdown(s.Did()))
	}
	return b.String()
}
