package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// lookFolders looks at whose the folders are, before anything in them is read.
func lookFolders(p *patient) (found []*finding) {
	narrow := func(f *finding, dir string, mode os.FileMode) {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() { // a link may lead to what is not ours
			f.mend = func() error { return os.Chmod(dir, mode) }
		}
		found = append(found, f)
	}
	if err := p.loop.Check(); err != nil {
		f := failure("look who made it; a loop is a folder of yours that others cannot write", "%v", err)
		if info, err := os.Stat(p.loop.Dir); err == nil && info.IsDir() {
			narrow(f, p.loop.Dir, info.Mode().Perm()&^0o002)
		} else {
			found = append(found, f)
		}
	}
	own := filepath.Dir(filepath.Dir(p.loop.StatePath()))
	if !filepath.IsAbs(own) {
		return found // which folder it is cannot be told; lookLoop says why
	}
	switch _, err := os.Lstat(p.loop.StatePath()); {
	case err == nil:
	case errors.Is(err, fs.ErrPermission) && exists(own):
		narrow(failure("give it back to yourself: chown, chmod u+rwx", "%s cannot be read", own), own, 0o700)
	case !loopdir.Protects(own, p.project):
		found = append(found, warning("set RALPH_STATE_DIR to a folder of yours, outside the project", "no record can be kept in %s, so a loop has it in the project, where an agent can write", own))
	}
	for _, dir := range []string{filepath.Join(own, "loops"), filepath.Join(own, "sessions"), p.loop.StatePath()} {
		info, err := os.Stat(dir)
		if err != nil || runtime.GOOS == "windows" {
			continue
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			f := warning("chmod 700 "+quoteArg(dir), "%s is open to others (mode %04o)", dir, mode)
			if mode&0o022 != 0 {
				f.Level = "error"
			}
			narrow(f, dir, mode&0o700)
		}
	}
	for _, dir := range []string{p.loop.Dir, p.loop.StatePath()} {
		if exists(dir) && !loopdir.Writable(dir) {
			found = append(found, failure("give it back to yourself: chown, chmod u+rwx", "%s cannot be written", dir))
		}
	}
	return unless(found, good("%s and %s are yours alone to write", relative(p.project, p.loop.Dir), p.loop.StatePath()))
}

// lookLoop opens and loads the loop; without that the rest of it is not looked at.
func lookLoop(p *patient) []*finding {
	s, err := p.loop.Open()
	if err == nil {
		if p.loaded, err = loadNow(s); err != nil {
			s.Close()
			p.loaded = nil
		}
	}
	if err != nil {
		return []*finding{failure("", "%v", err)}
	}
	var found []*finding
	if p.loaded.snap.State.Schema != 0 && !s.Protected {
		found = append(found, warning("set RALPH_STATE_DIR to a folder outside the project, and init again with --force", "unprotected: the record is in the project, where an agent can write, so nothing is trusted"))
	}
	if err := p.loaded.snap.ConfigErr; err != nil {
		found = append(found, failure("mend it, then: "+doer(s.Name)("trust"), "%v", err))
	}
	context := p.loaded.config.Continue == config.ContinueContext
	if context && p.older(takesContext) {
		found = append(found, warning(`"continue_with": "block" in ralph.json, or claude update`, "the loop goes on by context, which Claude Code %s is not known to honour: the turn may end", p.client))
	}
	state := p.loaded.snap.Record()
	return append(found, good("%s is %s at iteration %d of %d", s.Name, state.Status, state.Iteration, state.Limit(p.loaded.snap.Limits)))
}

// maxProblems bounds what is shown of a list: `list check` has the rest.
const maxProblems = 5

func lookList(p *patient) (found []*finding) {
	if list := p.loaded.snap.List; p.loaded.config.Source.Given() || list.Missing {
		if list.Err != nil {
			return []*finding{failure("put it back, or mend what prints it", "%v", list.Err)}
		}
		return []*finding{good("%s", plural(len(list.Items), "feature"))}
	}
	path := p.loaded.listPath()
	data, tag, err := readList(path)
	if err != nil {
		return []*finding{failure("", "%v", err)}
	}
	list, problems := features.Check(data, tag)
	for _, problem := range problems[:min(len(problems), maxProblems)] {
		f := warning("ralph-stop-hook list check "+quoteArg(relative(p.project, path)), "%s: %v", path, problem)
		switch {
		case p.loaded.snap.List.Err != nil:
			f.Level = "error"
		case list.Passed() == len(list.Items):
			f.Level = "note" // that nothing is open is what a loop is for
		}
		found = append(found, f)
	}
	return unless(found, good("%s, %d of them pass", plural(len(list.Items), "feature"), list.Passed()))
}

func lookTrust(p *patient) (found []*finding) {
	l := p.loaded
	do := doer(l.Name)
	trust := "look at it, then: " + do("trust")
	for _, text := range append(wordsConfigNotes(l), wordsMuted(l)...) {
		found = append(found, warning("", "%s", text))
	}
	if checks, _ := ownChecks(l.snap.List); len(checks) > 0 && !l.config.Own {
		found = append(found, note(trust, "the list brings %s of its own, which nobody has trusted", plural(len(checks), "check")))
	}
	if path := l.changed(); path != "" {
		found = append(found, failure(trust, "%s%s: the loop will end BLOCKED", path, notAsTrusted))
	}
	if len(l.snap.Lost) > 0 {
		found = append(found, failure(do("trust")+" --restore", "features are gone, or ask for something else than when they were trusted: %s", strings.Join(l.snap.Lost, ", ")))
	}
	text := map[bool]string{true: "what runs is what you trusted", false: "nothing was trusted, and nothing needs it"}[l.config.Trusted]
	return unless(found, good("%s", text))
}

// lookTime looks whether checks can take the time that they may take.
func lookTime(p *patient) (found []*finding) {
	l := p.loaded
	if len(l.config.Checks) == 0 {
		return nil
	}
	h := &hook{begin: time.Now(), timeout: defaultTimeout, onComplete: os.Getenv("RALPH_ON_COMPLETE")}
	for _, s := range p.scopes {
		for _, entry := range s.Ours(decide.Stop) {
			if d, err := time.ParseDuration(entry.Flag("--timeout")); err == nil && d > 0 {
				h.timeout = d
			}
		}
	}
	left := h.checksDeadline(l).Sub(h.begin).Round(time.Second)
	for _, c := range l.config.Checks {
		if c.Timeout > left {
			found = append(found, warning("raise both in the settings entry, \"timeout\" and --timeout, or lower the check's", "the check %s may take %v, and the hook's entry leaves %v for all checks of a stop", plain.Line(c.Name, 80), c.Timeout, left))
		}
	}
	return unless(found, good("each check has the time that it may take: the entry leaves %v for all of a stop", left))
}

func lookSession(p *patient) []*finding {
	l := p.loaded
	state := l.snap.Record()
	switch {
	case stale(l.snap):
		return []*finding{warning("resume that session, or give the loop's prompt to a new one; 'ralph-stop-hook status --send-due' ends it", "the client of session %s died without a word, and the loop waits", state.Session)}
	case l.snap.CancelFile && state.Status != decide.Cancelled:
		return []*finding{note("'"+doer(l.Name)("resume")+"' takes that back", "the loop is to be cancelled at its next stop")}
	case state.Status == decide.InProgress && state.Session == "":
		return []*finding{note("nothing, if you have yet to start it", "no session works it: %s", wordsBegin(cmp.Or(state.Bind, l.snap.Bind)))}
	case state.Session == "":
		return []*finding{good("no session works it")}
	}
	return []*finding{good("session %s works it", state.Session)}
}

func lookNotices(p *patient) []*finding {
	late := len(slices.DeleteFunc(slices.Clone(p.loaded.snap.State.Notices), func(n decide.Notice) bool { return !due(n) }))
	if late == 0 {
		return []*finding{good("nothing is left to be told")}
	}
	f := warning("ralph-stop-hook status --send-due", "%s of an ending that was cut off", plural(late, "notice"))
	f.mend = onStore(p.loop, func(s *loopdir.Store) error {
		state, err := s.State()
		if err == nil {
			_, err = takeOver(s, cmp.Or(os.Getenv("RALPH_ON_COMPLETE"), state.OnComplete), time.Now().Add(maxSend), due)
		}
		return err
	})
	return []*finding{f}
}

func lookLeftovers(p *patient) []*finding {
	left := p.loaded.Leftovers()
	if len(left) == 0 {
		return []*finding{good("no temporary file is left")}
	}
	f := note("ralph-stop-hook doctor --fix", "%s of a run that was killed: %s", plural(len(left), "temporary file"), strings.Join(left[:min(len(left), maxProblems)], ", "))
	f.mend = onStore(p.loop, func(s *loopdir.Store) error {
		return locked(s, func() (err error) {
			for _, path := range s.Leftovers() {
				err = errors.Join(err, os.Remove(path))
			}
			return err
		})
	})
	return []*finding{f}
}

// onStore is something to do with a loop that is opened for it.
func onStore(l *loopdir.Loop, do func(*loopdir.Store) error) func() error {
	return func() error {
		s, err := l.Open()
		if err != nil {
			return err
		}
		defer s.Close()
		return do(s)
	}
}
