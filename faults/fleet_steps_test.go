//go:build faults && linux

package faults

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// A program with steps counts what it does to the world: a record that it writes, a message that it sends, a file that
// it replaces, a command that it runs. It is killed before the step that FAULTS_DIE says. So the state after each step
// is tried. FAULTS_MARK says that it counts from a mark on, FAULTS_ONLY which steps it counts. Beats are not counted:
// they come by the clock.
var steps = []file{
	{path: "internal/faultstep/step.go", text: `package faultstep

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

var (
	at, _ = strconv.ParseInt(os.Getenv("FAULTS_DIE"), 10, 64)
	wait  = os.Getenv("FAULTS_MARK") != ""
	died  = os.Getenv("FAULTS_DIED")

	marked atomic.Bool
	n      atomic.Int64
)

func Mark() { marked.Store(true) }

func Step(what ...string) {
	if at == 0 || wait && !marked.Load() || n.Add(1) != at {
		return
	}
	for len(what) > 3 && what[1] == "git" && what[2][0] == '-' {
		what = append(what[:2:2], what[3:]...)
		if !strings.HasPrefix(what[2], "-") && strings.Contains(what[2], "=") {
			what = append(what[:2:2], what[3:]...)
		}
	}
	f, err := os.OpenFile(died, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		f.WriteString(strconv.FormatInt(at, 10) + " " + strings.Join(what[:min(3, len(what))], " ") + "\n")
		f.Close()
	}
	syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {}
}
`},
	stepIn("jobs"), stepIn("proc"), stepIn("loopdir"), stepIn("fleet"),
	{
		"internal/jobs/worker.go",
		"\t\t\tgo t.beat(",
		"\t\t\tfaultStep(\"begin\", t.Feature)\n\t\t\tgo t.beat(",
	},
}

func stepIn(pkg string) file {
	return file{path: "internal/" + pkg + "/faults_step.go", text: `package ` + pkg + `

import "github.com/ralph-stop-hook/ralph-stop-hook/internal/faultstep"

func faultStep(what ...string) { faultstep.Step(what...) }
func faultMark() { faultstep.Mark() }
`}
}

// steppedRun is ralph-runner with steps.
func steppedRun(broken ...change) build {
	return build{steps, append([]change{
		{"internal/jobs", "Offer.tell", `
			faultStep("save", o.Feature)
			return o.tellUnbroken()`},
		{"internal/jobs", "Worker.ask", `
			if verb != "beat" {
				faultStep("ask", verb)
			}
			return w.askUnbroken(ctx, verb, q, while)`},
		{"internal/jobs", "Hub.put", `
			faultStep("put", c.Feature)
			return h.putUnbroken(c, q)`},
		{"internal/jobs", "Hub.arrive", `
			faultStep("arrive", c.Feature)
			return h.arriveUnbroken(c, q)`},
		{"internal/proc", "Run", `
			faultStep(append([]string{"run"}, c.Argv...)...)
			return RunUnbroken(ctx, c)`},
		{"internal/loopdir", "rename", `
			faultStep("replace", name)
			return renameUnbroken(root, name, data, perm, confirm)`},
		{"internal/fleet", "session.take", `
			faultMark()
			return s.takeUnbroken(ctx, got)`},
	}, broken...), true}
}

// stepper kills the processes that it is asked about, each a step later than the one before, from first to last.
type stepper struct {
	at, every, last int64
	marked          bool
	died            string
}

func newStepper(w *world, name string, first, every, last int, marked bool) *stepper {
	return &stepper{
		at: int64(first - every), every: int64(every), last: int64(last), marked: marked,
		died: filepath.Join(w.root, name),
	}
}

func (s *stepper) next() []string {
	at := atomic.AddInt64(&s.at, s.every)
	if at > s.last {
		return nil
	}
	env := []string{"FAULTS_DIE=" + strconv.FormatInt(at, 10), "FAULTS_DIED=" + s.died}
	if s.marked {
		env = append(env, "FAULTS_MARK=1")
	}
	return env
}

// deaths returns at which steps processes were killed.
func (s *stepper) deaths() []string {
	text, _ := os.ReadFile(s.died)
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}
