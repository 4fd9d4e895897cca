//go:build browser

package browser

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

var (
	axe = flag.String("axe", "", "the path of axe.min.js; empty: accessibility is not checked by it")
)

// page is a page in a browser.
type page struct {
	*testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string // on the console
}

// open starts a browser.
func open(t *testing.T) *page {
	t.Helper()
	found := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && found == "" {
			found = path
		}
	}
	if found == "" {
		t.Skip("there is no chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.WindowSize(1100, 800))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // its sandbox refuses root
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	p := &page{T: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.errors = append(p.errors, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				p.errors = append(p.errors, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	p.do(log.Enable())
	return p
}

func (p *page) do(actions ...chromedp.Action) {
	p.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// eval evaluates an expression of JavaScript.
func (p *page) eval(expression string, into any) {
	p.Helper()
	p.do(chromedp.Evaluate(expression, into))
}

// sees waits until the page has a text.
func (p *page) sees(text string) {
	p.Helper()
	body := ""
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		now := "" // while the browser goes to another page, there is none
		if chromedp.Run(p.ctx, chromedp.Evaluate("document.body.innerText", &now)) == nil {
			body = now
		}
		if strings.Contains(body, text) {
			return
		}
	}
	p.Fatalf("there is no %q on the page:\n%s", text, body)
}

// follows waits until the page says that it follows the loops.
func (p *page) follows() {
	p.Helper()
	said := ""
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		err := chromedp.Run(p.ctx, chromedp.Evaluate(`document.getElementById("following").textContent`, &said))
		if err == nil && said == "live" {
			return
		}
	}
	p.Fatalf("the page does not follow the loops: %q", said)
}

func (p *page) press(keys ...string) {
	p.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
}

// tabTo presses the tab key until an element has the focus.
func (p *page) tabTo(selector string) {
	p.Helper()
	for range 60 {
		is := false
		if p.eval(fmt.Sprintf("document.activeElement.matches(%q)", selector), &is); is {
			return
		}
		p.press(kb.Tab)
	}
	p.Fatalf("the tab key does not reach %s", selector)
}

// fits checks that the page is no wider than the window, at the width of a phone.
func (p *page) fits(what string) {
	p.Helper()
	p.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true))
	width := 0
	if p.eval("document.documentElement.scrollWidth", &width); width > 360 {
		p.Errorf("%s is %d pixels wide on a phone of 360", what, width)
	}
	p.do(emulation.ClearDeviceMetricsOverride())
}

// accessible runs axe over the page in both colour schemes.
func (p *page) accessible(what string) {
	p.Helper()
	if *axe == "" {
		return
	}
	source, err := os.ReadFile(*axe)
	if err != nil {
		p.Fatal(err)
	}
	for _, scheme := range []string{"light", "dark"} {
		var found []string
		p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
		}))
		p.eval(string(source)+"; 0", nil)
		p.do(chromedp.Evaluate(`axe.run().then(r => r.violations
			.map(v => v.id + ": " + v.nodes.map(n => n.html).slice(0, 3).join(" ")))`, &found, awaited))
		for _, one := range found {
			p.Errorf("%s, %s: %s", what, scheme, one)
		}
	}
	p.do(emulation.SetEmulatedMedia())
}

// awaited lets an expression end when its promise is fulfilled.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// TestPage follows a live run to COMPLETE, with the keyboard alone, and pauses and resumes it.
func TestPage(t *testing.T) {
	w, p := newWorld(t), open(t)
	_, address := w.start("ralph-runner", "serve", "--control")
	p.do(chromedp.Navigate(address))
	p.sees("NOT STARTED")
	p.follows()
	wait, _ := w.start("ralph-runner", "--agent", "worker")
	p.sees("worker")
	p.fits("the list")
	p.accessible("the list")

	p.tabTo("#q")
	p.press("nothing")
	p.sees("0 of 1")
	p.press(strings.Repeat(kb.Backspace, 7))
	p.sees("1 of 1")

	p.tabTo("a[id^=loop-]")
	p.press(kb.Enter)
	p.sees("I work on login <img src=x onerror=alert(2)>")
	p.tabTo(".feature summary")
	p.press(kb.Enter)
	w.write("checkout/go-login", "")
	p.sees("I work on logout")
	still := false
	p.eval(`(of => of.open && document.activeElement === of.querySelector("summary"))(
		document.querySelector("[data-key='feature login']"))`, &still)
	if !still {
		t.Error("a feature that was opened is closed, or lost the focus, after the page has changed")
	}
	p.fits("a loop")
	p.accessible("a loop")

	p.tabTo("#do-pause")
	p.press(kb.Enter)
	p.sees("Pause checkout after this turn?")
	p.accessible("the question")
	p.fits("the question")
	p.tabTo("#yes")
	p.press(kb.Enter)
	p.sees("checkout: paused at iteration 2")
	p.accessible("the answer")
	p.tabTo("#back")
	p.press(kb.Enter)
	p.sees("PAUSING") // its session goes on until it ends
	w.write("checkout/go-logout", "")
	if err := wait(); err == nil {
		t.Error("the run that was paused is complete")
	}
	p.sees("PAUSED")
	p.tabTo("#do-resume")
	p.press(kb.Enter)
	p.sees("Continue checkout?")
	p.tabTo("#yes")
	p.press(kb.Enter)
	p.sees("continues at iteration 2")
	p.sees("What to do now:")
	p.sees("ralph-runner")
	p.tabTo("#back")
	p.press(kb.Enter)
	p.sees("NEEDS YOU")
	p.tabTo("#do-note")
	p.press(kb.Enter)
	p.accessible("the question for a note")
	p.tabTo("#text")
	p.press("Use the new API" + kb.Tab + kb.Enter)
	p.sees("will include your note")
	p.tabTo("#back")
	p.press(kb.Enter)
	p.sees("NEEDS YOU")
	w.write("checkout/go-mail", "")
	wait, _ = w.start("ralph-runner", "--resume")
	if err := wait(); err != nil {
		t.Errorf("the run: %v", err)
	}
	p.sees("COMPLETE")
	var alerts int
	p.eval(`document.querySelectorAll("script:not([src]), img[src=x]").length`, &alerts)
	p.mu.Lock()
	defer p.mu.Unlock()
	if alerts > 0 || len(p.errors) > 0 {
		t.Errorf("%d elements come from texts; the console has %q", alerts, p.errors)
	}
}

// TestPlain uses the page in a browser that runs no scripts: a form filters, a loop opens, a person pauses it, and the
// page comes again by itself.
func TestPlain(t *testing.T) {
	w, p := newWorld(t), open(t)
	_, address := w.start("ralph-runner", "serve", "--control")
	p.do(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(address))
	p.sees("NOT STARTED")
	runs := false
	if p.eval(`document.getElementById("following").textContent !== ""`, &runs); runs {
		t.Error("a script of the page runs")
	}
	p.tabTo("#q")
	p.press("nothing" + kb.Enter)
	p.sees("0 of 1")
	p.tabTo("#q")
	p.press(strings.Repeat(kb.Backspace, 7) + kb.Enter)
	p.sees("1 of 1")
	p.tabTo("a[id^=loop-]")
	p.press(kb.Enter)
	p.sees("Log in with a password")
	p.fits("a loop")
	p.tabTo("#do-pause")
	p.press(kb.Enter)
	p.sees("Pause checkout after this turn?")
	p.tabTo("#yes")
	p.press(kb.Enter)
	p.sees("checkout: paused")
	p.tabTo("#back")
	p.press(kb.Enter)
	p.sees("PAUSED")
	p.do(chromedp.Navigate(address))
	p.sees("PAUSED")
	w.call("ralph-stop-hook", "resume")
	p.sees("1 not started")
}

// TestOther asks for the page from another origin, and as somebody without the token. The console must see it: this is
// the control of the test of errors, too.
func TestOther(t *testing.T) {
	w, p := newWorld(t), open(t)
	_, address := w.start("ralph-runner", "serve", "--control")
	p.do(chromedp.Navigate(address))
	p.sees("checkout")
	p.do(chromedp.Navigate("data:text/html,<h1>another page</h1>"))
	answer := ""
	ask := fmt.Sprintf(`fetch(%q, {credentials: "include"}).then(r => r.text(), e => "refused: " + e)`,
		address+"api/loops")
	p.do(chromedp.Evaluate(ask, &answer, awaited))
	if !strings.HasPrefix(answer, "refused") {
		t.Errorf("another page reads %q", answer)
	}
	p.mu.Lock()
	if len(p.errors) == 0 {
		t.Error("control: the console has no error")
	}
	p.mu.Unlock()
	p.do(chromedp.Navigate(address[:len(address)-2] + "/"))
	p.sees("Unauthorized")
}

// TestPort opens what another program serves on another port of this machine, from the page and beside it. It gets
// nothing of the token. As a control it gets the cookie of yet another port. A tab that stays open goes on when the
// server is there again.
func TestPort(t *testing.T) {
	w, p := newWorld(t), open(t)
	var mu sync.Mutex
	var got []string
	other := func(cookie string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			got = append(got, fmt.Sprint(r.URL, r.Header))
			mu.Unlock()
			w.Header().Set("Set-Cookie", cookie)
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<h1>another port</h1>")
		}))
		t.Cleanup(s.Close)
		return s
	}
	first, second := other("control=1"), other("second=1")
	_, address := w.start("ralph-runner", "serve", "--port", "18423")
	token := strings.Split(address, "/")[3]
	p.do(chromedp.Navigate(address))
	p.follows()
	for _, s := range []*httptest.Server{first, second} {
		p.do(chromedp.Evaluate(fmt.Sprintf("location.href = %q", s.URL+"/page"), nil))
		p.sees("another port")
		said := ""
		ask := fmt.Sprintf(`fetch(%q, {credentials: "include", mode: "no-cors"}).then(r => r.type, e => "refused")`,
			address)
		p.do(chromedp.Evaluate(ask, &said, awaited))
		p.do(chromedp.Navigate(address))
		p.sees("checkout")
	}
	mu.Lock()
	all := strings.Join(got, "\n")
	mu.Unlock()
	if strings.Contains(all, token) || strings.Contains(all, "ralph") {
		t.Errorf("the other port got %s", all)
	}
	if !strings.Contains(all, "control=1") {
		t.Errorf("control: no cookie came from another port: %s", all)
	}

	w.start("ralph-runner", "serve", "--port", "18424") // another one, with the same token
	p.do(chromedp.Navigate(strings.Replace(address, "18423", "18424", 1)))
	p.sees("checkout")
	p.do(chromedp.Navigate(address))
	p.follows()
	w.end("18423")
	p.sees("No contact with the server")
	w.start("ralph-runner", "serve", "--port", "18423")
	p.follows()
}

// TestReport opens a report from the disk, without a network.
func TestReport(t *testing.T) {
	w, p := newWorld(t), open(t)
	for _, id := range []string{"login", "logout", "mail"} {
		w.write("checkout/go-"+id, "")
	}
	w.call("ralph-runner", "--agent", "worker")
	_, path := w.start("ralph-runner", "report")
	p.do(chromedp.Navigate("file://" + path))
	p.sees("What to do now")
	p.sees("Time of each session")
	p.fits("the report")
	p.accessible("the report")
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.errors) > 0 {
		t.Errorf("the console has %q", p.errors)
	}
}

// TestLongReport opens reports of few and of ten thousand features and iterations, and compares how long the browser
// takes. Neither they nor a word of 500 letters make a page that is too large.
func TestLongReport(t *testing.T) {
	p, dir := open(t), t.TempDir()
	load := func(n int) (ms float64) {
		d := &watch.Detail{}
		d.Name, d.Status.Status = "long", decide.Complete
		for i := range n {
			id := fmt.Sprint("f", i)
			if i == 0 {
				id = strings.Repeat("w", 500)
			}
			d.Items = append(d.Items, watch.Item{Item: verb.Item{ID: id, State: decide.FeatureOpen, Title: "A feature"}})
			at := time.Unix(int64(60*i), 0)
			d.Iterations = append(d.Iterations, record.Session{
				Iteration: i + 1, Feature: fmt.Sprint("f", i%50), StartedAt: at, EndedAt: at.Add(time.Minute), Outcome: "done",
			})
		}
		var text bytes.Buffer
		if err := report.Of(d, nil).HTML(&text); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprint(n, ".html"))
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		p.do(chromedp.Navigate("file://" + path))
		p.eval(`performance.getEntriesByType("navigation")[0].loadEventEnd`, &ms)
		return ms
	}
	load(10)
	few, many := load(200), load(10_000)
	wide, tall := 0, 0
	p.eval("document.documentElement.scrollWidth - innerWidth", &wide)
	p.eval("document.documentElement.scrollHeight", &tall)
	if wide > 0 || tall > 20_000 {
		t.Errorf("the report of 10,000 features is %d pixels wider than the window, and %d high", wide, tall)
	}
	t.Logf("200 iterations open in %.0f ms, 10,000 in %.0f ms", few, many)
	if many > 30*few {
		t.Errorf("10,000 iterations open in %.0f ms, 200 in %.0f ms", many, few)
	}
}
