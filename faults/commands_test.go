//go:build faults && linux

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hostile is a notifier or a check that is out to hurt.
type hostile struct {
	name, line string
	ok         bool // as a check it holds
	leaves     bool // it takes itself out of everybody's reach
	slow       bool // it takes its time
}

func (c hostile) timeout() string {
	if c.slow {
		return "20s"
	}
	return "700ms"
}

var commands = []hostile{
	{name: "kills itself", line: "kill -9 $$"},
	{name: "hangs", line: "sleep 1000"},
	{name: "hangs with children", line: "sleep 1000 & sleep 1000 & wait"},
	{name: "ignores signals", line: "trap '' TERM HUP INT QUIT; sleep 1000"},
	{name: "floods without end", line: "yes"},
	{name: "floods and ends", line: "head -c 500000000 /dev/zero", ok: true, slow: true},
	{name: "floods standard error", line: "yes >&2"},
	{name: "reads nothing", line: "exec <&-; exit 0", ok: true},
	{name: "shuts its output", line: "exec >&- 2>&-; sleep 1000"},
	{name: "fails", line: "exit 7"},
	{name: "is not there", line: "/no/such/program"},
	{name: "is a daemon", line: "setsid sleep 1000 & exit 0", ok: true, leaves: true},
	{name: "is a daemon that holds its output", line: "setsid sleep 1000 2>&1 & sleep 1000", leaves: true},
}

const (
	most    = 192 << 20 // bytes of memory that a hook may take, whatever a command prints; the fork has some of ours
	mostLog = 3 << 20
)

// bounded holds what is true of a hook whatever its commands do.
func bounded(w *world, c hostile, r result) error {
	left := w.processes()
	end := time.Now().Add(5 * time.Second) // what is killed takes a moment to be gone
	for len(left) > 0 && !c.leaves && time.Now().Before(end) {
		time.Sleep(10 * time.Millisecond)
		left = w.processes()
	}
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if len(left) > 0 && !c.leaves {
		return fmt.Errorf("%d processes are left", len(left))
	}
	if r.most > most {
		return fmt.Errorf("the hook took %d MB", r.most>>20)
	}
	for _, name := range []string{"hook.log", "checks.log", "checks.jsonl"} {
		if info, err := os.Stat(filepath.Join(w.loop(), name)); err == nil && info.Size() > mostLog {
			return fmt.Errorf("%s has %d MB", name, info.Size()>>20)
		}
	}
	return nil
}

// notify ends a loop with a bad notifier, and a good one after it.
func notify(w *world, c hostile) error {
	quoted, err := json.Marshal([]any{map[string]any{"command": c.line, "timeout": c.timeout()}, w.notifier()})
	if err != nil {
		return err
	}
	err = do([]step{atWork, func(w *world) error {
		return w.write(loopFolder+"/ralph.json",
			`{"list": "feature_list.json", "bind": "prompt", "on_complete": `+string(quoted)+`}`)
	}, verb("trust", "--yes"), pass("a", "b", "c")})(w)
	if err != nil {
		return err
	}
	r, err := w.run(stop("s1"), "hook")
	if err == nil && !strings.Contains(r.stdout, "COMPLETE") {
		err = fmt.Errorf("printed %q", r.stdout)
	}
	if bad := bounded(w, c, r); err == nil {
		err = bad
	}
	if err == nil {
		err = event(stop("s1"), "")(w)
	}
	if err == nil {
		err = w.settle()
	}
	if err != nil {
		return err
	}
	if told, err := w.told(); len(told) != 1 || err != nil {
		return fmt.Errorf("the next notifier was run %d times %w", len(told), err)
	}
	return w.agree()
}

// prove stops with a bad check that is asked.
func prove(w *world, c hostile) error {
	c.leaves = false // the guard has them all
	quoted, err := json.Marshal(c.line)
	if err != nil {
		return err
	}
	checks := `, "checks": [{"command": ` + string(quoted) + `, "timeout": "` + c.timeout() + `"}]`
	err = do([]step{atWork, configured(checks), pass("a", "b", "c")})(w)
	if err != nil {
		return err
	}
	r, err := w.run(stop("s1"), "hook")
	if err == nil {
		err = w.ack(r)
	}
	if blocks := strings.Contains(r.stdout, `"decision":"block"`); err == nil && blocks == c.ok {
		err = fmt.Errorf("printed %.300q", r.stdout)
	}
	if bad := bounded(w, c, r); err == nil {
		err = bad
	}
	if err != nil || c.ok {
		return err
	}
	return do([]step{configured(""), event(stop("s1"), "COMPLETE")})(w)
}

// interrupted ends a hook from outside while its check runs; the check goes with it.
func interrupted(w *world, c hostile, with syscall.Signal) error {
	c.leaves = false
	quoted, err := json.Marshal("touch running; " + c.line)
	if err != nil {
		return err
	}
	checks := `, "checks": [{"command": ` + string(quoted) + `, "timeout": "10m"}]`
	err = do([]step{atWork, configured(checks), pass("a", "b", "c")})(w)
	if err != nil {
		return err
	}
	go func() {
		for range 1000 {
			if _, err := os.Stat(filepath.Join(w.project, "running")); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		for _, pid := range w.processes() {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); string(line) == w.path+"\x00hook\x00" {
				_ = syscall.Kill(pid, with)
			}
		}
	}()
	r, err := w.run(stop("s1"), "hook")
	if err != nil {
		return err
	}
	if r.stdout != "" {
		return fmt.Errorf("printed %q", r.stdout)
	}
	if err := w.settle(); err != nil {
		return err
	}
	return do([]step{configured(""), event(stop("s1"), "COMPLETE")})(w)
}

func TestCommands(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "notifiers and checks that die, hang, flood or leave processes")
	type kind struct {
		name string
		try  func(*world, hostile) error
	}
	kinds := []kind{
		{"notifier", notify}, {"check", prove},
		{"check, hook killed", func(w *world, c hostile) error { return interrupted(w, c, syscall.SIGKILL) }},
		{"check, hook terminated", func(w *world, c hostile) error { return interrupted(w, c, syscall.SIGTERM) }},
	}
	try := func(h *harness, program string, k kind, of ...hostile) {
		p, err := get(program)
		if err != nil {
			h.Fatal(err)
		}
		for _, c := range of {
			if strings.HasPrefix(k.name, "check, ") && !strings.Contains(c.name, "hangs") &&
				c.name != "ignores signals" {
				continue
			}
			h.Run(k.name+" "+c.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, p, inMemory)
				h.result(k.name+" that "+c.name, k.try(w, c))
			})
		}
	}
	for _, k := range kinds {
		try(h, "product", k, commands...)
	}
	h.control("kills no group", func(h *harness) { try(h, h.broken, kinds[0], commands[2]) })
	h.control("keeps all output", func(h *harness) { try(h, h.broken, kinds[0], commands[5]) })
	if !testing.Short() {
		h.control("waits for ever", func(h *harness) { try(h, h.broken, kinds[0], commands[11]) })
	}
}
