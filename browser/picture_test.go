//go:build browser

package browser

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

var pictures = flag.String("pictures", "", "the folder for pictures of the page; empty: none are made")

// says are what the agents of three lanes say in the pictures.
var says = []string{
	`{"type":"assistant","message":{"content":[{"type":"text","text":"I read the tests of the login first."},` +
		`{"type":"tool_use","name":"Bash","input":{"command":"go test ./login"}}]}}`,
	`{"type":"assistant","message":{"content":[{"type":"text","text":"The token is checked twice. I take one out."},` +
		`{"type":"tool_use","name":"Edit","input":{"file_path":"api.go"}}]}}`,
	`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"mail.go"}}]}}`,
}

// TestPictures takes the pictures of the documents: of the list, of a loop at work, and of a report; in both colour
// schemes, for a screen and for a phone.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures")
	}
	w, p := watchtest.New(t), open(t)
	w.Situations()
	w.Lanes("lanes", 12, 3)
	s := newSite(t, w)
	failing := s.watcher.Picture().Find("failing")
	r := record.Run{
		ID: "run1", PID: os.Getpid(), Start: proc.Start(os.Getpid()), StartedAt: time.Now().Add(-3 * time.Minute),
		Sessions: 3, Options: record.Options{Agent: "claude"},
	}
	r.Spent.CostUSD, r.Spent.CostKnown, r.Spent.Input, r.Spent.TokensKnown = 0.71, true, 47_600, true
	logs := filepath.Join(failing.Project, record.Folder, "logs", r.ID)
	if err := os.MkdirAll(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, text := range says {
		w.Write(filepath.Join(logs, fmt.Sprint(i+1, ".log")), text+"\n")
		r.Lanes = append(r.Lanes, record.Lane{Number: i + 1, Current: &record.Current{Session: record.Session{
			Number: i + 1, Lane: i + 1, Feature: fmt.Sprint("f", i), StartedAt: time.Now().Add(-time.Minute),
		}}})
	}
	p.do(chromedp.Navigate(s.URL + "/the-token/"))
	p.picture(w, "watch-list.png", 1280, 560, "light")
	p.picture(w, "watch-list-phone.png", 360, 640, "light")
	at, err := w.Env.Where().Recorded(failing.Status.Loop)
	if err != nil {
		t.Fatal(err)
	}
	w.Run(at, r)
	p.do(chromedp.Navigate(s.loop("failing")))
	p.sees("Lane 3")
	p.picture(w, "watch-loop.png", 1280, 720, "light")
	p.picture(w, "watch-loop-phone.png", 360, 640, "dark")
	p.do(chromedp.Navigate(s.loop("lanes") + "/report"))
	p.sees("What to do now")
	p.picture(w, "watch-report.png", 1280, 640, "dark")
}

// picture takes a picture of the beginning of a page. In it the test's folder is that of a person.
func (p *page) picture(w watchtest.World, name string, width, height int64, scheme string) {
	p.Helper()
	var image []byte
	replace := fmt.Sprintf(`{ const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (all.nextNode()) all.currentNode.data = all.currentNode.data.replaceAll(%q, "/home/dev"); }`, w.Dir)
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
	}), emulation.SetDeviceMetricsOverride(width, height, 1, false), chromedp.Sleep(300*time.Millisecond),
		chromedp.Evaluate(replace, nil), chromedp.CaptureScreenshot(&image), emulation.ClearDeviceMetricsOverride())
	if err := os.WriteFile(filepath.Join(*pictures, name), image, 0o644); err != nil {
		p.Fatal(err)
	}
}
