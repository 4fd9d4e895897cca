//go:build linux

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func took(name string, median time.Duration) figure {
	return figure{Name: name, Runs: 9, Median: median, P95: 2 * median, Peak: 5e6}
}

func TestQuantile(t *testing.T) {
	var all []time.Duration
	for n := range 101 {
		all = append(all, time.Duration(n))
	}
	for q, want := range map[float64]time.Duration{0: 0, 0.5: 50, 0.95: 95, 1: 100} {
		if got := quantile(all, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if got := quantile(all[:1], 0.95); got != 0 {
		t.Errorf("of one: %v", got)
	}
}

// TestRatio has rounds whose ratios have another median than the ratio of the medians.
func TestRatio(t *testing.T) {
	rounds := turn{took: [][]time.Duration{{7, 2, 1}, {7, 9, 3}, {7, 100, 100}}}
	if got := rounds.ratio(1); got != 2 {
		t.Errorf("%v, want 2", got)
	}
}

// TestReport meets one bar and misses one. The report must say which, and why only for that.
func TestReport(t *testing.T) {
	floor, hook := took("floor", time.Millisecond), took("hook", 1900*time.Microsecond)
	r := row{Title: "A case", Figures: []figure{floor, hook}}
	r.atMost(2, hook, floor, "is met")
	r.atMost(1.5, hook, floor, "is missed")
	text, err := report{Rows: []row{r}, Growths: []growth{some()}}.text()
	if err != nil {
		t.Fatal(err)
	}
	for want, times := range map[string]int{
		"| A case | ≤ 2 × floor | 1.90 × | met |\n":          1,
		"| A case | ≤ 1.5 × floor | 1.90 × | **missed** |\n": 1,
		"is met": 0, "misses ≤ 1.5 × floor. is missed": 1,
		"| hook | 1.90 ms | 3.80 ms | 1.90 | 1.00 | 5.0 MB | 9 |\n": 1, "| 10,000 | 3.00 ms (6.00 ms) |": 1,
	} {
		if got := strings.Count(string(text), want); got != times {
			t.Errorf("%d times, want %d: %s", got, times, want)
		}
	}
}

func some() (g growth) {
	g.Title = "A & B"
	for i, n := range []int{1, 100, 10_000} {
		hook, node := took(programs[0], time.Duration(i+1)*time.Millisecond), took(programs[1], time.Second)
		g.Points = append(g.Points, point{n, number(n), []figure{hook, node}})
	}
	return g
}

// TestChart wants XML with a point for each figure.
func TestChart(t *testing.T) {
	picture, err := drawn([]growth{some(), some(), some()})
	if err != nil {
		t.Fatal(err)
	}
	text := string(picture)
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(text, "<circle"); got != 3*(2*3+2) { // the legend has one of each line
		t.Errorf("%d points", got)
	}
	for _, wrong := range []string{"NaN", "Inf", `"f-1"`} {
		if strings.Contains(text, wrong) {
			t.Errorf("%s in the chart", wrong)
		}
	}
}
