// Package page is the web page of all loops: rendered here, on loopback alone, usable without JavaScript. It changes
// nothing unless a person started it for that.
package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// Server shows the picture of a watcher.
type Server struct {
	Env     loop.Env
	Watcher *watch.Watcher
	Token   string // whoever has it may look
	Control bool   // whoever may look may do what the verbs do, too; then no file has the token

	port  string
	pages *template.Template
}

//go:embed assets
var assets embed.FS

// Handler returns the page for a server that listens at a port of loopback.
func (s *Server) Handler(port int) (http.Handler, error) {
	s.port = strconv.Itoa(port)
	pages, err := template.New("page").Funcs(report.Funcs()).Funcs(template.FuncMap{
		"when": moment, "runs": runs, "logOf": s.logOf, "root": s.root, "reason": reason, "advice": advice, "asks": asks,
		"goes": goes, "budget": budget, "sentence": sentence, "highlight": highlight,
	}).Parse(report.Sections)
	if err == nil {
		s.pages, err = pages.ParseFS(assets, "assets/*.html")
	}
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.list)
	mux.HandleFunc("GET /loop/{key}", s.one)
	mux.HandleFunc("GET /loop/{key}/session/{n}", s.session)
	mux.HandleFunc("GET /loop/{key}/ask/{action}", s.ask)
	mux.HandleFunc("POST /loop/{key}/do/{action}", s.do)
	mux.HandleFunc("GET /loop/{key}/chart/{n}", s.chart)
	mux.HandleFunc("GET /loop/{key}/report", s.report)
	mux.HandleFunc("GET /api/loops", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, r, s.Watcher.Picture().Loops)
	})
	mux.HandleFunc("GET /api/loops/{key}", s.apiLoop)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		write(w, r, http.StatusOK, "text/css; charset=utf-8", []byte(report.Style()))
	})
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, r *http.Request) {
		text, _ := assets.ReadFile("assets/page.js")
		write(w, r, http.StatusOK, "text/javascript; charset=utf-8", text)
	})
	mux.HandleFunc("GET /icon/{state}", icon)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, http.StatusNotFound, "there is no such page")
	})
	return s.guard(mux), nil
}

// write answers with a text, or says that the browser has it already. Browsers get it compressed.
func write(w http.ResponseWriter, r *http.Request, status int, kind string, text []byte) {
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	if status == http.StatusOK && r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", kind)
	h.Set("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, _ = w.Write(text)
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z := gzip.NewWriter(w)
	_, _ = z.Write(text)
	_ = z.Close()
}

// show renders a page. It is rendered as a whole first, so that an error does not leave half of one.
func (s *Server) show(w http.ResponseWriter, r *http.Request, name string, status int, data any) {
	var page bytes.Buffer
	if err := s.pages.ExecuteTemplate(&page, name, data); err != nil {
		refuse(w, r, http.StatusInternalServerError, plain.Line(err.Error(), 500))
		return
	}
	write(w, r, status, "text/html; charset=utf-8", page.Bytes())
}

func writeJSON(w http.ResponseWriter, r *http.Request, value any) {
	text, err := jsontext.ForPages(value)
	if err != nil {
		refuse(w, r, http.StatusInternalServerError, plain.Line(err.Error(), 500))
		return
	}
	write(w, r, http.StatusOK, "application/json; charset=utf-8", text)
}

// listing is what the list of loops shows.
type listing struct {
	Title, Icon, Query, Wanted string
	Words                      []string // the states that there are
	Loops                      []watch.Loop
	All                        int
	Sum                        []report.Entry // how many loops there are of each state
	Cost                       string
	Live, Control              bool
	First                      string // the key of the first loop that asks: its button is the page's
}

// icons are the icons of the page, by rank.
var icons = []string{"needs", "stuck", "works", "waits", "never", "ended"}

// groups are the states of loops in the order in which a person wants to see them: by class.
var groups = []report.Entry{
	{Class: "you", Glyph: "you"}, {Class: "stuck", Glyph: "stuck", Word: "stuck"},
	{Class: "run", Glyph: "run", Word: "running"}, {Class: "wait", Glyph: "wait", Word: "waiting"},
	{Class: "not", Glyph: "not", Word: "not started"}, {Class: "done", Glyph: "done", Word: "complete"},
	{Class: "stop", Glyph: "stop", Word: "cancelled"},
}

func groupOf(l watch.Loop) int {
	class := report.Class(l.Status)
	return slices.IndexFunc(groups, func(e report.Entry) bool { return e.Class == class })
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	p := s.Watcher.Picture()
	query := r.URL.Query()
	l := listing{
		Icon: "ended", Query: plain.Line(query.Get("q"), 100), Wanted: plain.Line(query.Get("status"), 40),
		All: len(p.Loops), Live: true, Control: s.Control, Sum: slices.Clone(groups),
	}
	ranks, cost := watch.Sum(p.Loops)
	for _, one := range p.Loops {
		l.Sum[groupOf(one)].Count++
		if !slices.Contains(l.Words, one.Word()) {
			l.Words = append(l.Words, one.Word())
		}
		if one.Has(l.Query) && (l.Wanted == "" || l.Wanted == one.Word()) {
			l.Loops = append(l.Loops, one)
		}
		if l.First == "" && asks(one.Status) {
			l.First = one.Key
		}
	}
	slices.SortStableFunc(l.Loops, func(a, b watch.Loop) int { return groupOf(a) - groupOf(b) })
	slices.Sort(l.Words)
	_, l.Sum[0].Word, _ = strings.Cut(verb.NeedYou(l.Sum[0].Count), " ")
	l.Sum = slices.DeleteFunc(l.Sum, func(e report.Entry) bool { return e.Count == 0 })
	l.Cost, l.Title = cmp.Or(cost.Cost(), "$0"), "Loops"
	if n := ranks[verb.RankWorking]; n > 0 {
		l.Icon, l.Title = "works", fmt.Sprintf("● %d running", n)
	}
	if n := ranks[verb.RankStuck]; n > 0 {
		l.Icon, l.Title = "stuck", fmt.Sprintf("△ %d stuck", n)
	}
	if n := ranks[verb.RankNeedsYou]; n > 0 {
		l.Icon, l.Title = "needs", "▲ "+verb.NeedYou(n)
	}
	s.show(w, r, "list", http.StatusOK, l)
}

// detail is what the page of a loop shows.
type detail struct {
	*watch.Detail
	Title, Icon string
	Actions     []watch.Action // that a person can do here
	Said        string         // what the last action said
	Failure     string         // why it failed
	Action      watch.Action   // that is asked about
	Where       string         // what of the loop is shown
	Tab         string
	Tabs        []tab
	Still       bool          // the page does not follow the loop: to read the commits takes git
	Strip       report.Strip  // what each lane did
	State       string        // of the features that are shown; "": all
	States      []state       // of the features
	Shown       []feature     // those of a page
	Page, Pages int           // of features
	Before      int           // the page before; 0: none
	After       int           // the page after; 0: none
	Older       int           // the first iteration that is shown, if there are older ones
	Commits     []tree.Commit // for the tab of them
	Earlier     int           // commits that are not shown

	root string // how addresses begin
}

// tab is a part of a loop's page.
type tab struct {
	Name, Word string
	Count      int // of what it shows; 0: it is not told
}

// maxIterations is how many iterations a page shows.
const maxIterations = 100

// find returns the loop of a request, or answers that there is none.
func (s *Server) find(w http.ResponseWriter, r *http.Request) *watch.Loop {
	loops := s.Watcher.Picture().Loops
	key := r.PathValue("key")
	if i := slices.IndexFunc(loops, func(l watch.Loop) bool { return l.Key == key }); i >= 0 {
		return &loops[i]
	}
	refuse(w, r, http.StatusNotFound, "there is no such loop; it may have been deleted")
	return nil
}

// open reads the loop of a request in detail, or answers why it cannot.
func (s *Server) open(w http.ResponseWriter, r *http.Request) *detail {
	l := s.find(w, r)
	if l == nil {
		return nil
	}
	d, err := watch.Open(s.Env, l.Loop)
	if err != nil {
		d = &watch.Detail{Loop: *l, Log: plain.Line(err.Error(), 500)}
	}
	page := &detail{
		Detail: d, Icon: icons[d.Rank()], root: s.root(),
		Title: fmt.Sprintf("%s %s", l.Name, d.Word()),
	}
	if d.Features.Total > 0 {
		page.Title = fmt.Sprintf("%d/%d %s", d.Features.Passed, d.Features.Total, page.Title)
	}
	if s.Control {
		page.Actions = d.Loop.Actions()
	}
	return page
}

func (s *Server) one(w http.ResponseWriter, r *http.Request) {
	d := s.open(w, r)
	if d == nil {
		return
	}
	query := r.URL.Query()
	d.Tabs = []tab{
		{"features", "Features", d.Features.Total}, {"iterations", "Sessions", len(d.Detail.Iterations)},
		{"checks", "Checks", 0}, {"diff", "Diff", 0}, {"cost", "Cost", 0}, {"log", "Log", 0}, {"about", "About", 0},
	}
	d.Tab = query.Get("tab")
	if !slices.ContainsFunc(d.Tabs, func(t tab) bool { return t.Name == d.Tab }) {
		d.Tab = d.Tabs[0].Name
	}
	d.State = plain.Line(query.Get("state"), 20)
	number, _ := strconv.Atoi(query.Get("page"))
	d.features(number)
	d.Strip = report.StripOf(d.Detail, time.Now())
	for i := range d.Strip.Lanes {
		d.Strip.Lanes[i].Log = d.logAt(d.Strip.Lanes[i].Session)
	}
	switch d.Tab {
	case "iterations":
		before, _ := strconv.Atoi(query.Get("before"))
		d.iterations(before)
	case "diff":
		d.Still = true
		d.Commits, d.Earlier = report.Commits(r.Context(), s.Env, d.Detail)
	}
	s.show(w, r, "one", http.StatusOK, d)
}

// iterations chooses the iterations that are shown: the last ones, or those before one of them.
func (d *detail) iterations(before int) {
	all := &d.Detail.Iterations
	if before > 0 {
		*all = slices.DeleteFunc(*all, func(i record.Session) bool { return i.Iteration >= before })
	}
	if from := len(*all) - maxIterations; from > 0 {
		*all = (*all)[from:]
		d.Older = (*all)[0].Iteration
	}
}

func (s *Server) apiLoop(w http.ResponseWriter, r *http.Request) {
	if d := s.open(w, r); d != nil {
		writeJSON(w, r, d.Detail)
	}
}

// drawn is the policy of what has its style in itself, and loads and runs nothing.
const drawn = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

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
		refuse(w, r, http.StatusInternalServerError, plain.Line(err.Error(), 500))
		return
	}
	w.Header().Set("Content-Security-Policy", drawn)
	write(w, r, http.StatusOK, "text/html; charset=utf-8", page.Bytes())
}

func (s *Server) chart(w http.ResponseWriter, r *http.Request) {
	d := s.open(w, r)
	if d == nil {
		return
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	all := report.Charts(d.Detail.Iterations)
	if err != nil || n < 0 || n >= len(all) {
		refuse(w, r, http.StatusNotFound, "there is no such chart")
		return
	}
	svg, err := all[n].SVG()
	if err != nil {
		refuse(w, r, http.StatusInternalServerError, plain.Line(err.Error(), 500))
		return
	}
	w.Header().Set("Content-Security-Policy", drawn)
	write(w, r, http.StatusOK, "image/svg+xml", svg)
}
