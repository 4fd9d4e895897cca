//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scenario is one run of the program in which faults are put.
type scenario struct {
	name  string
	make  []step   // what comes before it
	stdin string   // of the hook
	args  []string // of the verb
	ends  string   // the status that it ends the loop with
	keeps bool     // it ends no loop
	tells bool     // notifiers are told of iterations
	fresh bool     // there is no loop before
	then  step     // what a person does before the loop goes on
	// done returns an error if what the verb says it did has not happened.
	done func(w *world) error
}

// act runs what the scenario is about.
func (s scenario) act(w *world) (result, error) {
	args := make([]string, len(s.args))
	for i, arg := range s.args {
		if args[i] = arg; arg == "NOTIFIER" {
			args[i] = w.notifier()
		}
	}
	if s.stdin != "" {
		args = []string{"hook"}
	}
	return w.run(s.stdin, args...)
}

func status(want ...string) func(*world) error {
	return func(w *world) error {
		state, err := w.record()
		for _, one := range want {
			if state.Status == one || err != nil {
				return err
			}
		}
		return fmt.Errorf("it said that it is done, and the record says %s, want %s", state.Status, want)
	}
}

// allTold tells whether every ending is marked as told.
func allTold(w *world) error {
	state, err := w.record()
	if left := state.pending(); err == nil && len(left) > 0 {
		err = fmt.Errorf("still to be told: %q", left)
	}
	return err
}

// trustHas tells whether what was trusted says so.
func trustHas(text string) func(*world) error {
	return func(w *world) error {
		for _, dir := range w.recordDirs() {
			data, err := os.ReadFile(filepath.Join(dir, "trust.json"))
			if err != nil || !strings.Contains(string(data), text) {
				return fmt.Errorf("done, and what is trusted is %.300q, %w", data, err)
			}
		}
		return nil
	}
}

var scenarios = []scenario{
	{name: "continue", make: []step{atWork, pass("a", "b")}, stdin: stop("s1")},
	{name: "continue, nothing changed", make: []step{atWork}, stdin: stop("s1")},
	{name: "end with notice", make: []step{atWork, pass("a", "b", "c")}, stdin: stop("s1"), ends: "COMPLETE"},
	{
		name: "end at a limit",
		make: []step{
			atWork, lowered(3), pass("a", "b"), event(stop("s1"), "iteration 3/3"),
			write("src", "x"),
		},
		stdin: stop("s1"), ends: "REACHED_LIMIT",
	},
	{
		name:  "reopen",
		make:  []step{atWork, configured(checked), write("done-a", ""), pass("a", "b")},
		stdin: stop("s1"),
	},
	{
		name:  "reopen in a folder",
		make:  []step{inFolder, atWork, configured(checked), write("done-a", ""), pass("a", "b")},
		stdin: stop("s1"),
	},
	{
		name:  "prove and end",
		make:  []step{atWork, configured(checked), satisfied, pass("a", "b", "c")},
		stdin: stop("s1"), ends: "COMPLETE",
	},
	{
		name:  "go on as an evaluator says",
		make:  []step{atWork, configured(judged), pass("a", "b", "c")},
		stdin: stop("s1"),
	},
	{
		name:  "end as an evaluator says",
		make:  []step{atWork, configured(judged), satisfied, pass("a", "b", "c")},
		stdin: stop("s1"), ends: "COMPLETE",
	},
	{
		name:  "escalate as an evaluator says",
		make:  []step{atWork, configured(judged), write("odd", ""), pass("a", "b")},
		stdin: stop("s1"), ends: "ESCALATED",
	},
	{name: "continue, told of it", make: []step{atWork, iterating, pass("a", "b")}, stdin: stop("s1"), tells: true},
	{name: "continue with a tracker", make: []step{atWork, sourced(""), pass("a", "b")}, stdin: stop("s1")},
	{
		name:  "reopen in a tracker",
		make:  []step{atWork, sourced(checked), write("done-a", ""), pass("a", "b")},
		stdin: stop("s1"),
	},
	{
		name:  "end with a tracker",
		make:  []step{atWork, sourced(checked), satisfied, pass("a", "b", "c")},
		stdin: stop("s1"), ends: "COMPLETE",
	},
	{
		name:  "hand over",
		make:  []step{atWork, configured(handed), pass("a", "b")},
		stdin: stop("s1"), ends: "HANDOVER",
	},
	{
		name:  "take what was handed over",
		make:  []step{atWork, configured(handed), pass("a", "b"), event(stop("s1"), "HANDOVER")},
		stdin: prompt("s2"), keeps: true,
	},
	{name: "bind by prompt", make: []step{loopMade}, stdin: prompt("s1")},
	{name: "session end", make: []step{atWork}, stdin: sessionEnd("s1"), ends: "INTERRUPTED"},
	{name: "API error", make: []step{atWork}, stdin: stopFailure("s1"), ends: "INTERRUPTED"},
	{
		name:  "session end after an API error",
		make:  []step{atWork, event(stopFailure("s1"), "")},
		stdin: sessionEnd("s1"), keeps: true,
	},
	{
		name:  "session end after one that was killed",
		make:  []step{atWork, event(stopFailure("s1"), ""), unsent},
		stdin: sessionEnd("s1"), keeps: true,
	},
	{
		name:  "prompt after an API error",
		make:  []step{atWork, event(stopFailure("s1"), ""), event(sessionEnd("s1"), "")},
		stdin: said("s1"), keeps: true,
	},
	{
		name:  "folder gone",
		make:  []step{atWork, func(w *world) error { return os.RemoveAll(w.loop()) }, pass("a", "b")},
		stdin: stop("s1"),
	},
	{
		name:  "late notice",
		make:  []step{atWork, pass("a", "b", "c"), event(stop("s1"), "COMPLETE"), unsent},
		stdin: stop("s1"),
	},
	{
		name: "init",
		make: []step{pass(), write(".claude/settings.json", settingsText)},
		args: []string{"init", loopName, "--example", "--settings", "project", "--max-iterations", "9", "--on-complete",
			"NOTIFIER"},
		fresh: true,
		done: func(w *world) error {
			text, err := os.ReadFile(filepath.Join(w.project, ".claude", "settings.json"))
			if err == nil && !strings.Contains(string(text), "ralph-stop-hook") {
				err = fmt.Errorf("init is done, and the settings are %q", text)
			}
			return err
		},
	},
	{
		name: "init of a second loop",
		make: []step{atWork}, args: []string{"init", "other", "--example", "--settings", "none"},
		done: func(w *world) error {
			if to := w.files().current; to != "other" {
				return fmt.Errorf("init is done, and current is %q", to)
			}
			return nil
		},
	},
	{name: "cancel", make: []step{atWork}, args: []string{"cancel"}, done: status("CANCELLED")},
	{name: "pause", make: []step{atWork}, args: []string{"pause"}, done: status("PAUSED")},
	{name: "resume", make: []step{atWork, verb("pause")}, args: []string{"resume"}, done: status("IN_PROGRESS")},
	{
		name: "give it more",
		make: []step{
			atWork, lowered(3), pass("a", "b"), event(stop("s1"), "iteration 3/3"),
			write("src", "x"), event(stop("s1"), "REACHED_LIMIT"),
		},
		args: []string{"resume", "+6"}, done: status("IN_PROGRESS"),
	},
	{name: "trust", make: []step{atWork, func(w *world) error {
		return w.write(loopFolder+"/ralph.json", `{"list": "feature_list.json", "bind": "prompt", "task": "new", `+
			`"limits": {"max_iterations": 9}, "on_complete": ["`+w.notifier()+`"]}`)
	}}, args: []string{"trust", "--yes"}, done: trustHas(`\"task\": \"new\"`)},
	{
		name: "resume before an ending is told",
		make: []step{
			atWork, configured(judged), write("odd", ""), event(stop("s1"), "ESCALATED"), unsent, pass("a", "b"),
		},
		args: []string{"resume"}, done: status("IN_PROGRESS"),
	},
	// What a sender apart does, too; here its own calls are killed and failed.
	{
		name: "send what is left",
		make: []step{atWork, pass("a", "b", "c"), event(stop("s1"), "COMPLETE"), unsent},
		args: []string{"status", "--send-due"}, done: allTold,
	},
	{
		name: "give it time",
		make: []step{
			atWork, configured(`, "limits": {"max_iterations": 9, "deadline": "1ms"}`),
			event(stop("s1"), "REACHED_LIMIT"),
		},
		args: []string{"resume", "+2h"}, done: status("IN_PROGRESS"),
	},
	{name: "detach", make: []step{atWork}, args: []string{"use", "--no-session"}, done: func(w *world) error {
		state, err := w.record()
		if err == nil && state.Session != "" {
			err = fmt.Errorf("detached, and the session is %q", state.Session)
		}
		return err
	}},
	{
		name: "untrust",
		make: []step{atWork},
		args: []string{"trust", "--revoke"}, done: trustHas(`"revoked": true`), then: verb("trust", "--yes"),
	},
	{
		name: "attach",
		make: []step{atWork, verb("use", "--no-session")}, args: []string{"use", "--session", "s2"},
		done: func(w *world) error {
			state, err := w.record()
			if err == nil && state.Session != "s2" {
				err = fmt.Errorf("attached, and the session is %q", state.Session)
			}
			return err
		},
	},
}

// some are all scenarios; of a short run a third, each time another one.
func some() (of []scenario) {
	for i, s := range scenarios {
		if !testing.Short() || uint64(i)%3 == *seed%3 {
			of = append(of, s)
		}
	}
	return of
}

func named(names ...string) (found []scenario) {
	for _, s := range scenarios {
		for _, name := range names {
			if s.name == name {
				found = append(found, s)
			}
		}
	}
	if len(found) != len(names) {
		panic("no such scenario")
	}
	return found
}
