package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

var began = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// detail is a loop of two features and n iterations, of a minute each.
func detail(n int, text string) *watch.Detail {
	d := &watch.Detail{Task: text, Log: text, Live: []watch.Live{{Lines: []string{text}}}}
	d.Name, d.Status.Status, d.Then, d.Needs = "demo", decide.Complete, text, text
	d.Features = decide.Counts{Total: 2, Passed: 2, Proven: 1}
	d.Notes = []string{text}
	d.Run = &watch.Run{ID: "r1", Agent: text, StartedAt: began, EndedAt: began.Add(time.Duration(n) * time.Minute)}
	d.Run.ToMerge = []string{"main is behind: " + text, "b waits on the branch ralph/r1-lane-1"}
	d.ByLane = record.ByLane([]record.Session{
		{Lane: 2, Feature: text, Worker: text, Machine: text, DurationSec: 61, Merge: record.Waits},
		{Lane: 1, Feature: "a", DurationSec: 30, Merge: record.Conflict},
		{Lane: 1, Feature: "a", DurationSec: 30, Merge: record.GivenBack},
		{Lane: 1, Feature: "a", DurationSec: 30, Merge: record.Merged},
		{Lane: 1, Feature: "b", DurationSec: 30},
		{Feature: "no lane", DurationSec: 30, Merge: record.Merged},
	})
	d.Items = []watch.Item{
		{
			Item:   verb.Item{ID: "a", State: decide.FeatureProven, Title: text},
			Checks: []watch.Receipt{{Name: text, At: began}},
		},
		{Item: verb.Item{ID: "b", State: decide.FeatureClaimed, Title: "Second"}},
	}
	d.Checked = []verb.Checked{{Name: text, Outcome: text, Tail: text}}
	for i := range n {
		cost := 0.25
		one := record.Session{
			Iteration: i + 1, Feature: []string{"a", "b"}[i%2], Counted: true, Outcome: text, Model: text,
			Tokens:    record.LineTokens{Input: 10},
			StartedAt: began.Add(time.Duration(i) * time.Minute), EndedAt: began.Add(time.Duration(i+1) * time.Minute),
			Checks: []record.Check{{Name: "tests", Feature: "a", Passed: i%2 == 0}},
		}
		if i%2 == 0 {
			one.CostUSD = &cost
		}
		d.Iterations = append(d.Iterations, one)
	}
	return d
}

// TestOf finds the feature of each commit.
func TestOf(t *testing.T) {
	commits := []tree.Commit{
		{Hash: "1111111111111111", At: began.Add(30 * time.Second), Subject: "In a"},
		{Hash: "2222222222222222", At: began.Add(90 * time.Second), Subject: "In b"},
		{Hash: "3333333333333333", At: began.Add(-time.Hour), Subject: "Before"},
	}
	d := detail(4, "x")
	d.ByLane = nil
	r := Of(d, commits)
	a, b := r.Work[0], r.Work[1]
	if len(a.Commits) != 1 || a.Commits[0].Subject != "In a" || len(b.Commits) != 1 || len(r.Commits) != 1 {
		t.Errorf("the commits are %+v, %+v and %+v", a.Commits, b.Commits, r.Commits)
	}
	commits[0].Features, commits[1].Features = []string{"b"}, []string{"b"}
	lanes := Of(detail(4, "x"), commits) // it had lanes, so the time says nothing
	if len(lanes.Work[0].Commits) != 0 || len(lanes.Work[1].Commits) != 2 || len(lanes.Commits) != 1 {
		t.Errorf("of lanes, the commits are %+v and %+v", lanes.Work[0].Commits, lanes.Work[1].Commits)
	}
	if r.Took != 4*time.Minute {
		t.Errorf("it took %s", r.Took)
	}
	var out bytes.Buffer
	var read map[string]any
	if err := r.JSON(&out); err != nil || json.Unmarshal(out.Bytes(), &read) != nil {
		t.Fatal(err, out.String())
	}
	if read["status"] != "COMPLETE" || read["items"] != nil || len(read["work"].([]any)) != 2 {
		t.Errorf("the JSON is %s", out.String())
	}
}

// TestLanes shows which lane did what, and what waits for a person.
func TestLanes(t *testing.T) {
	var html, md, none bytes.Buffer
	d := detail(2, "x")
	if err := errors.Join(Of(d, nil).HTML(&html), Of(d, nil).Markdown(&md)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## Lanes\n\n| lane |", "| 1 | here | 4 | 2m | 1 | 0 | 1 | 1 | a, b |\n",
		"| 2 | x on x | 1 | 1m1s | 0 | 1 | 0 | 0 | x |\n",
		"* main is behind: x\n", "* b waits on the branch ralph/r1-lane-1\n",
	} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("the Markdown lacks %q:\n%s", want, md.String())
		}
	}
	for _, want := range []string{
		"<li>main is behind: x</li>", "<li>b waits on the branch ralph/r1-lane-1</li>",
		`>here</td><td class="num" data-l="Sessions">4</td>`, `>2m</td>`, `<td class="wide" data-l="Features">a, b</td>`,
	} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	d.ByLane, d.Run.ToMerge = nil, nil
	if err := errors.Join(Of(d, nil).HTML(&none), Of(d, nil).Markdown(&none)); err != nil {
		t.Fatal(err)
	}
	if text := none.String(); strings.Contains(text, "Lanes<") || strings.Contains(text, "## Lanes") ||
		strings.Contains(text, "To merge") {
		t.Error("control: a run without lanes has a table of them")
	}
}

// TestLeftOut says what is left out.
func TestLeftOut(t *testing.T) {
	d := detail(1, "x")
	d.Gone = 1
	d.Checked = slices.Repeat(d.Checked, verb.MaxChecked)
	for i := range 1001 {
		at := began.Add(time.Duration(i) * time.Minute)
		d.Iterations = append(d.Iterations, record.Session{Lane: 1, StartedAt: at, EndedAt: at.Add(time.Minute)})
	}
	r := Of(d, nil)
	for _, earlier := range []int{0, 7} {
		var html, md bytes.Buffer
		r.Earlier = earlier
		if err := errors.Join(r.HTML(&html), r.Markdown(&md)); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Not drawn: 961 earlier sessions.", "These are the last 30."} {
			if !strings.Contains(html.String(), want) {
				t.Errorf("the page lacks %q", want)
			}
		}
		const gone = "ot kept in the files any more: 1 older session"
		if !strings.Contains(html.String(), gone) || !strings.Contains(md.String(), gone) {
			t.Errorf("there is no %q in %s", gone, md.String())
		}
		const want = "Not shown: 7 earlier commits."
		if is := earlier > 0; strings.Contains(html.String(), want) != is || strings.Contains(md.String(), want) != is {
			t.Errorf("with %d earlier commits, they are not told, or told: %s", earlier, md.String())
		}
	}
}

// TestBounded makes reports of 12,000 iterations for readers that fold nothing: they list the last ones, and say how
// many they leave out.
func TestBounded(t *testing.T) {
	var md, text bytes.Buffer
	r := Of(detail(12_000, "x"), nil)
	if err := errors.Join(r.Markdown(&md), r.JSON(&text)); err != nil {
		t.Fatal(err)
	}
	if md.Len() > 200_000 || !strings.Contains(md.String(), "| 11000 earlier sessions not shown |") ||
		!strings.Contains(md.String(), "| 12000 | b |") || strings.Contains(md.String(), "| 11000 | b |") {
		t.Errorf("the Markdown has %d bytes: %.2000s", md.Len(), md.String())
	}
	var read struct {
		Iterations []struct {
			Iteration int `json:"iteration"`
		} `json:"iterations"`
		Earlier int `json:"earlierIterations"`
	}
	err := json.Unmarshal(text.Bytes(), &read)
	if err != nil || text.Len() > 1_500_000 || len(read.Iterations) != 1000 || read.Earlier != 11_000 ||
		read.Iterations[0].Iteration != 11_001 || len(r.Iterations) != 12_000 {
		t.Errorf("the JSON has %d bytes, %d iterations, and leaves out %d, %v", text.Len(), len(read.Iterations),
			read.Earlier, err)
	}
}

// TestResult shows how a session ended whose agent says that it is done.
func TestResult(t *testing.T) {
	failed := []record.Check{{Name: "tests", Passed: true}, {Name: "lint"}}
	for want, one := range map[string]record.Session{
		"done":         {Outcome: "done", Checks: failed[:1]},
		"check failed": {Outcome: "done", Checks: failed},
		"given back":   {Outcome: "done", Checks: failed, Merge: record.GivenBack},
		"merged":       {Outcome: "done", Merge: record.Merged},
		"crash":        {Outcome: "crash", Checks: failed},
	} {
		one.Counted = true
		d := &watch.Detail{Iterations: []record.Session{one}}
		var html, md bytes.Buffer
		if err := errors.Join(Of(d, nil).HTML(&html), Of(d, nil).Markdown(&md)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(html.String(), `<td class="wide">`+want+"<") || !strings.Contains(md.String(), "| "+want+" |") {
			t.Errorf("there is no result %q in %s", want, md.String())
		}
	}
}

// TestChecks unfolds the checks of an iteration: those that failed are told, and those that passed are named below.
func TestChecks(t *testing.T) {
	one := record.Session{Number: 3, Iteration: 4, Checks: []record.Check{{Name: "lint", Feature: "b"}}}
	for i := range maxNamed + 5 {
		one.Checks = append(one.Checks, record.Check{Name: "tests", Feature: fmt.Sprint("f", i), Passed: true})
	}
	var html bytes.Buffer
	if err := Of(&watch.Detail{Iterations: []record.Session{one}}, nil).HTML(&html); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"lint b failed", "<summary class=\"yes nowrap\">25 passed</summary>tests f0<br>", "and 5 more",
	} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestStops finds the feature of a commit in a loop of the hook, whose stops name the feature that comes next.
func TestStops(t *testing.T) {
	all := []record.Session{
		{Feature: "a", EndedAt: began}, {Feature: "b", EndedAt: began.Add(time.Minute)}, {EndedAt: began.Add(time.Hour)},
	}
	for minutes, want := range map[int]string{-1: "", 0: "a", 2: "b", 59: "b", 61: ""} {
		if got := worked(all, began.Add(time.Duration(minutes)*time.Minute)); got != want {
			t.Errorf("after %d minutes %q was worked on, want %q", minutes, got, want)
		}
	}
}

// code is a text that wants to be code in every place.
const code = `</pre></title><script>alert(1)</script><img src=x onerror=alert(2)>"' onload=x [a](javascript:x) |` +
	"`"

// tags are the elements of which a report is made.
var tags = regexp.MustCompile(`<(?:script|img|iframe|object|a|form|link)\b|\son\w+=["']?[a-z]|(?:src|href)=`)

// TestHostile makes a report of hostile texts: none becomes an element or an attribute, and nothing is loaded.
func TestHostile(t *testing.T) {
	var html, md bytes.Buffer
	r := Of(detail(3, code), []tree.Commit{{Hash: "1", At: began, Subject: code, Diff: code}})
	if err := r.HTML(&html); err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`&#?\w+;`).ReplaceAllString(html.String(), "")
	shown = strings.ReplaceAll(shown, "img src=x onerror=alert(2)", "") // as text it does nothing
	shown = strings.ReplaceAll(shown, "onload=x", "")
	if bad := tags.FindAllString(shown, -1); len(bad) > 0 {
		t.Errorf("the page has %q", bad)
	}
	if !tags.MatchString(code) {
		t.Error("control: the text is not hostile")
	}
	if err := r.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(md.String(), "<script") || strings.Contains(md.String(), "[a](") {
		t.Errorf("the Markdown has %s", md.String())
	}
}

// TestLong makes reports of many iterations: time and size grow no faster than the iterations.
func TestLong(t *testing.T) {
	html := func(n int) *bytes.Buffer {
		var out bytes.Buffer
		if err := Of(detail(n, "x"), nil).HTML(&out); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	hostile.Linear(t, 1000, func(n int) func() error {
		d := detail(n, "x")
		return func() error { return Of(d, nil).HTML(io.Discard) }
	})
	small, large := html(1000).Len(), html(10_000)
	if large.Len() > 10*small || large.Len() > 10_000*500 {
		t.Errorf("10,000 iterations have %d bytes; 1,000 have %d", large.Len(), small)
	}
	if open := strings.Count(large.String(), `" open><summary>`); open != 1 {
		t.Errorf("%d parts of the list are open", open)
	}
}
