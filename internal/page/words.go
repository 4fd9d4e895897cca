package page

import (
	"fmt"
	"html"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
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

// elapsed says how long a loop, or its run, takes or took. The script lets the clock of one at work run.
func elapsed(d *detail) template.HTML {
	from, took, goesOn := d.Loop.Took()
	if took == 0 {
		return ""
	}
	text := plain.Duration(took)
	if !goesOn {
		return template.HTML(html.EscapeString(text))
	}
	return clock(from, ` data-runs="true"`, text)
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
		"needs.svg": `<path d="M8 1 15 15H1z" fill="#cf222e"/>`, "stuck.svg": `<path d="M2 2h12v12H2z" fill="#9a6700"/>`,
		"works.svg": `<circle cx="8" cy="8" r="7" fill="#0969da"/>`,
		"waits.svg": `<circle cx="8" cy="8" r="6" fill="none" stroke="#0969da" stroke-width="3"/>`,
		"never.svg": `<circle cx="8" cy="8" r="6" fill="none" stroke="#9a6700" stroke-width="3"/>`,
		"ended.svg": `<circle cx="8" cy="8" r="7" fill="#2da44e"/>`,
	}[r.PathValue("state")]
	if shape == "" {
		refuse(w, r, http.StatusNotFound, "there is no such icon")
		return
	}
	w.Header().Set("Content-Security-Policy", drawn)
	write(w, r, http.StatusOK, "image/svg+xml",
		[]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">`+shape+`</svg>`))
}

// before is what stands in a text before a part of it.
func before(text, part string) string {
	text, _, _ = strings.Cut(text, part)
	return text
}
