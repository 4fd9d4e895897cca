//go:build linux

package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"
)

// chartStyle has colors for light and for dark pages. Readers who do not see red from green can tell them apart.
const chartStyle = `<style>
.ground { fill: #ffffff } .title { fill: #1f2328; font-size: 14px } .title, .name { font-weight: 600 }
text { fill: #57606a; font: 12px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif }
.grid { stroke: #d8dee4 } polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round }
.l0 { stroke: #0969da } .l1 { stroke: #d55e00 } .l2 { stroke: #9a6700 } .l3 { stroke: #8c959f }
.f0 { fill: #0969da } .f1 { fill: #d55e00 } .f2 { fill: #9a6700 } .f3 { fill: #8c959f }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117 } text { fill: #9198a1 } .title { fill: #f0f6fc } .grid { stroke: #2a313c }
.l0 { stroke: #58a6ff } .l1 { stroke: #ff8f40 } .l2 { stroke: #e3b341 } .l3 { stroke: #6e7681 }
.f0 { fill: #58a6ff } .f1 { fill: #ff8f40 } .f2 { fill: #e3b341 } .f3 { fill: #6e7681 }
}
</style>
`

// programs are the names of all lines. Each has the color of its place.
var programs = []string{"ralph-stop-hook", "Node", "bash + jq", "floor"}

// chart draws the growths side by side, with logarithmic axes, as SVG.
func chart(growths []growth) []byte {
	const width, height = 1000, 380
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d"
	viewBox="0 0 %[1]d %[2]d" role="img">
<title>How the time of a stop grows with the list, with the hooks at once, and with the transcript</title>
%[3]s<rect class="ground" width="%[1]d" height="%[2]d" rx="8"/>
`, width, height, chartStyle)
	for i, name := range programs {
		label(&b, fmt.Sprintf("name f%d", i), "start", 60+150*float64(i), 28, name)
	}
	for i, g := range growths {
		g.draw(&b, 60+float64(i)*325)
	}
	return []byte(b.String() + "</svg>\n")
}

func label(b *strings.Builder, class, anchor string, x, y float64, words string) {
	fmt.Fprintf(b, `<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`+"\n",
		class, anchor, x, y, html.EscapeString(words))
}

// draw draws one growth. Its plot begins left pixels from the left.
func (g growth) draw(b *strings.Builder, left float64) {
	const top, width, height = 90.0, 250.0, 230.0
	low, high := time.Millisecond, 10*time.Millisecond
	for _, p := range g.Points {
		for _, f := range p.Figures {
			for f.Median > high {
				high *= 10
			}
			for f.Median < low {
				low /= 10
			}
		}
	}
	first, last := float64(g.Points[0].X), float64(g.Points[len(g.Points)-1].X)
	across := func(x int) float64 { return left + width*math.Log(float64(x)/first)/math.Log(last/first) }
	down := func(d time.Duration) float64 {
		return top + height*math.Log(float64(high)/float64(d))/math.Log(float64(high)/float64(low))
	}
	label(b, "title", "start", left-40, top-22, g.Title)
	for d := low; d <= high; d *= 10 {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1[3]f"/>`+"\n", left, left+width,
			down(d))
		label(b, "tick", "end", left-7, down(d)+4, d.String())
	}
	for _, p := range g.Points {
		label(b, "tick", "middle", across(p.X), top+height+19, p.Label)
	}
	label(b, "tick", "middle", left+width/2, top+height+40, g.Axis)
	for i, f := range g.Points[0].Figures {
		color, path := slices.Index(programs, f.Name), ""
		for _, p := range g.Points {
			x, y := across(p.X), down(p.Figures[i].Median)
			path += fmt.Sprintf("%.1f,%.1f ", x, y)
			fmt.Fprintf(b, `<circle class="f%d" cx="%.1f" cy="%.1f" r="3.5"/>`+"\n", color, x, y)
		}
		fmt.Fprintf(b, `<polyline class="l%d" points="%s"/>`+"\n", color, strings.TrimSpace(path))
	}
}
