// Package page is the web page of all loops: rendered here, on loopback alone, usable without JavaScript. It changes
// nothing unless a person started it for that.
package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// Server shows the picture of a watcher.
type Server struct {
	Env     loop.Env
	Watcher *watch.Watcher
	Token   string // whoever has it may look
	Control bool   // whoever may look may do what the verbs do, too

	port    string
	stale   staleness
	streams chan struct{} // bounds how many event streams there are
}

// maxStreams is how many browsers can follow at a time.
const maxStreams = 64

//go:embed assets
var assets embed.FS

// Handler returns the page for a server that listens at a port of loopback.
func (s *Server) Handler(port int) (http.Handler, error) {
	s.port, s.streams = strconv.Itoa(port), make(chan struct{}, maxStreams)
	t, err := template.New("page").Funcs(report.Funcs()).Funcs(template.FuncMap{
		"elapsed": elapsed, "bar": newBar,
	}).Parse(report.Sections)
	if err == nil {
		t, err = t.ParseFS(assets, "assets/*.html")
	}
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { s.list(w, r, t) })
	mux.HandleFunc("GET /loop/{key}", func(w http.ResponseWriter, r *http.Request) { s.one(w, r, t) })
	mux.HandleFunc("GET /loop/{key}/ask/{verb}", func(w http.ResponseWriter, r *http.Request) { s.ask(w, r, t) })
	mux.HandleFunc("POST /loop/{key}/do/{verb}", func(w http.ResponseWriter, r *http.Request) { s.do(w, r, t) })
	mux.HandleFunc("GET /loop/{key}/chart/{n}", s.chart)
	mux.HandleFunc("GET /loop/{key}/report", s.report)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /api/loops", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, s.Watcher.Picture().Loops)
	})
	mux.HandleFunc("GET /api/loops/{key}", s.apiLoop)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, _ *http.Request) {
		extra, _ := assets.ReadFile("assets/page.css")
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		fmt.Fprint(w, report.Style, string(extra))
	})
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, _ *http.Request) {
		text, _ := assets.ReadFile("assets/page.js")
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(text)
	})
	return s.guarded(mux), nil
}

// show renders a page. It is rendered as a whole first, so that an error does not leave half of one.
func show(w http.ResponseWriter, t *template.Template, name string, status int, data any) {
	var page bytes.Buffer
	if err := t.ExecuteTemplate(&page, name, data); err != nil {
		refuse(w, http.StatusInternalServerError, plain.Line(err.Error(), 500))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(value)
}

// listing is what the list of loops shows.
type listing struct {
	Title, Query, Wanted string
	Statuses             []string
	Loops                []watch.Loop
	All                  int
	Live                 bool
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, t *template.Template) {
	p := s.Watcher.Picture()
	l := listing{
		Title: "Loops", Query: plain.Line(r.URL.Query().Get("q"), 100), Wanted: plain.Line(r.URL.Query().Get("status"), 40),
		All: len(p.Loops), Live: true,
	}
	for _, one := range p.Loops {
		status := string(one.Status.Status)
		if !slices.Contains(l.Statuses, status) {
			l.Statuses = append(l.Statuses, status)
		}
		text := strings.ToLower(one.Name + " " + one.Project)
		if strings.Contains(text, strings.ToLower(l.Query)) && (l.Wanted == "" || l.Wanted == status) {
			l.Loops = append(l.Loops, one)
		}
	}
	slices.Sort(l.Statuses)
	show(w, t, "list", http.StatusOK, l)
}

// detail is what the page of a loop shows.
type detail struct {
	*watch.Detail
	Title   string
	Actions []watch.Action // that a person can do here
	Charts  []string       // their titles
	Said    string         // what the last action said
	Failed  string         // why it failed
	Live    bool           // what the agent says changes without a change of the loop
	Form    string         // proves that a form comes from this page
	Action  watch.Action   // that is asked about
}

// find returns the loop of a request, or answers that there is none.
func (s *Server) find(w http.ResponseWriter, r *http.Request) *watch.Loop {
	key := r.PathValue("key")
	for i, l := range s.Watcher.Picture().Loops {
		if l.Key == key {
			return &s.Watcher.Picture().Loops[i]
		}
	}
	refuse(w, http.StatusNotFound, "there is no such loop; it may have been deleted")
	return nil
}

// open reads the loop of a request in detail, or answers why it cannot.
func (s *Server) open(w http.ResponseWriter, r *http.Request) *detail {
	l := s.find(w, r)
	if l == nil {
		return nil
	}
	d, err := s.stale.open(r.Context(), s.Env, l)
	if err != nil {
		d = &watch.Detail{Loop: *l, Log: plain.Line(err.Error(), 500)}
	}
	page := &detail{Detail: d, Title: l.Name, Live: l.Works(), Form: s.secret("form " + l.Key)}
	for _, c := range report.Charts(d.Iterations) {
		page.Charts = append(page.Charts, c.Title)
	}
	if s.Control {
		for _, a := range watch.Actions() {
			if d.Can(a) {
				page.Actions = append(page.Actions, a)
			}
		}
	}
	return page
}

func (s *Server) one(w http.ResponseWriter, r *http.Request, t *template.Template) {
	if d := s.open(w, r); d != nil {
		show(w, t, "one", http.StatusOK, d)
	}
}

func (s *Server) apiLoop(w http.ResponseWriter, r *http.Request) {
	if d := s.open(w, r); d != nil {
		writeJSON(w, d.Detail)
	}
}

// report makes the report of a loop.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	l := s.find(w, r)
	if l == nil {
		return
	}
	made, err := report.Make(r.Context(), s.Env, l.Loop)
	var page bytes.Buffer
	if err == nil {
		err = made.HTML(&page)
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, plain.Line(err.Error(), 500))
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes())
}

func (s *Server) chart(w http.ResponseWriter, r *http.Request) {
	d := s.open(w, r)
	if d == nil {
		return
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	all := report.Charts(d.Iterations)
	if err != nil || n < 0 || n >= len(all) {
		refuse(w, http.StatusNotFound, "there is no such chart")
		return
	}
	svg, err := all[n].SVG()
	if err != nil {
		refuse(w, http.StatusInternalServerError, plain.Line(err.Error(), 500))
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = w.Write(svg)
}
