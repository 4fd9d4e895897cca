package loop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// command runs a command in the project, under a guard, for as long as there is time. If the guard
// could not be started, the result's error is an errNotRun, because that says nothing about the
// work.
func (r *checker) command(ctx context.Context, c config.Command, run proc.Cmd) proc.Result {
	if r.Loop.Env.Self == "" {
		return proc.Result{Err: errNotRun("the system does not tell this program's path"), ExitCode: -1, NotRun: true}
	}
	run.Argv, run.Shell, run.Dir, run.Guard = c.Argv, c.Shell, r.Loop.At.Project, r.Loop.Env.Self
	run.Timeout = min(c.Timeout, time.Until(r.deadline))
	temp, err := os.MkdirTemp(proc.Value(run.Env, "TMPDIR"), "ralph-stop-hook-")
	if err == nil {
		defer func() { _ = os.RemoveAll(temp) }()
	}
	if r.Config.Confine {
		if err == nil {
			err = r.confine(&run, temp)
		}
		if err != nil {
			return proc.Result{Err: errNotRun(err.Error()), ExitCode: -1, NotRun: true}
		}
	}
	// Python looks for compiled files there: those in the project may not be what their sources
	// say. Without a folder it finds none, and writes none.
	run.Env = append(run.Env, "PYTHONPYCACHEPREFIX="+cmp.Or(temp, os.DevNull))
	got := proc.Run(ctx, run)
	if got.NotRun {
		got.Err = errNotRun(got.Err.Error())
	}
	return got
}

// RunLine runs a line for the shell that a person has typed, as checks are run. It returns what the line printed.
func (p *Picture) RunLine(ctx context.Context, line string) ([]byte, error) {
	r := &checker{Picture: p, deadline: time.Now().Add(config.DefaultCheckTimeout)}
	c := config.Command{Shell: line, Timeout: config.DefaultCheckTimeout}
	got := r.command(ctx, c, proc.Cmd{Env: p.checkEnv(), Output: checkOutput})
	return got.Output, got.Err
}

// output runs a command for what it prints, at most limit bytes of it.
func (r *checker) output(ctx context.Context, c config.Command, stdin []byte, limit int) ([]byte, error) {
	if c.Untrusted {
		return nil, errNotRun(noTrust + r.Loop.Call("trust"))
	}
	if path := r.ChangedOf(c); path != "" {
		return nil, errNotRun(path + notAsTrusted)
	}
	out := &proc.Head{Limit: limit}
	got := r.command(ctx, c, proc.Cmd{Env: r.checkEnv(), Stdin: stdin, Stdout: out, Output: maxReason})
	if got.Err != nil {
		if said := plain.Line(string(got.Output), maxReason); said != "" {
			got.Err = fmt.Errorf("%w: %s", got.Err, said)
		}
		if names := r.Withheld(); names != "" {
			got.Err = fmt.Errorf("%w; %s: %s", got.Err, withheld, names)
		}
		return nil, got.Err
	}
	if len(out.Bytes()) >= limit {
		return nil, fmt.Errorf("it printed more than %d KB", limit>>10)
	}
	return out.Bytes(), nil
}

// confine has a command run confined, with temp as its temporary folder.
func (p *Picture) confine(run *proc.Cmd, temp string) error {
	real, err := filepath.EvalSymlinks(temp)
	if err != nil {
		return err
	}
	folders, _ := json.Marshal(slices.Concat([]string{p.Loop.At.Project, real}, p.Config.Folders)) // cannot fail
	run.Argv = slices.Concat([]string{proc.ConfineJob.Argv0(p.Loop.Env.Self), string(folders), run.Shell}, run.Argv)
	run.Shell, run.Env = "", append(run.Env, "TMPDIR="+real)
	return nil
}

// hint says what to do if a check may have failed because it is confined.
func (p *Picture) hint(c config.Command, output []byte) string {
	refused := func(word string) bool { return bytes.Contains(bytes.ToLower(output), []byte(word)) }
	if !p.Config.Confine || !c.Runs() || !slices.ContainsFunc(refusals, refused) {
		return ""
	}
	return "\nThis check is confined: it writes only to the project, to $TMPDIR, and to the folders that a person " +
		`names in ralph.json, such as "writable": ["~/.cache/go-build"]; it has no Unix sockets.`
}

var refusals = []string{"permission denied", "eacces", "eperm", "operation not permitted", "permissionerror"}
