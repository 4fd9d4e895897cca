package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Fact is one of the numbers of a loop.
type Fact struct {
	Name   string
	Value  any    // a text, or HTML of ours
	Of     string // its limit, "": none
	Bar    *Bar
	Legend []Entry
	Below  []any // likewise
}

// Add adds a line below the number.
func (f *Fact) Add(line any) { f.Below = append(f.Below, line) }

// Entry is a part of a sum.
type Entry struct {
	Count              int
	Class, Glyph, Word string
}

// isClaimed reports whether claims are all there is: nothing can prove them.
func isClaimed(v verb.Status) bool { return v.Checks == 0 && v.Features.Proven == 0 }

// Number is how far a loop is. Without a check, all claims count.
func Number(v verb.Status) int {
	if isClaimed(v) {
		return v.Features.Passed
	}
	return v.Features.Proven
}

// FeaturesOf says how far a loop is.
func FeaturesOf(v verb.Status) Fact {
	c := v.Features
	word := "proven"
	if isClaimed(v) {
		word = "claimed"
	}
	bar := Cells(c)
	f := Fact{Name: "Features", Value: fmt.Sprint(Number(v)), Of: fmt.Sprintf("of %d %s", c.Total, word), Bar: &bar}
	for _, one := range []Entry{
		{c.Proven, "proven", "done", "proven"}, {c.Claimed, "claimed", "claimed", "claimed"},
		{c.SetAside, "aside", "aside", "set aside"}, {c.Remaining() - c.SetAside, "open", "open", "open"},
		{c.Added, "added", "", "added"},
	} {
		if one.Count > 0 {
			f.Legend = append(f.Legend, one)
		}
	}
	return f
}

// Budget is a bound in dollars.
func Budget(usd float64) string {
	return "$" + strings.TrimSuffix(fmt.Sprintf("%.2f", usd), ".00")
}

// Moment is a time as this machine has it: today without the day.
func Moment(t time.Time) string {
	if t.Local().Format(time.DateOnly) == time.Now().Local().Format(time.DateOnly) {
		return clock(t)
	}
	return t.Local().Format("Jan 2 15:04")
}
