//go:build unix

package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

func init() { gittest.Isolate() }

const (
	listFile = "feature_list.json"
	listText = `[{"id": "a", "passes": false}, {"id": "b", "passes": false}]` + "\n"
)

// world is a project with one lane, whose sessions go to workers.
type world struct {
	testing.TB
	dir, top string
	repo     *worktree.Repo
	lane     *worktree.Tree
	hands    *Dispatcher
	begin    string // the commit of the project
	mu       sync.Mutex
	said     []string // what people are told
	saved    *record.Claim
	believes bool // the run doubts nothing: the control
}

func newWorld(t testing.TB) *world {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	w := &world{TB: t, dir: dir, top: filepath.Join(dir, "project")}
	w.ok(err)
	w.ok(os.MkdirAll(filepath.Join(w.top, "sub"), 0o755))
	for name, text := range map[string]string{listFile: listText, "a.txt": "a\n", "sub/b.txt": "b\n"} {
		w.ok(os.WriteFile(filepath.Join(w.top, name), []byte(text), 0o644))
	}
	w.git(w.top, "init", "-q", "-b", "main")
	w.git(w.top, "add", "-A")
	w.git(w.top, "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "-qm", "First")
	w.begin = w.git(w.top, "rev-parse", "HEAD")
	options := worktree.Options{Project: w.top, Env: os.Environ(), Except: []string{listFile},
		PrivateDir: filepath.Join(dir, "lanes.git"), Keep: true}
	w.repo, err = worktree.Open(t.Context(), options)
	w.ok(err)
	t.Cleanup(w.repo.Close)
	w.lane, err = w.repo.Add(t.Context(), filepath.Join(dir, "lane"), "lane", w.begin)
	w.ok(err)
	w.open()
	return w
}

// open starts the engine, as a run does, or one that goes on.
func (w *world) open() {
	o := jobs.Options{URL: jobs.Embedded, Loop: "r", Dir: filepath.Join(w.dir, "engine"), Lease: 5 * time.Second}
	lanes := []record.Lane{{Current: &record.Current{Session: record.Session{Feature: "a"}, Claim: w.saved}}}
	hands, err := Open(w.Context(), o, lanes, "1", time.Minute, func(text string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.said = append(w.said, text)
	})
	w.ok(err)
	w.hands = hands
	w.Cleanup(hands.Close)
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) git(dir string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// join lets a worker in.
func (w *world) join(name string) *jobs.Worker {
	c, err := jobs.Token(filepath.Join(w.dir, "engine"), "r", "", name)
	w.ok(err)
	one, err := jobs.Join(w.Context(), jobs.Options{Creds: c.String(), Machine: "machine of " + name})
	w.ok(err)
	w.Cleanup(one.Close)
	return one
}

// session works one session of a feature in the lane.
func (w *world) session(ctx context.Context, feature string) run.SessionResult {
	if w.believes {
		return w.believe(ctx, w.job(feature))
	}
	got := w.hands.Work(ctx, w.job(feature))
	if got.Confirm != nil {
		got.Confirm()
	}
	return got
}

func (w *world) job(feature string) run.Job {
	return run.Job{
		Run: "r", Loop: "loop", Feature: feature, Session: agent.Session{Prompt: "Work.", Limit: time.Minute},
		Repo: w.repo, Tree: w.lane, List: listFile, Reading: features.Reading{},
		Claim: w.claim(), Save: func(c *record.Claim) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.saved = c
			return nil
		},
	}
}

// claim returns what the run has saved.
func (w *world) claim() *record.Claim {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.saved
}

// believe is Work for a run that doubts nothing: it takes what a worker says, and whatever its bundle has.
func (w *world) believe(ctx context.Context, j run.Job) run.SessionResult {
	one := &session{Dispatcher: w.hands, Job: j}
	var err error
	one.tip, _, err = j.Tree.Commit(ctx, "Begin a session")
	w.ok(err)
	w.ok(one.begin(ctx))
	got, err := one.await(ctx)
	w.ok(err)
	commit := one.tip
	if got.Work != "" {
		bundle, err := os.ReadFile(got.Work)
		w.ok(err)
		head, pack, _ := strings.Cut(string(bundle), "\n\n")
		own := filepath.Join(w.dir, "lanes.git")
		cmd := exec.Command("git", "--git-dir="+own, "index-pack", "--stdin", "--fix-thin")
		cmd.Dir, cmd.Stdin = own, strings.NewReader(pack)
		w.ok(cmd.Run())
		lines := strings.Split(head, "\n")
		commit, _, _ = strings.Cut(lines[len(lines)-1], " ")
	}
	w.ok(j.Tree.Take(ctx, commit))
	one.offer.End(true)
	done := run.SessionResult{}
	done.Class = agent.Done
	return done
}

// hand is what a worker hands in.
type hand func(w *world, o order) (r report, objects []hostile.Object)

// file is a hand with one file more.
func file(mode, name, text string) hand {
	return func(w *world, o order) (report, []hostile.Object) {
		return w.work(o, mode+" "+name, hostile.Object{Kind: hostile.Blob, Data: []byte(text)})
	}
}

// work adds an entry to the tree of the order's commit.
func (w *world) work(o order, entry string, all ...hostile.Object) (report, []hostile.Object) {
	was := w.git(w.top, "--git-dir="+filepath.Join(w.dir, "lanes.git"), "ls-tree", o.Commit)
	entries := [][2]string{}
	added := [2]string{entry, all[len(all)-1].ID()}
	_, name, _ := strings.Cut(entry, " ")
	for line := range strings.Lines(was + "\n") {
		about, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
		words := strings.Fields(about)
		if words[1] == "tree" {
			words[0] = "40000"
		}
		if added[0] != "" && name <= path {
			entries = append(entries, added)
			added[0] = ""
		}
		if name != path {
			entries = append(entries, [2]string{words[0] + " " + path, words[2]})
		}
	}
	if added[0] != "" {
		entries = append(entries, added)
	}
	tree := hostile.TreeOf(entries...)
	return w.done(o, append(all, tree, hostile.CommitOf(tree, o.Commit)))
}

// done is the report of objects, whose last one is the commit.
func (w *world) done(o order, all []hostile.Object) (report, []hostile.Object) {
	r := report{Schema: schema, Commit: o.Commit, Claims: true, Class: agent.Done}
	if len(all) > 0 {
		r.Commit = all[len(all)-1].ID()
	}
	return r, all
}

// folder is a hand with a file in folders.
func folder(names ...string) hand {
	return func(w *world, o order) (report, []hostile.Object) {
		script := "#!/bin/sh\ntouch " + filepath.Join(w.dir, "pwned") + "\n"
		all := []hostile.Object{{Kind: hostile.Blob, Data: []byte(script)}}
		entry := "100755 " + names[len(names)-1]
		for i := len(names) - 2; i >= 0; i-- {
			all = append(all, hostile.TreeOf([2]string{entry, all[len(all)-1].ID()}))
			entry = "40000 " + names[i]
		}
		return w.work(o, entry, all...)
	}
}

var honest = file("100644", "new.txt", "new\n")

// changed is the honest hand with another report.
func changed(change func(r *report)) hand {
	return func(w *world, o order) (report, []hostile.Object) {
		r, all := honest(w, o)
		change(&r)
		return r, all
	}
}

// lies hands in the same for each feature that comes, until ctx ends.
func (w *world) lies(ctx context.Context, worker *jobs.Worker, text string, what hand) {
	for {
		c, err := worker.Take(ctx)
		if err != nil {
			return
		}
		var o order
		if err := json.Unmarshal(c.Body, &o); err != nil {
			w.Error(err)
		}
		r, all := what(w, o)
		said := []byte(text)
		if text == "" {
			said, _ = json.Marshal(r)
		}
		bundle := ""
		if len(all) > 0 {
			bundle = w.bundle(o, all)
		}
		err = c.Submit(ctx, said, bundle)
		if err != nil && ctx.Err() == nil && !errors.Is(err, jobs.ErrClaimLost) && worker.Connected() {
			w.Error(err)
		}
	}
}

// bundle returns the path of a bundle of objects.
func (w *world) bundle(o order, all []hostile.Object) string {
	path := filepath.Join(w.TempDir(), "bundle")
	w.ok(os.WriteFile(path, hostile.Bundle(o.Commit, all...), 0o600))
	return path
}

// try works a session with one worker. If no good comes of that, another one comes. It returns how the session ended,
// what people were told, and what there is that must not be.
func (w *world) try(
	worker, good *jobs.Worker, text string, what hand,
) (got run.SessionResult, told string, bad []string) {
	ctx, stop := context.WithCancel(w.Context())
	w.ok(w.lane.Reset(ctx, w.begin))
	w.ok(w.lane.WriteFile(listFile, []byte(listText)))
	w.mu.Lock()
	w.said = nil
	w.mu.Unlock()
	var all sync.WaitGroup
	all.Go(func() { w.lies(ctx, worker, text, what) })
	ended := make(chan run.SessionResult, 1)
	go func() { ended <- w.session(ctx, "a") }()
	for got.Class == "" {
		select {
		case got = <-ended:
		case <-time.After(20 * time.Millisecond):
			w.mu.Lock()
			told = strings.Join(w.said, "\n")
			w.mu.Unlock()
			if good != nil && strings.Contains(told, "so it gets nothing for ") {
				one := good
				all.Go(func() { w.lies(ctx, one, "", honest) })
				good = nil
			}
		}
	}
	stop()
	all.Wait()
	return got, told, w.damage()
}

// damage returns what must not be, whatever a worker does.
func (w *world) damage() (all []string) {
	if head := w.git(w.top, "rev-parse", "HEAD"); head != w.begin {
		all = append(all, "the project's branch is at "+head)
	}
	if status := w.git(w.top, "status", "--porcelain"); status != "" {
		all = append(all, "the project is changed: "+status)
	}
	entries, err := os.ReadDir(w.dir)
	w.ok(err)
	for _, e := range entries {
		if !strings.Contains(" project lane lanes.git engine ", " "+e.Name()+" ") {
			all = append(all, "there is "+e.Name())
		}
	}
	if _, err := os.Stat(filepath.Join(w.top, ".git", "hooks", "pre-commit")); err == nil {
		all = append(all, "there is a hook")
	}
	cmd := exec.Command("git", "merge-base", "--is-ancestor", w.begin, "HEAD")
	cmd.Dir = w.lane.Dir()
	if cmd.Run() != nil {
		all = append(all, "the lane has lost its history")
	}
	w.ok(filepath.WalkDir(w.lane.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if to, _ := os.Readlink(path); to != "" && strings.Contains(to, "..") {
			all = append(all, fmt.Sprintf("%s is a link to %s", e.Name(), to))
		}
		if err == nil && info.Mode().IsRegular() && info.Size() > maxWork {
			all = append(all, e.Name()+" is large")
		}
		return err
	}))
	return all
}

// passes reports whether the lane's copy of the list claims the feature a. It claims nothing else.
func (w *world) passes() bool {
	text, err := os.ReadFile(filepath.Join(w.lane.Dir(), listFile))
	w.ok(err)
	if bytes.Equal(text, []byte(listText)) {
		return false
	}
	if !bytes.Equal(text, []byte(strings.Replace(listText, "false", "true", 1))) {
		w.Errorf("the lane's list is %s", text)
	}
	return true
}
