//go:build faults && linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// day is a loop on an ordinary day: its agent works, and a person does things beside it.
type day struct {
	*world
	rand    *rand.Rand
	session string
	clients int
	client  *exec.Cmd // the process of the session's client
	idle    bool      // the session is in no turn
	passing []string
	done    []string // the acts, for what is said of a loss
}

// act is what a person does at a random moment. before is done before the next stop; during is started with it, and
// gets the process of the hook.
type act struct {
	name   string
	before func(d *day) error
	during func(pid int)
}

// signals sends signals to the hook while its check runs.
func signals(all ...syscall.Signal) func(pid int) {
	return func(pid int) {
		for _, sig := range all {
			time.Sleep(30 * time.Millisecond)
			_ = syscall.Kill(pid, sig)
		}
	}
}

// types runs a line that a person types in the project. It may fail: people do what makes no sense.
func types(line string) func(*day) error {
	return func(d *day) error {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir, cmd.Env = d.project, d.env
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			return fmt.Errorf("%s: %w: %.300s", line, err, out)
		}
		if strings.Contains(string(out), "panic:") {
			return fmt.Errorf("%s: %.1000s", line, out)
		}
		return nil
	}
}

const (
	stoppedVerify = "a stopped verify"
	fullDisk      = "a full disk"
)

const gitAs = "git -c user.name=t -c user.email=t@example.com "

var acts = []act{
	{name: "nothing"},
	{name: "Esc", during: signals(syscall.SIGKILL)},
	{name: "the client's timeout", during: signals(syscall.SIGTERM)},
	{name: "the lid is closed", during: signals(syscall.SIGSTOP, syscall.SIGCONT)},
	{name: "git add", before: types("git add -A .")},
	{name: "git commit", before: types("git add -A . && " + gitAs + "commit -qm work")},
	{name: "git stash", before: types(gitAs + "stash -q && git stash pop -q")},
	{name: "git switch", before: types("git switch -qc other && git switch -q -")},
	{name: "git rebase", before: types(gitAs + "rebase -q --root")},
	{name: "git gc", before: types("git gc -q --auto")},
	{name: "verify", before: types("ralph-stop-hook verify")},
	{name: "verify beside the stop", before: types("ralph-stop-hook verify >/dev/null 2>&1 &")},
	{name: stoppedVerify, before: types("ralph-stop-hook verify >/dev/null 2>&1 & sleep 0.02; kill -STOP $!")},
	{name: "resume", before: types("ralph-stop-hook resume")},
	{name: "give it more", before: types("ralph-stop-hook resume +2")},
	{name: "pause", before: types("ralph-stop-hook pause")},
	{name: "pause and resume", before: types("ralph-stop-hook pause && ralph-stop-hook resume")},
	{name: "cancel", before: types("ralph-stop-hook cancel")},
	{name: "cancel and resume", before: types("ralph-stop-hook cancel && ralph-stop-hook resume")},
	{name: "note", before: types("ralph-stop-hook note 'use tabs'")},
	{name: "status", before: types("ralph-stop-hook status && ralph-stop-hook status --all --json")},
	{name: "send-due", before: types("ralph-stop-hook status --all --send-due")},
	{name: "doctor", before: types("ralph-stop-hook doctor")},
	{name: "log and list", before: types("ralph-stop-hook log; ralph-stop-hook list")},
	{name: "trust", before: types("ralph-stop-hook trust --yes")},
	{name: "init again", before: types("ralph-stop-hook init checkout --features feature_list.json --settings project")},
	{name: "the folder is renamed and back", before: func(d *day) error {
		other := d.project + "-other"
		return errors.Join(os.Rename(d.project, other), os.Rename(other, d.project))
	}},
	{name: "an editor saves half of the list", before: func(d *day) error {
		half := listOf(d.passing...)
		if err := d.write(d.list, half[:len(half)/2]); err != nil {
			return err
		}
		_, err := d.stops(nil)
		return errors.Join(err, d.write(d.list, half))
	}},
	{name: fullDisk, before: func(d *day) error {
		d.wrap = strings.Fields("strace -f -qq -o /dev/null -e trace=renameat -e inject=renameat:error=ENOSPC")
		_, err := d.stops(nil)
		d.wrap = nil
		return err
	}},
	{name: "another window", before: func(d *day) error {
		r, err := d.run(stop("another"), "hook")
		if err == nil && strings.TrimSpace(r.stdout) != "" {
			err = fmt.Errorf("a bystander was told %.300q", r.stdout)
		}
		return err
	}},
	{name: "the client is killed", before: func(d *day) error { return d.begins() }},
	{name: "the session ends", before: func(d *day) error {
		_, err := d.run(sessionEnd(d.session), "hook")
		return errors.Join(err, d.begins())
	}},
}

// begins starts a new client, with the loop's prompt.
func (d *day) begins() error {
	d.leaves()
	d.client = exec.Command("sleep", "1000")
	d.client.Dir = "/"
	if err := d.client.Start(); err != nil {
		return err
	}
	d.env = slices.DeleteFunc(d.env, func(kv string) bool { return strings.HasPrefix(kv, "CLAUDE_PID=") })
	d.env = append(d.env, fmt.Sprint("CLAUDE_PID=", d.client.Process.Pid))
	d.clients++
	d.session = fmt.Sprint("s", d.clients)
	d.idle = false
	_, err := d.run(prompt(d.session), "hook")
	return err
}

// leaves ends the client.
func (d *day) leaves() {
	if d.client == nil {
		return
	}
	_ = d.client.Process.Kill()
	_ = d.client.Wait()
}

// stops ends the agent's turn. during gets the process of the hook, while it runs.
func (d *day) stops(during func(pid int)) (r result, err error) {
	defer func() {
		d.idle = !strings.Contains(r.stdout, `"additionalContext"`) && !strings.Contains(r.stdout, `"block"`)
	}()
	if during == nil {
		return d.run(stop(d.session), "hook")
	}
	file := filepath.Join(d.root, "pid")
	_ = os.Remove(file)
	d.wrap = []string{"sh", "-c", `echo $$ > "$1.new" && mv "$1.new" "$1" && shift && exec "$@"`, "sh", file}
	defer func() { d.wrap = nil }()
	go func() {
		for range 1000 {
			text, err := os.ReadFile(file)
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			// One that is killed before it has found its loop leaves nothing; PROOF.md says so.
			if err == nil && pid > 0 && d.notes(pid) {
				during(pid)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return d.run(stop(d.session), "hook")
}

// notes reports whether a process has noted that it answers a stop.
func (d *day) notes(pid int) bool {
	all, _ := filepath.Glob(filepath.Join(d.state, "loops", "*", "stop.json"))
	return slices.ContainsFunc(all, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && bytes.Contains(text, fmt.Appendf(nil, `"pid":%d,`, pid))
	})
}

// now is what 'status' says that a person does now.
type now struct{ Status, Phase, Then string }

func (d *day) status() (n now, err error) {
	r, err := d.run("", "status", loopName, "--json")
	if err == nil {
		err = json.Unmarshal([]byte(r.stdout), &n)
	}
	return n, err
}

// follow does what 'status' says, until a turn begins.
func (d *day) follow() error {
	var shown []string
	for range 8 {
		n, err := d.status()
		if err != nil {
			return err
		}
		shown = append(shown, fmt.Sprintf("%s, %s: %s", n.Status, n.Phase, n.Then))
		line, rest, _ := strings.Cut(strings.TrimPrefix(n.Then, "nothing; "), "; then: ")
		switch {
		case n.Phase == "working" && d.idle:
			return fmt.Errorf("status says that the loop is worked on, and no turn runs: %s", strings.Join(shown, " | "))
		case n.Phase == "working":
			return nil
		case strings.Contains(n.Then, "claude --resume"), strings.HasPrefix(n.Then, "type anything"):
			d.idle = false
			_, err = d.run(said(d.session), "hook")
		case strings.Contains(n.Then, "ralph-stop-hook start "):
			err = d.begins()
		case n.Status == "COMPLETE":
			return nil
		case strings.HasPrefix(line, "ralph-stop-hook"):
			line, _, _ = strings.Cut(line, ", ")
			line, _, _ = strings.Cut(line, " (")
			line, _, _ = strings.Cut(line, " shows ")
			err = types(line)(d)
			if after, is := strings.CutPrefix(rest, "ralph-stop-hook"); err == nil && is {
				err = types("ralph-stop-hook" + after)(d)
			}
		default:
			if strings.HasPrefix(rest, "ralph-stop-hook") {
				err = types(rest)(d)
			}
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("whoever does what status says gets nowhere: %s", strings.Join(shown, " | "))
}

// turn is a turn of the agent's, with one act of the person's.
func (d *day) turn() error {
	if d.rand.IntN(3) == 0 && len(d.passing) < 2 {
		d.passing = append(d.passing, []string{"a", "b"}[len(d.passing)])
		if err := d.write(d.list, listOf(d.passing...)); err != nil {
			return err
		}
	}
	if err := d.write("work", fmt.Sprint(len(d.done))); err != nil {
		return err
	}
	one := acts[d.rand.IntN(len(acts))]
	d.done = append(d.done, one.name)
	if one.before != nil {
		if err := one.before(d); err != nil {
			return err
		}
	}
	if _, err := d.stops(one.during); err != nil {
		return err
	}
	if one.name == stoppedVerify {
		if err := d.quell(); err != nil { // the person sees it, and ends it
			return err
		}
	}
	if err := d.settle(); err != nil {
		return err
	}
	return d.follow()
}

// lives lives a day, and looks at what is left of it.
func (d *day) lives(turns int) error {
	if err := d.begins(); err != nil {
		return err
	}
	for range turns {
		if err := d.turn(); err != nil {
			return err
		}
	}
	if err := verb("resume", "+9")(d.world); err != nil {
		return err
	}
	if err := do([]step{pass("a", "b", "c")})(d.world); err != nil {
		return err
	}
	if err := d.follow(); err != nil {
		return err
	}
	r, err := d.stops(nil)
	if err != nil {
		return err
	}
	if !strings.Contains(r.stdout, "COMPLETE") {
		n, _ := d.status()
		return fmt.Errorf("all is done, and the hook says %.500q, and status %+v", r.stdout, n)
	}
	return errors.Join(d.settle(), verb("status", "--all", "--send-due")(d.world), d.kept())
}

// kept holds that nothing is lost, and each ending was told once.
func (d *day) kept() error {
	text, err := os.ReadFile(d.listPath())
	if err != nil || string(text) != listOf("a", "b", "c") {
		return fmt.Errorf("the list is %q: %w", text, err)
	}
	all, err := d.told()
	if err != nil {
		return err
	}
	times := map[string]int{}
	complete, troubles := 0, 0
	for _, one := range all {
		if one.ofTrouble() {
			troubles++
			continue
		}
		times[one.DeliveryID]++
		if one.Status == "completed" {
			complete++
		}
		if times[one.DeliveryID] > 1 {
			return fmt.Errorf("the ending %s (%s) was told %d times", one.DeliveryID, one.ExitReason, times[one.DeliveryID])
		}
	}
	full := 0
	for _, name := range d.done {
		if name == fullDisk {
			full++
		}
	}
	if troubles > full {
		return fmt.Errorf("trouble was told %d times, and the disk was full %d times", troubles, full)
	}
	if complete != 1 {
		return fmt.Errorf("the completion was told %d times", complete)
	}
	return allTold(d.world)
}

// eachDay lives so many days with a program, each in a repository of its own, and with luck of its own.
func eachDay(h *harness, program string, days int, live func(w *world, luck *rand.Rand) error) {
	p, err := get(program)
	if err != nil {
		h.Fatal(err)
	}
	for n := range days {
		if h.enough() {
			return
		}
		at := inMemory
		at.git = true
		err := live(newWorld(h.T, p, at), rand.New(rand.NewPCG(*seed, uint64(n))))
		h.result(fmt.Sprint("day ", n), err)
	}
}

// people lives so many days with a program.
func people(h *harness, program string, days int) {
	eachDay(h, program, days, func(w *world, luck *rand.Rand) error {
		d := &day{world: w, rand: luck}
		err := do([]step{loopMade, configured(`, "limits": {"max_iterations": 60, "stagnation": 0}, ` +
			`"guards": false, "checks": [{"command": "sleep 0.05", "when": "claim"}]`)})(d.world)
		if err == nil {
			err = d.lives(10)
		}
		if err != nil {
			err = fmt.Errorf("%w, after: %s", err, strings.Join(d.done, ", "))
		}
		_ = d.quell()
		d.leaves()
		return err
	})
}

// TestPeople has ordinary people do ordinary things beside a loop, 300 times ten of them.
func TestPeople(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "a person intervenes during a loop")
	needStrace(t)
	people(h, "product", max(1, 300/stride(30)))
	h.control("shows every loop at work", func(h *harness) { people(h, h.broken, 30) })
}
