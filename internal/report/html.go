package report

import (
	"cmp"
	_ "embed" // for the texts below
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chart"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// Style is the style of the report and of the page.
//
//go:embed style.css
var Style string

// Sections are templates for parts of the report and of the page.
//
//go:embed sections.html
var Sections string

//go:embed report.html
var page string

// Funcs are the functions of the templates of the report and of the page.
func Funcs() template.FuncMap {
	return template.FuncMap{
		"style": func() template.CSS { return template.CSS(Style) }, "duration": Duration, "groups": groups,
		"charts": Charts, "chart": inline, "tokens": plain.Tokens, "count": plain.Count, "class": Class, "checks": checksOf,
		"diff": diff, "mostOf": mostOf, "timeline": timeline, "short": short,
		"logOf": func(any, record.Session) template.HTML { return "" }, // a report has no logs of sessions
		"when":  when,
		"percent": func(n, of int) int {
			if of <= 0 {
				return 0
			}
			return min(100, 100*n/of)
		},
		"share": func(usd, of float64) string { return fmt.Sprintf("%.1f", 100*usd/of) },
	}
}

// when says a time of this machine to the second, with its zone; "" for none.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

// Class is the class of a loop's state.
func Class(v verb.Status) string {
	return []string{"needs", "stuck", "works", "waits", "never", "ended"}[v.Rank()]
}

var pageTemplate = sync.OnceValues(func() (*template.Template, error) {
	return template.New("report").Funcs(Funcs()).Parse(Sections + page)
})

// HTML writes the report as one page, which loads nothing and runs nothing.
func (r *Report) HTML(w io.Writer) error {
	t, err := pageTemplate()
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

// WorstFirst returns the features: those first that somebody must look at.
func (r *Report) WorstFirst() []Feature {
	order := []string{
		verb.Blocked, decide.FeatureSetAside, decide.FeatureOpen, decide.FeatureClaimed, decide.FeatureProven, "dropped",
	}
	rank := func(f Feature) int { return slices.Index(order, f.State) }
	all := slices.Clone(r.Work)
	slices.SortStableFunc(all, func(a, b Feature) int { return rank(a) - rank(b) })
	return all
}

// Group is a part of a long list of iterations. A browser lays a closed part out only if somebody opens it.
type Group struct {
	First, Last int // iterations
	Open        bool
	Iterations  []record.Session
}

const groupSize = 100

// groups cuts a list of iterations. The last part is open.
func groups(all []record.Session) (cut []Group) {
	for from := 0; from < len(all); from += groupSize {
		to := min(from+groupSize, len(all))
		cut = append(cut, Group{all[from].Iteration, all[to-1].Iteration, to == len(all), all[from:to]})
	}
	return cut
}

// Part is a part of a long list of features.
type Part struct {
	First, Last int
	Features    []Feature
}

// Parts returns the features that somebody must look at first, then the others. Only the first part is open.
func (r *Report) Parts() (parts []Part) {
	all := r.WorstFirst()
	for from := 0; from < len(all); from += groupSize {
		to := min(from+groupSize, len(all))
		parts = append(parts, Part{from + 1, to, all[from:to]})
	}
	return parts
}

// checkSummary is what an iteration shows of its checks: those that failed, how many passed, and the first of these.
type checkSummary struct {
	Failed []record.Check
	Passed int
	Names  []string
	More   int // that passed, without a name here
}

// maxNamed is how many checks that passed are named: lanes check all features again after each session.
const maxNamed = 20

func checksOf(i record.Session) (c checkSummary) {
	for _, one := range i.Checks {
		if !one.Passed {
			c.Failed = append(c.Failed, one)
			continue
		}
		c.Passed++
		if len(c.Names) < maxNamed {
			c.Names = append(c.Names, strings.TrimSpace(one.Name+" "+one.Feature))
		}
	}
	c.More = c.Passed - len(c.Names)
	return c
}

// diff gives the lines of a diff their colours.
func diff(text string) template.HTML {
	var b strings.Builder
	for line := range strings.Lines(text) {
		class := ""
		switch {
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "diff "):
			class = "hunk"
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		line = html.EscapeString(line)
		if class != "" {
			line = `<span class="` + class + `">` + line + `</span>`
		}
		b.WriteString(line)
	}
	return template.HTML(b.String())
}

// mostOf returns the cost of the feature that cost most; 0 if no cost is known.
func mostOf(all []watch.Item) (most float64) {
	for _, i := range all {
		most = max(most, i.Spent.CostUSD)
	}
	return most
}

// timeline draws the last sessions of the lanes over time: a line for each lane.
func timeline(all []record.Session) template.HTML {
	const height, most = 14, 1000
	all = slices.DeleteFunc(slices.Clone(all), func(s record.Session) bool { return s.Lane < 1 || s.Took() == 0 })
	left := max(0, len(all)-most)
	all = all[left:]
	if len(all) == 0 {
		return ""
	}
	from := slices.MinFunc(all, func(a, b record.Session) int { return a.StartedAt.Compare(b.StartedAt) }).StartedAt
	to := slices.MaxFunc(all, func(a, b record.Session) int { return a.EndedAt.Compare(b.EndedAt) }).EndedAt
	last := slices.MaxFunc(all, func(a, b record.Session) int { return a.Lane - b.Lane })
	lanes := min(last.Lane, 100)
	at := func(t time.Time) float64 { return 1000 * t.Sub(from).Seconds() / to.Sub(from).Seconds() }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="lanes" viewBox="0 0 1000 %d" preserveAspectRatio="none" height="%d" role="img" `+
		`aria-label="When each of %d lanes worked">`, lanes*height, lanes*height, lanes)
	for _, s := range all {
		class := map[string]string{record.Merged: "merged", record.Conflict: "failed", record.GivenBack: "failed"}[s.Merge]
		end := s.Merge
		if !s.HasEnded() {
			class, end = "runs", cmp.Or(s.Problem, "works now")
			if s.Problem != "" {
				class = "silent"
			}
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s</title></rect>`, class,
			at(s.StartedAt), (min(s.Lane, 100)-1)*height, max(1, at(s.EndedAt)-at(s.StartedAt)-1), height-3,
			html.EscapeString(fmt.Sprintf("lane %d: %s, %s %s", s.Lane, s.Feature, Duration(s.Took()), end)))
	}
	b.WriteString("</svg>")
	if left > 0 {
		fmt.Fprintf(&b, `<p class="soft">Not drawn: %s.</p>`, plain.Count(left, "earlier session"))
	}
	return template.HTML(b.String())
}

// inline draws a chart into a page. Its template escapes the texts.
func inline(c chart.Chart) (template.HTML, error) {
	svg, err := c.SVG()
	return template.HTML(svg), err
}

// Charts returns the charts of a loop's iterations; none if they would be empty.
func Charts(all []record.Session) (charts []chart.Chart) {
	var labels []string
	var took, cost, tokens []float64
	sum, sumTokens := 0.0, 0.0
	most := 0.0 // minutes
	hasTook := false
	hasCost := false
	hasTokens := false
	for _, i := range all {
		labels = append(labels, fmt.Sprint(i.Iteration))
		minutes := math.NaN()
		if i.Took() > 0 {
			minutes, hasTook = i.Took().Minutes(), true
			most = max(most, minutes)
		}
		if i.CostUSD != nil {
			sum, hasCost = sum+*i.CostUSD, true
		}
		sumTokens, hasTokens = sumTokens+float64(i.Tokens.Sum()), hasTokens || i.Tokens.Sum() > 0
		took = append(took, minutes)
		cost = append(cost, sum)
		tokens = append(tokens, sumTokens)
	}
	add := func(has bool, title string, values []float64, format func(float64) string) {
		if has {
			charts = append(charts, chart.Chart{
				Title: title, Labels: labels, Lines: []chart.Line{{Name: title, Values: values}}, Format: format,
				Width: 640, Height: 240,
			})
		}
	}
	add(hasCost, "Cost so far, by iteration", cost, func(v float64) string { return fmt.Sprintf("$%.2f", v) })
	add(hasTokens, "Tokens so far, by iteration", tokens, func(v float64) string { return plain.Tokens(int64(v)) })
	add(hasTook, "Time of each session", took, func(v float64) string {
		if most < 1 {
			return fmt.Sprintf("%.1fs", 60*v)
		}
		return plain.Duration(time.Duration(v * float64(time.Minute)))
	})
	return charts
}
