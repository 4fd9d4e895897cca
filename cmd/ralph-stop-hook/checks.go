package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

const (
	checkTail   = 4000      // characters of a failed check's output, in the prompt
	checkOutput = 512 << 10 // bytes of it, in checks.log
	checkFile   = 16 << 20  // bytes of a file that a condition looks at
	cancelLook  = 200 * time.Millisecond
)

// runner runs the checks that a decision asks for.
type runner struct {
	*loaded
	message  string                            // the agent's last one
	deadline time.Time                         // for all of them
	contents string                            // hash of the work tree as they find it
	swapped  string                            // a held file that was not left alone while they ran
	hear     func(decide.Run, *decide.Receipt) // when a check begins (nil), and with its result
	byDigest map[string]config.Check
}

// watched returns a context that is done when the time is up, or a person cancels.
func (r *runner) watched(ctx context.Context) (context.Context, context.CancelFunc) {
	passOnPipe()
	ctx, cancel := context.WithDeadline(ctx, r.deadline)
	go func() {
		defer func() { _ = recover() }()
		for ctx.Err() == nil {
			if r.CancelAsked() {
				cancel()
			}
			time.Sleep(cancelLook)
		}
	}()
	return ctx, cancel
}

// run runs checks side by side as far as ralph.json allows it.
func (r *runner) run(ctx context.Context, runs []decide.Run) []decide.Receipt {
	ctx, cancel := r.watched(ctx)
	defer cancel()
	if r.hear == nil {
		r.hear = func(decide.Run, *decide.Receipt) {}
	}
	before := r.stamps()
	defer func() { r.swapped = r.touched(before) }()
	results := make([]decide.Receipt, len(runs))
	slots := make(chan struct{}, max(1, r.config.Parallel))
	var all sync.WaitGroup
	for _, same := range r.groups(runs) {
		slots <- struct{}{}
		all.Go(func() {
			one := decide.Receipt{At: time.Now().UTC(), Tree: r.contents, NotRun: true}
			defer func() {
				if p := recover(); p != nil {
					one.Tail = fmt.Sprintf("internal error: %v", p)
				}
				for _, i := range same {
					results[i] = one
					results[i].Feature, results[i].Check, results[i].Name = runs[i].Feature, runs[i].Check.Digest, runs[i].Check.Name
					r.hear(runs[i], &results[i])
				}
				<-slots
			}()
			r.hear(runs[same[0]], nil)
			r.one(ctx, runs[same[0]], &one)
		})
	}
	all.Wait()
	return results
}

// groups returns the places of runs, together where one run answers for several:
// a command that many features of a list bring knows nothing of the feature.
func (r *runner) groups(runs []decide.Run) (groups [][]int) {
	r.byDigest = make(map[string]config.Check, len(r.config.Checks))
	for _, c := range r.config.Checks {
		r.byDigest[c.Digest] = c
	}
	own := map[string]int{}
	for i, run := range runs {
		c := r.byDigest[run.Check.Digest]
		if at, is := own[c.Name]; is && c.Own {
			groups[at] = append(groups[at], i)
			continue
		}
		if c.Own {
			own[c.Name] = len(groups)
		}
		groups = append(groups, []int{i})
	}
	return groups
}

// one runs one check.
func (r *runner) one(ctx context.Context, run decide.Run, result *decide.Receipt) {
	begin := time.Now()
	output, err := []byte(nil), error(errNotRun("ralph.json has no such check any more"))
	if c, is := r.byDigest[run.Check.Digest]; is {
		output, err = r.holds(ctx, c, run.Feature)
	}
	result.Passed, result.NotRun, result.DurationMS = err == nil, errors.As(err, new(errNotRun)), time.Since(begin).Milliseconds()
	outcome := "ok"
	if err != nil {
		outcome = err.Error()
		text := []rune(strings.TrimSpace(strings.TrimSpace(plain.Text(string(output), len(output))) + "\n" + outcome))
		result.Tail = string(text[max(0, len(text)-checkTail):])
	}
	r.LogChecks(wordsLogCheck(*result, run, outcome, output))
}

// errNotRun says why a check says nothing about the work.
type errNotRun string

func (e errNotRun) Error() string { return "not run: " + string(e) }

const (
	noTrust      = "nobody has trusted this command; a person has to run: "
	notAsTrusted = " is not what it was when it was trusted"
)

// holds tells whether a check holds: err says why not.
func (r *runner) holds(ctx context.Context, c config.Check, feature string) (output []byte, err error) {
	switch {
	case c.Untrusted:
		return nil, errNotRun(noTrust + doer(r.Name)("trust"))
	case ctx.Err() != nil:
		return nil, errNotRun("the time for checks is over")
	case c.Runs() && !c.Own && !tame(feature):
		return nil, errNotRun("the feature's id has characters that are not handed to a command")
	case c.Runs():
		if path := r.changedOf(c.Command); path != "" {
			return nil, errNotRun(path + notAsTrusted + "; a person has to look at it and run: " + doer(r.Name)("trust"))
		}
		env := r.env()
		if !c.Own {
			env = append(env, "RALPH_FEATURE="+feature)
		}
		left := time.Until(r.deadline)
		got := r.command(ctx, c.Command, proc.Cmd{Env: env, Output: checkOutput})
		if got.TimedOut && left < c.Timeout {
			got.Err = errNotRun(fmt.Sprintf("to its end: of the time for all checks %v were left for it", left.Round(time.Second)))
		}
		return got.Output, got.Err
	case c.FileExists != "":
		err = r.exists(c.FileExists)
	case !c.LastMessage:
		err = r.contains(c)
	case !c.Pattern.MatchString(r.message):
		err = fmt.Errorf("the last message does not match %q", c.Expression())
	}
	return nil, err
}

// command runs a command in the project under a guard, for as long as there is time.
func (r *runner) command(ctx context.Context, c config.Command, run proc.Cmd) proc.Result {
	self, err := os.Executable()
	if err != nil {
		return proc.Result{Err: err, ExitCode: -1}
	}
	run.Argv, run.Shell, run.Dir, run.Guard = c.Argv, c.Shell, r.Project, []string{self, "guard"}
	run.Timeout = min(c.Timeout, time.Until(r.deadline))
	return proc.Run(ctx, run)
}

// output runs a command for what it prints, at most limit bytes of it.
func (r *runner) output(ctx context.Context, c config.Command, untrusted bool, stdin []byte, limit int) ([]byte, error) {
	if untrusted {
		return nil, errNotRun(noTrust + doer(r.Name)("trust"))
	}
	if path := r.changedOf(c); path != "" {
		return nil, errNotRun(path + notAsTrusted)
	}
	out := &proc.Head{Limit: limit}
	if got := r.command(ctx, c, proc.Cmd{Env: r.env(), Stdin: stdin, Stdout: out, Output: maxReason}); got.Err != nil {
		if said := plain.Line(string(got.Output), maxReason); said != "" {
			return nil, fmt.Errorf("%w: %s", got.Err, said)
		}
		return nil, got.Err
	}
	if len(out.Bytes()) >= limit {
		return nil, fmt.Errorf("it printed more than %d KB", limit>>10)
	}
	return out.Bytes(), nil
}

func (r *runner) exists(path string) error {
	root, err := os.OpenRoot(r.Project)
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = root.Stat(filepath.FromSlash(path))
	return err
}

func (r *runner) contains(c config.Check) error {
	text, err := loopdir.ReadFile(r.Project, filepath.FromSlash(c.File), checkFile)
	switch {
	case err != nil:
	case c.Lacks && c.Pattern.Match(text):
		err = fmt.Errorf("%s matches %q", c.File, c.Expression())
	case !c.Lacks && !c.Pattern.Match(text):
		err = fmt.Errorf("%s does not match %q", c.File, c.Expression())
	}
	return err
}

// tame tells whether an id may be handed to a shell: nothing that is special to one.
func tame(id string) bool {
	return strings.IndexFunc(id, func(r rune) bool {
		return r < ' ' || r < 0x80 && strings.ContainsRune("\"'`$\\!*?[]{}()<>|&;~^=\x7f", r)
	}) < 0
}

// env is the environment of checks: the session's, less what is the host's own
// business. A test suite needs the rest.
func (r *runner) env() []string {
	return slices.DeleteFunc(r.environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "ANTHROPIC_") || name == "AWS_BEARER_TOKEN_BEDROCK" ||
			strings.HasPrefix(name, "CLAUDE_CODE_") && (strings.Contains(name, "TOKEN") || strings.Contains(name, "KEY"))
	})
}

// contents is the hash of what checks prove something about: the list, all loops
// and what git ignores are left out. It is empty, so that all is proven again, where
// git was told to ignore other files than when a person trusted the checks.
func contents(ctx context.Context, l *loaded) string {
	list, _ := features.Named(l.listPath())
	sum, ignored := tree.Contents(ctx, l.Project, loopdir.RepoRoot(l.Project), []string{treeExcept(l.Loop), list})
	if l.config.Trusted && ignored != l.config.Ignored {
		return ""
	}
	return sum
}

// checksDeadline is when all checks must be done: the notifiers come after them.
func (h *hook) checksDeadline(l *loaded) time.Time {
	left := h.timeout - total(notifiers(l.config, h.onComplete, 0)) - checksSlack
	return h.begin.Add(max(left, h.timeout/2))
}

// checksSlack is what is left of the settings entry's time beside checks and
// notifiers.
const checksSlack = 10 * time.Second

// passOnPipe lets commands have SIGPIPE as they know it, which they would inherit
// ignored, and this process live on all the same. It costs a thread.
func passOnPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// treeExcept is what a fingerprint of the work tree leaves out: all loops of
// the project, since another session may write to another loop.
func treeExcept(l *loopdir.Loop) string {
	if parent := filepath.Dir(l.Dir); parent == filepath.Join(l.Project, loopdir.Below) {
		return parent
	}
	return l.Dir
}
