package page

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// sessionLog is what the page of a session shows.
type sessionLog struct {
	*detail
	Log    watch.Log
	Number int
	Query  string
	Where  string
	Live   bool // its end is shown, and it goes on
	Follow bool
}

// turn leads to another page of a log.
type turn struct {
	Name, Word string
	Page       int
}

// session shows what the agent of a session said and did.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	d := s.open(w, r)
	if d == nil {
		return
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 1 {
		refuse(w, r, http.StatusNotFound, "there is no such session")
		return
	}
	query := r.URL.Query()
	page := sessionLog{detail: d, Number: n, Query: plain.Line(query.Get("q"), 100), Where: fmt.Sprint("session ", n)}
	at, _ := strconv.Atoi(query.Get("page"))
	page.Log, err = watch.ReadLog(s.Env, d.Loop.Loop, n, page.Query, at)
	if err != nil {
		refuse(w, r, http.StatusNotFound, plain.Line(err.Error(), 500))
		return
	}
	page.Title = fmt.Sprintf("session %d of %s", n, d.Name)
	page.Live = d.Works() && at == 0 && page.Query == "" // a search reads the whole log
	s.show(w, r, "session", http.StatusOK, page)
}

// Address is how the address of a page of the log begins.
func (p sessionLog) Address() string { return p.logAt(p.Number) + "?page=" }

// Doing says on what the session worked.
func (p sessionLog) Doing() string {
	said := []string{}
	add := func(feature, agent string, lane int) {
		said = append(said, feature)
		if lane > 0 {
			said = append(said, fmt.Sprint("lane ", lane))
		}
		said = append(said, agent)
	}
	for _, one := range p.Run.Running() {
		if one.Number == p.Number {
			add(one.Feature, one.Agent, one.Lane)
			said = append(said, p.SilentIn(one.Lane))
		}
	}
	for _, one := range p.Detail.Iterations {
		if one.Number == p.Number && len(said) == 0 {
			add(one.Feature, one.Agent, one.Lane)
			said = append(said, one.Result(), one.Cost())
		}
	}
	return strings.Join(without(said), " · ")
}

// without leaves out what is empty.
func without(texts []string) (all []string) {
	for _, one := range texts {
		if one != "" {
			all = append(all, one)
		}
	}
	return all
}

// Beside are the sessions before and after this one.
func (p sessionLog) Beside() (all []int) {
	for _, n := range []int{p.Number - 1, p.Number + 1} {
		if p.Run != nil && n > 0 && n <= p.Run.Sessions {
			all = append(all, n)
		}
	}
	return all
}

// Counted says how many lines there are.
func (p sessionLog) Counted() string {
	switch {
	case p.Log.Lacks != "":
		return ""
	case p.Query == "":
		return plain.Count(p.Log.Total, "line")
	case p.Log.Cut:
		return fmt.Sprintf("%d of the last %s", p.Log.Found, plain.Count(p.Log.Total, "line"))
	}
	return fmt.Sprintf("%d of %s", p.Log.Found, plain.Count(p.Log.Total, "line"))
}

// Said says what of the log is shown.
func (p sessionLog) Said() string {
	switch {
	case p.Log.Lacks != "":
		return ""
	case len(p.Log.Lines) == 0 && p.Query == "":
		return "The agent has said nothing yet."
	case len(p.Log.Lines) == 0:
		return fmt.Sprintf("No line has “%s”.", p.Query)
	case p.Log.Pages > 1:
		return fmt.Sprintf("page %d of %d", p.Log.Page, p.Log.Pages)
	case p.Live:
		return "This is the end of the log: new lines appear here."
	}
	return ""
}

// Turns are the pages to which one can go from here.
func (p sessionLog) Turns() (all []turn) {
	at := p.Log.Page
	if at > 1 {
		all = append(all, turn{"first", "« first", 1}, turn{"back", "‹ earlier", at - 1})
	}
	if at < p.Log.Pages {
		all = append(all, turn{"on", "later ›", at + 1}, turn{"last", "last »", p.Log.Pages})
	}
	if p.Works() && !p.Live {
		all = append(all, turn{"follow", "follow", 0})
	}
	return all
}
