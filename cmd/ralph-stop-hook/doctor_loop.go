package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// lookFolders checks who can read and write the loop's folders, before anything in them is read.
func lookFolders(in *inspection) {
	if err := in.loop.Check(); err != nil {
		in.failure(verb.Unreadable(in.v.Env, in.loop, err).Then, "%v", err)
	}
	own := filepath.Dir(filepath.Dir(in.loop.StatePath()))
	if !filepath.IsAbs(own) {
		return // which folder it is cannot be told; lookLoop says why
	}
	const giveBack = "give it back to yourself: chown, chmod u+rwx"
	switch _, err := os.Lstat(in.loop.StatePath()); {
	case err == nil:
	case errors.Is(err, fs.ErrPermission) && loopdir.Exists(own):
		in.failure(giveBack, "%s cannot be read", own)
	case !loopdir.CanKeep(own):
		in.failure("set RALPH_STATE_DIR to a folder of yours", "no record can be kept in %s", own)
	}
	for _, dir := range []string{loopdir.RecordsFolder(own), loopdir.SessionsFolder(own), in.loop.StatePath()} {
		info, err := os.Stat(dir)
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			in.failure("chmod 700 "+plain.Arg(dir), "%s is open to others (mode %04o)", dir, info.Mode().Perm())
		}
	}
	for _, dir := range []string{in.loop.Dir, in.loop.StatePath()} {
		if loopdir.Exists(dir) && !loopdir.Writable(dir) {
			in.failure(giveBack, "%s cannot be written", dir)
		}
	}
	in.fine("only you can write %s and %s", plain.Path(in.project, in.loop.Dir), in.loop.StatePath())
}

// lookLoop opens and reads the loop. If that fails, nothing else of the loop is checked.
func lookLoop(in *inspection) {
	l, err := loop.Open(in.v.Env, in.loop)
	if err == nil {
		in.picture, err = l.Look()
		if err != nil {
			l.Close()
			in.picture = nil
		}
	}
	if err != nil {
		in.failure(verb.Unreadable(in.v.Env, in.loop, err).Then, "%v", err)
		return
	}
	s := &in.picture.Snapshot
	if s.State.Schema != 0 && !l.Store.Protected {
		in.warning("set RALPH_STATE_DIR to a folder outside the project, and init again with --force",
			"unprotected: the record is in the project, where an agent can write, so nothing is trusted")
	}
	if s.ConfigErr != nil {
		in.failure(verb.Quick(in.picture).Then, "%v", s.ConfigErr)
	}
	state := s.Record()
	in.good("%s is %s at iteration %d of %d", l.At.Name, state.Status, state.Iteration, state.Limit(s.Limits))
}

func lookList(in *inspection) {
	switch s := &in.picture.Snapshot; {
	case s.NoList:
		in.good("no list; %s", say.NoListProof(decide.InProgress, "", len(s.Checks)))
	case s.List.Err != nil:
		in.failure("put it back, or fix it: ralph-stop-hook list check says what is wrong", "%v", s.List.Err)
	default:
		if len(s.List.Changes) > 0 {
			remedy := in.picture.Loop.Call("trust")
			if s.List.Missing {
				remedy = "put it back"
			}
			in.warning(remedy, "%s", say.NotCounted(in.picture))
		}
		in.good("%s, %d of them pass", plain.Count(len(s.List.Items), "feature"), s.List.Passed())
	}
}

// lookChecks runs each check once. That nothing passes yet is what a loop is for.
func lookChecks(in *inspection) {
	p := in.picture
	if len(p.Snapshot.Checks) == 0 || p.Snapshot.ConfigErr != nil || p.Snapshot.List.Err != nil {
		return
	}
	for _, text := range say.ConfigNotes(p) {
		in.warning("", "%s", text)
	}
	runs, err := verb.EachCheck(p)
	if err != nil {
		in.failure("", "%v", err)
		return
	}
	fmt.Fprintf(os.Stderr, "%s: running %s\n", program, say.Checks(len(runs)))
	results, err := p.RunChecks(context.Background(), runs, false, func(decide.Run, *decide.Receipt) {})
	if err != nil {
		in.warning("", "%v", err)
	}
	for _, r := range results {
		if r.Passed {
			in.good("the %s passes", r.Label())
			continue
		}
		report := in.note
		if r.NotRun {
			report = in.warning
		}
		report("nothing, if its features are not done; "+p.Loop.Call("verify")+" shows more", "the %s %s: %s", r.Label(),
			r.Outcome(), plain.Line(r.Tail, 300))
	}
}
