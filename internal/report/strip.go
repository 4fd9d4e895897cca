package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// Strip shows what each lane of a loop did over time, until now if it still works. A loop without lanes has one row.
type Strip struct {
	Lanes   []StripLane
	More    int    // lanes that are not drawn
	Earlier int    // sessions before the time that is drawn
	Ticks   []Tick // the axis
}

// StripLane is one row of a strip.
type StripLane struct {
	Name, Label string
	Blocks      []Block
	Present
	Log string // the address of the log of its session; "": none
}

// Block is a session in a strip, or a part of one.
type Block struct {
	Rect
	Text, Title string

	from, to time.Time
}

// Present is what a lane does now, or did last.
type Present struct {
	Class, Glyph, Feature, Word string
	Since                       time.Time // that it is so; zero: not known, or over
	Session                     int       // whose log tells more; 0: none
	order                       int       // in which it is wanted
}

// Tick is a time below a strip.
type Tick struct{ X, Anchor, Text string }

const (
	maxLanes  = 12 // that are drawn
	maxBlocks = 40 // of each lane
	// tact is how often a strip that goes on is another one, so that a browser need not load it each time.
	tact = 10 * time.Second
)

// blockKinds are the classes of blocks, with their marks and words.
var blockKinds = map[string]struct{ mark, word, glyph, class string }{
	"p": {"✓", "proven", "done", "proven"}, "c": {"◐", "claimed", "claimed", "claimed"},
	"x": {"✗", "failed", "bad", "bad"}, "n": {"○", "not done", "open", "soft"}, "w": {"▸", "at work", "run", "work"},
	"s": {"△", "silent", "stuck", "stuck"}, "q": {"?", "asks", "you", "you"},
}

// spell is a session, or what a session of the hook did between two stops.
type spell struct {
	record.Session
	running bool
	class   string
}

// StripOf draws the sessions of a loop. It has no lanes if nothing has worked on the loop.
func StripOf(d *watch.Detail, now time.Time) (s Strip) {
	lanes, end := lanesOf(d, now.Truncate(tact))
	numbers := []int{}
	for n := range lanes {
		numbers = append(numbers, n)
	}
	present := map[int]Present{}
	for _, n := range numbers {
		present[n] = presentOf(d, n, lanes[n])
	}
	slices.SortFunc(numbers, func(a, b int) int {
		return cmp.Or(present[a].order-present[b].order, a-b)
	})
	s.More = max(0, len(numbers)-maxLanes)
	numbers = numbers[:len(numbers)-s.More]
	slices.Sort(numbers)
	var from time.Time
	for _, n := range numbers {
		cut := max(0, len(lanes[n])-maxBlocks)
		begin := lanes[n][cut].StartedAt
		switch {
		case from.IsZero(), cut > 0 && begin.After(from):
			from = begin
		case cut == 0 && begin.Before(from) && s.Earlier == 0:
			from = begin
		}
		s.Earlier += cut
	}
	if !from.Before(end) {
		return Strip{}
	}
	for _, n := range numbers {
		row := StripLane{Name: "Session", Present: present[n]}
		if n > 0 {
			row.Name = fmt.Sprint("Lane ", n)
		}
		said := []string{}
		for _, one := range lanes[n] {
			for _, b := range blocksOf(d, one, end) {
				if b.to.After(from) {
					row.Blocks = append(row.Blocks, b.place(from, end))
					said = append(said, b.Title)
				}
			}
		}
		row.Label = fmt.Sprintf("%s since %s: %s", row.Name, clock(from), strings.Join(said, "; "))
		s.Lanes = append(s.Lanes, row)
	}
	s.Ticks = ticks(from, end, d.Works())
	return s
}

// place says where a block is between the beginning and the end of a strip.
func (b Block) place(from, end time.Time) Block {
	whole := end.Sub(from).Seconds()
	at := max(0, b.from.Sub(from).Seconds())
	b.X = percents(at, whole)
	b.Width = percents(max(whole/400, b.to.Sub(from).Seconds()-at-whole/250), whole) // between two there is a gap
	return b
}

// lanesOf returns what was done in each lane, and when the last of it ended. A loop without lanes has lane 0.
func lanesOf(d *watch.Detail, now time.Time) (lanes map[int][]spell, end time.Time) {
	lanes = map[int][]spell{}
	all := d.Iterations
	if d.Run == nil {
		all = betweenStops(d, now)
	}
	last := map[string]int{} // the last of a feature
	for i, one := range all {
		last[one.Feature] = i
	}
	states := map[string]string{}
	for _, item := range d.Items {
		states[item.ID] = item.State
	}
	for i, one := range all {
		if one.StartedAt.IsZero() || one.EndedAt.Before(one.StartedAt) {
			continue
		}
		state := ""
		if last[one.Feature] == i {
			state = states[one.Feature]
		}
		lanes[one.Lane] = append(lanes[one.Lane], spell{one, false, classOf(one, state)})
		if one.EndedAt.After(end) {
			end = one.EndedAt
		}
	}
	for _, one := range d.Run.Running() {
		ran := record.Session{Number: one.Number, Lane: one.Lane, Feature: one.Feature, StartedAt: one.StartedAt}
		lanes[one.Lane] = append(lanes[one.Lane], spell{ran, true, "w"})
	}
	if n := len(lanes[0]); d.Run == nil && n > 0 && d.Works() {
		lanes[0][n-1].running, lanes[0][n-1].class = true, "w"
	}
	if len(lanes) > 1 { // a session that was in no lane is one of the run's before it had lanes
		delete(lanes, 0)
	}
	if d.Works() && now.After(end) {
		end = now
	}
	for n := range lanes {
		slices.SortStableFunc(lanes[n], func(a, b spell) int { return a.StartedAt.Compare(b.StartedAt) })
	}
	return lanes, end
}

// betweenStops returns what a session of the hook did between its stops, which name the feature that comes next.
func betweenStops(d *watch.Detail, now time.Time) (all []record.Session) {
	from, _ := time.Parse(time.RFC3339, d.StartedAt)
	feature := ""
	add := func(to time.Time) {
		n := len(all)
		switch {
		case from.IsZero() || !to.After(from):
		case n > 0 && all[n-1].Feature == feature:
			all[n-1].EndedAt = to
		default:
			all = append(all, record.Session{Feature: feature, StartedAt: from, EndedAt: to})
		}
	}
	for _, stop := range d.Iterations {
		add(stop.EndedAt)
		from, feature = stop.EndedAt, stop.Feature
	}
	if d.Works() && len(d.Iterations) > 0 {
		add(now)
	}
	return all
}

// classOf says how a session ended. state is that of its feature, if it was the last one that worked on it.
func classOf(one record.Session, state string) string {
	failed := slices.ContainsFunc(one.Checks, func(c record.Check) bool { return !c.Passed && c.Feature == one.Feature })
	switch {
	case one.Merge == record.GivenBack, one.Merge == record.Conflict:
		return "x"
	case state == decide.FeatureProven:
		return "p"
	case state == decide.FeatureClaimed:
		return "c"
	case one.Merge == record.Merged:
		return "p"
	case failed, state == decide.FeatureSetAside:
		return "x"
	case one.Number > 0 && one.Counted && one.Outcome != string(agent.Done):
		return "x"
	}
	return "n"
}

// blocksOf returns the block of a session; one that works and is silent has two.
func blocksOf(d *watch.Detail, s spell, now time.Time) []Block {
	block := func(class, text string, from, to time.Time) Block {
		kind := blockKinds[class]
		title := fmt.Sprintf("%s %s, %s, %s", text, kind.word, clock(from), Span(to.Sub(from)))
		if s.Number > 0 {
			title += fmt.Sprintf(", session %d", s.Number)
		}
		return Block{Rect: Rect{Class: class}, Text: kind.mark + " " + text, Title: title, from: from, to: to}
	}
	name := cmp.Or(s.Feature, "work")
	if !s.running {
		return []Block{block(s.class, name, s.StartedAt, s.EndedAt)}
	}
	for _, one := range d.Silent {
		if one.Lane == s.Lane && one.LastSign.Before(now) {
			silent := block("s", name, one.LastSign, now)
			silent.Text = "△ silent since " + clock(one.LastSign)
			return []Block{block("w", name, s.StartedAt, one.LastSign), silent}
		}
	}
	return []Block{block("w", name, s.StartedAt, now)}
}

// presentOf says what a lane does now.
func presentOf(d *watch.Detail, lane int, all []spell) Present {
	last := all[len(all)-1]
	kind := blockKinds[last.class]
	p := Present{
		Class: kind.class, Glyph: kind.glyph, Feature: last.Feature, Word: kind.word, Session: last.Number, order: 3,
	}
	switch {
	case last.running && d.SilentIn(lane) != "":
		p.Class, p.Glyph, p.Word, p.order = "stuck", "stuck", d.SilentIn(lane), 0
	case last.running:
		p.Word, p.Since, p.order = "", last.StartedAt, 1
	case lane == 0 && d.ExitReason == decide.Asks:
		p.Class, p.Glyph, p.Word, p.order = "you", "you", "asks you", 0
	case d.Works() && lane > 0:
		p.Class, p.Glyph, p.Word, p.Feature, p.order = "soft", "open", "idle", "", 2
	}
	return p
}

// steps are the times between two ticks.
var steps = []time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

// ticks returns at most six times below a strip, the last one at its end.
func ticks(from, end time.Time, works bool) (all []Tick) {
	whole := end.Sub(from)
	const most = 5
	step := 24 * time.Hour * time.Duration(int(whole.Hours())/(24*most)+1)
	for _, one := range slices.Backward(steps) {
		if whole/one <= most {
			step = one
		}
	}
	layout := "15:04"
	switch {
	case step < time.Minute:
		layout = "15:04:05"
	case whole > 24*time.Hour:
		layout = "Jan 2 15:04"
	}
	_, zone := from.Local().Zone()
	off := time.Duration(zone) * time.Second
	for at := from.Add(off).Truncate(step).Add(step - off); at.Before(end); at = at.Add(step) {
		part := float64(at.Sub(from)) / float64(whole)
		switch {
		case part > .78: // that is too near to the last one
		case part < .06:
			all = append(all, Tick{percents(part, 1), "start", at.Local().Format(layout)})
		default:
			all = append(all, Tick{percents(part, 1), "middle", at.Local().Format(layout)})
		}
	}
	last := end.Local().Format(layout)
	if works {
		last = "now, " + last
	}
	return append(all, Tick{"100%", "end", last})
}

// Count says how many lanes a strip shows, "" for a loop without lanes.
func (s Strip) Count() string {
	if len(s.Lanes) == 0 || s.Lanes[0].Name == "Session" {
		return ""
	}
	return plain.Count(len(s.Lanes)+s.More, "lane")
}
