//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// hostile is one input that nobody should send, and what has to come of it.
type hostile struct {
	name    string
	in      any    // string, big, or place
	want    answer // of the hook
	words   string // somewhere in it
	changes string // base names of the files that are not as they were; empty: those of the answer, or none
}

// big is text that is made when it is needed.
type big func() string

// place puts something else than a file at a path.
type place func(path string) error

// answer is what kind of answer is wanted.
type answer string

const (
	silent  answer = "nothing"
	trouble answer = "trouble"       // a message that says so, and the turn may end
	told    answer = "a message"     // of the loop's
	block   answer = "a block"       // the loop goes on
	end     answer = "an ending"     // of the loop
	refused answer = "exit status 1" // a verb's
	done    answer = "exit status 0" // a verb's
)

// committed are the files that change with an answer of the loop's.
const committed = "hook.log iterations.jsonl lock progress.txt state.json"

const none = "none"

// suite is a table of hostile inputs for one file, or for standard input.
type suite struct {
	path  string            // of the file, with $LOOP, $STATE, $PROJECT; empty: standard input
	event string            // on standard input; a stop of the loop's session where nothing is said
	files map[string]string // others than the usual ones
	verb  []string          // instead of the hook
	env   string            // the input is this variable's
	rows  []hostile
}

// stop is what the host sends at a stop of the loop's session.
func stop(more string) string {
	return `{"hook_event_name":"Stop","session_id":"s1","stop_hook_active":true` + more + `}`
}

// The loop that each row begins with: at work, at iteration 2, without commands.
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
	return `{"schema":1,"name":"checkout","loop":"$LOOP","list":"$LOOP/feature_list.json","status":"IN_PROGRESS","iteration":2,"endings":0,"session":"s1","lastSession":"s1",
"bind":"prompt","feature":"one","attempts":1,"unchanged":1,"blocks":[$NOW],"startedAt":"2026-01-01T00:00:00Z",
"header":{"status":"IN_PROGRESS","iteration":2,"maxIterations":15,"feature":"one"},"before":{"status":"IN_PROGRESS","iteration":1,"maxIterations":15,"feature":""}` + more + `}`
}

// TestHostile drives the real main through hundreds of inputs that nobody should
// send. Whatever comes in: exit status 0, nothing or one legal object on standard
// output with no control character in what it says, and no file touched but those
// that are named.
func TestHostile(t *testing.T) {
	total := 0
	for name, s := range suites {
		total += len(s.rows)
		for _, row := range s.rows {
			t.Run(name+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				if err := s.try(scratch(t), row, []string{"ralph-stop-hook"}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if total < 200 {
		t.Errorf("%d inputs, want 200 and more", total)
	}
}

// TestHostileControls shows that a wrong answer is seen.
func TestHostileControls(t *testing.T) {
	good := hostile{"", stop(""), block, "iteration 3/15", ""}
	hook := []string{"ralph-stop-hook"}
	if err := (suite{}).try(scratch(t), good, hook); err != nil {
		t.Fatal(err)
	}
	sh := func(script string) []string { return []string{"sh", "-c", script} }
	for name, c := range map[string]struct {
		row     hostile
		program []string
	}{
		"another answer is wanted":   {hostile{"", stop(""), silent, "", ""}, hook},
		"other words are wanted":     {hostile{"", stop(""), block, "iteration 4/15", ""}, hook},
		"more is wanted to change":   {hostile{"", stop(""), block, "iteration 3/15", committed + " victim"}, hook},
		"less is wanted to change":   {hostile{"", stop(""), block, "iteration 3/15", "state.json"}, hook},
		"garbage is wanted to block": {hostile{"", "x", block, "", ""}, hook},
		"it exits with 2":            {hostile{"", "x", silent, "", ""}, sh("exit 2")},
		"it says {}":                 {hostile{"", "x", silent, "", ""}, sh("echo {}")},
		"it says two objects":        {hostile{"", "x", told, "", ""}, sh(`echo '{"systemMessage":"ralph: a"}{}'`)},
		"it says a brace too much":   {hostile{"", "x", told, "", ""}, sh(`echo '{"systemMessage":"ralph: a"}}'`)},
		"it says more than it may":   {hostile{"", "x", told, "", ""}, sh(`echo '{"systemMessage":"ralph: a","stopReason":"x"}'`)},
		"it says what clears":        {hostile{"", "x", told, "", ""}, sh(`echo '{"systemMessage":"ralph: \u001b[2J"}'`)},
		"it writes elsewhere":        {hostile{"", "x", silent, "", ""}, sh(`echo x > "$CLAUDE_PROJECT_DIR/victim"`)},
		"it leaves a file":           {hostile{"", "x", silent, "", ""}, sh(`echo x > "$TMPDIR/x"`)},
		"it removes a file":          {hostile{"", "x", silent, "", ""}, sh(`rm "$HOME/.bashrc"`)},
		"it shouts":                  {hostile{"", "x", silent, "", ""}, sh("echo x >&2")},
	} {
		if (suite{}).try(scratch(t), c.row, c.program) == nil {
			t.Errorf("control: %s, and it was not caught", name)
		}
	}
}

// scratch is a folder in memory where there is such: these tests are about answers,
// not about disks.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ralph-hostile-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// try lays the fixture out in dir, with the row's input in it, and runs program as
// the hook.
func (s suite) try(dir string, row hostile, program []string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	project := filepath.Join(dir, "project")
	loop := filepath.Join(project, loopdir.Below, "checkout")
	key := sha256.Sum256([]byte(loop))
	names := strings.NewReplacer(
		"$PROJECT", project, "$LOOP", loop, "$HOME", filepath.Join(dir, "home"), "$NOW", strconv.FormatInt(time.Now().Add(-time.Second).UnixMilli(), 10),
		"$SESSIONS", filepath.Join(dir, "state", "sessions"), "$STATE", filepath.Join(dir, "state", "loops", hex.EncodeToString(key[:10])),
	)
	files := maps.Clone(fixture)
	maps.Copy(files, s.files)
	input := []byte(stop(""))
	if s.event != "" {
		input = []byte(names.Replace(s.event))
	}
	var content []byte
	switch in := row.in.(type) {
	case string:
		content = []byte(names.Replace(in))
	case big:
		content = []byte(in())
	}
	if delete(files, s.path); s.path == "" && s.env == "" {
		input = content
	}
	for path, text := range files {
		if err := write(names.Replace(path), []byte(names.Replace(text))); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return err
	}
	if put, is := row.in.(place); is && s.path != "" {
		path := names.Replace(s.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		err = put(path)
	} else if s.path != "" {
		err = write(names.Replace(s.path), content)
	}
	if err != nil {
		return err
	}
	if err := os.Symlink("checkout", filepath.Join(filepath.Dir(loop), "current")); err != nil {
		return err
	}
	before, err := picture(dir)
	if err != nil {
		return err
	}
	out, status, err := s.call(dir, project, program, input, s.env+"="+string(content))
	if err != nil {
		return err
	}
	after, err := picture(dir)
	if err != nil {
		return err
	}
	if err := answers(out, status, row.want, row.words); err != nil {
		return err
	}
	changed := map[string]bool{}
	for path := range maps.All(after) {
		if before[path] != after[path] {
			changed[filepath.Base(path)] = true
		}
	}
	for path := range before {
		if after[path] == "" {
			changed[filepath.Base(path)] = true
		}
	}
	want := row.changes
	switch {
	case want == none:
		want = ""
	case want == "" && (row.want == block || row.want == end):
		want = committed
	}
	if got := strings.Join(slices.Sorted(maps.Keys(changed)), " "); got != want {
		return fmt.Errorf("changed are %q, want %q; the answer was %.500s", got, want, out)
	}
	return nil
}

// call runs the program as the host does, or a verb.
func (s suite) call(dir, project string, program []string, input []byte, variable string) (out []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // it hangs
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
		cmd.Env = append(cmd.Env, variable) // the last one counts
	}
	var shouted bytes.Buffer
	if cmd.Stderr = &shouted; s.verb != nil {
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
	if shouted.Len() > 0 {
		return nil, 0, fmt.Errorf("standard error: %.2000s", shouted.Bytes())
	}
	return out, cmd.ProcessState.ExitCode(), nil
}

// answers compares an answer with the kind that is wanted.
func answers(out []byte, status int, want answer, words string) error {
	if !bytes.Contains(out, []byte(words)) {
		return fmt.Errorf("%.1000q does not say %q", out, words)
	}
	switch {
	case want == refused && status == 1 && bytes.HasPrefix(out, []byte("ralph-stop-hook: error: ")), want == done && status == 0:
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
		return fmt.Errorf("%.1000q is not one object of ours: %v", out, err)
	}
	if strings.ContainsFunc(a.Reason+a.SystemMessage, func(r rune) bool {
		return r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co))
	}) {
		return fmt.Errorf("%.1000q holds what a terminal would act on", out)
	}
	got := answer("none that there is")
	switch {
	case a.Decision == "block" && a.Reason != "" && strings.HasPrefix(a.SystemMessage, "ralph: ") && !a.Continue:
		got = block
	case a.Decision != "" || a.Reason != "":
	case a.Continue && strings.HasPrefix(a.SystemMessage, "Ralph loop "):
		got = end
	case a.Continue:
	case strings.HasPrefix(a.SystemMessage, "ralph: "):
		got = told
	case strings.HasPrefix(a.SystemMessage, "ralph-stop-hook: ") && strings.HasSuffix(a.SystemMessage, ". The turn may end; no loop was continued."):
		got = trouble
	}
	if got != want {
		return fmt.Errorf("%.1000s is %s, want %s", out, got, want)
	}
	return nil
}

// picture tells of every file in dir what it is and holds.
func picture(dir string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[path] += target
			return err
		case info.Mode().IsRegular() && info.Size() > 1<<20: // which nobody rewrites unseen
			all[path] += fmt.Sprint(info.Size(), info.ModTime())
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			all[path] += string(data)
			return err
		}
		return nil
	})
	return all, err
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// What can stand where a file should be.
var (
	fifo    = place(func(path string) error { return unix.Mkfifo(path, 0o600) })
	folder  = place(func(path string) error { return os.Mkdir(path, 0o700) })
	nowhere = place(func(path string) error { return os.Symlink("nowhere", path) })
	zeros   = link("/dev/zero")
	itself  = place(func(path string) error { return os.Symlink(filepath.Base(path), path) })
	missing = place(func(string) error { return nil })
)

func link(target string) place {
	return func(path string) error { return os.Symlink(target, path) }
}

// inside is a link to another file of the same folder.
func inside(text string) place {
	return func(path string) error {
		if err := write(path+".other", []byte(text)); err != nil {
			return err
		}
		return os.Symlink(filepath.Base(path)+".other", path)
	}
}

// second gives a file another name.
func second(text string) place {
	return func(path string) error {
		if err := write(path+".other", []byte(text)); err != nil {
			return err
		}
		return os.Link(path+".other", path)
	}
}

// sparse is a file of so many bytes, all 0, that takes no room.
func sparse(size int64) place {
	return func(path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Truncate(size)
	}
}

func many(text string, n int) big { return func() string { return strings.Repeat(text, n) } }

func around(before string, text string, n int, after string) big {
	return func() string { return before + strings.Repeat(text, n) + after }
}

// utf16 is text as some editors write it, with its byte order mark.
func utf16(text string, big bool) string {
	out := []byte{0xff, 0xfe}
	if big {
		out = []byte{0xfe, 0xff}
	}
	for _, c := range []byte(text) {
		if big {
			out = append(out, 0, c)
		} else {
			out = append(out, c, 0)
		}
	}
	return string(out)
}
