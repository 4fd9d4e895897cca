package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// minFree is what a stop may write: a record, a list and the lines of its logs, at their largest.
const minFree = 4 << 20

// lookFolders checks who owns the folders, before anything in them is read.
func lookFolders(in *inspection) {
	narrow := func(f *finding, dir string, mode os.FileMode) {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() { // a link may lead to a folder that is not ours
			f.mend = func() error { return os.Chmod(dir, mode) }
		}
	}
	if err := in.loop.Check(); err != nil {
		f := in.failure(verb.Unreadable(in.v.Env, in.loop, err).Then, "%v", err)
		if info, err := os.Stat(in.loop.Dir); err == nil {
			narrow(f, in.loop.Dir, info.Mode().Perm()&^0o002)
		}
	}
	own := filepath.Dir(filepath.Dir(in.loop.StatePath()))
	if !filepath.IsAbs(own) {
		return // which folder it is cannot be told; lookLoop says why
	}
	switch _, err := os.Lstat(in.loop.StatePath()); {
	case err == nil:
	case errors.Is(err, fs.ErrPermission) && loopdir.Exists(own):
		narrow(in.failure("give it back to yourself: chown, chmod u+rwx", "%s cannot be read", own), own, 0o700)
	case !loopdir.CanKeep(own):
		in.failure("set RALPH_STATE_DIR to a folder of yours", "no record can be kept in %s", own)
	case !loopdir.Protects(own, in.project):
		in.warning("set RALPH_STATE_DIR to a folder of yours, outside the project",
			"the state folder %s is in the project, where an agent can write", own)
	}
	for _, dir := range []string{loopdir.RecordsFolder(own), loopdir.SessionsFolder(own), in.loop.StatePath()} {
		info, err := os.Stat(dir)
		if err != nil || runtime.GOOS == "windows" {
			continue
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			f := in.warning("chmod 700 "+plain.Arg(dir), "%s is open to others (mode %04o)", dir, mode)
			if mode&0o022 != 0 {
				f.Level = "error"
			}
			narrow(f, dir, mode&0o700)
		}
	}
	for _, dir := range []string{in.loop.Dir, in.loop.StatePath()} {
		if loopdir.Exists(dir) && !loopdir.Writable(dir) {
			in.failure("give it back to yourself: chown, chmod u+rwx", "%s cannot be written", dir)
		}
		if free, known := loopdir.Free(dir); known && free < minFree {
			in.failure("delete something there", "the disk of %s is full", dir)
		}
	}
	in.fine("only you can write %s and %s", plain.Path(in.project, in.loop.Dir), in.loop.StatePath())
}

// lookConfine checks whether checks can write outside of the project while the agent cannot.
func lookConfine(in *inspection) {
	c := in.picture.Config
	sandbox := slices.IndexFunc(in.scopes, func(s *scope) bool { return s.Sandbox })
	switch {
	case c.Confine:
		in.good("checks write only to %s", say.ConfinedTo(c.Config))
	case sandbox >= 0 && slices.ContainsFunc(c.Commands(), func(c config.Command) bool { return c.Event == "" }):
		in.warning(`"confine": true in ralph.json, then: `+in.picture.Loop.Call("trust"),
			"%s turns Claude Code's sandbox on, but checks run outside of it: the agent's code runs there as you",
			in.scopes[sandbox].shown)
	}
}

// lookRoom checks whether the room of the checks can be filled.
func lookRoom(in *inspection) {
	p := in.picture
	if !p.HasRoom() {
		return
	}
	if _, err := p.LookAtRoom(context.Background()); err != nil {
		in.failure("look at what it says; then: "+p.Loop.Call("trust"), "the room of the checks cannot be filled: %v", err)
		return
	}
	if names := say.NotUsed(p); names != "" {
		in.note(p.Loop.Call("room")+" says why", "not used by the checks: %s", names)
	}
	in.fine("checks run in %s", plain.Line(p.Room().Dir, 300))
}

// lookLoop opens and loads the loop. If that fails, nothing else of the loop is checked.
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
	if in.picture.Snapshot.State.Schema != 0 && !l.Store.Protected {
		in.warning("set RALPH_STATE_DIR to a folder outside the project, and init again with --force",
			"unprotected: the record is in the project, where an agent can write, so nothing is trusted")
	}
	if err := in.picture.Snapshot.ConfigErr; err != nil {
		fix := "fix it, then: " + l.Call("trust")
		if !strings.HasPrefix(err.Error(), filepath.Join(l.At.Dir, loopdir.ConfigFile)) { // nobody trusts another file
			fix = verb.Quick(in.picture).Then
		}
		in.failure(fix, "%v", err)
	}
	state := in.picture.Snapshot.Record()
	in.good("%s is %s at iteration %d of %d", l.At.Name, state.Status, state.Iteration,
		state.Limit(in.picture.Snapshot.Limits))
}

// maxProblems bounds what is shown of a list: `list check` has the rest.
const maxProblems = 5

func lookList(in *inspection) {
	switch s := &in.picture.Snapshot; {
	case s.NoList:
		in.good("no list; %s", say.NoListProof(decide.InProgress, "", len(s.Checks)))
	case !in.picture.Config.Source.Given() && !s.List.Missing:
		in.lookListFile()
	case say.CanRestore(in.picture):
		in.failure(in.picture.Loop.Call("trust")+" --restore", "%v", s.List.Err)
	case s.List.Err != nil:
		in.failure("put it back, or fix what prints it", "%v", s.List.Err)
	default:
		in.good("%s", plain.Count(len(s.List.Items), "feature"))
	}
}

func (in *inspection) lookListFile() {
	path := in.picture.ListPath()
	data, how, err := verb.ReadList(path)
	if err != nil {
		in.failure("", "%v", err)
		return
	}
	how.Skip = in.picture.Config.SkipHeadings
	list, problems, remarks := how.Check(data)
	for _, problem := range problems[:min(len(problems), maxProblems)] {
		f := in.warning("ralph-stop-hook list check "+plain.Arg(plain.Path(in.project, path)), "%s: %v", path, problem)
		switch {
		case in.picture.Snapshot.List.Err != nil:
			f.Level = "error"
		case list.Passed() == len(list.Items):
			f.Level = "note" // that nothing is open is what a loop is for
		}
	}
	for _, remark := range remarks[:min(len(remarks), maxProblems)] {
		in.note("", "%s: %v", path, remark)
	}
	for _, note := range say.ListNotes(list, say.ShownNotes) {
		in.note("", "%s: %s", path, note)
	}
	in.fine("%s, %d of them pass", plain.Count(len(list.Items), "feature"), list.Passed())
}

func lookTrust(in *inspection) {
	p := in.picture
	s, call := &p.Snapshot, p.Loop.Call
	trust := "look at it, then: " + call("trust")
	for _, text := range append(say.ConfigNotes(p), say.MutedNotifiers(p)...) {
		in.warning("", "%s", text)
	}
	if changed := p.Changed(); len(changed) > 0 {
		in.failure(trust, "%s: the loop will end BLOCKED if the agent does not put that back", decide.Differs(changed))
	}
	if p.Unheld() {
		in.note("to lock it as it is now: "+call("trust"),
			"the list is not locked yet; the prompt that begins the loop locks it as it is then")
	}
	if len(s.Lost) > 0 {
		in.failure(call("trust")+" --restore", "parts of the list were deleted or reworded after it was trusted: %s",
			strings.Join(s.Lost, ", "))
	}
	if p.Config.Trusted {
		in.fine("what runs is what you trusted")
	}
	in.fine("nothing is trusted, and nothing needs trust")
}

// lookTime checks whether the checks can have the time that their timeouts allow.
func lookTime(in *inspection) {
	p := in.picture
	if len(p.Config.Checks) == 0 {
		return
	}
	timeout := defaultTimeout
	for _, s := range in.scopes {
		for _, entry := range s.Ours(client.Stop) {
			timeout = timeoutOf(entry)
		}
	}
	left := p.CheckTime(timeout).Round(time.Second)
	for _, c := range p.Config.Checks {
		if c.Timeout > left {
			in.warning("raise both in the settings entry, \"timeout\" and --timeout, or lower the check's",
				"the check %s may take %v, but the hook's entry leaves %v for all checks of a stop",
				plain.Line(c.Name, 80), c.Timeout, left)
		}
	}
	in.fine("each check has enough time: the entry leaves %v for all checks of a stop", left)
}

func lookSession(in *inspection) {
	p := in.picture
	state := p.Snapshot.Record()
	switch {
	case p.Stale():
		in.warning(say.GoOn(p, state), "the client of session %s was closed or killed", state.Session)
	case state.Waits && state.Status == decide.InProgress:
		in.note(say.GoOn(p, state), "the loop continues, but no session works on it yet")
	case p.Snapshot.Asked() != decide.InProgress && state.Status.GoesOn():
		in.note("'"+p.Loop.Call("resume")+"' takes that back", "the next stop ends the loop %s", p.Snapshot.Asked())
	case state.Status == decide.InProgress && state.Session == "":
		bind := cmp.Or(state.Bind, p.Snapshot.Bind)
		in.note("nothing, if you have yet to start it", "no session works on it: %s", say.Begin(bind))
	case say.CutOff(p) != "":
		in.warning(say.GoOn(p, state), "%s", say.CutOff(p))
	case state.Status == decide.InProgress && !state.Idle.IsZero():
		in.warning(say.GoOn(p, state), "session %s is idle since %s", state.Session, say.Clock(state.Idle))
	case state.Session == "", !state.Status.GoesOn():
		in.good("no session works on it")
	default:
		in.good("session %s works on it", state.Session)
	}
}

// lookPrompt checks whether a session that gets the loop's prompt takes the loop.
func lookPrompt(in *inspection) {
	if say.Marked(in.loop) {
		in.good("%s names the loop", loopdir.PromptFile)
	} else if loopdir.Exists(filepath.Join(in.loop.Dir, loopdir.PromptFile)) {
		in.warning("as the first line of "+loopdir.PromptFile+": "+in.loop.Marker(),
			"%s does not begin with the line that names the loop; only 'ralph-stop-hook start' adds it",
			loopdir.PromptFile)
	}
}

func lookNotices(in *inspection) {
	if late := in.picture.Loop.Untold(); late > 0 {
		f := in.warning("ralph-stop-hook status --send-due", "%s of an ending, not sent yet", plain.Count(late, "notice"))
		f.mend = in.mend(func(l *loop.Loop) error { return l.Tell(context.Background()) })
	}
	in.fine("no notice is left to send")
}

// lookCommit looks for a commit that was cut off. Until it is ended, nobody can stage or commit anything.
func lookCommit(in *inspection) {
	if cut := in.picture.CutOffCommit(); cut != "" {
		in.warning("ralph-stop-hook doctor --fix", "%s", cut).mend = in.mend(func(l *loop.Loop) error {
			p, err := l.Look()
			if err != nil {
				return err
			}
			return p.EndCommit(context.Background())
		})
	}
}

func lookLeftovers(in *inspection) {
	left := in.picture.Loop.Store.Leftovers()
	if len(left) == 0 {
		in.good("no temporary file is left")
		return
	}
	shown := strings.Join(left[:min(len(left), maxProblems)], ", ")
	f := in.note("ralph-stop-hook doctor --fix", "%s of a run that was killed: %s",
		plain.Count(len(left), "temporary file"), shown)
	f.mend = in.mend(func(l *loop.Loop) error {
		return l.Store.Locked(loop.LockWait, func() (err error) {
			for _, path := range l.Store.Leftovers() {
				err = errors.Join(err, os.Remove(path))
			}
			return err
		})
	})
}

// mend opens the loop and calls do with it.
func (in *inspection) mend(do func(*loop.Loop) error) func() error {
	env, at := in.v.Env, in.loop
	return func() error {
		l, err := loop.Open(env, at)
		if err != nil {
			return err
		}
		defer l.Close()
		return do(l)
	}
}
