//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chart"
)

// programs are the names of all lines, in the order of their colors.
var programs = []string{"ralph-stop-hook", "Node", "bash + jq", "floor", ours, withJq, inBash, alone, idealLanes,
	slowLanes, slowWorker, quickLanes, quickWorker}

// drawn draws the growths below each other, with logarithmic axes, as SVG.
func drawn(growths []growth) ([]byte, error) {
	const width, height, space = 860, 300, 16
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" `+
		`role="img"><title>How the time of a stop and of a run grows`+
		`</title><style>.ground{fill:#ffffff}@media(prefers-color-scheme:dark){.ground{fill:#0d1117}}</style>`+
		`<rect class="ground" width="%[1]d" height="%[2]d" rx="8"/>`+"\n", width, len(growths)*(height+space))
	for i, g := range growths {
		svg, err := g.chart(width, height).SVG()
		if err != nil {
			return nil, err
		}
		place := fmt.Sprintf(`<svg y="%d" width="%d" height="%d" `, i*(height+space)+space/2, width, height)
		fmt.Fprintf(&b, "%s\n", strings.Replace(string(svg), "<svg ", place, 1))
	}
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}

// chart returns the chart of one growth. Its lines have the order of the programs.
func (g growth) chart(width, height int) chart.Chart {
	c := chart.Chart{
		Title: g.Title, Log: true, Width: width, Height: height,
		Format: func(v float64) string { return time.Duration(math.Round(v)).String() },
	}
	for _, p := range g.Points {
		c.Labels = append(c.Labels, p.Label)
	}
	for k, f := range g.Points[0].Figures {
		line := chart.Line{Name: f.Name}
		for _, p := range g.Points {
			line.Values = append(line.Values, float64(p.Figures[k].Median))
		}
		c.Lines = append(c.Lines, line)
	}
	slices.SortFunc(c.Lines, func(a, b chart.Line) int {
		return slices.Index(programs, a.Name) - slices.Index(programs, b.Name)
	})
	return c
}
