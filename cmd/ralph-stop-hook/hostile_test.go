//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// badInput is one input that nobody should send, and the answer that it must get.
type badInput struct {
	name  string
	in    any    // a string, a big or a place
	want  answer // the kind of answer
	words string // a text in the answer
	// changes lists the base names of the files that may change. If it is empty, those are
	// the files in committed for a block or an ending, and none for another answer.
	changes string
}

// answer is a kind of answer.
type answer string

const (
	silent  answer = "nothing"
	trouble answer = "trouble"       // a message about trouble; the turn may end
	told    answer = "a message"     // another message about the loop
	block   answer = "a block"       // the loop continues
	end     answer = "an ending"     // the loop ends
	refused answer = "exit status 1" // a verb fails
	done    answer = "exit status 0" // a verb succeeds
)

// committed lists the files that change when the loop continues or ends.
const committed = "hook.log lock progress.txt state.json stops.jsonl"

// suite is a table of hostile inputs for one file, or for standard input.
type suite struct {
	path  string            // path of the file, with $LOOP, $STATE or $PROJECT; empty: the input is standard input
	event string            // standard input; empty: a stop of the loop's session
	files map[string]string // files in addition to the fixture's, or instead of them
	verb  []string          // the arguments, if a verb runs instead of the hook
	env   string            // the variable whose value is the input
	rows  []badInput
}

// stop is the event that the host sends at a stop of the loop's session, with more members.
func stop(more string) string {
	return `{"hook_event_name":"Stop","session_id":"s1","stop_hook_active":true` + more + `}`
}

// fixture holds the files of the loop that each row begins with. The loop is in progress at
// iteration 2 and has no commands.
var fixture = map[string]string{
	"$LOOP/feature_list.json": `[{"id":"one","passes":false},{"id":"two","passes":false}]` + "\n",
	"$LOOP/progress.txt":      "Status: IN_PROGRESS\nIteration: 2\nMax Iterations: 15\nFeature: one\n\nnotes\n",
	"$STATE/state.json":       record(""),
	"$SESSIONS/s1":            "$LOOP\n",
	"$PROJECT/victim":         "theirs\n",
	"$HOME/.bashrc":           "theirs\n",
}

// record is the fixture's state.json, with more members.
func record(more string) string {
	return `{"schema":1,"name":"checkout","loop":"$LOOP","list":"$LOOP/feature_list.json",` +
		`"status":"IN_PROGRESS","iteration":2,"endings":0,"session":"s1","lastSession":"s1",
"bind":"prompt","feature":"one","attempts":1,"unchanged":1,"blocks":[$NOW],"startedAt":"2026-01-01T00:00:00Z",
"header":{"status":"IN_PROGRESS","iteration":2,"maxIterations":15,"feature":"one"},` +
		`"before":{"status":"IN_PROGRESS","iteration":1,"maxIterations":15,"feature":""}` + more + `}`
}

// TestHostile runs the real main with hundreds of inputs that nobody should send. For each
// of them, the exit status must be 0. Standard output must be empty or one valid answer
// without control characters. Only the named files may change.
func TestHostile(t *testing.T) {
	t.Parallel()
	total := 0
	for name, s := range suites {
		total += len(s.rows)
		for _, row := range s.rows {
			t.Run(name+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				if err := s.try(hostile.Scratch(t), row, []string{"ralph-stop-hook"}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if total < 200 {
		t.Errorf("%d inputs, want 200 or more", total)
	}
}

// TestHostileControls checks that a wrong answer is found.
func TestHostileControls(t *testing.T) {
	good := badInput{"", stop(""), block, "iteration 3/15", ""}
	hook := []string{"ralph-stop-hook"}
	if err := (suite{}).try(hostile.Scratch(t), good, hook); err != nil {
		t.Fatal(err)
	}
	sh := func(script string) []string { return []string{"sh", "-c", script} }
	for name, c := range map[string]struct {
		row     badInput
		program []string
	}{
		"the wrong kind of answer": {badInput{"", stop(""), silent, "", ""}, hook},
		"the wrong words":          {badInput{"", stop(""), block, "iteration 4/15", ""}, hook},
		"too few changes":          {badInput{"", stop(""), block, "iteration 3/15", committed + " victim"}, hook},
		"too many changes":         {badInput{"", stop(""), block, "iteration 3/15", "state.json"}, hook},
		"no block for garbage":     {badInput{"", "x", block, "", ""}, hook},
		"exit status 2":            {badInput{"", "x", silent, "", ""}, sh("exit 2")},
		"an empty object":          {badInput{"", "x", silent, "", ""}, sh("echo {}")},
		"two objects":              {badInput{"", "x", told, "", ""}, sh(`echo '{"systemMessage":"ralph: a"}{}'`)},
		"one brace too many":       {badInput{"", "x", told, "", ""}, sh(`echo '{"systemMessage":"ralph: a"}}'`)},
		"an unknown key": {
			badInput{"", "x", told, "", ""}, sh(`echo '{"systemMessage":"ralph: a","stopReason":"x"}'`),
		},
		"text that clears a screen": {badInput{"", "x", told, "", ""},
			sh(`echo '{"systemMessage":"ralph: \u001b[2J"}'`)},
		"a write elsewhere":      {badInput{"", "x", silent, "", ""}, sh(`echo x > "$CLAUDE_PROJECT_DIR/victim"`)},
		"a file left behind":     {badInput{"", "x", silent, "", ""}, sh(`echo x > "$TMPDIR/x"`)},
		"a file removed":         {badInput{"", "x", silent, "", ""}, sh(`rm "$HOME/.bashrc"`)},
		"text on standard error": {badInput{"", "x", silent, "", ""}, sh("echo x >&2")},
	} {
		if (suite{}).try(hostile.Scratch(t), c.row, c.program) == nil {
			t.Errorf("control: %s was not caught", name)
		}
	}
}

// try writes the fixture and the row's input below dir, runs program as the hook and checks
// the answer and the files that changed.
func (s suite) try(dir string, row badInput, program []string) error {
	project := filepath.Join(dir, "project")
	loop := filepath.Join(project, loopdir.Below, "checkout")
	key := sha256.Sum256([]byte(loop))
	names := strings.NewReplacer(
		"$PROJECT", project, "$LOOP", loop, "$HOME", filepath.Join(dir, "home"),
		"$NOW", strconv.FormatInt(time.Now().Add(-time.Second).UnixMilli(), 10),
		"$SESSIONS", filepath.Join(dir, "state", "sessions"),
		"$STATE", filepath.Join(dir, "state", "loops", hex.EncodeToString(key[:10])),
	)
	var content []byte
	switch in := row.in.(type) {
	case string:
		content = []byte(names.Replace(in))
	case big:
		content = []byte(in())
	}
	input := []byte(stop(""))
	switch {
	case s.path == "" && s.env == "":
		input = content
	case s.event != "":
		input = []byte(names.Replace(s.event))
	}
	if err := s.lay(names, row.in, content); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return err
	}
	if err := os.Symlink("checkout", filepath.Join(filepath.Dir(loop), "current")); err != nil {
		return err
	}
	before, err := hostile.Picture(dir)
	if err != nil {
		return err
	}
	out, status, err := s.call(dir, project, program, input, s.env+"="+string(content))
	if err != nil {
		return err
	}
	after, err := hostile.Picture(dir)
	if err != nil {
		return err
	}
	if err := answers(out, status, row.want, row.words); err != nil {
		return err
	}
	if got, want := changes(before, after), row.changing(); got != want {
		return fmt.Errorf("changed are %q, want %q; the answer was %.500s", got, want, out)
	}
	return nil
}

// lay writes the files of the fixture and of the suite, and the input if the suite has a
// path for it.
func (s suite) lay(names *strings.Replacer, in any, content []byte) error {
	files := maps.Clone(fixture)
	maps.Copy(files, s.files)
	delete(files, s.path)
	for path, text := range files {
		if err := hostile.Write(names.Replace(path), []byte(names.Replace(text))); err != nil {
			return err
		}
	}
	if s.path == "" {
		return nil
	}
	if put, is := in.(place); is {
		return hostile.Put(names.Replace(s.path), put)
	}
	return hostile.Write(names.Replace(s.path), content)
}

// changing returns the base names of the files that must change, sorted.
func (row badInput) changing() string {
	if row.changes == "" && (row.want == block || row.want == end) {
		return committed
	}
	return row.changes
}

// changes returns the base names of the files that differ between two pictures, sorted. The index of the work tree, on
// which nothing but speed depends, is written by some of the stops that commit.
func changes(before, after map[string]string) string {
	names := hostile.Changed(before, after)
	for i, path := range names {
		names[i] = filepath.Base(path)
	}
	if slices.Contains(names, "state.json") {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "tree" })
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// call runs the program as the host does, or runs a verb. variable is "NAME=value".
func (s suite) call(
	dir, project string, program []string, input []byte, variable string,
) (out []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // then it hangs
	defer cancel()
	args := append([]string{"hook"}, program[1:]...)
	if len(program) > 1 {
		args = program[1:]
	}
	if s.verb != nil {
		args = s.verb
	}
	cmd := exec.CommandContext(ctx, program[0], args...)
	cmd.Dir, cmd.Stdin = project, bytes.NewReader(input)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"),
		"RALPH_STATE_DIR=" + filepath.Join(dir, "state"), "CLAUDE_PROJECT_DIR=" + project,
	}
	if s.env != "" {
		cmd.Env = append(cmd.Env, variable) // the last value counts
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if s.verb != nil {
		cmd.Stderr, cmd.Stdin = nil, nil
	}
	if s.verb != nil {
		out, err = cmd.CombinedOutput()
	} else {
		out, err = cmd.Output()
	}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 {
		return nil, 0, fmt.Errorf("did not end by itself: %w", err)
	}
	if stderr.Len() > 0 {
		return nil, 0, fmt.Errorf("standard error: %.2000s", stderr.Bytes())
	}
	return out, cmd.ProcessState.ExitCode(), nil
}

// answers checks that an answer is of the wanted kind.
func answers(out []byte, status int, want answer, words string) error {
	if !bytes.Contains(out, []byte(words)) {
		return fmt.Errorf("%.1000q does not say %q", out, words)
	}
	failed := status == 1 && bytes.HasPrefix(out, []byte("ralph-stop-hook: error: "))
	switch {
	case want == refused && failed, want == done && status == 0:
		return nil
	case want == refused || want == done || status != 0:
		return fmt.Errorf("exit status %d, %.1000q; want %s", status, out, want)
	case want == silent && len(out) == 0:
		return nil
	}
	var a struct {
		Decision, Reason, SystemMessage string
		Continue                        bool
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil || !json.Valid(out) || len(out) > 20_000 {
		return fmt.Errorf("%.1000q is not one valid answer: %v", out, err)
	}
	if hostile.Unclean(a.Reason + a.SystemMessage) {
		return fmt.Errorf("%.1000q has control characters", out)
	}
	got := answer("no known kind")
	switch {
	case a.Decision == "block" && a.Reason != "" && strings.HasPrefix(a.SystemMessage, "ralph: ") && !a.Continue:
		got = block
	case a.Decision != "" || a.Reason != "":
	case a.Continue && strings.HasPrefix(a.SystemMessage, "Ralph loop "):
		got = end
	case a.Continue:
	case strings.HasPrefix(a.SystemMessage, "ralph: "):
		got = told
	case strings.HasPrefix(a.SystemMessage, "ralph-stop-hook: ") &&
		strings.HasSuffix(a.SystemMessage, ". The turn may end; no loop was continued."):
		got = trouble
	}
	if got != want {
		return fmt.Errorf("%.1000s is %s, want %s", out, got, want)
	}
	return nil
}
