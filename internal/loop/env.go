// Package loop is shared by every program over a loop: it finds the loop of an event, loads what a
// decision depends on, decides, runs checks, commits the record and tells the notifiers. It does
// not know which host calls it.
package loop

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Env describes the process's surroundings. main reads them once; nothing below reads the
// environment.
type Env struct {
	Program    string   // this program's name, as a person types it
	Self       string   // this program's path; "" if the system does not tell
	Agent      string   // the host's name in notices, such as "claude"
	Client     string   // the host that calls, or for which a loop is made; "": the usual one
	Vars       []string // the environment, as of os.Environ
	Cwd        string   // the working folder
	Anywhere   bool     // who reads a command that is shown may be in any folder, not in Cwd
	Home       string   // the user's home folder; "" if there is none
	ConfigDir  string   // the system's folder for users' configuration; "" if there is none
	StateDir   string   // the user's state folder; "" if there is none
	CacheDir   string   // the system's folder for users' caches; "" if there is none
	StateErr   error    // why there is no state folder
	LoopDir    string   // a loop's folder that a flag or the environment names
	ProjectDir string   // the host's project; "" if the host does not say
	OnComplete string   // a notifier of the host's own entry, a line for the shell
	ByAgent    bool     // an agent called this program, not a person
	Report     string   // the path of the report that the host will have written; "": it writes none
	PR         string   // the address of the pull request with the loop's work; "": there is none, or it is not known
	ToMerge    string   // what a person is to do when the loop is complete, so that the work is where it belongs

	// Uncommitted says why the host has not committed all work that is done, for the notice of an ending. "": it has.
	Uncommitted string

	// ChecksAtOnce is how many checks may run at the same time if ralph.json does not say. 0: one.
	ChecksAtOnce int

	// OfHost reports whether a variable is of the host, and IsSecret whether it is a key or a
	// token of the host, which no check gets. If they are nil, none is.
	OfHost, IsSecret func(name string) bool

	// Clients returns the words before a prompt and before a session's id, with which a person begins
	// and resumes a session of a host.
	Clients func(client string) (ask, resume []string)

	// Settings returns the settings files of hosts, below a project. nil: nobody knows them.
	Settings func() []string

	// HookProblem says why no stop of a loop's session reaches this program, and what a person does about it; both are
	// empty if it does, as far as files tell. nil: nobody knows. It reads files, so it is called only if needed.
	HookProblem func(client string, at *loopdir.Loop) (why, fix string)

	// Everywhere reports whether the host calls this program in all projects. Then a stop begins
	// no loop. It may read files, so it is called only if needed.
	Everywhere func() bool

	// Say tells a person who waits that a command of an event takes long, or that a notifier failed. Other goroutines
	// may call it. nil: nobody waits.
	Say func(text string)

	// Catch is called around work that may take long. It returns a context that ends when a signal
	// asks the process to end, and a function that handles signals as before.
	Catch func(context.Context) (context.Context, context.CancelFunc)
}

// Get returns a variable of the environment, "" if it is not set.
func (e Env) Get(name string) string { return proc.Value(e.Vars, name) }

// Where returns what the search for a loop starts from.
func (e Env) Where() loopdir.Where {
	return loopdir.Where{
		StateDir: e.StateDir, StateErr: e.StateErr, LoopDir: e.LoopDir, ProjectDir: e.ProjectDir, Cwd: e.Cwd,
		Home: e.Home,
	}
}

// Event is what a host reports, in words that are no host's own.
type Event struct {
	decide.Report

	// Decide asks the rules for a host that shows them a snapshot of its own, and adds to what they decide; nil:
	// decide.Decide.
	Decide func(decide.Snapshot) (decide.Decision, decide.Need)

	Name       string          // the host's own name for the event, for stops.jsonl
	Transcript string          // the path of the conversation's file; "": not known
	ExitCode   string          // EventStop: the exit status of the session's agent; "": it runs on, or that is not known
	Prompt     string          // EventPrompt: what was submitted
	Caller     string          // the session whose agent sends this event by hand; "": the host sends it
	Rivals     func() bool     // EventPrompt: whether something else may block the session's stops; nil: not known
	Dying      bool            // the host may end this process at any moment, and reads no answer
	Draft      agenthook.Draft // EventStop: what the agent shows its evaluators

	// EventStop of a host with lanes: the work tree with all that is merged, which is looked at in the place of the
	// project. While other lanes work, it may have other files.
	WorkTree string
	Results  []decide.Receipt // of checks that have run there
	Contents string           // the hash of what they found, as Picture.Contents returns it; "": none has run

	Background map[string]int // how much of each kind runs in the background and will wake the session

	Tail    func(now time.Time) decide.Tail // reads the end of the transcript; nil: there is none
	At      time.Time                       // when the event came
	Timeout time.Duration                   // how long its answer may take, with the notifiers
}

// margin is how much of an event's time is kept free at its end: a late answer is dropped.
const margin = 5 * time.Second

// Deadline returns when notifiers must be done.
func (ev Event) Deadline() time.Time { return ev.At.Add(max(ev.Timeout-margin, ev.Timeout/2)) }

// background says in words what runs in the background and will wake the session. Shells and what monitors something
// count only if the loop waits for them: a dev server runs for ever.
func (ev Event) background(shells bool) (running []string) {
	for kind, n := range ev.Background {
		if n > 0 && (shells || kind != "shell" && kind != "monitor") {
			running = append(running, plain.Count(n, plain.Line(kind, 40)))
		}
	}
	slices.Sort(running)
	return running
}

// now is an event of no host: a verb looks at the loop.
func now() Event { return Event{At: time.Now(), Timeout: maxSend} }

// Whoever edits the settings can give the hook any variable, and no list can say which variables
// change what a command does. So what a trusted loop runs gets only variables that are as they
// were when a person trusted it, and those that ralph.json names.

// CheckVar is set for checks, evaluators and trackers. If it is set, the caller of this program is
// not a person.
const CheckVar = "RALPH_CHECK"

// RunVar has the run's id in the environment of an agent that a program of ours has started. If it
// is set, the caller of this program is not a person.
const RunVar = "RALPH_RUN"

// environ returns the session's environment. No program of the project's is on its PATH.
func (l *Loop) environ() []string { return proc.EnvOutside(l.Env.Vars, l.project()) }

// environ returns the environment of what the loop runs, and the names of the session's variables
// that are left out. Without trust it is the session's environment: then only git runs, and the
// command of the host's own entry.
func (p *Picture) environ(named ...string) (env, dropped []string) {
	if !p.Config.Trusted {
		return p.Loop.environ(), nil
	}
	kept := proc.EnvFingerprint{Salt: p.Config.EnvSalt, Sums: p.Config.EnvSums, Values: map[string]string{}}
	maps.Copy(kept.Values, p.Config.EnvValues)
	kept.Values["PATH"], _ = proc.PathOutside(p.Config.SearchPath, p.Loop.project())
	env, dropped = kept.Same(p.Loop.Env.Vars, named)
	if p.Loop.work == "" {
		return env, dropped
	}
	// PYTHONPATH, for example, would have a check test the project. A package manager would change the virtual environment
	// that is active there so that it has the packages of this folder.
	env = proc.Without(env, func(name string) bool { return proc.SameName(name, "VIRTUAL_ENV") })
	top := filepath.FromSlash(p.Config.Top)
	return proc.MoveEnv(env, filepath.Join(p.Loop.At.Project, top), filepath.Join(p.Loop.work, top)), dropped
}

// notByName says why a variable cannot be named in ralph.json; "" if it can be.
func notByName(name string) string {
	switch {
	case proc.IsPlace(name):
		return "which commands always get as it is when you trust them"
	case strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"):
		return "by which whoever edits the settings would have every program load other code"
	}
	return ""
}

// PathInside returns the folders of a PATH in which commands are not looked up; "" for none.
func (l *Loop) PathInside(path string) string {
	_, left := proc.PathOutside(path, l.project())
	if len(left) == 0 {
		return ""
	}
	return "PATH is passed on without the folders that an agent can write to; name their programs with the folder: " +
		plain.Line(strings.Join(left, ", "), 300)
}

// checkEnv returns the environment of checks, without the host's keys if nobody names them.
func (p *Picture) checkEnv() []string {
	env, _ := p.environ(p.Config.Env...)
	env = proc.Without(env, func(name string) bool {
		return !slices.Contains(p.Config.Env, name) && p.Loop.Env.IsSecret != nil && p.Loop.Env.IsSecret(name)
	})
	if p.HasCopy() { // a folder above it may be in some repository
		env = append(env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(p.place().Copy))
	}
	for name, value := range quiet {
		if proc.Value(env, name) == "" {
			env = append(env, name+"="+value)
		}
	}
	return append(env, CheckVar+"=1", "CLAUDE_PROJECT_DIR="+p.Loop.project())
}

// quiet are variables by which npm, and other programs with the package update-notifier, do not ask for a newer version
// of themselves. Their notices come last, where an agent and a person look for what failed.
var quiet = map[string]string{"NO_UPDATE_NOTIFIER": "1", "npm_config_update_notifier": "false"}

// maxWithheld is how many variables Withheld names.
const maxWithheld = 10

// Withheld names the session's variables that checks do not get, because they changed after a
// person trusted the loop; "" for none. It leaves out variables that differ in every session.
func (p *Picture) Withheld() string {
	_, names := p.environ(p.Config.Env...)
	names = slices.DeleteFunc(names, func(name string) bool {
		ofHost := p.Loop.Env.OfHost != nil && p.Loop.Env.OfHost(name)
		return ofHost || strings.HasPrefix(name, "RALPH_") || proc.IsTerminal(name)
	})
	more := ""
	if n := len(names) - maxWithheld; n > 0 {
		names, more = names[:maxWithheld], fmt.Sprintf(" and %d more", n)
	}
	for i, name := range names {
		names[i] = plain.Line(name, 60)
	}
	return strings.Join(names, ", ") + more
}

// notifierEnv returns the environment of a notifier. It has those that named lists, too.
func (p *Picture) notifierEnv(named []string) []string {
	env, _ := p.environ(named...)
	return proc.Without(env, func(name string) bool {
		is := func(one string) bool { return proc.SameName(one, name) }
		return !proc.IsPlace(name) && !proc.IsDesktop(name) && !slices.ContainsFunc(named, is)
	})
}
