// Package chart draws charts as SVG, for the page, the report and the benchmarks. It is the only user of the library
// github.com/go-analyze/charts, which draws SVG in pure Go with three modules behind it.
package chart

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/go-analyze/charts"
)

// Chart is a chart of lines over the same labels.
type Chart struct {
	Title  string // also what a screen reader says
	Labels []string
	Lines  []Line
	Log    bool                 // the values are shown on a logarithmic scale; all must be above 0
	Format func(float64) string // shows a value on the axis
	Width  int                  // in pixels; 0: 640
	Height int                  // 0: 240
}

// Line is a line of a chart.
type Line struct {
	Name   string
	Values []float64 // one for each label; NaN: there is none
}

// maxPoints is how many points a line has at most: more are not seen apart.
const maxPoints = 200

// maxLabels is how many labels below a chart do not touch.
const maxLabels = 7

// colour is a colour in both schemes. The library writes the light one, which Draw replaces by a variable. Readers who
// do not see red from green can tell the lines apart.
type colour struct {
	name        string
	light, dark string // rrggbb
}

var (
	ink    = colour{"ink", "57606a", "9198a1"}
	strong = colour{"strong", "1f2328", "f0f6fc"}
	grid   = colour{"grid", "d8dee4", "2a313c"}
	lines  = []colour{
		{"l0", "0969da", "58a6ff"}, {"l1", "d55e00", "ff8f40"}, {"l2", "9a6700", "e3b341"}, {"l3", "8c959f", "6e7681"},
	}
)

func (c colour) parsed() charts.Color { return charts.ParseColor("#" + c.light) }

// SVG draws the chart. The same chart gives the same bytes. It follows the reader's colour scheme.
func (c Chart) SVG() ([]byte, error) {
	c = c.thin()
	p := charts.NewPainter(charts.PainterOptions{
		OutputFormat: charts.ChartOutputSVG, Width: cmp.Or(c.Width, 640), Height: cmp.Or(c.Height, 240),
	})
	if err := p.LineChart(c.options()); err != nil {
		return nil, fmt.Errorf("cannot draw %q: %w", c.Title, err)
	}
	text, err := p.Bytes()
	return c.themed(text), err
}

// thin takes points away that nobody could see apart. Of each group it keeps the largest value.
func (c Chart) thin() Chart {
	n := len(c.Labels)
	if n <= maxPoints {
		return c
	}
	at := func(i int) int { return i * n / maxPoints }
	labels := make([]string, maxPoints)
	for i := range labels {
		labels[i] = c.Labels[at(i)]
	}
	thinned := make([]Line, len(c.Lines))
	for k, line := range c.Lines {
		thinned[k] = Line{Name: line.Name, Values: make([]float64, maxPoints)}
		for i := range maxPoints {
			most := math.NaN()
			for _, v := range line.Values[at(i):at(i+1)] {
				if math.IsNaN(most) || v > most {
					most = v
				}
			}
			thinned[k].Values[i] = most
		}
	}
	c.Labels, c.Lines = labels, thinned
	return c
}

// values returns the lines as the library wants them.
func (c Chart) values() (names []string, values [][]float64) {
	for _, line := range c.Lines {
		row := make([]float64, len(line.Values))
		for i, v := range line.Values {
			switch {
			case math.IsNaN(v) || math.IsInf(v, 0):
				row[i] = charts.GetNullValue()
			case c.Log:
				row[i] = math.Log10(v)
			default:
				row[i] = v
			}
		}
		names, values = append(names, line.Name), append(values, row)
	}
	return names, values
}

// format shows a value of the axis.
func (c Chart) format(v float64) string {
	if c.Log {
		v = math.Pow(10, v)
	}
	return c.Format(v)
}

// yAxis returns the axis of the values. On a logarithmic scale it has a line for each power of ten.
func (c Chart) yAxis(values [][]float64) charts.YAxisOption {
	y := charts.YAxisOption{ValueFormatter: c.format}
	low := 0.0
	if c.Log {
		least, most := math.Inf(1), math.Inf(-1)
		for _, row := range values {
			for _, v := range row {
				if v != charts.GetNullValue() {
					least, most = min(least, v), max(most, v)
				}
			}
		}
		low = math.Floor(least)
		high := max(math.Ceil(most), low+1)
		y.Max, y.LabelCount = charts.Ptr(high), int(high-low)+1
	}
	y.Min = charts.Ptr(low)
	return y
}

func (c Chart) theme() charts.ColorPalette {
	series := make([]charts.Color, len(lines))
	for i, line := range lines {
		series[i] = line.parsed()
	}
	return charts.MakeTheme(charts.ThemeOption{
		AxisStrokeColor: ink.parsed(), AxisSplitLineColor: grid.parsed(), BackgroundColor: charts.ColorTransparent,
		TextColor: ink.parsed(), TextColorTitle: strong.parsed(), SeriesColors: series,
	})
}

func (c Chart) legend(names []string) charts.LegendOption {
	l := charts.LegendOption{SeriesNames: names, Offset: charts.OffsetStr{Left: charts.PositionLeft, Top: "34"}}
	if len(names) < 2 {
		l.Show = charts.Ptr(false)
	}
	l.FontStyle.FontSize = 11
	return l
}

func (c Chart) title() charts.TitleOption {
	t := charts.TitleOption{Text: c.Title}
	t.FontStyle.FontSize = 13
	return t
}

func (c Chart) xAxis() charts.XAxisOption {
	x := charts.XAxisOption{Labels: c.Labels, LabelFontStyle: charts.NewFontStyleWithSize(11)}
	if len(c.Labels) > maxLabels {
		x.LabelCount = maxLabels // the library fits as many as its own font lets it, and browsers have a wider one
	}
	return x
}

func (c Chart) options() charts.LineChartOption {
	names, values := c.values()
	opt := charts.NewLineChartOptionWithData(values)
	opt.Theme = c.theme()
	opt.Title = c.title()
	opt.Legend = c.legend(names)
	opt.XAxis = c.xAxis()
	opt.YAxis = []charts.YAxisOption{c.yAxis(values)}
	return opt
}

// themed puts variables in the place of colours, and a title for screen readers.
func (c Chart) themed(svg []byte) []byte {
	all := append([]colour{ink, strong, grid}, lines...)
	var light, dark strings.Builder
	for _, one := range all {
		p := one.parsed()
		svg = bytes.ReplaceAll(svg, fmt.Appendf(nil, "rgb(%d,%d,%d)", p.R, p.G, p.B), []byte("var(--"+one.name+")"))
		fmt.Fprintf(&light, "--%s:#%s;", one.name, one.light)
		fmt.Fprintf(&dark, "--%s:#%s;", one.name, one.dark)
	}
	svg = bytes.ReplaceAll(svg, []byte("'Roboto Medium',sans-serif"), []byte("system-ui,'DejaVu Sans',sans-serif"))
	head, rest, _ := bytes.Cut(svg, []byte(">"))
	return fmt.Appendf(nil, `%s class="chart" role="img"><title>%s</title><style>.chart{%s}`+
		`@media(prefers-color-scheme:dark){.chart{%s}}</style>%s`, head, html.EscapeString(c.Title), light.String(),
		dark.String(), rest)
}
