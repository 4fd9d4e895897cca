//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// badInput is one input that nobody should send, and the answer that it must get.
type badInput struct {
	name   string
	in     any    // a string, a hostile.Big or a hostile.Place
	status int    // the exit status
	words  string // a text in what is printed
}

// suite is a table of hostile inputs of one kind.
type suite struct {
	path  string            // where the input is put, with $PROJECT and the like; stdin; "": it stands in args for $IN
	args  []string          // of the program
	files map[string]string // files beside the fixture's, or in their place
	env   []string          // variables, also with $IN
	git   bool              // the project is a repository
	may   []string          // the files that may change beside those of the program
	good  badInput          // an input that somebody could send
	rows  []badInput
}

// stdin is the path of a suite whose inputs come on standard input.
const stdin = "stdin"

// least is how many different inputs the tables have at least.
const least = 500

// TestHostile runs the real main with hundreds of inputs that nobody should send. Each of them gets the exit status and
// the words that its row names, and nothing that a terminal obeys. Only the program's own files may change; none, if
// the call is refused.
func TestHostile(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for name, s := range suites {
		for i, row := range append(s.rows, s.good) {
			seen[name+fmt.Sprintf("%T", row.in)+row.name] = true
			if testing.Short() && i%3 > 0 {
				continue
			}
			t.Run(name+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath("git"); s.git && err != nil {
					t.Skip(err)
				}
				if err := s.try(hostile.Scratch(t), row, "ralph-runner"); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if len(seen) < least {
		t.Errorf("%d different inputs, want %d or more", len(seen), least)
	}
}

// TestGoodInputs checks that no table would hold for a program that refuses all or accepts all: each has an input that
// is accepted, and what is refused gets another answer.
func TestGoodInputs(t *testing.T) {
	for name, s := range suites {
		refuses := func(row badInput) bool { return row.status == misused || row.status == failed }
		if refuses(s.good) && name != "rollout" && name != "credential" { // whose good inputs say why it fails
			t.Errorf("%s: the good input is refused", name)
		}
		for _, row := range s.rows {
			if row.words == "" || refuses(row) && s.answers(row, s.good.words, s.good.status) == nil && name != "rollout" {
				t.Errorf("%s: %s would hold for a program that accepts all", name, row.name)
			}
		}
	}
}

// TestHostileControls checks that a wrong answer is found.
func TestHostileControls(t *testing.T) {
	t.Parallel()
	s := suite{path: "$PROJECT/out", args: work("text")}
	good := badInput{"", "an answer", 1, "the run has used up its 1 iteration"}
	if err := s.try(hostile.Scratch(t), good, "ralph-runner"); err != nil {
		t.Fatal(err)
	}
	status, words := good, good
	status.status, words.words = 0, "the run has used up its 2 iterations"
	for name, c := range map[string]struct {
		row    badInput
		script string // in the place of the program; "": the program
	}{
		"another exit status":    {row: status},
		"other words":            {row: words},
		"a panic":                {badInput{"", "", 2, ""}, "echo 'panic: x' >&2; exit 2"},
		"text that clears":       {badInput{"", "", 0, ""}, `printf '\033[2J'`},
		"text that turns around": {badInput{"", "", 0, ""}, `printf '\342\200\256'`},
		"much text":              {badInput{"", "", 0, ""}, "yes | head -c 100000"},
		"a write elsewhere":      {badInput{"", "", 0, ""}, "echo x > victim"},
		"a new file":             {badInput{"", "", 0, ""}, "echo x > pwned"},
		"a file left behind":     {badInput{"", "", 0, ""}, `echo x > "$TMPDIR/x"`},
		"a file removed":         {badInput{"", "", 0, ""}, `rm "$HOME/.bashrc"`},
		"a write, and refused":   {badInput{"", "", 64, ""}, "mkdir .agent-state; echo x > .agent-state/x; exit 64"},
		"a signal":               {badInput{"", "", -1, ""}, "kill -9 $$"},
	} {
		dir, program := hostile.Scratch(t), "ralph-runner"
		if c.script != "" {
			program = filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if s.try(dir, c.row, program) == nil {
			t.Errorf("control: %s was not caught", name)
		}
	}
}

// work is the call of a run of one iteration with an agent of the fixture.
func work(agent string, more ...string) []string {
	return append([]string{"--agent", agent, "--max-iterations", "1", "--wait=0s"}, more...)
}

// try writes the fixture and the row's input below dir, runs program, and checks what it printed and changed.
func (s suite) try(dir string, row badInput, program string) error {
	names := placesIn(dir)
	files := map[string]string{}
	for path, text := range fixture {
		files[names.Replace(path)] = text
	}
	for path, text := range s.files {
		files[names.Replace(path)] = text
	}
	in := row.in
	if text, is := in.(string); is {
		in = names.Replace(text)
	}
	if s.path != "" && s.path != stdin {
		delete(files, names.Replace(s.path))
		if err := hostile.Put(names.Replace(s.path), in); err != nil {
			return err
		}
	}
	for path, text := range files {
		if err := hostile.Write(path, []byte(names.Replace(text))); err != nil {
			return err
		}
		if strings.HasPrefix(text, "#!") {
			if err := os.Chmod(path, 0o700); err != nil {
				return err
			}
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return err
	}
	if s.git {
		if err := commitAll(filepath.Join(dir, "project")); err != nil {
			return err
		}
	}
	before, err := hostile.Picture(dir)
	if err != nil {
		return err
	}
	out, status, err := s.call(dir, program, row, in)
	if err != nil {
		return err
	}
	after, err := hostile.Picture(dir)
	if err != nil {
		return err
	}
	if err := s.answers(row, out, status); err != nil {
		return err
	}
	return s.changes(row, names, hostile.Changed(before, after))
}

// commitAll makes a folder a repository that has all its files.
func commitAll(dir string) error {
	for _, args := range [][]string{{"init", "-qb", "main"}, {"add", "-A"}, {"commit", "-qm", "base"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=me", "-c", "user.email=me@example.com"}, args...)...)
		cmd.Dir, cmd.Env = dir, gittest.Environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %q: %w: %s", args, err, out)
		}
	}
	return nil
}

// placesIn returns what replaces $PROJECT and the like in the rows.
func placesIn(dir string) *strings.Replacer {
	project, home := filepath.Join(dir, "project"), filepath.Join(dir, "home")
	loop := filepath.Join(project, loopdir.Below, "checkout")
	key := sha256.Sum256([]byte(loop))
	config := filepath.Join(home, ".config")
	if runtime.GOOS == "darwin" {
		config = filepath.Join(home, "Library", "Application Support")
	}
	return strings.NewReplacer(
		"$PROJECT", project, "$LOOP", loop, "$CONFIG", filepath.Join(config, "ralph-stop-hook", "config.json"),
		"$HOME", home, "$STATE", filepath.Join(dir, "state", "loops", hex.EncodeToString(key[:10])),
	)
}

// call runs the program as a person does, in the project.
func (s suite) call(dir, program string, row badInput, in any) (out string, status int, err error) {
	var text string
	switch in := in.(type) {
	case string:
		text = in
	case hostile.Big:
		text = in()
	}
	with := func(all []string) []string {
		all = slices.Clone(all)
		for i := range all {
			if s.path == "" {
				all[i] = strings.ReplaceAll(all[i], "$IN", text)
			}
		}
		return all
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // then it hangs
	defer cancel()
	cmd := exec.CommandContext(ctx, program, with(s.args)...)
	cmd.Dir = filepath.Join(dir, "project")
	cmd.WaitDelay = time.Second
	printed := newClient(text, row.words)
	cmd.Stdout, cmd.Stderr = printed, printed
	if s.path == stdin {
		cmd.Stdin = printed
	}
	home := filepath.Join(dir, "home")
	cmd.Env = append(with(s.env),
		"PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"), "HOME="+home,
		"TMPDIR="+filepath.Join(dir, "tmp"), "RALPH_STATE_DIR="+filepath.Join(dir, "state"))
	err = cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 {
		return "", 0, fmt.Errorf("did not end by itself: %w", err)
	}
	return printed.all(), cmd.ProcessState.ExitCode(), nil
}

// took matches how long a session took, which depends on the machine. The rows have 0s.
var took = regexp.MustCompile(`(ended|failed) after [0-9][0-9a-zµ.]*`)

// answers checks what was printed.
func (s suite) answers(row badInput, out string, status int) error {
	const most = 50_000
	out = took.ReplaceAllString(out, "$1 after 0s")
	lives := s.path != stdin || strings.Contains(out, `"id":"alive"`)
	switch {
	case status != row.status || !strings.Contains(out, row.words):
		return fmt.Errorf("exit status %d, %.2000q; want %d, and %q", status, out, row.status, row.words)
	case hostile.Unclean(out) || len(out) > most:
		return fmt.Errorf("%d bytes, with characters that a terminal obeys, or too many: %.2000q", len(out), out)
	case !lives:
		return fmt.Errorf("the server answers nothing more: %.2000q", out)
	case strings.Contains(out, "panic: ") || strings.Contains(out, "goroutine 1 ["):
		return fmt.Errorf("it panics: %.2000s", out)
	}
	return nil
}

// changes checks which files have changed.
func (s suite) changes(row badInput, names *strings.Replacer, changed []string) error {
	own := []string{"$LOOP/", "$PROJECT/.agent-state/", filepath.Dir(filepath.Dir(names.Replace("$STATE"))) + "/"}
	if row.status == misused {
		own = nil
	}
	for _, path := range changed {
		if !slices.ContainsFunc(append(own, s.may...), func(begin string) bool {
			return strings.HasPrefix(path, names.Replace(begin))
		}) {
			return fmt.Errorf("%s was changed", path)
		}
	}
	return nil
}
