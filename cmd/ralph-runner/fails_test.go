//go:build linux && faults

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// failing are the system calls that change files, and how they fail on a disk that is full or broken.
var failing = map[string]string{
	"openat": "ENOSPC", "write": "ENOSPC", "renameat": "ENOSPC", "mkdirat": "ENOSPC", "unlinkat": "EIO", "fsync": "EIO",
}

// TestFails makes the system calls of a run fail, one alone, and all from one on. The run ends, or goes on. When the
// disk is well again it goes on to the end: nothing is lost, and nothing is there twice.
func TestFails(t *testing.T) {
	if err := exec.Command("strace", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("needs strace and the right to trace: %v", err)
	}
	far := 1
	if testing.Short() {
		far = 20
	}
	for call, errno := range failing {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			w := newTrial(t, "--agent", "worker")
			made := w.count([]string{call})
			if made[call] == 0 {
				t.Fatalf("the run does not call %s", call)
			}
			for n := 1; n <= made[call]; n += far {
				for _, on := range []string{"", "+"} {
					at := fmt.Sprintf("%s:error=%s:when=%d%s", call, errno, n, on)
					if err := w.fail(call, at); err != nil {
						t.Errorf("%s of %d: %v", at, made[call], err)
					}
				}
			}
			if call == "fsync" {
				controlFails(w)
			}
		})
	}
}

// fail works the loop anew with a fault, goes on without it, and returns what is wrong then.
func (w *trial) fail(call, at string) error {
	w.again()
	out, err := w.command("strace", "-qq", "-o", os.DevNull, "-e", "trace="+call, "-e", "inject="+at, "ralph-runner",
		"demo", "--agent", "worker").CombinedOutput()
	if err != nil && !strings.Contains(string(out), "COMPLETE") {
		if strings.Contains(string(out), "resume demo") {
			_ = w.command("ralph-runner", "resume", "demo").Run()
		}
		err = w.goOn()
	} else {
		err = nil
	}
	if err == nil {
		err = errors.Join(w.checkProcesses(), w.checkEndings())
	}
	if err == nil && !bytes.Contains(out, []byte("warning: ")) { // else it has said which file lacks something
		err = w.checkRecord()
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// checkEndings returns an error unless each ending is told, the last one is COMPLETE, and COMPLETE is told once. A
// notifier whose answer could not be written down is called again with the same id.
func (w *trial) checkEndings() error {
	told, err := os.ReadFile(filepath.Join(w.dir, "told"))
	times, completed, last := map[string]int{}, map[string]bool{}, ""
	for line := range strings.Lines(string(told)) {
		id := gjson.Get(line, "deliveryId").Str
		if last = gjson.Get(line, "status").Str; last == "completed" {
			completed[id] = true
		}
		if times[id]++; times[id] > 2 {
			err = fmt.Errorf("%s is told %d times", id, times[id])
		}
	}
	if err != nil || len(completed) != 1 || last != "completed" {
		return fmt.Errorf("told %v, %v:\n%s", times, err, told)
	}
	return nil
}

// controlFails breaks what TestFails looks at.
func controlFails(w *trial) {
	told := filepath.Join(w.dir, "told")
	text, err := os.ReadFile(told)
	if err != nil || w.checkEndings() != nil {
		w.Fatalf("the endings before the control: %v", err)
	}
	for what, spoilt := range map[string]string{
		"nothing is told": "", "told again and again": strings.Repeat(string(text), 3),
		"told as another ending": string(text) + strings.Replace(string(text), `"deliveryId":"`, `"deliveryId":"x`, 1),
	} {
		if err := os.WriteFile(told, []byte(spoilt), 0o644); err != nil || w.checkEndings() == nil {
			w.Errorf("control: %s: %v", what, err)
		}
	}
}
