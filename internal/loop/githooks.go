package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// FindHooks returns the repository's hooks that commits run under a configuration. It is an error if there are some and
// the configuration does not say what becomes of them.
func (l *Loop) FindHooks(ctx context.Context, c config.Config) (h worktree.Hooks, err error) {
	if c.GitHooks == config.HooksSkip {
		return h, nil
	}
	h, err = worktree.FindHooks(ctx, l.environ(), l.At.Project)
	switch {
	case err != nil:
	case c.GitHooks == config.HooksRun:
		err = h.Read()
		if err != nil {
			err = fmt.Errorf("%w: %w", worktree.ErrHook, err)
		}
	case len(h.Names) > 0:
		file := plain.Path(l.At.Project, l.At.Dir) + "/" + loopdir.ConfigFile
		err = fmt.Errorf(`%w: git runs %s of %s at each commit, and nobody has decided whether the loop's commits do: put `+
			`"git_hooks": "run" (as they are at trust) or "git_hooks": "skip" into %s, and then type: %s`,
			worktree.ErrHook, strings.Join(h.Names, ", "), plain.Path(l.At.Project, h.Dir), file, l.Call("trust"))
	}
	return h, err
}

// Hooks returns how commits of the loop's work run the repository's hooks; nil: they run none. It is an error if nobody
// has decided that, or if the hooks are not those that a person trusted.
func (p *Picture) Hooks(ctx context.Context) (*worktree.Hooks, error) {
	h, err := p.Loop.FindHooks(ctx, p.Config.Config)
	if err == nil && p.Config.GitHooks == config.HooksRun && h.Sum != p.Config.GitHooksSum {
		err = fmt.Errorf("%w: those in %s are not as they were at trust; look at them, and then type: %s",
			worktree.ErrHook, plain.Path(p.Loop.At.Project, h.Dir), p.Loop.Call("trust"))
	}
	if err != nil || len(h.Names) == 0 {
		return nil, err
	}
	h.Run = p.runHook
	return &h, nil
}

// runHook runs git, which runs a hook, as checks are run.
func (p *Picture) runHook(ctx context.Context, dir, own string, env []string, args ...string) error {
	own, err := filepath.EvalSymlinks(own)
	if err != nil {
		return err
	}
	open := *p
	open.Config.Folders = append(slices.Clone(p.Config.Folders), own)
	r := &checker{Picture: &open, deadline: time.Now().Add(config.DefaultCheckTimeout)}
	c := config.Command{Argv: append([]string{"git"}, args...), Timeout: config.DefaultCheckTimeout}
	got := r.command(ctx, c, proc.Cmd{Dir: dir, Env: append(p.checkEnv(), env...), Output: checkOutput})
	if said := tail(got.Output, ""); got.Err != nil && said != "" {
		return fmt.Errorf("%w\n%s", got.Err, said)
	}
	return got.Err
}
