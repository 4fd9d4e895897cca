package page

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/template/parse"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// link is what a page leads to.
type link struct {
	tag, to string
	post    bool
}

var (
	tags       = regexp.MustCompile(`<(a|link|script|img|form|input|option)\b([^>]*)>([^<]*)`)
	attributes = regexp.MustCompile(`([a-z-]+)(?:="([^"]*)")?`)
)

// linksOf returns what a page links to, loads and asks for. A form asks for each of its options, and for a text that is
// found and one that is not.
func linksOf(page string) (all []link) {
	action := link{}
	for _, tag := range tags.FindAllStringSubmatch(page, -1) {
		has := map[string]string{}
		for _, one := range attributes.FindAllStringSubmatch(tag[2], -1) {
			has[one[1]] = html.UnescapeString(one[2])
		}
		switch tag[1] {
		case "form":
			action = link{"form", has["action"], has["method"] == "post"}
			if action.post {
				all = append(all, action)
			}
		case "input":
			for _, text := range []string{"e", "no such text / % ü \" &"} {
				all = append(all, link{"form", action.to + "?" + url.Values{has["name"]: {text}}.Encode(), false})
			}
		case "option":
			state := html.UnescapeString(tag[3])
			all = append(all, link{"form", action.to + "?" + url.Values{"status": {state}}.Encode(), false})
		default:
			to := cmp.Or(has["href"], has["src"])
			if page, _, _ := strings.Cut(to, "#"); page != "" {
				to = page // a browser does not ask for the part behind
			}
			all = append(all, link{tag[1], to, false})
		}
	}
	return all
}

// kinds is what a browser gets for each tag.
var kinds = map[string]string{
	"a": "text/html", "form": "text/html", "script": "text/javascript", "img": "image/svg+xml",
}

// broken is what a person would see of a template that cannot be shown with its data.
var broken = regexp.MustCompile(`template: |executing "|can't evaluate|ZgotmplZ|&lt;no value|&lt;nil|%!`)

// follow asks for what a link leads to, and returns what is wrong with it, and to where it leads.
func (s site) follow(one link) (wrong []string, more []link) {
	say := func(format string, args ...any) { wrong = append(wrong, one.to+" "+fmt.Sprintf(format, args...)) }
	u, err := url.Parse(one.to)
	if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, s.root()+"/") {
		say("leads elsewhere: %v", err)
		return wrong, nil
	}
	got := s.answer(httptest.NewRequest(http.MethodGet, "http://"+s.host+one.to, nil))
	body, kind := got.Body.String(), got.Header().Get("Content-Type")
	want := kinds[one.tag]
	switch {
	case one.tag == "link" && strings.HasSuffix(u.Path, ".css"):
		want = "text/css"
	case one.tag == "link":
		want = "image/svg+xml"
	case strings.Contains(u.Path, "/api/"):
		want = "application/json"
	}
	switch {
	case got.Code != http.StatusOK:
		say("is a %d: %s", got.Code, body)
	case !strings.HasPrefix(kind, want):
		say("is %s, want %s", kind, want)
	case want == "application/json" && !json.Valid([]byte(body)):
		say("is no JSON: %s", body)
	case want != "text/html":
	case broken.MatchString(body), !strings.HasSuffix(strings.TrimSpace(body), "</html>"):
		say("is broken: %q", broken.FindString(body))
	default:
		for _, to := range linksOf(body) {
			if id, is := strings.CutPrefix(to.to, "#"); !is {
				more = append(more, to)
			} else if !strings.Contains(body, ` id="`+id+`"`) {
				say("has a link to %s, which it does not have", to.to)
			}
		}
	}
	return wrong, more
}

// crawl follows every link of the page from its beginning, and returns what is wrong with what they lead to, how many
// there are, and the forms that change something: it leaves these.
func (s site) crawl() (wrong []string, count int, forms []string) {
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(2 * runtime.GOMAXPROCS(0))
	seen := map[link]bool{}
	next := []link{{"a", s.root() + "/", false}}
	for len(next) > 0 {
		now := next
		next = nil
		for _, one := range now {
			switch {
			case seen[one]:
				continue
			case one.post:
				forms = append(forms, strings.TrimPrefix(one.to, s.root()))
			default:
				all.Go(func() error {
					found, more := s.follow(one)
					mu.Lock()
					defer mu.Unlock()
					wrong, next = append(wrong, found...), append(next, more...)
					return nil
				})
			}
			seen[one] = true
		}
		_ = all.Wait()
	}
	slices.Sort(wrong)
	return wrong, len(seen), forms
}

// siteOf serves the loops of a world.
func siteOf(w watchtest.World, folders ...string) site {
	w.Helper()
	watcher, err := watch.New(w.Env, folders...)
	if err != nil {
		w.Fatal(err)
	}
	s := &Server{Env: w.Env, Watcher: watcher, Token: "the-token", Control: true}
	h, err := s.Handler(8080)
	if err != nil {
		w.Fatal(err)
	}
	return site{w, s, h, "", "127.0.0.1:8080"}
}

// logs writes what sessions of a loop's run have printed.
func logs(w watchtest.World, at *loopdir.Loop, sessions ...int) {
	w.Helper()
	for _, n := range sessions {
		w.Printed(at, n, fmt.Sprintf("line of session %d: %s\n", n, hostile), 0)
	}
}

// mark lets the templates note which of their parts are shown.
func (s site) mark(mu *sync.Mutex, parts map[string]bool) {
	s.Helper()
	s.pages.Funcs(template.FuncMap{"mark": func(part string) template.HTMLAttr {
		mu.Lock()
		defer mu.Unlock()
		parts[part] = true
		return "" // which is safe wherever it stands
	}})
	for _, t := range s.pages.Templates() {
		file := strings.HasSuffix(t.Name(), ".html") || t.Name() == "page" // what it defines is shown, not it
		if file || t.Tree == nil {
			continue
		}
		add := func(list *parse.ListNode, node parse.Node) {
			if list == nil || len(list.Nodes) == 0 {
				return
			}
			at, _ := t.Tree.ErrorContext(node)
			part := fmt.Sprintf("%s %s: %.60s", t.Name(), at, list)
			parts[part] = false
			made, err := template.New("").Funcs(template.FuncMap{"mark": func(string) string { return "" }}).Parse(
				fmt.Sprintf("{{mark %q}}", part))
			if err != nil {
				s.Fatal(err)
			}
			list.Nodes = append([]parse.Node{made.Tree.Root.Nodes[0]}, list.Nodes...)
		}
		walk(t.Tree.Root, add)
		add(t.Tree.Root, t.Tree.Root)
	}
}

// walk finds the branches of a template.
func walk(list *parse.ListNode, found func(list *parse.ListNode, node parse.Node)) {
	if list == nil {
		return
	}
	for _, node := range slices.Clone(list.Nodes) {
		var of *parse.BranchNode
		switch node := node.(type) {
		case *parse.IfNode:
			of = &node.BranchNode
		case *parse.RangeNode:
			of = &node.BranchNode
		case *parse.WithNode:
			of = &node.BranchNode
		default:
			continue
		}
		walk(of.List, found)
		walk(of.ElseList, found)
		found(of.List, node)
		found(of.ElseList, node)
	}
}

// stop lets the session of a loop stop, so that its checks run.
func stop(w watchtest.World, at *loopdir.Loop) {
	w.Helper()
	env := w.Env
	env.LoopDir = at.Dir
	ev := loop.Event{
		Report: decide.Report{Event: decide.EventStop, Session: "s1", Client: os.Getpid()},
		Name:   "Stop", At: time.Now(), Timeout: time.Minute,
	}
	l, err := loop.Find(env, ev)
	if err != nil {
		w.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Step(context.Background(), ev); err != nil {
		w.Fatal(err)
	}
}

// texts is JSON of a value.
func texts(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// furnish makes loops in all situations: with lanes, long lists, long logs, and names that want to be something else.
func furnish(w watchtest.World) {
	w.Helper()
	w.Situations()
	w.Silent("silent", time.Hour, time.Hour)
	logs(w, w.Lanes("lanes", 24, 4), 1, 2, 24)
	merged := w.Lanes("merged", 6, 2)
	logs(w, merged, 1, 6)
	parked := record.Workspace{Branch: "ahead", Feature: "f0", Open: true, WaitReason: "a person has to merge it"}
	w.Run(merged, record.Run{
		ID: "run1", StartedAt: time.Now(), Sessions: 6, Options: record.Options{Agent: "claude"},
		Workspaces: []record.Workspace{parked},
	})
	for _, words := range [][]string{{"branch", "ahead"}, {"update-ref", "refs/heads/main", "main~1"}} {
		git := exec.Command("git", words...)
		git.Dir = merged.Project
		out, err := git.CombinedOutput()
		if err != nil {
			w.Fatalf("git %s: %v: %s", words[0], err, out)
		}
	}

	// A feature is set aside, and one was added after a person had trusted the list.
	aside := w.Loop("aside")
	w.Trust(aside, `{"checks": [{"command": ["true"]}]}`, watchtest.List(3, 1))
	w.Write(filepath.Join(aside.Dir, loopdir.ListFile), watchtest.List(4, 1))
	w.Commit(aside, func(s *decide.State) { s.Failures = map[string]decide.Failure{"f1": {Attempts: 9}} })

	// A run works in lanes, as one of a chain. Most of its sessions are not kept.
	running := w.Loop("running")
	w.Commit(running, func(s *decide.State) { s.Session = decide.RunSession("run1") })
	r := record.Run{
		ID: "run1", PID: os.Getpid(), Start: proc.Start(os.Getpid()), StartedAt: time.Now(), Sessions: 9,
		Options: record.Options{Agent: "x/y%"},
		Chain:   &record.Chain{Definition: "x:9", Steps: []record.Step{{Step: chain.Step{Agent: "x", Limit: 9}}}},
	}
	for lane := 1; lane < 3; lane++ {
		c := record.Current{Session: record.Session{Number: 7 + lane, Lane: lane, Feature: hostile, StartedAt: time.Now()}}
		r.Lanes = append(r.Lanes, record.Lane{Number: lane, Current: &c})
	}
	w.Run(running, r)
	logs(w, running, 1, 8)
	w.Write(filepath.Join(running.Project, record.Folder, record.Iterations),
		`{"runId": "run1", "session": 1, "iteration": 1, "outcome": "failed", "problem": "no", "tokens": {"input": 1}}`)

	// A run has a budget, and its only session speaks. Another one had more lanes and sessions than are drawn.
	speaks := w.Loop("speaks")
	w.Commit(speaks, func(s *decide.State) { s.Session = decide.RunSession("run1") })
	w.Run(speaks, record.Run{
		ID: "run1", PID: os.Getpid(), Start: proc.Start(os.Getpid()), StartedAt: time.Now(), Sessions: 1,
		Options: record.Options{Agent: "x/y%", MaxCostUSD: 20},
		Current: &record.Current{Session: record.Session{Number: 1, Feature: "f3", StartedAt: time.Now()}},
	})
	logs(w, speaks, 1)
	w.Lanes("wide", 28, 14)
	w.Lanes("deep", 50, 1)

	// A session works through a list with models and dependencies, and has made many stops and checks.
	hook := w.Loop("hook")
	var checks []map[string]any
	for i := range verb.MaxChecked {
		checks = append(checks, map[string]any{
			"name": fmt.Sprint("check/", i, "%"), "file_exists": fmt.Sprint("made-", i),
			"when": "claim", "features": []string{"f0"},
		})
		if i > 0 {
			w.Write(filepath.Join(hook.Project, fmt.Sprint("made-", i)), "")
		}
	}
	w.Write(filepath.Join(hook.Dir, loopdir.ConfigFile), texts(map[string]any{"task": "a task", "checks": checks}))
	stop(w, hook)
	w.Write(filepath.Join(hook.Project, "made-0"), "")
	w.Write(filepath.Join(hook.Dir, loopdir.ListFile), texts([]map[string]any{
		{"id": "f0", "passes": true}, {"id": "f2", "passes": false},
		{"id": "f1", "title": "F1", "passes": false, "model": "m", "dependsOn": []string{"f2"}},
	}))
	stop(w, hook)
	var stops strings.Builder
	for i := range maxIterations + 20 {
		fmt.Fprintf(&stops, `{"time": "2026-11-22T10:00:00Z", "verdict": "continue", "iteration": %d}`+"\n", i+2)
	}
	w.Write(filepath.Join(hook.Dir, loopdir.StopLog), stops.String())
	w.Check(hook)

	w.Write(filepath.Join(w.Loop("none").Dir, loopdir.ConfigFile), `{"list": "none"}`)
	w.Write(filepath.Join(w.Loop("long").Dir, loopdir.ListFile), watchtest.List(200, 60))
	var items []map[string]any
	for i, id := range []string{"a/b", "../..", "100%", "%2e%2e%2f%41", `"'`, "ünï ☃", "a?b=c&d#e", hostile} {
		items = append(items, map[string]any{"id": id, "title": id, "passes": i%2 == 0})
	}
	odd := w.Loop(`a "b" 100% %41 #1 ü&amp;`)
	w.Write(filepath.Join(odd.Dir, loopdir.ListFile), texts(items))
	w.Run(odd, record.Run{ID: "run1", StartedAt: time.Now(), Sessions: 2, Options: record.Options{Agent: "x/y%"}})
	logs(w, odd, 1, 2)
	var log strings.Builder // more than is read, and more lines than are shown
	for i := range 1100 {
		fmt.Fprintf(&log, "line %d %01000d\n", i, i)
	}
	w.Printed(odd, 2, log.String(), 0)
}

// TestLinks follows every link of the page, in a world that shows every part of every template. Then it answers the
// questions that the page asks.
func TestLinks(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	w := watchtest.New(t)
	furnish(w)
	folder := filepath.Join(w.Dir, "fresh", loopdir.Below, "fresh")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Write(filepath.Join(folder, loopdir.ListFile), watchtest.List(1, 0))
	var mu sync.Mutex
	parts := map[string]bool{} // of the templates, and whether they were shown
	s, empty := siteOf(w, filepath.Join(w.Dir, "fresh")), siteOf(watchtest.New(t))
	s.mark(&mu, parts)
	empty.mark(&mu, parts)
	wrong, count, forms := s.crawl()
	ofEmpty, _, _ := empty.crawl()
	wrong = append(wrong, ofEmpty...)
	for _, form := range forms {
		got := s.answer(s.request(http.MethodPost, form, "text=a+note"))
		if body := got.Body.String(); got.Code >= 500 || broken.MatchString(body) {
			wrong = append(wrong, fmt.Sprintf("%s is a %d: %s", form, got.Code, body))
		}
	}
	s.Control = false
	for _, l := range s.Watcher.Picture().Loops {
		if got := s.get("/loop/" + l.Key); got.Code != http.StatusOK {
			wrong = append(wrong, fmt.Sprintf("without --control, %s is a %d: %s", l.Name, got.Code, got.Body))
		}
	}
	if count < 300 {
		t.Errorf("there are only %d links", count)
	}
	for _, one := range wrong {
		t.Errorf("%.300s", one)
	}
	for part, shown := range parts {
		// It takes 500 commits, or a log of 32 MB, to show these two.
		large := strings.Contains(part, "earlier commit") || strings.Contains(part, "no such part")
		if !shown && !large {
			t.Errorf("nothing shows this part of a template: %s", part)
		}
	}
}

// TestLinksFound is the control of TestLinks: it sees a template that fails, and links that are dead or lead elsewhere.
func TestLinksFound(t *testing.T) {
	s := newSite(t, true)
	if _, err := s.pages.Parse(`{{define "ask"}}{{template "head" .}}{{.Nothing}}{{end}}`); err != nil {
		t.Fatal(err)
	}
	if wrong, _, _ := s.crawl(); len(wrong) != 4 || !strings.Contains(wrong[0], "can't evaluate field Nothing") {
		t.Errorf("of a template that fails for each of four questions it says %q", wrong)
	}
	s = newSite(t, false)
	sound := s.handler
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/"+s.key()) && !strings.Contains(r.URL.Path, "/api/") {
			for _, bad := range []string{
				`<a href="#nowhere">`, `<a href="http://example.com/">`, `<a href="/the-token/loop/none">`,
				`<a href="/the-token/style.css">`, `<img src="/the-token/icon/no.svg">`,
			} {
				fmt.Fprintln(w, bad)
			}
		}
		sound.ServeHTTP(w, r)
	})
	wrong, _, _ := s.crawl()
	said := strings.Join(wrong, "\n")
	for _, want := range []string{
		"has a link to #nowhere", "http://example.com/ leads elsewhere", "loop/none is a 404", "style.css is text/css",
		"icon/no.svg is a 404",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
}

// TestLongRun shows the charts and the agents of a run that has more sessions than a page lists.
func TestLongRun(t *testing.T) {
	w := watchtest.New(t)
	at := w.Loop("long")
	w.Run(at, record.Run{ID: "run1", StartedAt: time.Now(), Sessions: maxIterations + 1})
	logs(w, at, 1)
	lines := texts(record.Session{RunID: "run1", Number: 1, Iteration: 1, Agent: "first", CostUSD: new(0.5)}) + "\n"
	for n := 2; n <= maxIterations+1; n++ {
		lines += fmt.Sprintf(`{"runId": "run1", "session": %d, "iteration": %d, "tokens": {"input": 9}}`+"\n", n, n)
	}
	w.Write(filepath.Join(at.Project, record.Folder, record.Iterations), lines)
	s := siteOf(w)
	of := "/loop/" + s.key()
	for n, title := range []string{"Cost so far, by iteration", "Tokens so far, by iteration"} {
		address := fmt.Sprintf("%s/chart/%d", of, n)
		if got := s.get(of + "?tab=cost").Body.String(); !strings.Contains(got, address+`" alt="`+title+`"`) {
			t.Errorf("the page does not show %s as %q: %s", address, title, got)
		}
		if got := s.get(address).Body.String(); !strings.Contains(got, "<title>"+title+"</title>") {
			t.Errorf("%s is another chart than %q: %s", address, title, got)
		}
	}
	if got := s.get(of + "?tab=about").Body.String(); !strings.Contains(got, "run1 with first") {
		t.Errorf("the agent of the first session is not named: %s", got)
	}
}
