package say

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The command lines by which a loop is begun, and goes on. A session belongs to the folder
// that it was started in, so a line that is for another folder than this one begins with cd.

// runner is the program that works loops with fresh sessions.
const runner = "ralph-runner"

// Start is what a person types to start a session with a loop's prompt, or a run of it.
func Start(env loop.Env, at *loopdir.Loop) string {
	if env.Program == runner {
		return loop.InProject(env, at, runner+" "+plain.Arg(at.Name))
	}
	return loop.InProject(env, at, "ralph-stop-hook start "+plain.Arg(at.Name))
}

// StartPrompt returns the prompt that begins a session of a loop. One that was made by hand need not have the file.
func StartPrompt(at *loopdir.Loop) (string, error) {
	text, err := loopdir.ReadAny(filepath.Join(at.Dir, loopdir.PromptFile), maxStart)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(at.Mark(string(text))), err
}

// maxStart bounds the file of a prompt, in bytes: Linux lets one argument have 128 KiB.
const maxStart = 128<<10 - 1

// StartRun is what a person types to work a loop with fresh sessions of the client that it was made for.
func StartRun(env loop.Env, name string) string {
	line := runner + " "
	if env.Client != "" {
		line += "--agent " + plain.Arg(env.Client) + " "
	}
	return line + plain.Arg(name)
}

// ResumeRun is what a person types so that the run of a loop with fresh sessions goes on.
func ResumeRun(name string) string { return runner + " resume " + plain.Arg(name) }

// Merge is what a person types so that their branch gets the work of a commit or a branch. The list in their project
// has the flags of that work already, and without --autostash git does not merge into a file that is not committed.
func Merge(name string) string { return "git merge --autostash " + plain.Arg(plain.Line(name, 150)) }

// Unmerged says what a person types so that a branch gets the work of an earlier run.
func Unmerged(branch, into string) string {
	return fmt.Sprintf("%s, a branch of an earlier run, has work that %s lacks; to take it there, type: %s",
		plain.Line(branch, 150), plain.Line(into, 200), Merge(branch))
}

// NewWorker is what a person types so that another worker may work in the runs of a loop.
func NewWorker(name string) string { return runner + " engine token NAME " + plain.Arg(name) }

// AnotherAgent is the flag with which a run goes on whose agent does not tell what a limit is about.
const AnotherAgent = "--agent NAME"

// ResumeRunWith is ResumeRun with more of what the loop and the run have used up.
func ResumeRunWith(p *loop.Picture, s decide.State) string {
	words := []string{ResumeRun(p.Loop.At.Name)}
	if s.Status != decide.InProgress {
		words = append(words, p.More(s)...)
	}
	gets := isMoreIterations(s.Raise) && slices.ContainsFunc(words, isMoreIterations) // what the loop gets, the run gets
	if raises(s.Raise) && !gets {
		words = append(words, s.Raise)
	}
	return strings.Join(words, " ")
}

// isMoreIterations reports whether a word gives a loop more iterations, such as +15.
func isMoreIterations(word string) bool {
	n, err := strconv.Atoi(word)
	return err == nil && n > 0 && word[0] == '+'
}

// raises reports whether these words raise a limit of a run. A record that an agent can write may have others.
func raises(words string) bool {
	flag, value, _ := strings.Cut(words, " ")
	_, err := strconv.ParseFloat(value, 64)
	isLimit := err == nil && slices.Contains([]string{"--max-cost", "--max-tokens"}, flag)
	return isLimit || isMoreIterations(words) || words == AnotherAgent
}

// HookProblem says that no stop of the loop's session reaches the hook, and returns what a person has to do about it;
// both are "" if nothing is in the way.
func HookProblem(env loop.Env, at *loopdir.Loop) (why, fix string) {
	if env.HookProblem == nil {
		return "", ""
	}
	why, fix = env.HookProblem(env.Client, at)
	if why == "" {
		return "", ""
	}
	if strings.HasPrefix(fix, "ralph-stop-hook ") {
		fix = loop.InProject(env, at, fix)
	}
	return "no stop reaches the loop: " + why, fix
}

// LoopHookProblem is HookProblem for a loop that only the stops of a session continue. A run needs none, and neither
// does a loop that ralph-runner begins.
func LoopHookProblem(p *loop.Picture, s decide.State) (why, fix string) {
	env := p.Loop.Env
	if s.Run() != "" || s.Session == "" && env.Program == runner {
		return "", ""
	}
	env.Client = s.Client
	return HookProblem(env, p.Loop.At)
}

// GoOn is what a person does so that a loop goes on that is at work, or that a prompt takes up.
func GoOn(p *loop.Picture, s decide.State) string {
	switch _, first := LoopHookProblem(p, s); {
	case first == "":
		return goOn(p, s)
	case s.Session != "":
		return first + "; then: " + goOn(p, s)
	default:
		env := p.Loop.Env
		env.Client = s.Client
		return first + "; then: " + goOn(p, s) + "; or with fresh sessions: " +
			loop.InProject(env, p.Loop.At, StartRun(env, p.Loop.At.Name))
	}
}

// goOn is GoOn if every stop reaches the hook.
func goOn(p *loop.Picture, s decide.State) string {
	l, owner := p.Loop, plain.Line(s.Session, 80)
	env := l.Env
	env.Client = s.Client
	ask, again := env.Clients(env.Client)
	run := s.Run()
	if why, _ := HookProblem(env, l.At); why != "" && run != "" { // nothing would continue a session
		env.Program = runner
	}
	fresh := Start(env, l.At)
	anew := "; or in a new session: " + fresh
	if env.Program == runner {
		anew = "; or in a new run: " + fresh
	}
	known, alive := p.Snapshot.OwnerKnown, p.Snapshot.OwnerAlive
	line := strings.Join(again, " ") + " " + plain.Arg(owner) + " 'Go on.'"
	for _, word := range l.Store.StartFlags().Line() {
		line += " " + plain.Arg(word)
	}
	resume := loop.InProject(l.Env, l.At, line)
	if run != "" {
		resume = loop.InProject(l.Env, l.At, ResumeRunWith(p, s))
	}
	switch {
	case s.OfClient() && alive:
		return "type anything in its session, which is open"
	case s.OfClient(): // nobody knows the session's id, and no hook need answer a new one
		return "in its client, say: work on the loop " + plain.Arg(l.At.Name)
	case s.Status == decide.Handover, s.Session == "" && s.Bind == decide.BindPrompt:
		return fresh
	case s.Session == "" && l.Env.Program == runner:
		return fresh
	case s.Session == "":
		return loop.InProject(l.Env, l.At, ask[0]) + "; the first session that stops there takes the loop"
	case run != "" && known && alive:
		return "nothing; the run " + plain.Line(run, 80) + " works on it"
	case run != "":
		return resume + anew
	case known && alive:
		return "type anything in its session, which is open: " + owner
	case known:
		return resume + anew
	default:
		return "type anything in its session, " + owner + ", if it is open; else: " + resume
	}
}
