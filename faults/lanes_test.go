//go:build faults && linux

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// laneAgent works a feature as an agent does: it writes a file for it and claims it in the lane's copy of the list.
// It notes where what the feature depends on is not there. A feature in shared/ adds a line to a file that many edit. A
// feature in lies/ is claimed half done in its first session.
const laneAgent = `
id=$(sed -n 's/^  id: //p' | head -1)
echo "$id $HOME" >>"$DIARY/sessions"
sleep "$NAP"
for one in $(cat "plan/$id"); do test -f "done/$one" || echo "$id before $one" >>"$DIARY/wrong"; done
if test -f "lies/$id" && ! test -f "$DIARY/lied.$id"; then
	: >"$DIARY/lied.$id"
	mkdir -p half
	echo "$id" >"half/$id"
else
	mkdir -p done
	echo "$id" >"done/$id"
	if test -f "shared/$id"; then
		grep -vE '^(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)' all.txt >all.new
		mv all.new all.txt
		grep -qx "$id" all.txt || echo "$id" >>all.txt
	fi
	case $id in *[05]) git add -A done && git -c user.name=w -c user.email=w@example.com commit -qm "Write $id" ;; esac
fi
sed -i "s/\(\"id\": \"$id\".*\"passes\": \)false/\1true/" feature_list.json
`

// laneTrial is a loop of many features in one world, for a run with lanes.
type laneTrial struct {
	*world
	features, lanes int
	base            string
}

// newLaneTrial makes the loop. A session of its agent takes at least nap.
func newLaneTrial(w *world, features, lanes int, nap time.Duration) (*laneTrial, error) {
	t := &laneTrial{world: w, features: features, lanes: lanes}
	w.env = append(w.env, "DIARY="+w.diary(), "NAP="+fmt.Sprint(nap.Seconds()))
	var list []string
	for i := range features {
		id, needs := fmt.Sprintf("f%d", i), ""
		if i >= 8 {
			needs = fmt.Sprintf("f%d", i/2)
		}
		list = append(list, fmt.Sprintf(`{"id": %q, "title": "Feature %d", "depends_on": [%s], "passes": false}`,
			id, i, quoted(needs)))
		steps := []step{write("plan/"+id, needs+"\n")}
		if i%7 == 0 {
			steps = append(steps, write("shared/"+id, ""))
		}
		if i%11 == 0 {
			steps = append(steps, write("lies/"+id, ""))
		}
		if err := do(steps)(w); err != nil {
			return nil, err
		}
	}
	config := filepath.Join(w.root, "home", ".config", "ralph-stop-hook")
	script := filepath.Join(w.root, "home", "agent.sh")
	err := errors.Join(os.MkdirAll(config, 0o700), os.WriteFile(script, []byte(laneAgent), 0o600),
		os.WriteFile(filepath.Join(config, "config.json"),
			[]byte(`{"agents": {"worker": {"command": ["sh", `+strconv.Quote(script)+`]}}}`), 0o600),
		do([]step{
			write("all.txt", "top\n"),
			write("feature_list.json", "[\n"+strings.Join(list, ",\n")+"\n]\n"),
			write("check.sh", "test -z \"$RALPH_FEATURE\" || test -f \"done/$RALPH_FEATURE\"\n"),
			write(loopFolder+"/ralph.json", fmt.Sprintf(`{"list": "feature_list.json", "bind": "prompt",
				"limits": {"max_iterations": %d, "stagnation": 0},
				"checks": [{"command": "sh check.sh $RALPH_FEATURE"}]}`, 20*features)),
		})(w))
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"init", "-qb", "main"}, {"config", "user.name", "me"}, {"config", "user.email", "me@example.com"},
		{"add", "-A"}, {"commit", "-qm", "Base"},
	} {
		if _, err := t.git(args...); err != nil {
			return nil, err
		}
	}
	t.base, err = t.git("rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	return t, verb("trust", loopName, "--yes")(w)
}

func quoted(id string) string {
	if id == "" {
		return ""
	}
	return strconv.Quote(id)
}

func (t *laneTrial) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = t.project, t.env
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %q: %w", args, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// work runs the loop to its end. It kills the run as often as it is told to, and resumes it.
func (t *laneTrial) work(kills int) (said string, err error) {
	args := []string{loopName, "--agent", "worker", "--workers", strconv.Itoa(t.lanes)}
	for n := 0; ; n++ {
		at := never
		if n < kills {
			at = 1 + moment(n%3)
		}
		out, killed, err := t.once(args, at)
		if said += out; err != nil || !killed {
			return said, err
		}
		if err := t.settle(); err != nil {
			return said, fmt.Errorf("after kill %d: %w", n+1, err)
		}
		if t.hasRun() {
			args = []string{"--resume"}
		}
	}
}

// moment is when a run is killed.
type moment int

const (
	never  moment = iota
	locked        // while a merge goes forward, mostly before the loop's branch moves
	moved         // right after it has moved
	anytime
)

// once runs the loop until it ends, or is killed after some sessions.
func (t *laneTrial) once(args []string, at moment) (said string, killed bool, err error) {
	cmd := exec.Command(t.path, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = t.project, t.env, &out, &out, 10*time.Second
	if err := cmd.Start(); err != nil {
		return "", false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	more := t.begun() + 1 + rand.IntN(max(2, t.features/8))
	was := ""
	for end := time.Now().Add(20 * patience); ; {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("the run ends with %w", err)
			}
			return out.String(), false, err
		case <-time.After(time.Millisecond):
		}
		hangs, due := time.Now().After(end), at != never && t.begun() >= more
		_, free := os.Lstat(filepath.Join(t.project, ".git", "index.lock"))
		branch, _ := os.ReadFile(filepath.Join(t.project, ".git", "refs", "heads", "main"))
		switch {
		case at == locked:
			due = due && free == nil
		case at == moved:
			due = due && was != "" && was != string(branch)
		case due:
			time.Sleep(rand.N(200 * time.Millisecond)) // somewhere in a session or a merge
		}
		was = string(branch)
		if due || hangs {
			_ = cmd.Process.Signal(syscall.SIGKILL)
			<-ended
			if hangs {
				err = errors.New("the run hangs")
			}
			return out.String(), !hangs, err
		}
	}
}

// begun returns how many sessions have begun.
func (t *laneTrial) begun() int {
	text, _ := os.ReadFile(filepath.Join(t.diary(), "sessions"))
	return bytes.Count(text, []byte("\n"))
}

// TestLanes works many features in lanes. Some agents lie, some edit one file, and the run is killed now and then. Each
// feature is merged once, with its work, after what it depends on; list and receipts are right; nothing is left over.
func TestLanes(t *testing.T) {
	h := newHarness(t, "lanes: agents that lie or collide, kills")
	lanes, features, nap := []int{1, 4, 16}, 200, time.Second
	if testing.Short() {
		lanes, features, nap = []int{4}, 30, 0
	}
	h.Log("| lanes | features | sessions | time | features a second | an ideal run |\n|--:|--:|--:|--:|--:|--:|")
	for _, n := range lanes {
		laneTrials(h, "runner", features, n, 0, nap)
		laneTrials(h, "runner", features, n, 4, 0)
	}
	for _, broken := range []string{"believes checks that fail", "leaves lanes"} {
		h.control(broken, func(c *harness) { laneTrials(c, broken, 24, 4, 8, 0) })
	}
}

// laneTrials works a loop once. The log gets how long that took, beside an ideal run, in which nothing but the naps of
// the sessions takes time.
func laneTrials(h *harness, name string, features, lanes, kills int, nap time.Duration) {
	p, err := get(name)
	if err != nil {
		h.Fatal(err)
	}
	t, err := newLaneTrial(newWorld(h, p, inMemory), features, lanes, nap)
	if err != nil {
		h.Fatal(err)
	}
	begin := time.Now()
	said, err := t.work(kills)
	took := time.Since(begin)
	if err == nil {
		err = t.holds()
	}
	if err != nil {
		err = fmt.Errorf("%w\n--- it said:\n%s", err, said[max(0, len(said)-3000):])
	}
	n := t.begun()
	if kills == 0 {
		h.Logf("| %d | %d | %d | %.1f s | %.2f | %.1f s |", lanes, features, n, took.Seconds(),
			float64(features)/took.Seconds(), (time.Duration(n) * nap / time.Duration(lanes)).Seconds())
	}
	h.many(kills+features/11+features/7, fmt.Sprintf("%d lanes", lanes), err)
}
