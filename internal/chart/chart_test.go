package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cost is a chart with n points.
func cost(n int) Chart {
	c := Chart{
		Title: "Cost <script>alert(1)</script>", Lines: []Line{{Name: "all"}, {Name: "a & b"}},
		Format: func(v float64) string { return fmt.Sprintf("$%.2f", v) }, Width: 640, Height: 240,
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
		if is && slices.Contains([]string{"script", "foreignObject", "image", "use", "a"}, start.Name.Local) {
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
		Format: func(v float64) string { return time.Duration(math.Round(v)).String() }, Width: 640, Height: 240,
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

// TestThin keeps the largest value of what is drawn as one point, and shows the first and the last label.
func TestThin(t *testing.T) {
	c := cost(12_000)
	c.Lines[0].Values[1234] = 1e6
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{">1<": 1, ">12000<": 1, "at most $1000000.00": 1, " 72L": 1, "L": maxPoints - 1, "<circle": 2}
	for part, times := range want { // the legend has one circle of each line, and its lower end is at 72
		if got := strings.Count(string(svg), part); got != times {
			t.Errorf("%q is there %d times, want %d: %s", part, got, times, svg)
		}
	}
}

// TestNumbers draws what a file can say.
func TestNumbers(t *testing.T) {
	for _, v := range []float64{0, -1, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, log := range []bool{false, true} {
			c := cost(3)
			c.Log = log
			c.Lines[0].Values = []float64{v, v, v}
			svg, err := c.SVG()
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, svg)
			if rows := bytes.Count(svg, []byte(`text-anchor="end"`)); rows < 2 || rows > 6 {
				t.Errorf("%v, log %v: the axis has %d values", v, log, rows)
			}
			for _, found := range regexp.MustCompile(`cy="(.*?)"`).FindAllSubmatch(svg, -1) {
				if y, err := strconv.ParseFloat(string(found[1]), 64); err != nil || y < 0 || y > 240 {
					t.Errorf("%v, log %v: a point is at %s", v, log, found[1])
				}
			}
		}
	}
}
