package report

import (
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

// The style has three parts, since a report need not carry what only the page of `serve` has.
var (
	//go:embed style.css
	style string
	//go:embed page.css
	pageStyle string
	//go:embed media.css
	mediaStyle string // for narrow windows, paper and the like: comes last
)

// Style returns the style of the page.
func Style() string { return style + pageStyle + mediaStyle }

// Sections are templates for parts of the report and of the page.
//
//go:embed sections.html
var Sections string

//go:embed report.html
var page string

// Funcs are the functions of the templates of the report and of the page.
func Funcs() template.FuncMap {
	return template.FuncMap{
		"style": func() template.CSS { return template.CSS(style + mediaStyle) }, "duration": Duration, "groups": groups,
		"charts": Charts, "chart": inline, "tokens": plain.Tokens, "count": plain.Count, "class": Class, "checks": checksOf,
		"diff": diff, "mostOf": mostOf, "short": short, "glyph": glyph, "icon": icon, "progress": Progress, "number": Number,
		"span": spanOrNone, "clock": clock, "look": LookOf, "pick": pick,
		"runs":  func(time.Time) string { return "" },                  // in a report nothing goes on
		"logOf": func(any, record.Session) template.HTML { return "" }, // a report has no logs of sessions
		"when":  when,
		"share": func(usd, of float64) Bar { return Share(usd, of, "how much of the most expensive feature") },
	}
}

// spanOrNone says how long something took, "" if that is not known.
func spanOrNone(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return Span(d)
}

// pick returns one of two texts.
func pick(which bool, one, other string) string {
	if which {
		return one
	}
	return other
}

// when says a time of this machine to the second, with its zone; "" for none.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
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
