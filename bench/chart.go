//go:build linux

package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"
)

// chartStyle tells the lines apart on light and on dark ground, also for those
// who do not see red from green.
const chartStyle = `<style>
.ground { fill: #ffffff } text { fill: #57606a; font: 12px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif }
.title { fill: #1f2328; font-size: 14px; font-weight: 600 } .grid { stroke: #d8dee4; stroke-width: 1 } .name { font-weight: 600 }
polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round } .dashed { stroke-dasharray: 5 4 }
.l0 { stroke: #0969da } .l1 { stroke: #d55e00 } .l2 { stroke: #9a6700 } .l3 { stroke: #8c959f }
.f0 { fill: #0969da } .f1 { fill: #d55e00 } .f2 { fill: #9a6700 } .f3 { fill: #8c959f }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117 } text { fill: #9198a1 } .title { fill: #f0f6fc } .grid { stroke: #2a313c }
.l0 { stroke: #58a6ff } .l1 { stroke: #ff8f40 } .l2 { stroke: #e3b341 } .l3 { stroke: #6e7681 }
.f0 { fill: #58a6ff } .f1 { fill: #ff8f40 } .f2 { fill: #e3b341 } .f3 { fill: #6e7681 }
}
</style>
`

// box is where a panel's plot stands, in pixels, and what it shows.
type box struct {
	x, y, w, h float64
	named      bool // the lines have their names behind them
}

// chart draws the growths on logarithmic axes: two panels, and below them three
// that have a line alone.
func chart(growths []growth) []byte {
	const width, height = 1000, 640
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img">
<title>Time of a stop as lists, crowds, transcripts and loops grow</title>
%[3]s<rect class="ground" width="%[1]d" height="%[2]d" rx="8"/>
`, width, height, chartStyle)
	for i, g := range growths {
		if i < 2 {
			g.draw(&b, box{x: 64 + float64(i)*490, y: 54, w: 300, h: 270, named: true})
		} else {
			g.draw(&b, box{x: 64 + float64(i-2)*326, y: 428, w: 232, h: 150})
		}
	}
	return []byte(b.String() + "</svg>\n")
}

// draw draws one panel.
func (g growth) draw(b *strings.Builder, p box) {
	low, high := time.Millisecond, 10*time.Millisecond
	for _, l := range g.Lines {
		for _, at := range l.Points {
			for at.Median > high {
				high *= 10
			}
			for at.Median < low {
				low /= 10
			}
		}
	}
	points := g.Lines[0].Points
	first, last := points[0].X, points[len(points)-1].X
	right := func(x float64) float64 { return p.x + p.w*math.Log(x/first)/math.Log(last/first) }
	up := func(d time.Duration) float64 {
		return p.y + p.h*(1-math.Log(float64(d)/float64(low))/math.Log(float64(high)/float64(low)))
	}
	text := func(class, anchor string, x, y float64, words string) {
		fmt.Fprintf(b, `<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, anchor, x, y, html.EscapeString(words))
	}
	text("title", "start", p.x-40, p.y-22, g.Title)
	for d := low; d <= high; d *= 10 {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1[3]f"/>`+"\n", p.x, p.x+p.w, up(d))
		text("tick", "end", p.x-7, up(d)+4, tick(d))
	}
	for _, at := range points {
		text("tick", "middle", right(at.X), p.y+p.h+19, at.Label)
	}
	text("tick", "middle", p.x+p.w/2, p.y+p.h+37, g.Axis)
	type end struct {
		name, class string
		y           float64
	}
	var ends []end
	for i, l := range g.Lines {
		class, dashed := min(i, 3), ""
		name, other := strings.CutPrefix(l.Name, g.Lines[0].Name+", ")
		if other { // the hook, in another case
			class, dashed = 0, " dashed"
		}
		var path []string
		for _, at := range l.Points {
			path = append(path, fmt.Sprintf("%.1f,%.1f", right(at.X), up(at.Median)))
		}
		fmt.Fprintf(b, `<polyline class="l%d%s" points="%s"/>`+"\n", class, dashed, strings.Join(path, " "))
		for _, at := range l.Points {
			fmt.Fprintf(b, `<circle class="f%d" cx="%.1f" cy="%.1f" r="3.5"/>`+"\n", class, right(at.X), up(at.Median))
		}
		ends = append(ends, end{name, fmt.Sprintf("name f%d", class), up(l.Points[len(l.Points)-1].Median) + 4})
	}
	if !p.named {
		return
	}
	// Names that would stand on one another are moved apart.
	slices.SortFunc(ends, func(a, b end) int { return cmp.Compare(b.y, a.y) })
	for i, e := range ends {
		if i > 0 {
			e.y = min(e.y, ends[i-1].y-15)
			ends[i] = e
		}
		text(e.class, "start", p.x+p.w+10, e.y, e.name)
	}
}

// tick writes a power of ten.
func tick(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%g s", d.Seconds())
	}
	return fmt.Sprintf("%g ms", float64(d)/1e6)
}
