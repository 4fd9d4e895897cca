package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// asks reports whether the agent of a loop waits for the answer of its person.
func asks(v verb.Status) bool { return v.ExitReason == decide.Asks && v.Phase == verb.NeedsYou }

// goes says what a loop at work does, and how much longer that takes.
func goes(l watch.Loop) string {
	return strings.Join(without([]string{l.Doing(), l.RemainingTime()}), " · ")
}

// budget is what the last run of a loop may cost; "": there is no bound.
func budget(l watch.Loop) string {
	if l.Run == nil || l.Run.MaxCostUSD == 0 {
		return ""
	}
	return report.Budget(l.Run.MaxCostUSD)
}

// sentence begins a text with a capital.
func sentence(text string) string {
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

// About says where a loop works, and how.
func (d *detail) About() string {
	said := []string{d.Place()}
	if d.Run != nil {
		said = append(said, d.Agents())
	}
	return strings.Join(without(append(said, d.Strip.Count())), " · ")
}

// limit returns a limit that is on for a loop; 0: there is none.
func (d *detail) limit(name string) int64 {
	for _, one := range d.Limits {
		if one.Name == name {
			return one.Limit
		}
	}
	return 0
}

// Facts are the four numbers of a loop.
func (d *detail) Facts() []report.Fact {
	features := report.Fact{Name: "Features", Value: "0", Of: "there is no list"}
	if d.Features.Total > 0 {
		features = report.FeaturesOf(d.Status)
	}
	money := report.Fact{Name: "Money", Value: cmp.Or(d.Spent.Cost(), "–")}
	if d.Spent.Cost() == "" {
		money.Add("cost unknown")
	}
	if d.Spent != nil {
		if of := budget(d.Loop); of != "" {
			bar := report.Share(d.Spent.CostUSD, d.Run.MaxCostUSD, "how much of the budget is spent")
			money.Of, money.Bar = "of "+of, &bar
		}
		if n := d.Features.Proven; n > 0 && d.Spent.CostUSD > 0 {
			money.Add("about " + plain.Dollars(d.Spent.CostUSD/float64(n), false) + " a feature")
		}
		if n := d.Spent.Tokens(); n > 0 {
			money.Add(plain.Tokens(n) + " tokens")
		}
	}
	from, took, goesOn := d.Loop.Took()
	spent := report.Fact{Name: "Time", Value: report.Span(took)}
	if goesOn {
		spent.Value = clock(from, ` data-runs="true"`, report.Span(took))
	}
	if of := time.Duration(d.limit("deadline")) * time.Second; of > 0 {
		bar := report.Share(took.Seconds(), of.Seconds(), "how much of the time is used")
		spent.Of, spent.Bar = "of "+report.Span(of), &bar
	}
	switch {
	case d.RemainingTime() != "":
		spent.Add(d.RemainingTime())
	case d.Phase == verb.Stuck:
		spent.Add("no estimate while it is stuck")
	}
	iterations := report.Fact{Name: "Iterations", Value: fmt.Sprint(d.Iteration)}
	if of := d.MaxIterations; of > 0 {
		bar := report.Share(float64(d.Iteration), float64(of), "how many of the iterations are used")
		iterations.Of, iterations.Bar = fmt.Sprint("of ", of), &bar
	}
	if !d.LastSign.IsZero() {
		iterations.Add("last sign of life " + moment(d.LastSign))
	}
	return []report.Fact{features, money, spent, iterations}
}

// trouble is something that went wrong.
type trouble struct{ Glyph, Title, Text, Tail, Log string }

// Troubles are what went wrong, and what does not count.
func (d *detail) Troubles() (all []trouble) {
	for _, one := range d.Silent {
		said := sentence(isSilent(d.Loop, one.Lane)) + "."
		all = append(all, trouble{"stuck", said, "", "", d.logOf(one.Lane)})
	}
	if c := d.Failed; c != nil {
		all = append(all, trouble{"bad", "Check " + c.Name + " failed:", c.Outcome + ", " + report.Moment(c.At), c.Tail, ""})
	}
	for _, one := range d.SetAside {
		why := fmt.Sprintf("after %s: %s", plain.Count(one.Attempts, "attempt"), one.Why)
		all = append(all, trouble{"aside", one.ID + " was set aside", why, "", ""})
	}
	if d.NotUsed != "" {
		all = append(all, trouble{"info", "Not counted:", d.NotUsed, "", ""})
	}
	return all
}

// logOf is the address of the log of the session that works in a lane; "": none does.
func (d *detail) logOf(lane int) string {
	for _, one := range d.Run.Running() {
		if one.Lane == lane {
			return d.logAt(one.Number)
		}
	}
	return ""
}

// logAt is the address of the log of a session; "": it has none.
func (d *detail) logAt(session int) string {
	if session < 1 {
		return ""
	}
	return fmt.Sprintf("%s/loop/%s/session/%d", d.root, d.Key, session)
}

// Remarks are what else a person should know.
func (d *detail) Remarks() []string {
	all := slices.Clone(d.Notes)
	if d.Run != nil {
		for _, one := range d.Run.ToMerge {
			all = append(all, "To merge: "+one)
		}
	}
	return all
}

// maxSays is how many sessions a page lets speak.
const maxSays = 12

// Says are the sessions whose last words are shown.
func (d *detail) Says() []watch.Live {
	all := slices.DeleteFunc(slices.Clone(d.Live), func(l watch.Live) bool { return len(l.Lines) == 0 })
	return all[:min(len(all), maxSays)]
}

// HasSide reports whether there is something to show beside the features.
func (d *detail) HasSide() bool {
	commands := len(d.Actions) == 0 && len(d.Commands) > 0
	return d.Detail.Running != "" || len(d.Says()) > 0 || len(d.Remarks()) > 0 || commands
}

// CanNote reports whether a person can answer here.
func (d *detail) CanNote() bool {
	return slices.ContainsFunc(d.Actions, func(a watch.Action) bool { return a.Name == "note" })
}

// reason says what went wrong, "" for nothing. Whoever looks at the page opens a log by its link, and not by its path.
func reason(l watch.Loop) string {
	text := l.Wrong()
	for _, one := range l.Silent {
		text = strings.Replace(text, one.String(), isSilent(l, one.Lane), 1)
	}
	return text
}

// isSilent says that a session is silent.
func isSilent(l watch.Loop, lane int) string {
	who := "the session"
	if lane > 0 {
		who = fmt.Sprintf("lane %d", lane)
	}
	return who + " is " + l.SilentIn(lane)
}

// advice says what to do, without a command that stands beside it.
func advice(v verb.Status) string {
	then := v.Then
	if goes, none := strings.CutPrefix(then, "none: "); none {
		goes, _, _ = strings.Cut(goes, " (")
		return "Nothing to do: " + goes + "."
	}
	if v.Command == "" {
		return then
	}
	before, after, _ := strings.Cut(then, v.Command)
	return strings.Join(without([]string{strings.Trim(before, " ;"), strings.Trim(after, " ,;")}), " … ")
}

// Listen leads to the logs of the sessions that are silent.
func (d *detail) Listen() (all []trouble) {
	for _, one := range d.Silent[:min(3, len(d.Silent))] {
		said := "Its log"
		if one.Lane > 0 {
			said = fmt.Sprintf("Log of lane %d", one.Lane)
		}
		all = append(all, trouble{Title: said, Log: d.logOf(one.Lane)})
	}
	return all
}

// highlight marks in a line what was searched.
func highlight(line, query string) template.HTML {
	var b strings.Builder
	for query != "" {
		at := strings.Index(strings.ToLower(line), strings.ToLower(query))
		if at < 0 || at+len(query) > len(line) {
			break
		}
		b.WriteString(template.HTMLEscapeString(line[:at]) + "<mark>" +
			template.HTMLEscapeString(line[at:at+len(query)]) + "</mark>")
		line = line[at+len(query):]
	}
	return template.HTML(b.String() + template.HTMLEscapeString(line))
}
