//go:build faults && linux

package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// step is something that happens in a world.
type step func(w *world) error

func do(steps []step) step {
	return func(w *world) error {
		for _, s := range steps {
			if err := s(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// verb runs a verb of a person's, which has to succeed.
func verb(args ...string) step {
	return func(w *world) error {
		r, err := w.run("", args...)
		if err == nil && r.status != 0 {
			err = fmt.Errorf("%q ends with %d: %s", args, r.status, r.stderr)
		}
		return err
	}
}

// event has the hook called by the host, and holds it to what it prints.
func event(stdin string, prints string) step {
	return func(w *world) error {
		r, err := w.run(stdin, "hook")
		if err == nil {
			err = w.ack(r)
		}
		if err == nil && (r.killed() || !strings.Contains(r.stdout, prints)) {
			err = fmt.Errorf("the hook printed %.300q, want %q; %s", r.stdout, prints, r.stderr)
		}
		return errors.Join(err, w.settle()) // its sender may live longer
	}
}

func write(name, text string) step { return func(w *world) error { return w.write(name, text) } }

// pass is an agent's work: these features pass now.
func pass(ids ...string) step {
	return func(w *world) error { return w.write(w.list, listOf(ids...)) }
}

// loopMade is a project with a list, settings of a person's and a loop.
func loopMade(w *world) error {
	return do([]step{pass(), write(".claude/settings.json", settingsText), func(w *world) error {
		return verb("init", loopName, "--features", w.list, "--max-iterations", "9",
			"--settings", "project", "--on-complete", w.notifier())(w)
	}})(w)
}

// notifier adds each payload to the world's notices.
// It is not held to a limit of file sizes.
func (w *world) notifier() string { return "ulimit -f unlimited; cat >> " + w.notices }

// atWork is a loop at its second iteration, with one feature of three passing.
func atWork(w *world) error {
	return do([]step{
		loopMade, event(prompt("s1"), "iteration 1/9"),
		func(w *world) error {
			f, err := os.OpenFile(filepath.Join(w.loop(), "progress.txt"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString(note)
			return err
		},
		pass("a"), event(stop("s1"), `"decision":"block"`),
	})(w)
}

// note is an agent's, in progress.txt.
const note = "a is done: see src.\n"

// lowered lowers the limit of iterations, as a person does in the header.
func lowered(iterations int) step {
	return func(w *world) error {
		path := filepath.Join(w.loop(), "progress.txt")
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lower := fmt.Sprintf("\nMax Iterations: %d\n", iterations)
		text = regexp.MustCompile(`\nMax Iterations: \d+\n`).ReplaceAll(text, []byte(lower))
		return os.WriteFile(path, text, 0o644)
	}
}

// configured makes a ralph.json that is trusted.
func configured(more string) step {
	return func(w *world) error { return trusted(w, `"list": "`+w.list+`", `, more) }
}

func trusted(w *world, list, more string) error {
	notify, err := json.Marshal(w.notifier())
	if err != nil {
		return err
	}
	limits := ""
	if !strings.Contains(more, `"limits"`) {
		limits = `, "limits": {"max_iterations": 9}`
	}
	return do([]step{
		write(loopFolder+"/ralph.json",
			`{`+list+`"bind": "prompt", "on_complete": [`+string(notify)+`]`+limits+more+`}`),
		verb("trust", "--yes"),
	})(w)
}

// judged has an evaluator that wants what satisfied makes, and a person where there
// is a file odd.
const judged = `, "evaluate": [{"command": "cat > /dev/null; ` +
	`if test -e odd; then echo '{\"action\": \"escalate\", \"reason\": \"odd\"}'; ` +
	`elif test -e all; then echo '{\"action\": \"complete\"}'; ` +
	`else echo '{\"action\": \"continue\", \"nextPrompt\": \"More.\"}'; fi"}]`

// handed hands the loop over when its session has done two features.
const handed = `, "limits": {"max_iterations": 9, "features_per_session": 2}`

// iterating has each iteration told.
func iterating(w *world) error {
	begun, err := json.Marshal("cat >> " + w.begun())
	if err != nil {
		return err
	}
	return configured(`, "on_iteration": [` + string(begun) + `]`)(w)
}

// sourced makes the list that of a tracker, whose commands print it and open items
// again.
func sourced(more string) step {
	return do([]step{write("tracker.sh", trackerText), func(w *world) error {
		const commands = `"list": ["sh", "tracker.sh", "list"], "reopen": ["sh", "tracker.sh", "reopen", "${id}"]`
		return trusted(w, `"source": {`+commands+`}, `, more)
	}})
}

const trackerText = `set -e
case $1 in
list) cat feature_list.json ;;
reopen)
	sed -E '/"id" ?: ?"'$2'"/s/("passes": ?)true/\1false/' feature_list.json > tracked
	sync tracked
	mv tracked feature_list.json
	sync .
	;;
esac
`

const checked = `, "checks": [{"command": "test -e done-$RALPH_FEATURE"}, ` +
	`{"command": "test -e all", "when": "end"}]`

// satisfied makes what the checks of checked look for, and the evaluator of judged.
func satisfied(w *world) error {
	for _, name := range []string{"done-a", "done-b", "done-c", "all"} {
		if err := w.write(name, ""); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(w.project, "odd"))
}

func inFolder(w *world) error {
	w.list = "docs/prd.json"
	return nil
}

// unsent makes the record that of a hook that was killed before it told the ending.
// Nobody holds the sender lock: the kernel frees it when its process dies.
func unsent(w *world) error {
	for _, dir := range w.recordDirs() {
		path := filepath.Join(dir, "state.json")
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var state map[string]any
		if err := json.Unmarshal(data, &state); err != nil {
			return err
		}
		for _, n := range state["notices"].([]any) {
			delete(n.(map[string]any), "sentAt")
		}
		data, err = json.Marshal(state)
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return os.Remove(w.notices)
}
