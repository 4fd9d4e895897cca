//go:build unix

package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/engine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
)

// lie is a row of TestLies.
type lie struct {
	text string // of the report; "": what the hand reports
	hand hand
	open bool   // nothing is claimed
	err  string // what the session's end says; "": the work is taken
	// seen is what the harness says if nobody doubts the worker; "": git refuses it by itself
	seen string
}

var lies = map[string]lie{
	"honest work": {hand: honest},
	"a claim without work": {hand: func(w *world, o order) (report, []hostile.Object) {
		return w.done(o, nil)
	}},
	"other features' files": {hand: file("100644", "b.txt", "not mine\n")},
	"a list that claims all": {hand: func(w *world, o order) (report, []hostile.Object) {
		r, all := file("100644", listFile, strings.ReplaceAll(listText, "false", "true"))(w, o)
		r.Claims = false
		return r, all
	}, open: true},
	"no JSON": {text: "I am done.", hand: honest, err: "report cannot be read", seen: "it is taken"},
	"another version": {hand: changed(func(r *report) { r.Schema++ }), err: "another version",
		seen: "it is taken"},
	"an odd outcome": {hand: changed(func(r *report) { r.Class = "merged" }), err: "the outcome",
		seen: "it is taken"},
	"impossible figures": {hand: changed(func(r *report) { r.Used.Input = -1 }), err: "impossible figures",
		seen: "it is taken"},
	"another order": {hand: changed(func(r *report) { r.Order = "x" }), err: "another order"},
	"a commit that the bundle has not": {hand: changed(func(r *report) { r.Commit = strings.Repeat("1", 40) }),
		err: "its report names"},
	"an odd commit": {hand: changed(func(r *report) { r.Commit = "--all\x1b[2J" }), err: "its report names"},
	"no bundle": {hand: func(w *world, o order) (report, []hostile.Object) {
		r, _ := honest(w, o)
		return r, nil
	}, err: "no beginning of a bundle"},
	"a hook":         {hand: folder(".git", "hooks", "pre-commit"), err: "index-pack"},
	"a hook below":   {hand: folder("sub2", ".GIT", "hooks", "pre-commit"), err: "index-pack"},
	"a file .git":    {hand: file("100644", ".git", "gitdir: /tmp\n"), err: "index-pack"},
	"a path outside": {hand: file("100644", "../x", "x"), err: "index-pack"},
	"a folder ..":    {hand: folder("..", "x"), err: "index-pack"},
	"a link out": {hand: file("120000", "link", "../.."), err: "which is not in the work tree",
		seen: "link is a link to"},
	"a link for the list": {hand: file("120000", listFile, "a.txt"), err: "not a regular file"},
	"a folder for the list": {hand: func(w *world, o order) (report, []hostile.Object) {
		blob := hostile.Object{Kind: hostile.Blob}
		return w.work(o, "40000 "+listFile, blob, hostile.TreeOf([2]string{"100644 x", blob.ID()}))
	}, err: "not a regular file"},
	"many zeros": {hand: func(w *world, o order) (report, []hostile.Object) {
		many := int64(1 << 30)
		if testing.Short() {
			many = maxWork + maxWork/10
		}
		return w.work(o, "100644 large", hostile.Object{Kind: hostile.Blob, Zeros: many})
	}, err: "its objects have more than", seen: "large is large"},
	"a tree that does not parse": {hand: func(w *world, o order) (report, []hostile.Object) {
		tree := hostile.Object{Kind: hostile.Tree, Data: []byte("100644 f")}
		return w.done(o, []hostile.Object{tree, hostile.CommitOf(tree, o.Commit)})
	}, err: "index-pack"},
	"history without the base": {hand: func(w *world, o order) (report, []hostile.Object) {
		tree := hostile.TreeOf()
		return w.done(o, []hostile.Object{tree, hostile.CommitOf(tree)})
	}, err: "history was rewritten", seen: "the lane has lost its history"},
}

// TestLies has a worker lie, in the engine's own protocol. Nothing of it comes into the project, nothing runs, and the
// session ends soon. The next session works as ever. The control doubts nothing, and the harness sees what comes of it.
func TestLies(t *testing.T) {
	w := newWorld(t)
	liar, good := w.join("liar"), w.join("good")
	for what, row := range lies {
		t.Run(what, func(t *testing.T) {
			begin := time.Now()
			got, damage := w.try(liar, row.text, row.hand)
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("the session ended after %v", took)
			}
			if len(damage) > 0 {
				t.Errorf("%q", damage)
			}
			head := w.git(w.lane.Dir(), "rev-parse", "HEAD")
			switch {
			case got.Worker != "liar" || got.Machine != "machine of liar":
				t.Errorf("the worker is %q on %q", got.Worker, got.Machine)
			case row.err == "" && (got.Class != agent.Done || w.passes() == row.open):
				t.Errorf("it ends with %s: %s", got.Class, got.Problem)
			case row.err != "" && (got.Class != agent.Failed || !strings.Contains(got.Problem, row.err)):
				t.Errorf("it ends with %s: %s; want %q", got.Class, got.Problem, row.err)
			case row.err != "" && (head != w.begin || w.git(w.lane.Dir(), "status", "--porcelain") != ""):
				t.Errorf("the lane is at %s with %q", head, w.git(w.lane.Dir(), "status", "--porcelain"))
			case strings.ContainsAny(got.Problem, "\x1b\n"):
				t.Errorf("the problem is %q", got.Problem)
			}
			if got, damage := w.try(good, "", honest); got.Class != agent.Done || !w.passes() || len(damage) > 0 {
				t.Errorf("the next session ends with %s: %s; %q", got.Class, got.Problem, damage)
			}
		})
	}
	control := newWorld(t)
	control.believes = true
	liar = control.join("liar")
	for what, row := range lies {
		if row.seen == "" {
			continue
		}
		got, seen := control.try(liar, row.text, row.hand)
		if got.Class == agent.Done {
			seen = append(seen, "it is taken")
		}
		if !strings.Contains(strings.Join(seen, "\n"), row.seen) {
			t.Errorf("control: %s: the harness sees %q, want %q; %s: %s", what, seen, row.seen, got.Class, got.Problem)
		}
	}
}

// A worker hands in the work on one feature as that on another. That session fails, and the other one goes on.
func TestOtherFeature(t *testing.T) {
	w := newWorld(t)
	second, err := w.repo.Add(t.Context(), filepath.Join(w.dir, "second"), "second", w.begin)
	w.ok(err)
	w.ok(second.WriteFile(listFile, []byte(listText)))
	ends := map[string]chan run.Worked{"a": make(chan run.Worked, 1), "b": make(chan run.Worked, 1)}
	go func() { ends["a"] <- w.session(t.Context(), "a") }()
	other := *w
	other.lane = second
	go func() { ends["b"] <- other.session(t.Context(), "b") }()
	liar := w.join("liar")
	orders := map[string]order{}
	claims := map[string]*engine.Claim{}
	take := func() {
		c, err := liar.Take(t.Context())
		w.ok(err)
		var o order
		w.ok(json.Unmarshal(c.Body, &o))
		orders[c.Feature], claims[c.Feature] = o, c
	}
	take()
	take()
	submit := func(feature, as string) {
		r, all := honest(w, orders[as])
		text, _ := json.Marshal(r)
		w.ok(claims[feature].SubmitBytes(t.Context(), text, hostile.Bundle(w.begin, all...)))
	}
	submit("a", "b")
	take() // the first time it could be honest
	submit("a", "b")
	if got := <-ends["a"]; got.Class != agent.Failed || !strings.Contains(got.Problem, "another order") {
		t.Errorf("a ends with %s: %s", got.Class, got.Problem)
	}
	submit("b", "b")
	if got := <-ends["b"]; got.Class != agent.Done {
		t.Errorf("b ends with %s: %s", got.Class, got.Problem)
	}
}

// A worker that beats, and never hands in anything, loses its session. If no worker comes, the session ends as one that
// could not start; and it ends when the run does.
func TestWaits(t *testing.T) {
	w := newWorld(t)
	w.hands.slack = -58 * time.Second // of a minute
	liar := w.join("liar")
	lost := make(chan error, 1)
	go func() {
		c, err := liar.Take(t.Context())
		if err == nil {
			<-c.Context().Done()
			err = context.Cause(c.Context())
		}
		lost <- err
	}()
	if got := w.session(t.Context(), "a"); got.Class != agent.Failed || got.Worker != "liar" ||
		!strings.Contains(got.Problem, "it has handed in nothing since") {
		t.Errorf("of a worker that hands in nothing it ends with %s: %s", got.Class, got.Problem)
	}
	if err := <-lost; !errors.Is(err, engine.ErrFenced) {
		t.Errorf("the worker keeps its claim: %v", err)
	}
	w.hands.wait = time.Second
	got := w.session(t.Context(), "a")
	if got.Class != agent.NotStarted || got.Problem != "no worker has taken a for 1s" {
		t.Errorf("without a worker it ends with %s: %s", got.Class, got.Problem)
	}
	w.hands.wait = time.Minute
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if got := w.session(ctx, "a"); got.Class != agent.Stopped {
		t.Errorf("at the end of the run it ends with %s: %s", got.Class, got.Problem)
	}
}
