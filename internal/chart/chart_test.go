package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

// cost is a chart with n points.
func cost(n int) Chart {
	c := Chart{
		Title: "Cost <script>alert(1)</script>", Lines: []Line{{Name: "all"}, {Name: "a & b"}},
		Format: func(v float64) string { return fmt.Sprintf("$%.2f", v) },
	}
	for i := range n {
		c.Labels = append(c.Labels, fmt.Sprint(i+1))
		c.Lines[0].Values = append(c.Lines[0].Values, float64(i)/10)
		c.Lines[1].Values = append(c.Lines[1].Values, math.NaN())
	}
	return c
}

// wellFormed refuses what is no XML, and elements that could do something.
func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		start, is := token.(xml.StartElement)
		if is && strings.Contains("script foreignObject image use a", start.Name.Local) {
			t.Errorf("there is an element %s", start.Name.Local)
		}
	}
}

// TestSVG draws charts of all sizes.
func TestSVG(t *testing.T) {
	for _, n := range []int{1, 2, 50, 10_000} {
		svg, err := cost(n).SVG()
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, svg)
		text := string(svg)
		for _, want := range []string{"<title>Cost &lt;script", "var(--l0)", "prefers-color-scheme:dark", ">$"} {
			if !strings.Contains(text, want) {
				t.Errorf("with %d points the chart lacks %s", n, want)
			}
		}
		if strings.Contains(text, "rgb(87,96,106)") {
			t.Error("a colour is no variable")
		}
		if len(svg) > 100<<10 {
			t.Errorf("the chart of %d points has %d bytes", n, len(svg))
		}
		if again, _ := cost(n).SVG(); !bytes.Equal(again, svg) {
			t.Error("the same chart gives other bytes")
		}
	}
}

// TestLog draws powers of ten at equal distances.
func TestLog(t *testing.T) {
	c := Chart{
		Title: "t", Labels: []string{"10", "100", "1000"}, Log: true,
		Lines:  []Line{{Name: "a", Values: []float64{3e6, 2e7, 9e8}}},
		Format: func(v float64) string { return time.Duration(math.Round(v)).String() },
	}
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, svg)
	for _, want := range []string{">1ms<", ">10ms<", ">100ms<", ">1s<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the axis lacks %s: %s", want, svg)
		}
	}
}

// TestThin keeps the largest value of what is drawn as one point.
func TestThin(t *testing.T) {
	c := cost(10_000)
	c.Lines[0].Values[1234] = 1e6
	thin := c.thin()
	most := 0.0
	for _, v := range thin.Lines[0].Values {
		most = max(most, v)
	}
	if len(thin.Labels) != maxPoints || most != 1e6 {
		t.Errorf("%d points are left, the largest is %v", len(thin.Labels), most)
	}
}
