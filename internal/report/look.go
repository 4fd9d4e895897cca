package report

import (
	"fmt"
	"html/template"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Class is the class of a loop's state, which gives it a colour.
func Class(v verb.Status) string {
	if v.Status == decide.Cancelled && v.Rank() == verb.RankEnded {
		return "stop"
	}
	return []string{"you", "stuck", "run", "wait", "not", "done"}[v.Rank()]
}

// glyph is the shape of a loop's state. It says without colour what the class says with one.
func glyph(v verb.Status) string {
	class := Class(v)
	switch {
	case class != "you":
		return class
	case v.Status == decide.ReachedLimit:
		return "stop"
	case v.Status == decide.Failed, v.Status == decide.Stagnated:
		return "fail"
	}
	return "you"
}

// states are the states of features, in the order in which people want to see them, with their shapes.
var states = []struct{ name, class, glyph, word string }{
	{"asks", "you", "you", "open · asks"}, {"silent", "stuck", "stuck", "open · silent"},
	{"fails", "bad", "bad", "open · fails"}, {"works", "work", "run", "open · at work"},
	{"blocked", "bad", "aside", "blocked"}, {"open", "open", "open", "open"},
	{decide.FeatureSetAside, "aside", "aside", "set aside"}, {"claimed", "claimed", "claimed", "claimed"},
	{"proven", "proven", "done", "proven"}, {"added", "added", "open", "added"},
	{"dropped", "dropped", "stop", "dropped"},
}

// Look is how the state of a feature is shown.
type Look struct {
	Order              int // of features with this state among all
	Class, Glyph, Word string
}

// LookOf returns how a state is shown: that of a feature, or how an open one is.
func LookOf(state string) Look {
	for i, one := range states {
		if one.name == state {
			return Look{i, one.class, one.glyph, one.word}
		}
	}
	return Look{len(states), "open", "open", state}
}

// Span says how long something took, to people: the two largest units are enough.
func Span(d time.Duration) string {
	switch s := int(d.Seconds()); {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 60*60:
		return fmt.Sprintf("%d min", s/60)
	case s < 24*60*60:
		return units(s/3600, "h", s/60%60, "min")
	default:
		return units(s/86400, "d", s/3600%24, "h")
	}
}

func units(large int, of string, small int, ofSmall string) string {
	if small == 0 {
		return fmt.Sprintf("%d %s", large, of)
	}
	return fmt.Sprintf("%d %s %d %s", large, of, small, ofSmall)
}

// clock is a time of the day, as this machine has it.
func clock(t time.Time) string { return t.Local().Format("15:04") }

// shapes are the glyphs of states, in 16 by 16 pixels: each state has its own, so that none needs a colour.
var shapes = map[string]string{
	"aside":   `<circle cx="8" cy="8" r="6.2"/><path d="M5.2 8h5.6"/>`,
	"bad":     `<circle cx="8" cy="8" r="6.2"/><path d="M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4"/>`,
	"claimed": `<circle cx="8" cy="8" r="6.2"/><path d="M5.2 8.2l2 2 3.6-4"/>`,
	"done":    `<circle class="f" cx="8" cy="8" r="6.2"/><path class="cut" d="M5.2 8.2l2 2 3.6-4"/>`,
	"fail":    `<circle class="f" cx="8" cy="8" r="6.2"/><path class="cut" d="M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4"/>`,
	"info":    `<circle cx="8" cy="8" r="6.2"/><path d="M8 7.4v3.4M8 5.1v.1"/>`,
	"not":     `<circle cx="8" cy="8" r="6" stroke-dasharray="2.2 2.5"/>`,
	"open":    `<circle cx="8" cy="8" r="6.2"/>`,
	"run":     `<circle cx="8" cy="8" r="6.2"/><path class="f" stroke="none" d="M8 4.6a3.4 3.4 0 0 1 0 6.8z"/>`,
	"search":  `<circle cx="7" cy="7" r="4.4"/><path d="M10.4 10.4L14 14"/>`,
	"stop":    `<circle cx="8" cy="8" r="6.2"/><path class="f" stroke="none" d="M5.6 5.6h4.8v4.8H5.6z"/>`,
	"stuck":   `<path d="M8 2.2L14.4 13.4H1.6z"/><path d="M8 6.6v2.8M8 11.4v.1"/>`,
	"wait":    `<circle cx="8" cy="8" r="6.2"/><path d="M8 4.8V8l2.2 1.5"/>`,
	"you":     `<path class="f" d="M8 2.2L14.4 13.4H1.6z"/><path class="cut" d="M8 6.4v3.2M8 11.6v.1"/>`,
}

// icon draws a glyph.
func icon(name string) template.HTML {
	return template.HTML(`<svg class="i" viewBox="0 0 16 16" aria-hidden="true">` + shapes[name] + `</svg>`)
}
