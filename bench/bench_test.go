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

func figures(name string, median time.Duration) figure {
	return figure{Name: name, Runs: 9, Median: median, P95: 2 * median, Peak: 5000}
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

// TestReport meets one bar and misses another, and has to say which.
func TestReport(t *testing.T) {
	const why = "the reason of the test"
	r := row{Title: "A case", Figures: []figure{figures("floor", time.Millisecond), figures("hook", 1900*time.Microsecond)}}
	r.atMost(2, r.Figures[1], r.Figures[0])
	r.atMost(1.5, r.Figures[1], r.Figures[0])
	reasons[r.Title] = why
	defer delete(reasons, r.Title)
	text := string(report{Rows: []row{r.over(0)}, Growths: []growth{some()}}.text())
	for _, want := range []string{
		"| A case | ≤ 2 × floor | 1.90 × | met |\n", "| A case | ≤ 1.5 × floor | 1.90 × | **missed** |\n", why,
		"| hook | 1.90 ms | 3.80 ms | 1.90 | 5.1 MB | 9 |\n", "| 10,000 | 3.00 ms (6.00 ms), 5.1 MB |",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("not there once: %s", want)
		}
	}
	r.Bars = r.Bars[:1]
	if text := string(report{Rows: []row{r}}.text()); strings.Contains(text, why) {
		t.Error("a reason for what was met")
	}
}

func some() (g growth) {
	g.Title = "A & B"
	for i, n := range []int{1, 100, 10_000} {
		g.add(float64(n), number(n), figures("hook", time.Duration(i+1)*time.Millisecond), figures("<other>", time.Second))
	}
	return g
}

// TestChart wants XML with a point for each figure.
func TestChart(t *testing.T) {
	text := string(chart([]growth{some(), some(), some()}))
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(text, "<circle"); got != 3*2*3 {
		t.Errorf("%d points", got)
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error("a place that is none")
	}
}
