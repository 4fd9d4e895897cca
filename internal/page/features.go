package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// feature is a feature as the page of a loop shows it.
type feature struct {
	watch.Item
	report.Look
	At    bool   // a session works on it
	Note  string // what is going on with it
	Story []telling
	Tail  string // the end of what its check printed that failed last

	proven time.Time
}

// telling is a part of a feature's story.
type telling struct {
	Name string
	Text template.HTML
	Log  string // the address of a log; "": none
}

// state is a state of features, with how many there are.
type state struct {
	Name, Word string
	Count      int
}

// failed is, among the states of features, that a check failed. It is in addition to the others.
const failed = "failed"

// perPage is how many features a page shows.
const perPage = 50

// is reports whether a feature is among those of a state. What is set aside or blocked is open, too.
func is(item watch.Item, state string) bool {
	switch state {
	case "", item.State:
		return true
	case failed:
		return item.Failed
	}
	return state == decide.FeatureOpen && (item.State == decide.FeatureSetAside || item.State == verb.Blocked)
}

// features chooses the features that are shown, those first that need somebody, and counts those of each state.
func (d *detail) features(page int) {
	d.States = []state{{"", "All", 0}, {decide.FeatureOpen, "Open", 0}, {failed, "Failing", 0}}
	for _, name := range []string{
		verb.Blocked, decide.FeatureSetAside, decide.FeatureClaimed, decide.FeatureProven, "dropped",
	} {
		d.States = append(d.States, state{name, sentence(report.LookOf(name).Word), 0})
	}
	chosen := []feature{}
	running := map[string]watch.Session{}
	for _, one := range d.Run.Running() {
		running[one.Feature] = one
	}
	for _, item := range d.Items {
		for i := range d.States {
			if is(item, d.States[i].Name) {
				d.States[i].Count++
			}
		}
		if is(item, d.State) {
			chosen = append(chosen, d.look(item, running))
		}
	}
	d.States = slices.DeleteFunc(d.States, func(s state) bool { return s.Count == 0 && s.Name != "" && s.Name != d.State })
	slices.SortStableFunc(chosen, func(a, b feature) int {
		return cmp.Or(a.Look.Order-b.Look.Order, b.proven.Compare(a.proven))
	})
	d.Pages = max(1, (len(chosen)+perPage-1)/perPage)
	d.Page = max(1, min(page, d.Pages))
	d.Before, d.After = d.Page-1, (d.Page+1)%(d.Pages+1)
	d.Shown = chosen[(d.Page-1)*perPage : min(d.Page*perPage, len(chosen))]
	for i := range d.Shown {
		d.tell(&d.Shown[i], running)
	}
}

// look says how a feature stands.
func (d *detail) look(item watch.Item, running map[string]watch.Session) feature {
	f := feature{Item: item, Look: report.LookOf(item.State)}
	for _, c := range item.Checks {
		if c.At.After(f.proven) {
			f.proven = c.At
		}
	}
	session, works := running[item.ID]
	silent := d.SilentIn(session.Lane)
	f.At = works
	switch {
	case item.Added && !works:
		f.Look = report.LookOf("added")
	case item.State == decide.FeatureProven && !f.proven.IsZero():
		f.Note = item.Checks[0].Name + " " + report.Moment(f.proven)
	case item.State != decide.FeatureOpen:
	case asks(d.Status) && d.asksAbout(item.ID):
		f.Look, f.At = report.LookOf("asks"), true
	case works && silent != "":
		f.Look, f.Note = report.LookOf("silent"), silent
	case item.Failed:
		f.Look = report.LookOf("fails")
	case works:
		f.Look = report.LookOf("works")
	}
	if works && session.Lane > 0 {
		f.Note = plainJoin(fmt.Sprint("lane ", session.Lane), f.Note)
	}
	return f
}

func plainJoin(a, b string) string {
	if b == "" {
		return a
	}
	return a + ", " + b
}

// asksAbout reports whether the agent that asks has worked on a feature last.
func (d *detail) asksAbout(id string) bool {
	n := len(d.Detail.Iterations)
	return n > 0 && d.Detail.Iterations[n-1].Feature == id
}

// tell tells the story of a feature.
func (d *detail) tell(f *feature, running map[string]watch.Session) {
	add := func(name, text string) {
		if text != "" {
			f.Story = append(f.Story, telling{name, template.HTML(template.HTMLEscapeString(text)), ""})
		}
	}
	if one, works := running[f.ID]; works {
		where := fmt.Sprintf("session %d", one.Number)
		if one.Lane > 0 {
			where = fmt.Sprintf("lane %d, %s", one.Lane, where)
		}
		f.Story = append(f.Story, telling{
			"At work", template.HTML(where+", since ") + template.HTML(report.Moment(one.StartedAt)), d.logAt(one.Number),
		})
	}
	for i := range d.Checked {
		c := &d.Checked[i] // the latest first
		if c.Feature == f.ID && f.State != decide.FeatureProven && !c.Passed() && f.Tail == "" {
			add("Failed", fmt.Sprintf("%s at %s, %s", c.Name, report.Moment(c.At), c.Outcome))
			f.Tail = c.Tail
		}
	}
	add("Why", f.Why)
	for _, c := range f.Checks {
		add("Proven by", fmt.Sprintf("%s at %s, %d ms", c.Name, report.Moment(c.At), c.DurationMS))
	}
	if f.Item.Order > 0 && f.State == decide.FeatureOpen {
		add("Turn", fmt.Sprint(f.Item.Order))
	}
	add("Model", f.Model)
	add("Attempts", attempts(f.Item))
	if len(f.Story) == 0 {
		add("State", f.Word)
	}
}

// attempts says how often, and how long, somebody has worked on a feature.
func attempts(i watch.Item) string {
	if i.Attempts == 0 {
		return ""
	}
	return plain.Count(i.Attempts, "attempt") + ", " + report.Span(i.Took)
}
