//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run/runtest"
)

// trial is a project with a loop of two features, and what belongs to it. Its agent does one feature a session, and
// says that it cost 25 cents.
type trial struct {
	testing.TB
	dir, project string
	args         []string // of the run
}

func newTrial(t testing.TB, args ...string) *trial {
	dir := t.TempDir()
	w := &trial{t, dir, filepath.Join(dir, "project"), append([]string{"demo"}, args...)}
	for name, text := range map[string]string{
		"project/feature_list.json": `[{"id": "a", "passes": false}, {"id": "b", "passes": false}]`,
		"project/turns":             "work raw=said",
		"project/said": `{"type":"system","subtype":"init","session_id":"s","model":"m"}` + "\n" +
			`{"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.25,` +
			`"modelUsage":{"m":{"inputTokens":7,"outputTokens":3}}}` + "\n",
		"project/plan": "write=PLAN raw=said", "project/review": "raw=agreed",
		"project/critic": "open=a raw=agreed\nraw=agreed",
		"project/agreed": `{"type":"result","subtype":"success","is_error":false,` +
			`"result":"Good.\n<promise>COMPLETE</promise>","total_cost_usd":0.25,` +
			`"modelUsage":{"m":{"inputTokens":7,"outputTokens":3}}}` + "\n",
		"project/told.sh":  "tr '\\n' ' ' >> ../told\necho >> ../told\n",
		"project/check.sh": "test -e feature_list.json\n",
		"project/.claude/data/ralph-loops/demo/ralph.json": `{"list": "feature_list.json", "bind": "prompt",
			"on_complete": ["sh told.sh"], "checks": [{"command": "sh check.sh", "when": "claim"}]}`,
		"home/.config/ralph-stop-hook/config.json": `{"agents": {
			"worker": {"command": ["fake", "turns"], "output": "claude"},
			"planner": {"command": ["fake", "plan"], "output": "claude", "checks": ["test -e PLAN"]},
			"critic": {"command": ["fake", "critic"], "output": "claude"},
			"reviewer": {"command": ["fake", "review"], "output": "claude", "complete_on": ["marker"]}}}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := w.command("ralph-runner", "trust", "demo", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if slices.Contains(args, "--workers") {
		w.git("init", "-q")
		w.git("add", "-A")
		w.git("-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "-qm", "Begin")
		if err := os.WriteFile(filepath.Join(w.project, ".git/info/exclude"), []byte("*"), 0o644); err != nil {
			t.Fatal(err) // what the agents write would be in conflict
		}
	}
	for _, name := range []string{"project", "home"} {
		if err := os.CopyFS(filepath.Join(dir, "ready", name), os.DirFS(filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// again makes everything as it was before the first run.
func (w *trial) again() {
	for _, name := range []string{"project", "home", "told"} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			w.Fatal(err)
		}
	}
	for _, name := range []string{"project", "home"} {
		if err := os.CopyFS(filepath.Join(w.dir, name), os.DirFS(filepath.Join(w.dir, "ready", name))); err != nil {
			w.Fatal(err)
		}
	}
	_ = filepath.WalkDir(filepath.Join(w.dir, "home"), func(path string, d os.DirEntry, _ error) error {
		if !d.IsDir() {
			return os.Chmod(path, 0o600) // CopyFS makes files that others may read
		}
		return nil
	})
}

func (w *trial) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	home := filepath.Join(w.dir, "home")
	cmd.Dir = w.project
	cmd.Env = append(gittest.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "XDG_CONFIG_HOME=",
		"CLAUDECODE=", "TEST_ONE_THREAD=1")
	return cmd
}

func (w *trial) git(args ...string) {
	w.Helper()
	if out, err := w.command("git", args...).CombinedOutput(); err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// work works on the loop under strace with some flags.
func (w *trial) work(flags ...string) error {
	args := slices.Concat([]string{"-qq"}, flags, []string{"ralph-runner"}, w.args)
	return w.command("strace", args...).Run()
}

// renames returns how many files a run renames.
func (w *trial) renames() int {
	trace := filepath.Join(w.dir, "trace")
	if err := w.work("-o", trace, "-e", "trace=renameat"); err != nil {
		w.Fatalf("a run that nobody kills: %v", err)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		w.Fatal(err)
	}
	return strings.Count(string(text), "renameat(")
}

// goOn resumes the run until the loop is complete, as a person does who sees that it is gone.
func (w *trial) goOn() error {
	text := ""
	for range 3 {
		out, err := w.command("ralph-runner", "--resume").CombinedOutput()
		text += string(out)
		if strings.Contains(string(out), "has had") { // it was killed before it had a record
			out, err = w.command("ralph-runner", w.args...).CombinedOutput()
			text += string(out)
		}
		if err == nil || strings.Contains(string(out), "the loop demo is COMPLETE") {
			return nil
		}
	}
	return fmt.Errorf("it does not get COMPLETE:\n%s", text)
}

// check returns what is wrong when the loop is complete.
func (w *trial) check() error {
	return errors.Join(w.checkProcesses(), w.checkRecord(), w.checkNotices())
}

func (w *trial) checkProcesses() error {
	var found []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		found = within(w.dir)
		if len(found) == 0 {
			return nil
		}
	}
	return fmt.Errorf("these processes live on: %q", found)
}

// checkRecord compares the run's record with iterations.jsonl, and the loop's record with what people see of it.
func (w *trial) checkRecord() error {
	folder := filepath.Join(w.project, ".agent-state")
	if sums, _ := filepath.Glob(filepath.Join(folder, "summary-*.md")); len(sums) != 1 {
		return fmt.Errorf("%d summaries", len(sums))
	}
	header, err := os.ReadFile(filepath.Join(w.project, ".claude/data/ralph-loops/demo/progress.txt"))
	if err != nil || !strings.HasPrefix(string(header), "Status: COMPLETE\n") {
		return fmt.Errorf("progress.txt says %q, %w", header, err)
	}
	return runtest.CheckFiles(w.runRecord(), folder)
}

// runRecord returns the path of the run's record.
func (w *trial) runRecord() string {
	found, _ := filepath.Glob(filepath.Join(w.dir, "home/state/ralph-stop-hook/loops/*/run.json"))
	if len(found) != 1 {
		w.Fatalf("%d records of runs", len(found))
	}
	return found[0]
}

// checkNotices returns an error unless the one ending is told. A process that is killed after it told, and before it
// wrote that down, has it told again with the same id.
func (w *trial) checkNotices() error {
	told, err := os.ReadFile(filepath.Join(w.dir, "told"))
	ids := map[string]int{}
	for line := range strings.Lines(string(told)) {
		ids[gjson.Get(line, "deliveryId").Str]++
	}
	if err != nil || len(ids) != 1 || strings.Count(string(told), "\n") > 2 {
		return fmt.Errorf("told %v, %w:\n%s", ids, err, told)
	}
	return nil
}

// TestKilled kills a run at some of its renames: a rename makes each change of the records. The run then goes on to the
// end: nothing is lost, and nothing is there twice. `make faults` kills it at all its calls.
func TestKilled(t *testing.T) {
	t.Parallel()
	if err := exec.Command("strace", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("needs strace and the right to trace: %v", err)
	}
	kill(t, "agent", 4, "--agent", "worker")
	kill(t, "chain", 6, "--chain", "planner:3 -> worker:5 -> reviewer:2")
	kill(t, "rounds", 6, "--chain", "worker:8 <-> critic:8")
	kill(t, "lanes", 2, "--agent", "worker", "--workers", "2")
}

// kill kills a run with those arguments at renames that are so far apart, in some workers side by side.
func kill(t *testing.T, name string, far int, args ...string) {
	workers := 2
	if testing.Short() {
		workers, far = 1, max(10*far, 40)
	}
	for first := range workers {
		t.Run(fmt.Sprintf("%s/%d", name, first), func(t *testing.T) {
			t.Parallel()
			w := newTrial(t, args...)
			made := w.renames()
			if err := w.check(); err != nil {
				t.Fatal(err)
			}
			times := 0
			for n := 1 + first*far; n <= made; n += workers * far {
				w.again()
				at := fmt.Sprintf("renameat:signal=KILL:when=%d", n)
				err := w.work("-o", os.DevNull, "-e", "trace=renameat", "-e", "inject="+at)
				if err == nil {
					continue // it did not come that far
				}
				times++
				err = w.goOn()
				if err == nil {
					err = w.check()
				}
				if err != nil {
					t.Fatalf("%s of %d: %v", at, made, err)
				}
			}
			if t.Logf("killed %d times", times); times == 0 {
				t.Error("the run was never killed")
			}
			if first == 0 {
				controlKilled(w)
			}
		})
	}
}

// TestFlushes counts how often a run waits for the disk: a session has its record flushed when it starts and when it
// has ended, and the copy for people never.
func TestFlushes(t *testing.T) {
	t.Parallel()
	if err := exec.Command("strace", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("needs strace and the right to trace: %v", err)
	}
	w := newTrial(t, "--agent", "worker")
	trace := filepath.Join(w.dir, "trace")
	if err := w.work("-f", "-y", "-o", trace, "-e", "trace=fsync", "-e", "signal=none"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	const sessions, others = 2, 3 // the run begins, counts the last session, and ends
	if got := strings.Count(string(text), "/.run.json"); got != 2*sessions+others {
		t.Errorf("the record was flushed %d times:\n%s", got, text)
	}
	if got := strings.Count(string(text), ".agent-state/.run-"); got != 0 {
		t.Errorf("the copy was flushed %d times", got)
	}
}

// TestUnsaved resumes a run whose record knows of no end of its session: that could not be saved. The loop has counted
// the session, so the run counts it, too, and it is there once. What it cost is not known.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	w := newTrial(t, "--agent", "worker", "--max-iterations", "1")
	if out, err := w.command("ralph-runner", w.args...).CombinedOutput(); err == nil {
		t.Fatalf("it does not end at its limit:\n%s", out)
	}
	path := w.runRecord()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]any{
		"iterations": 0, "status": "IN_PROGRESS", "endedAt": nil, "spent": map[string]any{}, "work": nil,
		"current": map[string]any{"session": 1, "iteration": 1, "feature": "a", "startedAt": time.Now()},
	} {
		if value == nil {
			text, err = sjson.DeleteBytes(text, key)
		} else {
			text, err = sjson.SetBytes(text, key, value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := w.command("ralph-runner", "--resume", "--max-iterations", "9").CombinedOutput()
	if err == nil {
		err = w.checkRecord()
	}
	if !errors.Is(err, runtest.ErrCost) { // which is looked at last
		t.Errorf("%v\n%s", err, out)
	}
}

// controlKilled breaks what TestKilled looks at.
func controlKilled(w *trial) {
	lines := filepath.Join(w.project, ".agent-state", "iterations.jsonl")
	for what, spoil := range map[string]func(text []byte) []byte{
		"a session twice":      func(text []byte) []byte { return slices.Concat(text, text) },
		"a session is missing": func(text []byte) []byte { return text[strings.IndexByte(string(text), '\n')+1:] },
		"an iteration is missing": func(text []byte) []byte {
			return []byte(strings.Replace(string(text), `"counted":true`, `"counted":false`, 1))
		},
		"another cost": func(text []byte) []byte {
			return []byte(strings.Replace(string(text), `"costUsd":0.25`, `"costUsd":0.5`, 1))
		},
	} {
		text, err := os.ReadFile(lines)
		if err == nil {
			err = os.WriteFile(lines, spoil(text), 0o644)
		}
		if err != nil || w.checkRecord() == nil {
			w.Errorf("control: %s: %v", what, err)
		}
		if err := os.WriteFile(lines, text, 0o644); err != nil {
			w.Fatal(err)
		}
	}
	told := filepath.Join(w.dir, "told")
	if err := os.Remove(told); err != nil || w.checkNotices() == nil {
		w.Errorf("control: nothing is told: %v", err)
	}
	left := exec.Command("sleep", "100")
	left.Dir = w.project
	if err := left.Start(); err != nil {
		w.Fatal(err)
	}
	if w.checkProcesses() == nil {
		w.Error("control: a process is left")
	}
	_ = left.Process.Kill()
	_ = left.Wait()
}
