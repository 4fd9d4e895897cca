//go:build unix

package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
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
	"a commit that the bundle has not": {hand: changed(func(r *report) { r.Commit = strings.Repeat("1", 40) }),
		err: "its report names"},
	"an odd commit": {hand: changed(func(r *report) { r.Commit = "--all\x1b[2J" }), err: "its report names"},
	"no bundle": {hand: func(w *world, o order) (report, []hostile.Object) {
		r, _ := honest(w, o)
		return r, nil
	}, err: "has handed in no bundle"},
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

// TestLies has a worker lie, in the engine's own protocol. Nothing of it comes into the project, and nothing runs. Work
// that the run's checks are to judge is taken. What makes no sense costs the worker, which people hear by its name, and
// not the session: an honest worker works it. The control doubts nothing, and the harness sees what comes of it.
func TestLies(t *testing.T) {
	w := newWorld(t)
	good := w.join("good")
	for what, row := range lies {
		t.Run(what, func(t *testing.T) {
			liar := w.join("liar") // its new credential counts, whatever it did with the last one
			got, told, damage := w.try(liar, good, row.text, row.hand)
			if len(damage) > 0 {
				t.Errorf("%q", damage)
			}
			lied := strings.Contains(told, "liar on machine of liar has submitted in a way that makes no sense") &&
				strings.Contains(told, row.err)
			switch {
			case got.Class != agent.Done:
				t.Errorf("it ends with %s: %s", got.Class, got.Problem)
			case row.err == "" && (got.Worker != "liar" || w.passes() == row.open || told != ""):
				t.Errorf("the worker is %q; people hear %q", got.Worker, told)
			case row.err != "" && (got.Worker != "good" || !w.passes() || !lied || strings.ContainsAny(told, "\x1b")):
				t.Errorf("the worker is %q; people hear %q, and not %q", got.Worker, told, row.err)
			}
		})
	}
	control := newWorld(t)
	control.believes = true
	liar := control.join("liar")
	for what, row := range lies {
		if row.seen == "" {
			continue
		}
		got, _, seen := control.try(liar, nil, row.text, row.hand)
		if got.Class == agent.Done {
			seen = append(seen, "it is taken")
		}
		if !strings.Contains(strings.Join(seen, "\n"), row.seen) {
			t.Errorf("control: %s: the harness sees %q, want %q; %s: %s", what, seen, row.seen, got.Class, got.Problem)
		}
	}
}

// A worker that beats, and never hands in anything, loses its session, and another one gets it. If no worker comes, the
// session ends as one that could not start; and it ends when the run does.
func TestWaits(t *testing.T) {
	w := newWorld(t)
	w.hands.slack = -58 * time.Second // of a minute
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	liar, good := w.join("liar"), w.join("good")
	lost := make(chan error, 1)
	go func() {
		c, err := liar.Take(t.Context())
		go w.lies(ctx, good, "", honest)
		if err == nil {
			<-c.Context().Done()
			err = context.Cause(c.Context())
		}
		lost <- err
	}()
	if got := w.session(t.Context(), "a"); got.Class != agent.Done || got.Worker != "good" {
		t.Errorf("of a worker that hands in nothing it ends with %s: %s", got.Class, got.Problem)
	}
	if err := <-lost; !errors.Is(err, jobs.ErrClaimLost) {
		t.Errorf("the worker keeps its claim: %v", err)
	}
	if told := strings.Join(w.said, "\n"); !strings.Contains(told, "liar on machine of liar has claimed in a way that "+
		"makes no sense, which counts for nothing: it has handed in nothing") {
		t.Errorf("people hear %q", told)
	}
	stop()
	w.hands.wait = time.Second
	got := w.session(t.Context(), "a")
	if got.Class != agent.NotStarted || got.Problem != "no worker has taken a for 1s" {
		t.Errorf("without a worker it ends with %s: %s", got.Class, got.Problem)
	}
	w.hands.wait = time.Minute
	over, end := context.WithTimeout(t.Context(), time.Second)
	defer end()
	if got := w.session(over, "a"); got.Class != agent.Stopped {
		t.Errorf("at the end of the run it ends with %s: %s", got.Class, got.Problem)
	}
}

// A run that was killed takes up what a worker has done meanwhile, also if others' work has come into the lane. If both
// are in conflict, or the worker is gone, the session begins anew.
func TestResume(t *testing.T) {
	for what, row := range map[string]struct {
		other string // a file that has come into the lane meanwhile
		gone  bool   // the worker is dead
		anew  bool
	}{
		"as it was": {}, "others' work": {other: "other.txt"}, "a conflict": {other: "new.txt", anew: true},
		"a dead worker": {gone: true, anew: true},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			worker := w.join("w")
			ctx, killed := context.WithCancel(t.Context())
			defer killed()
			old := w.hands
			one := &session{Dispatcher: old, Job: w.job("a"), tip: w.begin}
			w.ok(one.begin(ctx))
			c, err := worker.Take(ctx)
			w.ok(err)
			var o order
			w.ok(json.Unmarshal(c.Body, &o))
			old.Close()
			w.open()
			if row.other != "" {
				w.ok(os.WriteFile(filepath.Join(w.top, row.other), []byte("other\n"), 0o644))
				w.git(w.top, "add", row.other)
				w.git(w.top, "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "-qm", "Other")
				head, err := w.repo.Head(ctx)
				w.ok(err)
				_, err = w.lane.Update(ctx, head)
				w.ok(err)
			}
			go func() {
				if row.gone {
					worker.Close()
					worker = w.join("w")
				} else {
					r, all := honest(w, o)
					text, _ := json.Marshal(r)
					err := c.Submit(ctx, text, w.bundle(o, all))
					if err != nil && (!row.anew || !errors.Is(err, jobs.ErrClaimLost)) {
						w.Error(err)
					}
				}
				w.lies(ctx, worker, "", func(w *world, o order) (report, []hostile.Object) {
					return file("100644", "anew.txt", "anew\n")(w, o)
				})
			}()
			if got := w.session(ctx, "a"); got.Class != agent.Done {
				t.Fatalf("it ends with %s: %s", got.Class, got.Problem)
			}
			files := w.git(w.lane.Dir(), "ls-tree", "--name-only", "HEAD")
			if anew := strings.Contains(files, "anew.txt"); anew != row.anew || !strings.Contains(files, row.other) {
				t.Errorf("the lane has %q", files)
			}
			if want := w.git(w.top, "rev-parse", "HEAD"); w.lane.Base() != want {
				t.Errorf("the lane's base is %s, want %s", w.lane.Base(), want)
			}
		})
	}
}
