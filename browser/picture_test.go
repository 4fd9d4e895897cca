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
)

var pictures = flag.String("pictures", "", "the folder for pictures of the page; empty: none are made")

// TestPictures takes the pictures of the documents: of a loop at work, and of its report.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures")
	}
	w, p := newWorld(t), open(t)
	w.write("checkout/feature_list.json", `[
		{"id": "login", "title": "Log in with a password", "passes": false},
		{"id": "logout", "title": "Log out", "passes": false},
		{"id": "mail", "title": "Send a mail after the first login", "passes": false}]`)
	w.write("checkout/.claude/data/ralph-loops/checkout/ralph.json", `{"list": "feature_list.json", "bind": "prompt",
		"checks": [{"name": "its tests", "command": ["true"], "when": "feature"}]}`)
	w.call("ralph-runner", "trust", "--yes")
	w.write("checkout/agent.sh", `id=$(sed -n 's/^  id: //p')
echo "I read the tests of $id first."
sleep 1
echo "Two of them fail. I write the handler."
until test -e "go-$id"; do sleep 0.1; done
sed "/\"$id\"/s/false/true/" feature_list.json >new && mv new feature_list.json
`)
	w.write("checkout/go-login", "")
	w.write("checkout/go-logout", "")
	_, address := w.start("ralph-runner", "serve", "--control")
	p.do(chromedp.Navigate(address))
	p.sees("checkout")
	wait, _ := w.start("ralph-runner", "--agent", "worker")
	p.sees("iteration 3 of 15")
	p.tabTo("a[id^=loop-]")
	p.do(chromedp.Click("a[id^=loop-]"))
	p.sees("Two of them fail")
	p.picture(w, "watch-loop.png", 760)
	w.write("checkout/go-mail", "")
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	_, path := w.start("ralph-runner", "report")
	p.do(chromedp.Navigate("file://" + path))
	p.sees("What to do now")
	p.picture(w, "watch-report.png", 700)
}

// picture takes a picture of the beginning of a page. In it the test's folder is that of a person.
func (p *page) picture(w *world, name string, height int64) {
	p.Helper()
	var image []byte
	replace := fmt.Sprintf(`{ const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (all.nextNode()) all.currentNode.data = all.currentNode.data.replaceAll(%q, "/home/dev"); }`, w.dir)
	p.do(emulation.SetDeviceMetricsOverride(1000, height, 1, false), chromedp.Sleep(300*time.Millisecond),
		chromedp.Evaluate(replace, nil), chromedp.CaptureScreenshot(&image), emulation.ClearDeviceMetricsOverride())
	if err := os.WriteFile(filepath.Join(*pictures, name), image, 0o644); err != nil {
		p.Fatal(err)
	}
}
