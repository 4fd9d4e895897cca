package fleet

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// An order is what a run says. A worker takes none that leads out of its folder, or into git's.
func TestReadOrder(t *testing.T) {
	good := order{Schema: schema, Run: "r", Commit: "c", Bases: []string{"b"}, Folder: ".", List: "list.json", Timeout: 1}
	for what, change := range map[string]func(*order){
		"":                       func(*order) {},
		"a list above":           func(o *order) { o.List = "../list.json" },
		"a list .git":            func(o *order) { o.List = ".git" },
		"notes in a hook":        func(o *order) { o.Notes = "sub/.Git/hooks/pre-commit" },
		"a folder git~1":         func(o *order) { o.Folder = "GIT~1" },
		"a run that is a path":   func(o *order) { o.Run = "../x" },
		"a session without time": func(o *order) { o.Timeout = 0 },
	} {
		o := good
		change(&o)
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readOrder(text, "v"); (err == nil) != (what == "") {
			t.Errorf("%s: the error is %v", what, err)
		}
	}
}

// A report is what a worker says. One that makes no sense is refused, and what is odd in the others is bounded.
func TestReadReport(t *testing.T) {
	good := report{Schema: schema, Commit: "c", Class: agent.Done}
	with := func(change func(*report)) string {
		r := good
		change(&r)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for what, row := range map[string]struct{ text, err string }{
		"a good one":         {with(func(*report) {}), ""},
		"nothing":            {"", "cannot be read"},
		"no JSON":            {"done\x1b[31m", "cannot be read"},
		"a list":             {"[]", "cannot be read"},
		"a text for a sum":   {`{"schema":2,"class":"done","used":{"costUsd":"1"}}`, "cannot be read"},
		"null":               {"null", "another version"},
		"another version":    {with(func(r *report) { r.Schema = 1 }), "another version"},
		"no outcome":         {with(func(r *report) { r.Class = "" }), "the outcome"},
		"an odd outcome":     {with(func(r *report) { r.Class = "merged" }), "the outcome"},
		"a limit":            {with(func(r *report) { r.Class = agent.Limit }), "the outcome"},
		"no login":           {with(func(r *report) { r.Class = agent.Auth }), "the outcome"},
		"stopped":            {with(func(r *report) { r.Class = agent.Stopped }), "the outcome"},
		"fewer than none":    {with(func(r *report) { r.Used.Output = -1 }), "impossible figures"},
		"too many tokens":    {with(func(r *report) { r.Used.Input = math.MaxInt64 }), "impossible figures"},
		"a negative cost":    {with(func(r *report) { r.Used.CostUSD = -0.01 }), "impossible figures"},
		"a cost of billions": {with(func(r *report) { r.Used.CostUSD = 1e9 }), "impossible figures"},
		"a crash":            {with(func(r *report) { r.Class = agent.Died }), ""},
		"the time is over":   {with(func(r *report) { r.Class = agent.TimedOut }), ""},
	} {
		_, err := readReport([]byte(row.text))
		if ok := err == nil; ok != (row.err == "") || !ok && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: the error is %v, want %q", what, err, row.err)
		}
	}
	long := strings.Repeat("x", 3*maxText) + "the end"
	e := report{Took: -1, Denied: -1, Message: long, Problem: "\x1b[31m" + long, Model: long, Refused: "a\nb"}.result()
	switch {
	case e.Took != 0 || e.Denied != 0:
		t.Errorf("it took %v, and %d were denied", e.Took, e.Denied)
	case len(e.Message) != maxText || !strings.HasSuffix(e.Message, "the end"):
		t.Errorf("the message has %d bytes", len(e.Message))
	case len(e.Problem) > 400 || len(e.Activity.Model) > 100 || strings.ContainsAny(e.Problem+e.Refused, "\x1b\n"):
		t.Errorf("problem %q, model %q, refused %q", e.Problem, e.Activity.Model, e.Refused)
	}
	e = (report{Took: math.MaxInt64, Denied: math.MaxInt}).result()
	if e.Took > maxTook || e.Denied > maxDenied {
		t.Errorf("it took %v, and %d were denied", e.Took, e.Denied)
	}
}

// TestLargestReport has a message and notes that take the most room in a report.
func TestLargestReport(t *testing.T) {
	text, err := json.Marshal(report{
		Message: last(strings.Repeat("\x00", 2*maxText)),
		Notes:   plain.Text(strings.Repeat("\u2028", 2*loopdir.MaxNoted), loopdir.MaxNoted),
	})
	if err != nil || len(text) > jobs.MaxBody-10_000 {
		t.Errorf("the report has %d bytes: %v", len(text), err)
	}
}
