package report

import (
	_ "embed" // for the texts below
	"fmt"
	"html/template"
	"io"
	"math"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chart"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// Style is the style of the report and of the page.
//
//go:embed style.css
var Style string

// Sections are templates for parts of the report and of the page: "iterations" takes iterations, "rest" what else is
// known of a loop.
//
//go:embed sections.html
var Sections string

//go:embed report.html
var page string

// Funcs are the functions of the templates of the report and of the page.
func Funcs() template.FuncMap {
	return template.FuncMap{
		"style":    func() template.CSS { return template.CSS(Style) },
		"duration": Duration,
		"when": func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.UTC().Format("2006-01-02 15:04:05 UTC")
		},
		"short":  func(hash string) string { return hash[:min(len(hash), 10)] },
		"groups": groups, "chart": inline, "dollars": func(usd float64) string { return fmt.Sprintf("$%.3f", usd) },
		"percent": func(n, of int) int {
			if of <= 0 {
				return 0
			}
			return min(100, 100*n/of)
		},
	}
}

var parsed = sync.OnceValues(func() (*template.Template, error) {
	return template.New("report").Funcs(Funcs()).Parse(Sections + page)
})

// HTML writes the report as one page, which loads nothing and runs nothing.
func (r *Report) HTML(w io.Writer) error {
	t, err := parsed()
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

// Group is a part of a long list of iterations. A browser lays a closed part out only if somebody opens it.
type Group struct {
	First, Last int // from 1
	Open        bool
	Iterations  []record.Session
}

const groupSize = 200

// groups cuts a list of iterations. The last part is open.
func groups(all []record.Session) (cut []Group) {
	for from := 0; from < len(all); from += groupSize {
		to := min(from+groupSize, len(all))
		cut = append(cut, Group{from + 1, to, to == len(all), all[from:to]})
	}
	return cut
}

// inline draws a chart into a page. The library escapes the texts, and the package chart tests that.
func inline(c chart.Chart) (template.HTML, error) {
	svg, err := c.SVG()
	return template.HTML(svg), err
}

// Charts returns the charts of a loop's iterations; none if they would be empty.
func Charts(all []record.Session) (charts []chart.Chart) {
	var labels []string
	var took, cost, tokens []float64
	sum, sumTokens := 0.0, 0.0
	hasTook := false
	hasCost := false
	hasTokens := false
	for _, i := range all {
		labels = append(labels, fmt.Sprint(i.Iteration))
		minutes := math.NaN()
		if i.Took() > 0 {
			minutes, hasTook = i.Took().Minutes(), true
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
			})
		}
	}
	add(hasCost, "Cost so far, by iteration", cost, func(v float64) string { return fmt.Sprintf("$%.2f", v) })
	add(hasTokens, "Tokens so far, by iteration", tokens, func(v float64) string { return fmt.Sprintf("%.0fk", v/1000) })
	add(hasTook, "Minutes of each session", took, func(v float64) string { return fmt.Sprintf("%.1f", v) })
	return charts
}

// Charts returns the charts of the report.
func (r *Report) Charts() []chart.Chart { return Charts(r.Iterations) }
