package loop

import (
	"context"
	"errors"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/held"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// What a trusted command does depends on the files that it names, and on those that "protect"
// names. These files are held: they must stay as they were when a person trusted them.

// heldFiles returns the held files of a configuration.
func (l *Loop) heldFiles(c config.Config) (*held.Holder, error) {
	h := held.New(l.At.Project, l.Env.Home, c)
	if loopdir.RepoRoot(l.At.Project) != "" {
		env := l.environ()
		h.Git = func(args ...string) int {
			return proc.Run(context.Background(), proc.Git(env, l.At.Project, args...)).ExitCode
		}
	}
	for _, command := range append(c.Source.Commands(), c.Notifiers...) {
		h.Command(command, false)
	}
	c.Source, c.Notifiers = config.Source{}, nil
	for _, command := range c.Commands() {
		h.Command(command, true)
	}
	err := h.Protect(l.treeWithoutList(c))
	h.Finish()
	return h, errors.Join(h.Err, err)
}

// NotHeld returns what commands depend on and cannot be held, each with the reason.
func (l *Loop) NotHeld(c config.Config) []string {
	h, _ := l.heldFiles(c)
	return h.Open
}

// HeldFor returns the held files that commands depend on, sorted.
func (p *Picture) HeldFor(commands ...config.Command) []string {
	return held.Keys(p.Loop.At.Project, p.Loop.Env.Home, p.Config.Files, p.Config.Calls, commands...)
}

// heldForChecks returns the held files that checks and evaluators depend on.
func (p *Picture) heldForChecks() []string {
	c := p.Config.Config
	c.Notifiers = nil // they change no verdict
	keys := p.HeldFor(c.Commands()...)
	for key := range p.Config.Files {
		if p.Config.Protects(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Changed returns the first changed file among the held files of checks; "" if none has changed.
func (p *Picture) Changed() string {
	if key := p.firstChanged(p.heldForChecks()); key != "" || !p.Config.ProtectNew {
		return key
	}
	t := p.tree()
	t.List, _ = features.Named(p.ListPath())
	return held.Added(t, p.Config.Config, p.Config.Files)
}

// ChangedOf is Changed for the files of one command.
func (p *Picture) ChangedOf(c config.Command) string { return p.firstChanged(p.HeldFor(c)) }

func (p *Picture) firstChanged(keys []string) string {
	for _, key := range keys {
		if held.Changed(p.Loop.At.Project, key, p.Config.Files[key]) {
			return key
		}
	}
	return ""
}

// stamps returns when each held file of the checks changed last.
func (p *Picture) stamps() map[string]string {
	all := map[string]string{}
	for _, key := range p.heldForChecks() {
		all[key] = p.stamp(key)
	}
	return all
}

// stamp returns the time of a file. Of a folder, in which anybody may write, it returns what
// is held of it.
func (p *Picture) stamp(key string) string {
	if path := held.File(key); path != "" {
		return tree.Stamp(held.At(p.Loop.At.Project, path))
	}
	return held.Sum(p.Loop.At.Project, key)
}

// touchedSince returns a key whose stamp has changed; "" if none has.
func (p *Picture) touchedSince(before map[string]string) string {
	for key, was := range before {
		if p.stamp(key) != was {
			return key
		}
	}
	return ""
}

// PassedOver returns the folders in which "protect" holds nothing.
func (l *Loop) PassedOver(c config.Config) []string {
	found, _ := held.FindProtected(l.treeWithoutList(c), c)
	return found.Passed
}

// treeWithoutList returns the tree without the list, which is held by what it says.
func (l *Loop) treeWithoutList(c config.Config) tree.Tree {
	t, recorded := l.tree(l.environ()), ""
	if state, err := l.Store.State(); err == nil {
		recorded = state.List
	}
	t.List, _ = features.Named(l.At.ListPath(c.List, recorded))
	return t
}
