//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// endings are all statuses of a loop that has ended, with their reasons.
var endings = map[decide.Status][]string{
	decide.Complete:     {decide.AllFeaturesPass, decide.AllChecksPass, decide.ByPromise, decide.ByEvaluator},
	decide.ReachedLimit: {decide.MaxIterations, decide.Deadline, decide.Budget, decide.Attempts},
	decide.Stagnated:    {decide.NoProgress},
	decide.Blocked: {
		decide.PermissionDenied, decide.Asks, decide.SetAside, decide.AllBlocked, decide.Untrusted, decide.CheckTime,
	},
	decide.Escalated:   {decide.Asks, decide.ByEvaluator},
	decide.Handover:    {decide.SessionFull, decide.IterationsPerHour},
	decide.Failed:      {decide.Unusable, decide.InternalError},
	decide.Interrupted: {decide.RateLimit, decide.APIError, decide.SessionEnded},
	decide.Paused:      {decide.ByPerson, decide.ByAgent, decide.ByHeader},
	decide.Cancelled:   {decide.ByPerson, decide.ByAgent, decide.ByHeader},
}

// advice is a loop with an ending, and what types lines in its project.
type advice struct {
	watchtest.World
	at *loopdir.Loop
	*kit
	state decide.State
	run   *record.Run // nil: it had none
}

// TestAdvice types every line that the notice, the terminal, the status and the page advise after each ending, and
// fails if one is refused. What a line that works advises is typed, too.
func TestAdvice(t *testing.T) {
	t.Parallel()
	kit := newKit(t)
	for status, reasons := range endings {
		for _, reason := range reasons {
			for _, left := range []bool{true, false} {
				for _, byRun := range []bool{false, true} {
					if testing.Short() && left == byRun {
						continue
					}
					name := fmt.Sprintf("%s %s, left %v, by run %v", status, reason, left, byRun)
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						newAdvice(t, kit, status, reason, left, byRun).check()
					})
				}
			}
		}
	}
}

// TestAdviceControl holds that a line which is refused is found.
func TestAdviceControl(t *testing.T) {
	t.Parallel()
	a := newAdvice(t, newKit(t), decide.ReachedLimit, decide.MaxIterations, false, false)
	for _, line := range []string{
		"ralph-stop-hook extend demo +15", "ralph-stop-hook resume demo", "ralph-stop-hook resume demo +15",
		"ralph-stop-hook resume demo +2h", "ralph-runner resume demo",
	} {
		a.ends()
		if out, err := a.types(line); err == nil {
			t.Errorf("%s works, though the loop has used up its iterations and its time: %s", line, out)
		}
	}
	for _, text := range []string{"type: ralph-stop-hook extend demo +5; then", "'ralph-stop-hook extend demo +5' works"} {
		if got := linesIn(text); !slices.Equal(got, []string{"ralph-stop-hook extend demo +5"}) {
			t.Errorf("the lines in %q are %q", text, got)
		}
	}
}

// TestAdviceEndings holds that no reason is left out.
func TestAdviceEndings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../internal/decide/state.go")
	if err != nil {
		t.Fatal(err)
	}
	_, of, _ := strings.Cut(string(text), "\n// Exit reasons, ")
	of, _, _ = strings.Cut(of, "\n)\n")
	reasons := regexp.MustCompile(`(?m)^\t\w+ += "(\w+)"`).FindAllStringSubmatch(of, -1)
	all := slices.Concat(slices.Collect(maps.Values(endings))...)
	for _, reason := range reasons {
		if !slices.Contains(all, reason[1]) {
			t.Errorf("no loop of the test ends by %q", reason[1])
		}
	}
	if len(reasons) < 25 {
		t.Errorf("%d reasons were found", len(reasons))
	}
}

// kit is what all loops of the test have.
type kit struct {
	bin      map[string]string // where the programs are
	settings []byte            // of a project with the hook's entry
}

func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{bin: map[string]string{}}
	for _, name := range []string{"ralph-runner", "ralph-stop-hook"} {
		k.bin[name] = build(t, "../"+name)
	}
	dir := t.TempDir()
	init := exec.Command(k.bin["ralph-stop-hook"], "init", "--example", "--settings", "local")
	init.Dir, init.Env = dir, append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	out, err := init.CombinedOutput()
	if err == nil {
		k.settings, err = os.ReadFile(filepath.Join(dir, ".claude", "settings.local.json"))
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return k
}

func newAdvice(t *testing.T, k *kit, status decide.Status, reason string, left, byRun bool) *advice {
	t.Helper()
	w := watchtest.New(t)
	w.Env.StateDir = filepath.Join(w.Dir, "state", "ralph-stop-hook")
	claude := filepath.Join(w.Dir, "bin", "claude")
	if err := os.MkdirAll(filepath.Dir(claude), 0o755); err != nil {
		t.Fatal(err)
	}
	w.Write(claude, agentThatIsDone)
	if err := os.Chmod(claude, 0o755); err != nil {
		t.Fatal(err)
	}
	a := &advice{World: w, at: w.Loop("demo"), kit: k}
	a.Env.Cwd = a.at.Project
	w.Write(filepath.Join(a.at.Project, ".claude", "settings.local.json"), string(k.settings))
	now := time.Now().UTC().Truncate(time.Second)
	w.Commit(a.at, func(s *decide.State) {
		s.Status, s.ExitReason, s.EndedAt, s.Needs, s.Endings = status, reason, now, "somebody to look", 1
		s.StartedAt, s.SessionPID, s.ClientStart = now.Add(-3*time.Hour), 0, ""
		s.Iteration, s.ExtendedDeadline = 3, 24*time.Hour
		if !left || reason == decide.MaxIterations {
			s.Iteration = decide.DefaultIterations
		}
		if !left || reason == decide.Deadline {
			s.ExtendedDeadline = time.Hour
		}
		if reason == decide.IterationsPerHour || reason == decide.RateLimit {
			s.RetryAt = now.Add(time.Second)
		}
		if byRun || reason == decide.Budget {
			s.Session = decide.RunSession("run1")
		}
		if reason == decide.Budget {
			s.Raise = "+2"
		}
		a.state = *s
	})
	if a.state.Run() != "" {
		a.run = &record.Run{
			ID: "run1", PID: 1 << 30, StartedAt: now.Add(-3 * time.Hour), EndedAt: now, Iterations: 3, Sessions: 3,
			Status: status, Options: record.Options{Agent: "claude"},
		}
		if reason == decide.Budget {
			a.run.Options.MaxIterations = 3
		}
	}
	return a
}

// agentThatIsDone claims all features that are open.
const agentThatIsDone = `#!/bin/sh
cat >/dev/null
list=.claude/data/ralph-loops/demo/feature_list.json
sed 's/false/true/g' $list >new && mv new $list
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s","total_cost_usd":1}'
`

// ends brings the loop back to its ending.
func (a *advice) ends() {
	a.Helper()
	a.Write(filepath.Join(a.at.Dir, loopdir.ListFile), watchtest.List(3, 1))
	a.Commit(a.at, func(s *decide.State) { *s = a.state })
	if a.run != nil {
		a.Run(a.at, *a.run)
	} else {
		a.Remove(filepath.Join(a.at.StatePath(), "run.json"))
	}
}

// check types all that is advised.
func (a *advice) check() {
	a.Helper()
	lines := map[string]string{} // with who advises them
	for program := range a.bin {
		a.ends()
		for face, text := range a.faces(program) {
			for _, line := range linesIn(text) {
				lines[line] = program + "'s " + face
			}
		}
	}
	resumes := false
	for line, face := range lines {
		resumes = resumes || strings.Contains(line, " resume demo")
		a.ends()
		out, err := a.types(line)
		if err != nil {
			a.Errorf("%s advises %s: %v", face, line, err)
			continue
		}
		if !strings.HasPrefix(line, "ralph-stop-hook resume ") {
			continue
		}
		next := linesIn(out)
		if len(next) == 0 {
			continue
		}
		// Another one is for a loop that this has not continued.
		if _, err := a.types(next[0]); err != nil {
			a.Errorf("after %s, it advises %s: %v", line, next[0], err)
		}
	}
	if !resumes && a.state.Status != decide.Handover {
		a.Errorf("nothing advises to resume: %q", lines)
	}
}

// faces returns what a program says of the loop, by where it does.
func (a *advice) faces(program string) map[string]string {
	a.Helper()
	env := a.Env
	env.Program = program
	l, err := loop.Open(env, a.at)
	if err != nil {
		a.Fatal(err)
	}
	defer l.Close()
	p, err := l.Look()
	if err != nil {
		a.Fatal(err)
	}
	end := say.DecisionAnswer(p, decide.Decision{Verdict: decide.End, Next: a.state})
	status, err := verb.Of(l)
	if err != nil {
		a.Fatal(err)
	}
	shown, err := json.Marshal(status)
	if err != nil {
		a.Fatal(err)
	}
	all := map[string]string{
		"ending": end.Message, "answer to a prompt": say.Continues(p, a.state),
		"status": status.Then + "\n" + status.Command + "\n" + strings.Join(status.Notes, "\n"),
		"JSON":   strings.NewReplacer(`\u0026`, "&", `\"`, `"`).Replace(string(shown)),
	}
	d, err := watch.Open(env, a.at.Dir)
	if err != nil {
		a.Fatal(err)
	}
	all["page"] = strings.Join(d.Commands, "\n")
	if out, err := a.types(program + " resume demo"); err != nil {
		all["refusal"] = out
		a.ends()
	}
	return all
}

// advised matches a line of one of the programs that names the loop, with what is behind the name.
var advised = regexp.MustCompile(`ralph-(?:stop-hook|runner)(?: [a-z]+)? demo\b` +
	`(?: \+\w+| --[\w-]+(?: [\d.]+)?)*`)

// linesIn returns the lines that a text advises.
func linesIn(text string) []string { return advised.FindAllString(text, -1) }

// types types a line, as a person does, and returns what is printed. An error says that it is refused.
func (a *advice) types(line string) (string, error) {
	a.Helper()
	words := strings.Fields(line)
	switch words[1] {
	case "note":
		words = append(words, "it is blue")
	case "trust":
		words = append(words, "--yes") // there is no terminal
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.bin[words[0]], words[1:]...)
	cmd.Dir = a.at.Project
	cmd.Env = []string{
		"PATH=" + strings.Join([]string{
			filepath.Join(a.Dir, "bin"), filepath.Dir(a.bin["ralph-stop-hook"]), os.Getenv("PATH"),
		}, ":"),
		"HOME=" + a.Dir,
		"XDG_STATE_HOME=" + filepath.Join(a.Dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(a.Dir, "config"),
		"XDG_CACHE_HOME=" + filepath.Join(a.Dir, "cache"), "TMPDIR=" + a.Dir,
	}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), ": error: ") {
		return string(out), fmt.Errorf("%w: %s", err, out)
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		a.Fatal(err)
	}
	return string(out), ctx.Err()
}
