//go:build faults && linux

package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// place is where a world's folders are.
type place struct {
	name           string
	project, state string // folders to make it in; empty is the system's for temporary files
	git            bool
}

// memory is a file system in memory.
const memory = "/dev/shm"

var inMemory = place{name: "memory", project: memory, state: memory}

var places = []place{
	inMemory,
	{name: "memory, git", project: memory, state: memory, git: true},
	{name: "disk"},
	{name: "disk, state in memory", state: memory},
}

// world is a project with one loop in it, its person's folders, and the program.
type world struct {
	program
	place
	root    string // of project, home and notices
	project string
	state   string
	notices string // one payload a line, as the notifier got it
	env     []string
	wrap    []string // runs the program: strace and its arguments, say
	list    string   // where it is, below the project
	key     string   // of the loop in the state folder, where many share that
	persons bool     // people stop and begin runs of the loop, of which nobody is told
	acked   int      // the largest iteration that was printed in a block
}

func newWorld(t testing.TB, p program, at place) *world {
	t.Helper()
	w := &world{program: p, place: at, root: tempIn(t, at.project), list: "feature_list.json"}
	w.project, w.notices = filepath.Join(w.root, "project"), filepath.Join(tempIn(t, memory), "notices")
	w.state = filepath.Join(w.root, "state")
	if at.state != at.project {
		w.state = tempIn(t, at.state)
	}
	for _, dir := range []string{w.project, filepath.Join(w.root, "home"), filepath.Join(w.root, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{
		"PATH=" + filepath.Dir(p.path) + ":" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(w.root, "home"), "TMPDIR=" + filepath.Join(w.root, "tmp"),
		"RALPH_STATE_DIR=" + w.state, "CLAUDE_PROJECT_DIR=" + w.project,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	}
	if at.git {
		w.mustGit(t, "init", "-q")
		w.mustGit(t, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m",
			"first")
	}
	return w
}

// tempIn makes a folder that is gone after the test.
func tempIn(t testing.TB, dir string) string {
	made, err := os.MkdirTemp(dir, "ralph-faults-")
	if err != nil {
		t.Fatal(err)
	}
	made, err = filepath.EvalSymlinks(made)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(made) })
	return made
}

func (w *world) mustGit(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.project, w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// result is how a run of the program ended.
type result struct {
	hook   bool // it was called by the host
	status int  // -1: killed
	stdout string
	stderr string
	most   int64 // of memory, in bytes
}

func (r result) killed() bool { return r.status < 0 }

// patience is how long a run may take before it counts as hanging.
const patience = 90 * time.Second

// lockWait is how long a hook may wait for its loop's lock, a third of the timeout in the entry that init writes. The
// system's queue for a lock is not in order: where hundreds wait, the first may get it last.
const lockWait = 660 * time.Second / 3

// run runs the program; with standard input it is the hook.
func (w *world) run(stdin string, args ...string) (r result, err error) {
	r, err = w.execute(stdin, args...)
	if err == nil {
		err = r.sound()
	}
	return r, err
}

// execute runs the program. An error means that it could not be run, or hangs.
func (w *world) execute(stdin string, args ...string) (r result, err error) {
	r.hook = stdin != ""
	limit := patience
	if r.hook {
		limit += lockWait
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	argv := append(append(w.wrap[:len(w.wrap):len(w.wrap)], w.path), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = w.project, w.env, strings.NewReader(stdin), &stdout, &stderr
	cmd.WaitDelay = 10 * time.Second // on a busy machine, reading what it has printed takes time
	if r.hook {
		cmd.Env = append(cmd.Env, "CLAUDECODE=1")
	}
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return r, err
	}
	r.stdout, r.stderr, r.status = stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	if r.status == 128+int(syscall.SIGKILL) {
		r.status = -1 // as a shell in between says it
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.most = usage.Maxrss << 10
	}
	if ctx.Err() != nil {
		return r, fmt.Errorf("it hangs: %q", args)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return r, err
	}
	return r, nil
}

// sound holds what is true of every run: a hook ends with 0 or is killed, and prints
// nothing or one object; a verb ends with 0 or 1.
func (r result) sound() error {
	if out := strings.TrimSpace(r.stdout); r.hook && out != "" {
		var one map[string]any
		if err := json.Unmarshal([]byte(out), &one); err != nil {
			return fmt.Errorf("standard output is not one JSON object: %w: %.200q", err, r.stdout)
		}
	}
	if r.killed() || r.status == 0 || r.status == 1 && !r.hook {
		return nil
	}
	return fmt.Errorf("exit status %d; %.300s", r.status, r.stderr)
}

var iterationWord = regexp.MustCompile(`iteration (\d+)/(\d+)`)

// block returns the iteration that the hook begins by a block, 0 where it blocks
// not.
func (r result) block() (iteration, limit int) {
	var answer struct{ Decision, SystemMessage string }
	_ = json.Unmarshal([]byte(r.stdout), &answer) // sound has looked
	if m := iterationWord.FindStringSubmatch(answer.SystemMessage); answer.Decision == "block" && m != nil {
		iteration, _ = strconv.Atoi(m[1])
		limit, _ = strconv.Atoi(m[2])
	}
	return iteration, limit
}

// ack holds what is true of every block: its iteration is counted in the record,
// is within the limit, and was never begun before.
func (w *world) ack(r result) error {
	iteration, limit := r.block()
	if iteration == 0 {
		return nil
	}
	state, err := w.record()
	switch {
	case err != nil:
		return err
	case iteration > limit:
		return fmt.Errorf("iteration %d of %d begun", iteration, limit)
	case iteration <= w.acked:
		return fmt.Errorf("iteration %d begun after %d", iteration, w.acked)
	case state.Iteration != iteration:
		return fmt.Errorf("iteration %d printed, %d recorded", iteration, state.Iteration)
	}
	w.acked = iteration
	return nil
}

// record is what a test looks at of state.json, which it reads with its own eyes.
type record struct {
	Schema, Iteration, Endings, Extended int
	Status, ExitReason, Session          string
	StartedAt, EndedAt, RetryAt          time.Time
	ExtendedDeadline                     time.Duration
	Seen, WaitingSince                   time.Time
	Notices                              []struct {
		DeliveryID string
		SentAt     time.Time
	}
}

// record returns the loop's record. Where there is none Schema is 0.
func (w *world) record() (state record, err error) {
	for _, dir := range w.recordDirs() {
		data, err := os.ReadFile(filepath.Join(dir, "state.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var of struct{ Loop string }
		if err == nil {
			err = errors.Join(json.Unmarshal(data, &of), json.Unmarshal(data, &state))
		}
		if err != nil {
			return state, fmt.Errorf("the record is torn: %w: %.100q", err, data)
		}
		if state.Schema < 1 || state.Iteration < 1 || state.Status == "" {
			return state, fmt.Errorf("the record makes no sense: %.200q", data)
		}
		if filepath.Base(of.Loop) == loopName {
			return state, nil
		}
	}
	return record{}, nil
}

func (w *world) recordDirs() []string {
	if w.key != "" {
		return []string{filepath.Join(w.state, "loops", w.key)}
	}
	found, _ := filepath.Glob(filepath.Join(w.state, "loops", "*")) // the pattern is a good one
	return found
}

// asked tells whether a person's word to cancel lies there.
func (w *world) asked() bool {
	for _, dir := range w.recordDirs() {
		if _, err := os.Lstat(filepath.Join(dir, "cancelled")); err == nil {
			return true
		}
	}
	return false
}

// pending returns the notices that are still to be told.
func (s record) pending() (ids []string) {
	for _, n := range s.Notices {
		if n.SentAt.IsZero() {
			ids = append(ids, n.DeliveryID)
		}
	}
	return ids
}

// told is a payload that a notifier got.
type told struct {
	DeliveryID, Event, Status, ExitReason, RetryAt string
	Iterations, DurationSec                        int
}

// ofTrouble reports whether it is about trouble that the record could not take.
func (one told) ofTrouble() bool { return one.ExitReason == "internal_error" }

// told returns what was told of endings.
func (w *world) told() (all []told, err error) { return payloads(w.notices) }

// begun is the file of what was told of iterations.
func (w *world) begun() string { return filepath.Join(filepath.Dir(w.notices), "begun") }

func payloads(path string) (all []told, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(data) {
		var one told
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("a torn payload: %.100q", line)
		}
		all = append(all, one)
	}
	return all, err
}

// loop is the loop's folder.
func (w *world) loop() string { return filepath.Join(w.project, loopFolder) }

const (
	loopName   = "checkout"
	loopFolder = ".claude/data/ralph-loops/" + loopName
)

func (w *world) listPath() string { return filepath.Join(w.project, w.list) }

// stop is the host's event at the end of a turn.
func stop(session string) string {
	return `{"session_id":"` + session + `","hook_event_name":"Stop","stop_hook_active":false}`
}

func prompt(session string) string {
	return `{"session_id":"` + session + `","hook_event_name":"UserPromptSubmit",` +
		`"prompt":"ralph-loop: ` + loopFolder + `\n\nWork."}`
}

func sessionEnd(session string) string {
	return `{"session_id":"` + session + `","hook_event_name":"SessionEnd","reason":"other"}`
}

// stopFailure is that of a turn which died of an API error.
func stopFailure(session string) string {
	return `{"session_id":"` + session + `","hook_event_name":"StopFailure","error":"rate_limit",` +
		`"last_assistant_message":"limit reached · resets 3pm (UTC)"}`
}

// said is a prompt that names no loop.
func said(session string) string {
	return `{"session_id":"` + session + `","hook_event_name":"UserPromptSubmit","prompt":"Go on."}`
}

// listText has what an edit could spoil: unknown keys, odd spaces and numbers.
const listText = `[
  {"id": "a", "title": "First", "passes": false, "weight": 1.50},
  {"id":"b","title":"S\u00e9cond — é","passes":false},
	{"id": "c" , "passes": false, "notes": {"passes": false, "x": [1, 2 ]}}
]
`

// listOf is listText with these features passing.
func listOf(ids ...string) string {
	text := listText
	for _, id := range ids {
		text = regexp.MustCompile(`("id": ?"`+id+`".*?"passes": ?)false`).ReplaceAllString(text, "${1}true")
	}
	return text
}

// settingsText is a person's own, with more in it than ours.
const settingsText = `{
    "model": "opus",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
}
`

// write writes a file below the project, as a person or an agent does.
func (w *world) write(name, text string) error {
	path := filepath.Join(w.project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// settle waits until no process of this world runs: a sender of its own outlives
// the hook.
func (w *world) settle() error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if len(w.processes()) == 0 {
			return nil
		}
	}
	var lines []string
	for _, pid := range w.processes() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		lines = append(lines, fmt.Sprintf("%d %q", pid, bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	return errors.Join(fmt.Errorf("these still run: %s", strings.Join(lines, ", ")), w.quell())
}

// quell ends what runs in this world: it has no business in another one.
func (w *world) quell() error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		pids := w.processes()
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return errors.New("it cannot be ended")
}

// processes are those with a working folder in the world.
func (w *world) processes() (pids []int) {
	proc, _ := os.Open("/proc")
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if cwd, _ := os.Readlink("/proc/" + name + "/cwd"); strings.HasPrefix(cwd, w.root+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}
