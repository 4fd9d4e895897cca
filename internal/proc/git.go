package proc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Git returns a git command that runs in dir. The command must be one that reads no files
// of the work tree: when git reads them, it runs the filters that the repository's
// configuration names.
//
// Of the environment git gets only what IsPlace names. The command runs no file monitor and
// no ssh, fetches nothing, traces nothing and takes no optional lock. It ignores a bare repository
// that it finds on its way: a clone may have brought it, and its configuration could name programs.
func Git(env []string, dir string, args ...string) Cmd {
	env = Without(env, func(name string) bool { return !IsPlace(name) })
	env = append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_TRACE2=0", "GIT_TRACE2_PERF=0", "GIT_TRACE2_EVENT=0") // these win over the configuration
	argv := []string{
		"git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.sshCommand=false",
		"-c", "protocol.allow=never", "-c", "safe.bareRepository=explicit",
	}
	return Cmd{Argv: append(argv, args...), Dir: dir, Env: env, Timeout: gitTimeout, Output: 1000, Whole: true}
}

const gitTimeout = 10 * time.Second

// maxGit is how many bytes git may say.
const maxGit = 64 << 20

// gitError is a git command that failed.
type gitError struct {
	verb   string
	code   int    // the exit status
	output string // as it is
	err    error
}

func (e *gitError) Error() string {
	said := plain.Line(reasons(e.output), 400)
	if said == "" {
		return fmt.Sprintf("git %s: %v", e.verb, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.verb, said)
}

func (e *gitError) Unwrap() error { return e.err }

// GitExit returns the exit status of the git command that failed, or -1.
func GitExit(err error) int {
	if g, is := errors.AsType[*gitError](err); is {
		return g.code
	}
	return -1
}

// GitOutput runs a git command to its end and returns what it prints. verb is its name in errors.
func GitOutput(ctx context.Context, c Cmd, verb string) ([]byte, error) {
	out := &Head{Limit: maxGit}
	c.Stdout = out
	r := Run(ctx, c)
	switch {
	case r.Err != nil:
		return out.Bytes(), &gitError{verb, r.ExitCode, string(r.Output), r.Err}
	case len(out.Bytes()) >= maxGit:
		return nil, fmt.Errorf("git %s: it says more than %d MB", verb, maxGit>>20)
	}
	return out.Bytes(), nil
}

// reasons returns what git says from the first line on that it marks as an error, since its warnings and hints may be
// longer than what is shown. If there is no such line, it returns all.
func reasons(said string) string {
	var marked strings.Builder
	for line := range strings.Lines(said) {
		begins := strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "fatal: ")
		if (begins || marked.Len() > 0) && !strings.HasPrefix(line, "hint: ") {
			marked.WriteString(line)
		}
	}
	return cmp.Or(marked.String(), said)
}

// GitTexts returns the texts that git prints with -z: each ends with a NUL.
func GitTexts(out []byte) []string {
	all := strings.Split(string(out), "\x00")
	return all[:len(all)-1]
}

// GitBlobs returns what git cat-file --batch prints of so many blobs: of each ID SP "blob" SP SIZE LF CONTENTS LF.
func GitBlobs(out []byte, n int) (texts []string, err error) {
	for range n {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		words := strings.Fields(string(head))
		size := -1
		if len(words) == 3 && words[1] == "blob" {
			size, _ = strconv.Atoi(words[2])
		}
		if size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file: %q", plain.Line(string(head), 200))
		}
		texts = append(texts, string(rest[:size]))
		out = rest[size+1:]
	}
	return texts, nil
}
