package loop

import (
	"fmt"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// A loop that somebody made by hand has no record. A person begins it with its prompt, attach,
// resume or init. A stop begins it only if nobody else can have brought it.

// peekUnrecorded reads who may begin a loop that has no record.
func (l *Loop) peekUnrecorded(s *decide.Snapshot, ev Event) error {
	text, err := l.Store.Progress()
	if err != nil {
		return err
	}
	s.Header = progress.Parse(text)
	s.Bind = decide.BindPrompt // an unreadable ralph.json must not make a bystander an owner
	text, err = l.Store.Config()
	if err == nil {
		var c config.Effective
		if c, err = config.Choose(nil, text); err == nil {
			s.Bind = c.Bind
		}
	}
	if err != nil {
		s.ConfigErr = fmt.Errorf("%s: %w", filepath.Join(l.At.Dir, loopdir.ConfigFile), err)
	}
	if ev.Kind == decide.EventStop || ev.Kind == "" {
		s.Brought = l.brought(ev)
	}
	return nil
}

// brought says why a stop does not begin a loop that has no record, "" if it may. A verb has no
// event, and does not ask where the session is.
func (l *Loop) brought(ev Event) string {
	where := l.Env.Where()
	if ev.Cwd != "" {
		where.Cwd = ev.Cwd
	}
	switch {
	case l.At.Bound: // a person has given it to this session
	case l.Env.Everywhere != nil && l.Env.Everywhere():
		return "the hook's entry is for all projects"
	case ev.Kind == decide.EventStop && !where.InProject(l.At):
		return "it is not in the project of this session"
	case where.Dependency(l.At):
		return "it is in the folder of a dependency, or of a repository within another one"
	}
	return l.tracked()
}

// tracked says that the loop came with a repository or could have come with one; "" if not.
func (l *Loop) tracked() string {
	root := loopdir.RepoRoot(l.At.Dir)
	if root == "" {
		return ""
	}
	const came = "it came with the repository"
	if rel, err := filepath.Rel(l.At.Project, root); err == nil && rel != "." && filepath.IsLocal(rel) {
		return came // a repository of its own, in the folder of loops
	}
	switch none, known := tree.Untracked(l.environ(), l.At.Dir); {
	case !known:
		return "git does not say whether it came with the repository"
	case !none:
		return came
	}
	return ""
}

// Waits reports whether the event is a stop that did not begin the loop, which has no
// record.
func (l *Loop) Waits(ev Event) bool {
	return ev.Kind == decide.EventStop && l.seen.State.Schema == 0 && l.seen.MayBegin()
}

// WaitsFor says why the loop waits for a person, "" if the session was told before.
func (l *Loop) WaitsFor(session string) string {
	if !l.At.TellOnce(session) {
		return ""
	}
	switch s := &l.seen; {
	case s.ConfigErr != nil:
		return s.ConfigErr.Error()
	case s.Brought != "":
		return s.Brought
	}
	return "it waits for its prompt"
}
