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
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runDay is a run on an ordinary day: its agents work, and a person does things beside it.
type runDay struct {
	*world
	rand *rand.Rand
	acts int      // that are left
	done []string // the acts, for what is said of a loss
}

// runAct is what a person does while a run works. pid is the process of the run.
type runAct struct {
	name string
	do   func(d *runDay, pid int) error
}

// sends sends signals to the run.
func sends(all ...syscall.Signal) func(*runDay, int) error {
	return func(_ *runDay, pid int) error {
		for _, sig := range all {
			_ = syscall.Kill(pid, sig)
			time.Sleep(100 * time.Millisecond)
		}
		return nil
	}
}

// beside runs a line that a person types beside a run.
func beside(line string) func(*runDay, int) error {
	return func(d *runDay, _ int) error { return types(line)(&day{world: d.world}) }
}

const killedRun = "the run is killed"

var runActs = []runAct{
	{"nothing", sends()},
	{"Ctrl-C", sends(syscall.SIGINT)},
	{"Ctrl-C twice", sends(syscall.SIGINT, syscall.SIGINT)},
	{"the terminal is closed", sends(syscall.SIGHUP)},
	{"the machine shuts down", sends(syscall.SIGTERM)},
	{"the lid is closed", sends(syscall.SIGSTOP, syscall.SIGCONT)},
	{killedRun, sends(syscall.SIGKILL)},
	{"git add", beside("git add -A .")},
	{"git commit", beside("git add -A . && " + gitAs + "commit -qm work")},
	{"git switch", beside("git switch -qc other && git switch -q -")},
	{"git rebase", beside(gitAs + "rebase -q --root")},
	{"git gc", beside("git gc -q --auto")},
	{"verify", beside("ralph-runner verify")},
	{"resume", beside("ralph-runner resume checkout --wait 0s --agent worker")},
	{"another run", beside("ralph-runner checkout --agent worker")},
	{"give it more", beside("ralph-runner resume checkout +2 --wait 0s --agent worker")},
	{"pause", beside("ralph-runner pause")},
	{"pause at once", beside("ralph-runner pause --now")},
	{"cancel", beside("ralph-runner cancel")},
	{"note", beside("ralph-runner note 'use tabs'")},
	{"status", beside("ralph-runner status && ralph-runner status --all --json")},
	{"send-due", beside("ralph-runner status --all --send-due")},
	{"log and list", beside("ralph-runner log; ralph-runner list; ralph-runner report --format md >/dev/null")},
	{"trust", beside("ralph-runner trust --yes")},
	{"the folder is renamed and back", func(d *runDay, _ int) error {
		other := d.project + "-other"
		return errors.Join(os.Rename(d.project, other), os.Rename(other, d.project))
	}},
	{"an editor saves half of the list", func(d *runDay, _ int) error {
		text, err := os.ReadFile(d.listPath())
		if err != nil {
			return err
		}
		err = d.write(d.list, string(text[:len(text)/2]))
		time.Sleep(20 * time.Millisecond)
		return errors.Join(err, d.write(d.list, string(text)))
	}},
	{"a full disk", func(d *runDay, _ int) error {
		cmd := exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat", "-e",
			"inject=renameat:error=ENOSPC", d.path, "resume", loopName, "+1")
		cmd.Dir, cmd.Env = d.project, d.env
		_ = cmd.Run() // it fails, or there was a run
		return nil
	}},
}

// works types a line that may begin a run, and does acts of the person's while it works.
func (d *runDay) works(line string) error {
	cmd := exec.Command("sh", "-c", "exec "+line)
	cmd.Dir, cmd.Env = d.project, d.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	late := time.After(patience)
	for {
		next := time.After(time.Duration(50+d.rand.IntN(400)) * time.Millisecond)
		if d.acts == 0 {
			next = nil
		}
		select {
		case <-ended:
			if text := out.String(); strings.Contains(text, "panic:") {
				return fmt.Errorf("%s: %.1000s", line, text)
			}
			return d.settle()
		case <-late:
			return errors.Join(fmt.Errorf("%s hangs: %.500s", line, out.String()), d.quell())
		case <-next:
			d.acts--
			one := runActs[d.rand.IntN(len(runActs))]
			d.done = append(d.done, one.name)
			if err := one.do(d, cmd.Process.Pid); err != nil {
				return err
			}
		}
	}
}

// lives begins a run, does what 'status' says until the loop is complete, and looks at what is left.
func (d *runDay) lives() error {
	first := "ralph-runner checkout --agent worker"
	if err := d.works(first); err != nil {
		return err
	}
	var shown []string
	for range 30 {
		r, err := d.run("", "status", loopName, "--json")
		var n now
		if err == nil {
			err = json.Unmarshal([]byte(r.stdout), &n)
		}
		if err != nil {
			return err
		}
		shown = append(shown, fmt.Sprintf("%s, %s: %s", n.Status, n.Phase, n.Then))
		if n.Status == "COMPLETE" {
			return d.kept()
		}
		lines := ralphLines(n.Then)
		switch {
		case n.Phase == "working":
			return fmt.Errorf("status says that a run works, and none does: %s", strings.Join(shown, " | "))
		case len(lines) == 0:
			return fmt.Errorf("status names nothing to type: %s", strings.Join(shown, " | "))
		case strings.HasPrefix(n.Then, "ralph-runner checkout"):
			lines = []string{first} // this person's agent has another name
		case n.Then == "ralph-runner resume checkout": // perhaps of a loop that was paused before its run began
			lines = []string{n.Then + " --agent worker"}
		}
		for _, line := range lines {
			if err := d.works(line); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("whoever does what status says gets nowhere: %s", strings.Join(shown, " | "))
}

// ralphLines returns the commands that status names, one after the other. Of several ways it is the first one.
func ralphLines(then string) (lines []string) {
	for part := range strings.SplitSeq(then, "; then: ") {
		part, _, _ = strings.Cut(part, "; or ")
		part, _, _ = strings.Cut(strings.TrimPrefix(part, "nothing; "), ", ")
		part, _, _ = strings.Cut(part, " (")
		part, _, _ = strings.Cut(part, " shows ")
		part = strings.TrimSuffix(part, " continues it")
		if strings.HasPrefix(part, "ralph-runner") {
			lines = append(lines, part)
		}
	}
	return lines
}

// kept holds that nothing is lost, and each ending was told once; again only if the run was ended while it told.
func (d *runDay) kept() error {
	if err := verb("status", "--all", "--send-due")(d.world); err != nil {
		return err
	}
	all, err := d.told()
	times := map[string]int{}
	log, unread := os.ReadFile(d.loop() + "/hook.log")
	err = errors.Join(err, unread)
	cut := slices.Contains(d.done, killedRun) || bytes.Contains(log, []byte("signal received")) // while it told
	for _, one := range all {
		times[one.DeliveryID]++
		if times[one.DeliveryID] > 1 && !cut {
			err = fmt.Errorf("the ending %s (%s) was told twice", one.DeliveryID, one.ExitReason)
		}
	}
	return errors.Join(err, d.showsRecord(), d.holds(false))
}

// peopleOfRuns lives so many days with a runner.
func peopleOfRuns(h *harness, runner string, days int) {
	eachDay(h, runner, days, func(w *world, luck *rand.Rand) error {
		d := &runDay{world: w, rand: luck, acts: 5}
		d.persons = true
		err := runLoop([]string{"takes its time"}, `, "limits": {"max_iterations": 60, "stagnation": 0}`)(d.world)
		if err == nil {
			err = d.lives()
		}
		if err != nil {
			log, _ := os.ReadFile(d.loop() + "/hook.log")
			err = fmt.Errorf("%w, after: %s\n%s", err, strings.Join(d.done, ", "), log)
		}
		_ = d.quell()
		return err
	})
}

// TestRunPeople has ordinary people do ordinary things beside a run, 300 times five of them.
func TestRunPeople(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "a person intervenes during a run")
	needStrace(t)
	peopleOfRuns(h, "runner", max(1, 300/stride(30)))
	h.control("shows every run at work", func(h *harness) { peopleOfRuns(h, h.broken, 30) })
}
