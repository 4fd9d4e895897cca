package page

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// text is what a reader sees of a page: its texts, without what is between tags.
func text(page string) string {
	page = regexp.MustCompile(`(?s)<nav class="tabs".*`).ReplaceAllString(page, "") // below the first screen
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
	return strings.Join(strings.Fields(html.UnescapeString(page)), " ")
}

// TestSituations asks five questions of the list and of the page of each loop: does it work, how far is it, what does
// it cost, what went wrong, what do I do?
func TestSituations(t *testing.T) {
	w := watchtest.New(t)
	all := w.Situations()
	of := siteOf(w)
	watcher := of.Watcher
	list := of.get("/").Body.String()
	for _, one := range all {
		l := watcher.Picture().Find(one.Name)
		if l == nil {
			t.Fatalf("there is no loop %s", one.Name)
		}
		_, row, _ := strings.Cut(list, `data-key="`+l.Key+`"`)
		row, _, _ = strings.Cut(row, "</li>")
		for face, shown := range map[string]string{
			"the list": text("<li " + row), "its page": text(of.get("/loop/" + l.Key).Body.String()),
		} {
			far := one.Far
			if face == "its page" {
				far = strings.Replace(far, "/", " of ", 1)
			}
			for _, want := range []string{one.Works, far, one.Cost, one.Wrong, one.Do} {
				if !strings.Contains(shown, want) {
					t.Errorf("%s, %s: there is no %q in %s", one.Name, face, want, shown)
				}
			}
			if one.Wrong == "" && strings.Contains(shown, "went wrong") {
				t.Errorf("%s, %s: nothing went wrong, and it says so: %s", one.Name, face, shown)
			}
		}
	}
	ofFailing := of.get("/loop/" + watcher.Picture().Find("failing").Key + "?state=failed").Body.String()
	if strings.Count(ofFailing, `class="feature"`) != 1 || !strings.Contains(ofFailing, "failed 1<") ||
		!strings.Contains(ofFailing, `data-key="feature f1"`) {
		t.Errorf("the features whose check failed are not one: %s", ofFailing)
	}
	metrics := of.get("/metrics").Body.String()
	if !strings.Contains(metrics, `check="tests"} 0.812`) || strings.Contains(metrics, "tests f1") {
		t.Errorf("the label of a check is not its name alone: %s", metrics)
	}
	_, row, _ := strings.Cut(list, `data-key="`+watcher.Picture().Find("working").Key+`"`)
	row, _, _ = strings.Cut(row, "</li>")
	if !strings.Contains(row, " min left · <time ") && !strings.Contains(row, " h left · <time ") {
		t.Errorf("a loop at work does not say both when it was seen last and what is left: %s", row)
	}
	for _, want := range []string{"5 need you", "3 running", "1 waiting", "1 ended"} {
		if !strings.Contains(text(list), want) {
			t.Errorf("the sum has no %q: %s", want, text(list))
		}
	}
}

// TestStuck shows a loop whose lanes are all silent, and one of which a lane is.
func TestStuck(t *testing.T) {
	w := watchtest.New(t)
	w.Silent("stuck", 22*time.Minute, time.Hour)
	w.Silent("half", time.Minute, 22*time.Minute)
	of := siteOf(w)
	list := of.get("/").Body.String()
	for name, tc := range map[string]struct{ has, lacks []string }{
		"stuck": {
			[]string{"STUCK", "lane 1 silent 22 min, log: ", "lane 2 silent 60 min, log: ", "look at its log; "},
			[]string{"RUNNING", "min left", "h left", "none: "},
		},
		"half": {[]string{"RUNNING", "lane 2 silent 22 min, log: ", " h left"}, []string{"STUCK", "lane 1 silent"}},
	} {
		key := of.Watcher.Picture().Find(name).Key
		_, row, _ := strings.Cut(list, `data-key="`+key+`"`)
		row, _, _ = strings.Cut(row, "</li>")
		body := of.get("/loop/" + key).Body.String()
		report := of.get("/loop/" + key + "/report").Body.String()
		report = "<" + report[strings.Index(report, "<body"):]
		for face, shown := range map[string]string{
			"the list": text("<" + row), "its page": text(body), "its report": text(report),
		} {
			for _, want := range tc.has {
				if !strings.Contains(shown, want) && !(face == "its report" && strings.HasSuffix(want, "left")) {
					t.Errorf("%s, %s: there is no %q in %s", name, face, want, shown)
				}
			}
			for _, no := range tc.lacks {
				if strings.Contains(shown, no) {
					t.Errorf("%s, %s: there is %q in %s", name, face, no, shown)
				}
			}
		}
		for _, want := range []string{"lane 1: f3, ", "lane 2: f4, ", "silent 22 min</title>"} {
			if made := of.get("/loop/" + key + "/report").Body.String(); !strings.Contains(made, want) {
				t.Errorf("%s: the time line has no %q", name, want)
			}
		}
		if lanes := of.get("/loop/" + key + "?tab=iterations").Body.String(); !strings.Contains(lanes, `Features">f4<`) {
			t.Errorf("%s: the lane that runs is not in the table: %s", name, lanes)
		}
		if want := `/session/2">its log</a></span> <span class="no">silent `; !strings.Contains(body, want) {
			t.Errorf("%s: the card of the lane does not say %q: %s", name, want, body)
		}
	}
	metrics := of.get("/metrics").Body.String()
	for name, value := range map[string]string{"stuck": "1", "half": "0"} {
		stuck := regexp.MustCompile(`ralph_loop_state\{loop="` + name + `",.*state="stuck"\} ` + value)
		if !stuck.MatchString(metrics) {
			t.Errorf("whether %s is stuck is no %s of %s", name, value, metrics)
		}
	}
	if want := "■ 1 stuck"; !strings.Contains(list, want) {
		t.Errorf("the title has no %q", want)
	}
}
