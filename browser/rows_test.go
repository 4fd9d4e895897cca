//go:build browser

package browser

import (
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	web "github.com/ralph-stop-hook/ralph-stop-hook/internal/page"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// site is a server in this process, over loops that a test makes.
type site struct {
	*httptest.Server
	watcher *watch.Watcher
}

func newSite(t *testing.T, w watchtest.World) site {
	t.Helper()
	watcher, err := watch.New(w.Env)
	if err != nil {
		t.Fatal(err)
	}
	go watcher.Run(t.Context())
	s := site{httptest.NewUnstartedServer(nil), watcher}
	p := &web.Server{Env: w.Env, Watcher: watcher, Token: "the-token", Control: true}
	s.Config.Handler, err = p.Handler(s.Listener.Addr().(*net.TCPAddr).Port)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// loop is the address of a loop's page.
func (s site) loop(name string) string {
	return s.URL + "/the-token/loop/" + s.watcher.Picture().Find(name).Key
}

// TestSituations looks at the first screen of the list, and of the page of each of ten loops: the answers to the five
// questions are in it, without scrolling.
func TestSituations(t *testing.T) {
	w, p := watchtest.New(t), open(t)
	all := w.Situations()
	s := newSite(t, w)
	p.do(emulation.SetDeviceMetricsOverride(1280, 800, 1, false), chromedp.Navigate(s.URL+"/the-token/"))
	// What is seen: the texts of the elements that begin in the window and are not cut.
	const seen = `(() => { const all = document.createTreeWalker(document.getElementById("live"), NodeFilter.SHOW_TEXT);
		let text = "";
		while (all.nextNode()) {
			const r = document.createRange();
			r.selectNode(all.currentNode);
			const b = r.getBoundingClientRect();
			if (b.height > 0 && b.bottom <= innerHeight && b.right <= innerWidth) text += all.currentNode.data;
		}
		return text.replace(/\s+/g, " "); })()`
	p.follows()
	list := ""
	p.eval(seen, &list)
	for _, one := range all {
		p.do(chromedp.Navigate(s.loop(one.Name)))
		page := ""
		p.eval(seen, &page)
		progress := strings.Replace(one.Progress, "/", " of ", 1)
		if one.Name == "failing" { // it has a check, so a claim does not count
			progress = "0 of 3"
		}
		for _, want := range []string{one.Name, one.Works, progress, one.Cost, one.Wrong, one.Do} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the first screen of its page has no %q: %s", one.Name, want, page)
			}
		}
		for _, want := range []string{one.Name, one.Works, progress, one.Cost, one.Wrong, one.Do} {
			if !strings.Contains(list, want) {
				t.Errorf("%s: the first screen of the list has no %q: %s", one.Name, want, list)
			}
		}
	}
	p.do(chromedp.Navigate(s.URL + "/the-token/"))
	title, icon := "", ""
	p.eval("document.title", &title)
	p.eval("document.getElementById('icon').getAttribute('href')", &icon)
	if title != "▲ 5 need you · ralph" || icon != "/the-token/icon/needs.svg" {
		t.Errorf("the title is %q, the icon %q", title, icon)
	}
	p.accessible("the list of situations")
	p.fits("the list of situations")
	p.do(chromedp.Navigate(s.loop("failing")))
	p.accessible("a loop with a failed check")
	p.fits("a loop with a failed check")
}

// TestNotices filters the list and shows all of it again. That brings no notice of a loop that needed a person before.
// The browser notifies of one that begins to need its person.
func TestNotices(t *testing.T) {
	w, p := watchtest.New(t), open(t)
	w.Situations()
	s := newSite(t, w)
	p.do(chromedp.Navigate(s.URL + "/the-token/"))
	p.follows()
	p.eval(`window.told = []; window.Notification = class {
		static permission = "granted";
		constructor(text) { told.push(text); }
	}; 0`, nil)
	p.tabTo("#q")
	p.press("nothing")
	p.sees("No loop matches.")
	p.press(strings.Repeat(kb.Backspace, 7))
	p.sees("10 of 10")
	working := s.watcher.Picture().Find("working")
	at, err := w.Env.Where().Recorded(working.Status.Loop)
	if err != nil {
		t.Fatal(err)
	}
	w.Commit(at, func(s *decide.State) { s.Status, s.ExitReason = decide.Blocked, decide.Asks })
	p.sees("6 need you")
	told := ""
	if p.eval("told.join()", &told); told != "working needs you" {
		t.Errorf("the notices are %q", told)
	}
}

// TestKeys goes through the page with the keys that it names: to a row, into it, to a part of a loop, and back.
func TestKeys(t *testing.T) {
	w, p := watchtest.New(t), open(t)
	w.Situations()
	s := newSite(t, w)
	p.do(chromedp.Navigate(s.URL + "/the-token/"))
	p.follows()
	is := func(what, expression string) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			so := false
			if chromedp.Run(p.ctx, chromedp.Evaluate(expression, &so)) == nil && so {
				return
			}
		}
		t.Errorf("%s: it is not so that %s", what, expression)
	}
	p.press("?")
	is("?", `document.getElementById("keys").matches(":popover-open")`)
	p.press("?", "j", "j", "k")
	is("j, j, k", `document.activeElement === document.querySelector(".rows .name")`)
	p.press("/")
	is("/", `document.activeElement.id === "q"`)
	p.do(chromedp.Evaluate(`document.getElementById("loop-`+s.watcher.Picture().Find("question").Key+`").focus()`, nil))
	p.press(kb.Enter)
	p.sees("The agent asks")
	p.follows()
	p.press("a")
	is("a", `document.activeElement.id === "text"`)
	p.press("2?", kb.Tab)
	is("keys in a field", `document.getElementById("text").value.endsWith("2?") && !location.search`)
	p.press("2")
	is("2", `location.search === "?tab=iterations"`)
	p.follows()
	p.press("u")
	is("u", `location.pathname === "/the-token/"`)
}

// TestTabs opens twelve tabs. Each loads, and each follows.
func TestTabs(t *testing.T) {
	w, p := watchtest.New(t), open(t)
	at := w.Loop("demo")
	s := newSite(t, w)
	tabs := []*page{p}
	p.do(chromedp.Navigate(s.URL + "/the-token/"))
	for range 11 {
		ctx, cancel := chromedp.NewContext(p.ctx)
		t.Cleanup(cancel)
		tabs = append(tabs, &page{T: t, ctx: ctx})
	}
	for _, tab := range tabs[1:] {
		tab.do(chromedp.Navigate(s.loop("demo")), emulation.SetFocusEmulationEnabled(true))
		tab.sees("3 of 10")
	}
	w.Write(at.Dir+"/"+loopdir.ListFile, watchtest.List(10, 7))
	for _, tab := range tabs[1:] {
		tab.do(emulation.SetFocusEmulationEnabled(true))
		tab.sees("7 of 10")
	}
	other := newSite(t, w) // at another port; the browser may go on with both
	p.do(chromedp.Navigate(other.URL + "/the-token/"))
	p.follows()
	p.do(chromedp.Navigate(s.URL + "/the-token/"))
	p.follows()
}

// TestLost takes the server away and starts it again at the same address. The page says so, and comes back by itself.
func TestLost(t *testing.T) {
	w, p := watchtest.New(t), open(t)
	at := w.Loop("demo")
	s := newSite(t, w)
	p.do(chromedp.Navigate(s.URL+"/the-token/"), chromedp.Navigate(s.loop("demo")))
	p.follows()
	address, handler := s.Listener.Addr().String(), s.Config.Handler
	s.Close()
	p.sees("No contact with the server since ")
	title := ""
	if p.eval("document.title", &title); title != "no contact · ralph" {
		t.Errorf("the title of a lost tab is %q", title)
	}
	grey := ""
	if p.eval("getComputedStyle(document.querySelector('main')).filter", &grey); grey == "none" {
		t.Error("what is old looks like what is new")
	}
	top := 0.0
	if p.eval("document.getElementById('lost').getBoundingClientRect().top", &top); top > 100 {
		t.Errorf("the banner is at %v", top)
	}
	w.Write(at.Dir+"/"+loopdir.ListFile, watchtest.List(10, 8))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	again := httptest.NewUnstartedServer(handler)
	again.Listener.Close()
	again.Listener = listener
	again.Start()
	defer again.Close()
	p.sees("8 of 10")
	p.follows()
	if p.eval("document.title", &title); !strings.HasPrefix(title, "8/10 demo") {
		t.Errorf("the title of a tab that was lost is %q", title)
	}
	p.do(chromedp.Evaluate(`history.replaceState(null, "", location.pathname.replace("the-token", "another"))`, nil))
	p.sees("Type 'ralph-runner serve'")
}

// TestDeleted deletes the loop that a page shows, its folder first, and then its record.
func TestDeleted(t *testing.T) {
	w, p := watchtest.New(t), open(t)
	at := w.Loop("demo")
	s := newSite(t, w)
	p.do(chromedp.Navigate(s.URL+"/the-token/"), chromedp.Navigate(s.loop("demo")))
	p.follows()
	w.Remove(at.Dir)
	p.sees("the loop folder is gone")
	w.Remove(at.StatePath())
	p.sees("There is no such loop any more")
}

// TestSelected selects a text on a page that changes. It stays selected, and is copied by the button.
func TestSelected(t *testing.T) {
	w, p := watchtest.New(t), open(t)
	w.Situations()
	s := newSite(t, w)
	p.do(chromedp.Navigate(s.URL+"/the-token/"), chromedp.Navigate(s.loop("failing")))
	p.follows()
	p.eval(`getSelection().selectAllChildren(document.getElementById("failure")); 0`, nil)
	at := s.watcher.Picture().Find("failing")
	w.Write(at.Status.Loop+"/"+loopdir.ListFile, watchtest.List(4, 2))
	p.sees("0 of 4")
	chosen := ""
	if p.eval("getSelection().toString()", &chosen); !strings.Contains(chosen, "got 3, want 4") {
		t.Errorf("after a change %q is selected", chosen)
	}
	p.do(chromedp.Navigate(s.URL + "/the-token/"))
	p.sees("copy")
	p.do(chromedp.Click("button.copy"))
	p.sees("copied")
}

// TestMany shows 200 loops, and one of 60 features that four lanes worked: the pages stay short, and quick.
func TestMany(t *testing.T) {
	w, p := watchtest.New(t), open(t)
	lanes := w.Lanes("lanes", 60, 4)
	long := w.Lanes("long", 12_000, 1)
	for i := range 200 {
		w.Loop(fmt.Sprint("loop", i))
	}
	s := newSite(t, w)
	height := func(what string, most int) {
		t.Helper()
		got := 0
		if p.eval("document.documentElement.scrollHeight", &got); got > most {
			t.Errorf("%s is %d pixels high, want at most %d", what, got, most)
		}
		t.Logf("%s is %d pixels high", what, got)
	}
	p.do(emulation.SetDeviceMetricsOverride(1280, 800, 1, false), chromedp.Navigate(s.URL+"/the-token/"))
	rows := 0
	if p.eval("document.querySelectorAll('ul.rows > li').length", &rows); rows != 202 {
		t.Errorf("there are %d rows", rows)
	}
	p.eval(`[...document.querySelectorAll("ul.rows > li")]
		.filter(l => l.getBoundingClientRect().bottom <= innerHeight).length`, &rows)
	if rows < 25 {
		t.Errorf("%d loops are in the first screen, want 25", rows)
	}
	for _, tab := range []string{"features", "iterations", "cost"} {
		p.do(chromedp.Navigate(s.loop(lanes.Name) + "?tab=" + tab))
		height("60 features, "+tab, 8000)
	}
	p.do(chromedp.Navigate(s.loop(lanes.Name) + "/report"))
	commits := 0
	if p.eval(`document.querySelectorAll("[data-key^='commit ']").length`, &commits); commits != 60 {
		t.Errorf("control: the report has %d commits", commits)
	}
	height("the report of 60 features", 8000)
	begin := time.Now()
	p.do(chromedp.Navigate(s.loop(long.Name) + "?tab=iterations"))
	p.sees("older ones")
	t.Logf("a page of 12,000 iterations is there after %s", time.Since(begin))
	height("12,000 iterations", 8000)
	p.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true))
	named := ""
	p.eval(`getComputedStyle(document.querySelector("table.cards td.num[data-l]"), "::before").content`, &named)
	if named != `"Time "` {
		t.Errorf("on a phone a column has the name %q", named)
	}
	p.do(emulation.ClearDeviceMetricsOverride())
	p.fits("12,000 iterations")
	if s.watcher.Picture().Find(lanes.Name).Status.Status != decide.InProgress {
		t.Error("control: the loop of lanes is over")
	}
}

// TestLive shows a run of eight lanes whose agents say a lot. What is below stays in the first screen.
func TestLive(t *testing.T) {
	w, p := watchtest.New(t), open(t)
	at := w.Loop("demo")
	r := record.Run{
		ID: "run1", PID: os.Getpid(), Start: proc.Start(os.Getpid()), StartedAt: time.Now(), Sessions: 8,
		Options: record.Options{Agent: "sh"},
	}
	if err := os.MkdirAll(filepath.Dir(sessionLog(at, r.ID, 1)), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 8; i++ {
		w.Write(sessionLog(at, r.ID, i), strings.Repeat("one line\nanother line\n", 50))
		r.Lanes = append(r.Lanes, record.Lane{Number: i, Current: &record.Current{Session: record.Session{
			Number: i, Lane: i, Feature: fmt.Sprint("f", i), StartedAt: time.Now(),
		}}})
	}
	w.Commit(at, func(s *decide.State) { s.Session = decide.RunSession(r.ID) })
	w.Run(at, r)
	s := newSite(t, w)
	p.do(emulation.SetDeviceMetricsOverride(1280, 800, 1, false), chromedp.Navigate(s.loop("demo")))
	p.sees("Lane 8")
	bottom := 0.0
	if p.eval("document.querySelector('nav.tabs').getBoundingClientRect().bottom", &bottom); bottom > 760 {
		t.Errorf("the tabs end at %v of 800", bottom)
	}
	p.accessible("a run of eight lanes")
	p.fits("a run of eight lanes")
}

// collide finds the texts of a drawing that lie over each other, or over its edge.
const collide = `(() => {
	const edge = document.documentElement.getBoundingClientRect();
	const all = [...document.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
	return all.flatMap(([a, r], i) => r.right > edge.right + 1 || r.left < edge.left - 1 ? [a + " is cut"] :
		all.slice(i + 1).filter(([, s]) => r.left < s.right - 1 && s.left < r.right - 1 && r.top < s.bottom - 2 &&
			s.top < r.bottom - 2).map(([b]) => a + " and " + b));
})()`

// drawnCharts draws charts of few and many points, and adds that of the benchmarks. It returns their paths.
func drawnCharts(t *testing.T) map[string]string {
	t.Helper()
	path, err := filepath.Abs("../docs/assurance/bench.svg")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"bench.svg": path}
	dir := t.TempDir()
	for _, n := range []int{1, 2, 3, 12, 60, 100, 200, 999, 12_000} {
		var sessions []record.Session
		for i := range n {
			cost, at := 3.5, time.Unix(int64(i)*60, 0)
			sessions = append(sessions, record.Session{
				Iteration: i + 1, StartedAt: at, EndedAt: at.Add(time.Duration(i%7+1) * time.Minute), CostUSD: &cost,
				Tokens: record.LineTokens{Input: 47_600},
			})
		}
		for _, c := range report.Charts(sessions) {
			text, err := c.SVG()
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s, %d points", c.Title, n)
			all[name] = filepath.Join(dir, fmt.Sprint(len(all), ".svg"))
			if err := os.WriteFile(all[name], text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// TestDrawings looks at the drawings of the documents: each line of a terminal is as wide as its font makes it. The
// browser stretches or squeezes a line whose spaces are gone, which nobody can read.
func TestDrawings(t *testing.T) {
	p := open(t)
	const odd = `[...document.querySelectorAll("text[textLength]")].filter(text => {
		const want = parseFloat(text.getAttribute("textLength"));
		text.removeAttribute("textLength");
		const own = text.getComputedTextLength();
		return Math.abs(own - want) > 0.12 * want;
	}).map(text => text.textContent)`
	look := func(address string) (found []string) {
		p.do(chromedp.Navigate(address))
		p.eval(odd, &found)
		return found
	}
	for _, name := range []string{"client", "demo", "runner", "status"} {
		path, err := filepath.Abs("../docs/" + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		if found := look("file://" + path); len(found) > 0 {
			t.Errorf("%s.svg: these lines have another width than their font says: %q", name, found)
		}
	}
	for name, address := range drawnCharts(t) {
		p.do(chromedp.Navigate("file://" + address))
		var found []string
		if p.eval(collide, &found); len(found) > 0 {
			t.Errorf("%s: texts lie over each other, or over the edge: %q", name, found)
		}
	}
	const over = `<svg xmlns="http://www.w3.org/2000/svg" width="99" height="40"><text y="20">one</text>` +
		`<text y="20" x="9">two</text></svg>`
	p.do(chromedp.Navigate("data:image/svg+xml," + url.PathEscape(over)))
	var found []string
	if p.eval(collide, &found); len(found) != 1 {
		t.Errorf("control: two texts that lie over each other are %q", found)
	}
	const lost = `<svg xmlns="http://www.w3.org/2000/svg" font-family="monospace" font-size="14">` +
		`<text y="20" textLength="84.3">a        b</text></svg>`
	if len(look("data:image/svg+xml,"+url.PathEscape(lost))) != 1 {
		t.Error("control: a line without its spaces is not found")
	}
}

// sessionLog returns the path of the log of a session.
func sessionLog(at *loopdir.Loop, run string, session int) string {
	return filepath.Join(at.Project, loopdir.RunFolder, loopdir.SessionLog(run, session))
}
