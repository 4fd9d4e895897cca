// Package chart draws charts as SVG, for the page, the report and the benchmarks.
package chart

import (
	"bytes"
	"cmp"
	_ "embed" // for the picture
	"fmt"
	"html/template"
	"math"
	"sync"
	"unicode/utf8"
)

// Chart is a chart of lines over the same labels.
type Chart struct {
	Title         string // also what a screen reader says
	Labels        []string
	Lines         []Line               // at most five, which look different
	Log           bool                 // the values are shown on a logarithmic scale; what is not above 0 is missing
	Format        func(float64) string // shows a value
	Width, Height int                  // in pixels
}

// Line is a line of a chart.
type Line struct {
	Name   string
	Values []float64 // one for each label; NaN: there is none
}

const (
	maxPoints  = 200 // of a line: more are not seen apart
	maxCircles = 60  // of a line: more would touch
	maxLabels  = 7   // below a chart: more would touch
)

//go:embed chart.svg.tmpl
var source string

var picture = sync.OnceValues(func() (*template.Template, error) { return template.New("chart").Parse(source) })

// plot is a chart with the places of what is drawn.
type plot struct {
	Chart
	Left, Right, Top, Bottom float64
	Rows, Columns            []mark // the values beside the chart, and the labels below it
	Curves                   []curve
}

// mark is a place with a text.
type mark struct {
	X, Y float64
	Text string
}

// curve is a line as it is drawn.
type curve struct {
	Name, Facts, Path string
	Points            []mark
	X                 int // in the legend
}

// SVG draws the chart. The same chart gives the same bytes. It follows the reader's colour scheme.
func (c Chart) SVG() ([]byte, error) {
	low, step, n := c.scale()
	p := plot{Chart: c, Right: float64(c.Width - 30), Top: 44, Bottom: float64(c.Height - 34)}
	if len(c.Lines) > 1 {
		p.Top = 72 // below the legend
	}
	for i := range n + 1 {
		text := c.text(low + float64(i)*step)
		p.Rows = append(p.Rows, mark{Y: p.y(float64(i) / float64(n)), Text: text})
		p.Left = max(p.Left, float64(20+10*utf8.RuneCountInString(text))) // a digit is 10 wide
	}
	shown := min(len(c.Labels), maxLabels)
	for i := range shown {
		at := i * (len(c.Labels) - 1) / max(shown-1, 1) // the first and the last are shown
		p.Columns = append(p.Columns, mark{p.x(at), p.Bottom, c.Labels[at]})
	}
	x := 20
	for _, line := range c.Lines {
		p.Curves = append(p.Curves, p.curve(line, x, func(height float64) float64 {
			return p.y((height - low) / (float64(n) * step))
		}))
		x += 58 + 9*utf8.RuneCountInString(line.Name)
	}
	var b bytes.Buffer
	t, err := picture()
	if err == nil {
		err = t.Execute(&b, p)
	}
	return b.Bytes(), err
}

// x returns where a label is, to a tenth of a pixel.
func (p *plot) x(label int) float64 {
	return tenth(p.Left + (p.Right-p.Left)*(float64(label)+0.5)/float64(len(p.Labels)))
}

// y returns where a share of the axis is.
func (p *plot) y(share float64) float64 {
	return tenth(p.Bottom - (p.Bottom-p.Top)*min(max(share, 0), 1))
}

func tenth(v float64) float64 { return math.Round(10*v) / 10 }

// curve draws a line: of points that nobody could see apart the highest, and a gap where there is none.
func (p *plot) curve(line Line, x int, y func(height float64) float64) curve {
	drawn := curve{Name: line.Name, Facts: "no values", X: x}
	first, last, most := "", "", math.Inf(-1)
	pen := "M%v %vh0" // a point alone is a dot
	n := min(len(line.Values), maxPoints)
	for i := range n {
		from, to := i*len(line.Values)/n, (i+1)*len(line.Values)/n
		height := math.Inf(-1)
		for _, v := range line.Values[from:to] {
			if h := p.height(v); h > height {
				height = h
			}
		}
		if math.IsInf(height, -1) {
			pen = "M%v %vh0"
			continue
		}
		at := mark{X: p.x(to - 1), Y: y(height)}
		drawn.Path += fmt.Sprintf(pen, at.X, at.Y)
		pen = "L%v %v"
		if n <= maxCircles {
			drawn.Points = append(drawn.Points, at)
		}
		last = p.text(height) + " at " + p.Labels[to-1]
		first, most = cmp.Or(first, last), max(most, height)
	}
	if first != "" {
		drawn.Facts = fmt.Sprintf("%s, %s, at most %s", first, last, p.text(most))
	}
	return drawn
}

// height returns a value as the axis counts it; NaN if it cannot be drawn.
func (c Chart) height(v float64) float64 {
	if c.Log {
		v = math.Log10(v)
	}
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

// text shows the value of a height.
func (c Chart) text(height float64) string {
	if c.Log {
		height = math.Pow(10, height)
	}
	return c.Format(height)
}

// scale returns where the axis of the values begins, and its steps: of 1, 2 or 5 from 0, or powers of ten.
func (c Chart) scale() (low, step float64, n int) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, line := range c.Lines {
		for _, v := range line.Values {
			if h := c.height(v); !math.IsNaN(h) {
				least, most = min(least, h), max(most, h)
			}
		}
	}
	switch {
	case c.Log && least <= most:
		low = math.Floor(least)
		return low, 1, max(int(math.Ceil(most)-low), 1)
	case most < 1e-9: // or there is none
		return 0, 1, 1
	}
	step = math.Pow(10, math.Floor(math.Log10(most)))
	switch most /= step; {
	case most <= 2:
		return 0, step / 2, int(math.Ceil(2 * most))
	case most <= 5:
		return 0, step, int(math.Ceil(most))
	}
	return 0, 2 * step, int(math.Ceil(most / 2))
}
