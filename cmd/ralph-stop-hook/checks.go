package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
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
	loaded
	message  string    // the agent's last one
	deadline time.Time // for all of them
	contents string    // hash of the work tree as they find it
	heard    func(decide.Receipt)
}

// run runs checks side by side as far as ralph.json allows it. A person's cancel
// ends them.
func (r *runner) run(ctx context.Context, runs []decide.Run) []decide.Receipt {
	passOnPipe()
	ctx, cancel := context.WithDeadline(ctx, r.deadline)
	defer cancel()
	go func() {
		defer func() { _ = recover() }()
		for ctx.Err() == nil {
			if r.CancelAsked() {
				cancel()
			}
			time.Sleep(cancelLook)
		}
	}()
	results := make([]decide.Receipt, len(runs))
	slots := make(chan struct{}, max(1, r.config.Parallel))
	var all sync.WaitGroup
	for i, run := range runs {
		slots <- struct{}{}
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					results[i] = decide.Receipt{Feature: run.Feature, Check: run.Check.Digest, Name: run.Check.Name, Exit: -1, Tail: fmt.Sprintf("internal error: %v", p)}
				}
				<-slots
			}()
			results[i] = r.one(ctx, run)
			if r.heard != nil {
				r.heard(results[i])
			}
		})
	}
	all.Wait()
	return results
}

// one runs one check.
func (r *runner) one(ctx context.Context, run decide.Run) decide.Receipt {
	begin := time.Now()
	result := decide.Receipt{Feature: run.Feature, Check: run.Check.Digest, Name: run.Check.Name, At: begin.UTC(), Tree: r.contents, Exit: -1}
	output, err := []byte(nil), errors.New("ralph.json has no such check any more")
	if i := slices.IndexFunc(r.config.Checks, func(c config.Check) bool { return c.Digest == run.Check.Digest }); i >= 0 {
		result.Exit, output, err = r.holds(ctx, r.config.Checks[i], run.Feature)
	}
	sum := sha256.Sum256(output)
	result.Output, result.Passed = hex.EncodeToString(sum[:]), err == nil
	result.DurationMS = time.Since(begin).Milliseconds()
	outcome := "ok"
	if err != nil {
		outcome = err.Error()
		text := []rune(strings.TrimSpace(strings.TrimSpace(plain.Text(string(output), len(output))) + "\n" + outcome))
		result.Tail = string(text[max(0, len(text)-checkTail):])
	}
	r.LogChecks(wordsLogCheck(result, outcome, output))
	return result
}

// holds tells whether a check holds: err says why not.
func (r *runner) holds(ctx context.Context, c config.Check, feature string) (exit int, output []byte, err error) {
	switch {
	case c.Untrusted:
		return -1, nil, errors.New("not run: nobody has trusted this command; a person has to run: ralph-stop-hook trust")
	case ctx.Err() != nil:
		return -1, nil, errors.New("not run: the time for checks is over")
	case c.Runs() && !tame(feature):
		return -1, nil, errors.New("not run: the feature's id has characters that are not handed to a command")
	case c.Runs() && r.changedOf(c.Command) != "":
		return -1, nil, fmt.Errorf("not run: %s is not what it was when it was trusted; a person has to look at it and run: ralph-stop-hook trust", r.changedOf(c.Command))
	case c.Runs():
		self, err := os.Executable()
		if err != nil {
			return -1, nil, err
		}
		left := time.Until(r.deadline)
		got := proc.Run(ctx, proc.Cmd{
			Argv: c.Argv, Shell: c.Shell, Dir: r.Project, Env: r.env(feature), Timeout: min(c.Timeout, left), Output: checkOutput,
			Guard: []string{self, "guard"},
		})
		return got.ExitCode, got.Output, got.Err
	case c.FileExists != "":
		return condition(r.exists(c.FileExists))
	case c.LastMessage:
		if !c.Pattern.MatchString(r.message) {
			return 1, nil, fmt.Errorf("the last message does not match %q", c.Pattern)
		}
		return 0, nil, nil
	}
	return condition(r.contains(c))
}

func condition(err error) (int, []byte, error) {
	if err != nil {
		return 1, nil, err
	}
	return 0, nil, nil
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
	if err == nil && !c.Pattern.Match(text) {
		err = fmt.Errorf("%s does not match %q", c.File, c.Pattern)
	}
	return err
}

// secret tells whether an environment variable is the host's own business: a
// test suite needs the rest.
func secret(name string) bool {
	return strings.HasPrefix(name, "ANTHROPIC_") || name == "AWS_BEARER_TOKEN_BEDROCK" ||
		strings.HasPrefix(name, "CLAUDE_CODE_") && (strings.Contains(name, "TOKEN") || strings.Contains(name, "KEY"))
}

// tame tells whether an id may be handed to a shell: nothing that is special to one.
func tame(id string) bool {
	return strings.IndexFunc(id, func(r rune) bool {
		return r < ' ' || r < 0x80 && strings.ContainsRune("\"'`$\\!*?[]{}()<>|&;~^=\x7f", r)
	}) < 0
}

// env is the session's environment less its secrets, and with what decides what
// programs load as it was when a person trusted the check. load has set PATH.
func (r *runner) env(feature string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return secret(name) || r.config.Trusted && proc.Decides(name)
	})
	for name, value := range r.config.Env {
		env = append(env, name+"="+value)
	}
	return append(env, "RALPH_FEATURE="+feature)
}

// contents is the hash of what checks prove something about: the list, all loops
// and what git ignores are left out.
func contents(ctx context.Context, l loaded) string {
	return tree.Contents(ctx, l.Project, loopdir.RepoRoot(l.Project), []string{treeExcept(l.Loop), l.listPath()})
}
