package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// TestForwardKilled kills Forward before each of its steps and each git command, and Recover, too; a short run takes
// each third step. Whatever a person does before the next Recover, no edit is lost, and the merge is there at the end.
func TestForwardKilled(t *testing.T) {
	t.Parallel()
	killed, every := 0, 1
	if testing.Short() {
		every = 3
	}
	for n := 1; ; n += every {
		w, old, new := newForward(t)
		if !kill(w, "forward", n, old, new) {
			if w.forwarded(""); n < 12 {
				t.Errorf("only %d steps", n)
			}
			break
		}
		killed++
		kill(w, "recover", n%7+1, old, new)
		w.recovers(old, new)
		if t.Failed() {
			t.Fatalf("killed before step %d", n)
		}
	}
	t.Logf("killed at %d steps", killed)
}

// TestForwardEdited kills Forward, and a person edits one of the files before Recover. The control resets the project
// to the new commit instead: it must lose the edit.
func TestForwardEdited(t *testing.T) {
	t.Parallel()
	every, least := 1, 5
	if testing.Short() {
		every, least = 3, 2
	}
	for _, blind := range []bool{false, true} {
		lost, kept := 0, 0
		for n := 6; n < 60; n += every {
			w, old, new := newForward(t)
			if !kill(w, "forward", n, old, new) {
				break
			}
			const edit = "a person's edit\n"
			file := fates[0].name
			w.write(w.project, file, edit)
			if blind {
				_ = os.Remove(filepath.Join(w.top, ".git/index.lock"))
				w.ok(w.repo.publish(t.Context(), new))
				w.git(w.top, "reset", "-q", "--hard", new)
			}
			err := w.repo.Recover(t.Context(), old, new)
			if w.head() == old {
				w.ok(err)
				err = w.repo.Forward(t.Context(), old, new)
			}
			if w.read(w.project, file) != edit {
				lost++
				continue
			}
			kept++
			if blind {
				continue
			}
			if w.head() == new {
				w.refusedOrDone(err, file+" was changed in the project before commit")
				w.forwarded(file)
				w.ok(w.repo.Recover(t.Context(), old, new)) // it is said once
				w.forwarded(file)
			} else {
				w.refused(err, file+" is changed in the project")
				w.persons()
			}
		}
		if blind && lost == 0 {
			t.Error("control: no edit was lost by a reset")
		}
		if !blind && (lost > 0 || kept < least) {
			t.Errorf("%d edits were lost, %d kept", lost, kept)
		}
	}
}

// refusedOrDone wants an error with a text, or none: the person's edit came after the file was written.
func (w *world) refusedOrDone(err error, text string) {
	w.Helper()
	if err != nil {
		w.refused(err, text)
	}
}

// forwardProcess is a process that goes forward, or recovers, and ends itself before its nth step; 0: it does not.
func forwardProcess(w *world, what string, n int, old, new string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestForwardProcess$")
	cmd.Env = append(w.env(), "RALPH_TEST_FORWARD="+what, "RALPH_TEST_STEP="+strconv.Itoa(n), "RALPH_TEST_OLD="+old,
		"RALPH_TEST_NEW="+new, "RALPH_TEST_PROJECT="+w.project, "RALPH_TEST_OWN="+w.own())
	return cmd
}

// kill starts a process that goes forward, or recovers, and ends itself before its nth step. It reports whether it
// came to that.
func kill(w *world, what string, n int, old, new string) bool {
	w.Helper()
	cmd := forwardProcess(w, what, n, old, new)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == killedStatus {
		return true
	}
	if err != nil && what == "forward" {
		w.Fatalf("%v\n%s", err, out)
	}
	return false
}

const killedStatus = 86

// TestForwardProcess is the process of kill.
func TestForwardProcess(t *testing.T) {
	runtime.LockOSThread() // strace counts the calls of each thread
	what := os.Getenv("RALPH_TEST_FORWARD")
	if what == "" {
		t.Skip("other tests start this one")
	}
	o := Options{Project: os.Getenv("RALPH_TEST_PROJECT"), Env: os.Environ(), Except: []string{loops}, List: list}
	if what != "commit" {
		o.PrivateDir = os.Getenv("RALPH_TEST_OWN")
		o.Keep = true
	}
	r, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	left, _ := strconv.Atoi(os.Getenv("RALPH_TEST_STEP"))
	r.step = func(string) {
		if left--; left == 0 {
			r.Close()
			os.Exit(killedStatus)
		}
	}
	do := map[string]func(context.Context, string, string) error{
		"forward": r.Forward, "recover": r.Recover, "commit": func(ctx context.Context, _, _ string) error {
			_, _, err := r.CommitProject(ctx, proven, nil)
			return err
		},
	}[what]
	if err := do(t.Context(), os.Getenv("RALPH_TEST_OLD"), os.Getenv("RALPH_TEST_NEW")); err != nil {
		t.Fatal(err)
	}
	r.Close()
}
