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
			progress := strings.Replace(one.Progress, "/", " of ", 1)
			if one.Name == "failing" { // it has a check, so a claim does not count
				progress = "0 of 3"
			}
			for _, want := range []string{one.Works, progress, one.Cost, one.Wrong, one.Do} {
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
	if strings.Count(ofFailing, `class="feature"`) != 1 ||
		!strings.Contains(ofFailing, `Failing <span class="count">1<`) ||
		!strings.Contains(ofFailing, `data-key="feature f1"`) {
		t.Errorf("the features whose check failed are not one: %s", ofFailing)
	}
	metrics := of.get("/metrics").Body.String()
	if !strings.Contains(metrics, `check="tests"} 0.812`) || strings.Contains(metrics, "tests f1") {
		t.Errorf("the label of a check is not its name alone: %s", metrics)
	}
	_, row, _ := strings.Cut(list, `data-key="`+watcher.Picture().Find("working").Key+`"`)
	row, _, _ = strings.Cut(row, "</li>")
	if !regexp.MustCompile(` (min|h) left(?s:.*)<time `).MatchString(row) {
		t.Errorf("a loop at work does not say both when it was seen last and what is left: %s", row)
	}
	for _, want := range []string{"5 need you", "3 running", "1 waiting", "1 complete"} {
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
	for name, tc := range map[string]struct{ has, lacks, reported []string }{
		"stuck": {
			[]string{"STUCK", "lane 1 is silent 22 min", "lane 2 is silent 60 min", "look at its log; "},
			[]string{"RUNNING", "min left", "h left", "Nothing to do"},
			[]string{"stuck is stuck", "lane 1 silent 22 min, log: ", "lane 2 silent 60 min, log: ", "look at its log; "},
		},
		"half": {
			[]string{"RUNNING", "lane 2 is silent 22 min", " h left"}, []string{"STUCK", "lane 1 is silent"},
			[]string{"half is running", "lane 2 silent 22 min, log: "},
		},
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
			has := tc.has
			if face == "its report" {
				has = tc.reported
			}
			for _, want := range has {
				if !strings.Contains(shown, want) {
					t.Errorf("%s, %s: there is no %q in %s", name, face, want, shown)
				}
			}
			for _, no := range tc.lacks {
				if strings.Contains(shown, no) {
					t.Errorf("%s, %s: there is %q in %s", name, face, no, shown)
				}
			}
		}
		for _, want := range []string{"f3 at work, ", "f4 at work, ", "f4 silent, "} {
			if made := of.get("/loop/" + key + "/report").Body.String(); !strings.Contains(made, want) {
				t.Errorf("%s: the time line has no %q", name, want)
			}
		}
		if lanes := of.get("/loop/" + key + "?tab=iterations").Body.String(); !strings.Contains(lanes, `Features">f4<`) {
			t.Errorf("%s: the lane that runs is not in the table: %s", name, lanes)
		}
		for _, want := range []string{ // the row of the lane, and the button beside what to do
			`silent 22 min</span>  · <a href="/the-token/loop/` + key + `/session/`, `/session/2">Log of lane 2</a>`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: the row of a lane has no %q: %s", name, want, body)
			}
		}
	}
	metrics := of.get("/metrics").Body.String()
	for name, value := range map[string]string{"stuck": "1", "half": "0"} {
		stuck := regexp.MustCompile(`ralph_loop_state\{loop="` + name + `",.*state="stuck"\} ` + value)
		if !stuck.MatchString(metrics) {
			t.Errorf("whether %s is stuck is no %s of %s", name, value, metrics)
		}
	}
	if want := "△ 1 stuck"; !strings.Contains(list, want) {
		t.Errorf("the title has no %q", want)
	}
}

// TestAnswer shows the question of an agent, with a field for the answer where the page may control the loop, and with
// a command elsewhere.
func TestAnswer(t *testing.T) {
	w := watchtest.New(t)
	w.Situations()
	of := siteOf(w)
	key := of.Watcher.Picture().Find("question").Key
	form := `<form method="post" action="/the-token/loop/` + key + `/do/note">`
	for _, control := range []bool{true, false} {
		of.Control = control
		body, list := of.get("/loop/"+key).Body.String(), of.get("/").Body.String()
		if strings.Contains(body, form) != control || strings.Contains(list, key+`#answer">Answer</a>`) != control {
			t.Errorf("control %v: there is a field for the answer, or none: %s", control, body)
		}
		for _, want := range []string{"The agent asks", "an API key of the search provider", "ralph-runner "} {
			if !strings.Contains(text(body), want) {
				t.Errorf("control %v: there is no %q in %s", control, want, text(body))
			}
		}
		if n := strings.Count(body, `class="b first"`); n != map[bool]int{true: 1}[control] {
			t.Errorf("control %v: %d buttons are the first", control, n)
		}
	}
}

// TestManyFeatures shows a list of 10,000 features by pages, those first that need somebody.
func TestManyFeatures(t *testing.T) {
	w := watchtest.New(t)
	at := w.Loop("many")
	w.Write(at.Dir+"/feature_list.json", watchtest.List(10_000, 9_990))
	of := siteOf(w)
	path := "/loop/" + of.key()
	for query, want := range map[string]string{
		"":                               "page 1 of 200",
		"?state=open":                    "f9990 ",
		"?state=claimed&page=200":        "page 200 of 200",
		"?tab=features&state=open&page=": "All 10000",
		"?page=200":                      "f9989 ",
	} {
		got := of.get(path + query).Body.String()
		shown := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(got, " ")), " ")
		if !strings.Contains(shown, want) || strings.Count(got, `class="feature"`) > perPage || len(got) > 100_000 {
			t.Errorf("%q: %d bytes, %d features, without %q", query, len(got), strings.Count(got, `class="feature"`), want)
		}
	}
	if first := of.get(path).Body.String(); strings.Index(first, "feature f9990") > strings.Index(first, "feature f0") {
		t.Error("a feature that is claimed is before one that is open")
	}
}
