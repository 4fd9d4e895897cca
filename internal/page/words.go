package page

import (
	"fmt"
	"html"
	"html/template"
	"net/http"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
)

// moment shows a time. The script turns it into "12 s ago"; without it, it is a time of this machine.
func moment(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	return clock(t, "", t.Local().Format("2006-01-02 15:04 MST"))
}

func clock(t time.Time, more, text string) template.HTML {
	return template.HTML(fmt.Sprintf(`<time datetime="%s"%s>%s</time>`, t.UTC().Format(time.RFC3339), more,
		html.EscapeString(text)))
}

// runs says how long something goes on, if its beginning is known. The script lets the clock run.
func runs(from time.Time) template.HTML {
	if from.IsZero() {
		return ""
	}
	return clock(from, ` data-runs="true"`, report.Span(time.Since(from).Truncate(time.Minute)))
}

// logOf links to what a session has printed.
func (s *Server) logOf(of any, one record.Session) template.HTML {
	d, is := of.(*detail)
	if !is || one.Number < 1 {
		return ""
	}
	return template.HTML(fmt.Sprintf(` <a href="%s/loop/%s/session/%d">log</a>`, s.root(), d.Key, one.Number))
}

// icon draws the icon of a state.
func icon(w http.ResponseWriter, r *http.Request) {
	shape := map[string]string{
		"needs.svg": `<path d="M8 1 15 15H1z" fill="#c2182c"/>`, "works.svg": `<circle cx="8" cy="8" r="7" fill="#2355d0"/>`,
		"stuck.svg": `<path d="M8 2.5 13.8 13.5H2.2z" fill="none" stroke="#c2821e" stroke-width="2"/>`,
		"waits.svg": `<circle cx="8" cy="8" r="6" fill="none" stroke="#6741c0" stroke-width="3"/>`,
		"never.svg": `<circle cx="8" cy="8" r="6" fill="none" stroke="#838c9b" stroke-width="3"/>`,
		"ended.svg": `<circle cx="8" cy="8" r="7" fill="#2f9e5f"/>`,
	}[r.PathValue("state")]
	if shape == "" {
		refuse(w, r, http.StatusNotFound, "there is no such icon")
		return
	}
	w.Header().Set("Content-Security-Policy", drawn)
	write(w, r, http.StatusOK, "image/svg+xml",
		[]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">`+shape+`</svg>`))
}
