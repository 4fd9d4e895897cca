package main

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

type inspection struct {
	v       verbs
	install client.Install // of Claude Code
	project string
	scopes  []*scope // the narrowest first, as the client ranks them
	client  string   // its version, empty where that is not known
	loop    *loopdir.Loop
	picture *loop.Picture // nil if the loop cannot be read

	check  string     // the name of the probe that looks
	found  []*finding // by all probes so far
	before int        // how many of these other probes have found
}

// scope is one settings file.
type scope struct {
	client.Settings
	shown string // the path, for people
}

func (v verbs) newInspection(project string) *inspection {
	in := &inspection{v: v, install: v.install(client.Find(client.Usual), project), project: project}
	for _, s := range in.install.Settings(in.install.Scopes...) {
		in.scopes = append(in.scopes, &scope{s, plain.Path(project, s.Path)})
	}
	return in
}

func lookSettings(in *inspection) {
	for _, s := range in.scopes {
		if why, fix := in.install.Ignored(s.Settings); why != "" {
			in.failure(fix, "%s", why)
		}
	}
	in.fine("the client can read all settings files")
}

func lookDisabled(in *inspection) {
	for _, s := range in.scopes {
		if s.Disabled.Bool() {
			in.failure("take that out, or set it to false", "%s has \"disableAllHooks\": true, so the loop cannot work",
				s.shown)
			return
		}
		if s.Scope == client.Managed && s.ManagedOnly && len(s.Ours(client.Stop)) == 0 {
			in.failure("ask your administrator to put the hook there",
				"%s has \"allowManagedHooksOnly\": true, but not the hook, so the loop cannot work", s.shown)
			return
		}
		if s.Disabled.Exists() {
			break // a wider one is not heard
		}
	}
	in.good("nothing switches hooks off")
}

func lookProgram(in *inspection) {
	self := in.v.Env.Self
	var seen []string
	for _, s := range in.scopes {
		for _, h := range s.Ours("") {
			name := strings.ReplaceAll(h.Command, "${CLAUDE_PROJECT_DIR}", in.project)
			if slices.Contains(seen, name) {
				continue
			}
			seen = append(seen, name)
			if !h.Exec {
				in.note("'ralph-stop-hook init' writes one that needs no shell",
					"the entry in %s is a line for a shell: %s", s.shown, h.Command)
				continue
			}
			path, err := proc.LookPath(name, in.v.Env.Get("PATH"))
			switch {
			case err != nil && filepath.Base(name) == name:
				in.failure("put it into a folder of PATH, or run: ralph-stop-hook init",
					"the entry in %s runs %s, which PATH does not find", s.shown, name)
			case err != nil:
				in.failure("put it there, or run: ralph-stop-hook init",
					"the entry in %s runs %s, which is missing or not a program", s.shown, name)
			case !loopdir.SameFile(path, self):
				in.note("check that this is the version you want", "the entry in %s runs %s, but this is %s", s.shown, path,
					self)
			default:
				in.good("the entry in %s runs this program, %s", s.shown, path)
			}
		}
	}
}

// readsArgs is the first version of the client that reads the arguments of an entry, as its documentation says.
var readsArgs = []int{2, 1, 139}

var versionIn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+\.\d+`) })

// clientTimeout is how long a program may take to say its version. A test shortens it.
var clientTimeout = 10 * time.Second

// ask runs a program with one word. path is where PATH finds it, "" if there is none. PATH has no folder of the
// project, whose programs an agent can write.
func (in *inspection) ask(program, word string) (path string, r proc.Result) {
	env := proc.EnvOutside(in.v.Env.Vars, in.project)
	path, err := proc.LookPath(program, proc.Value(env, "PATH"))
	if err != nil {
		return "", r
	}
	return path, proc.Run(context.Background(), proc.Cmd{
		Argv: []string{path, word}, Dir: in.project, Env: env, Stdin: []byte{}, Timeout: clientTimeout, Output: 1000,
	})
}

func lookClient(in *inspection) {
	path, r := in.ask("claude", "--version")
	if path == "" {
		in.note("nothing, if you use Claude Code in an editor", "claude is not on PATH, so its version is unknown")
		return
	}
	in.client = versionIn().FindString(string(r.Output))
	if r.Err != nil || in.client == "" {
		said := plain.Line(string(r.Output), 200)
		if r.Err != nil {
			said = strings.TrimSuffix(r.Err.Error()+": "+said, ": ")
		}
		in.warning("try it: claude --version", "claude did not print its version: %s", said)
		return
	}
	switch {
	case in.older(readsArgs):
		in.warning("claude update",
			"Claude Code %s ignores the arguments in the hook's entry, which 2.1.139 and later "+
				"read: --timeout and --on-complete have no effect", in.client)
	default:
		in.good("Claude Code %s", in.client)
	}
}

func lookRunner(in *inspection) {
	path, r := in.ask("ralph-runner", "version")
	its := "unknown"
	if words := strings.Fields(string(r.Output)); r.Err == nil && len(words) > 1 && words[0] == "ralph-runner" {
		its = plain.Line(words[1], 100)
	}
	if own := cli.VersionText(version); path != "" && its != own {
		in.warning("install both from one release: they share the records of loops",
			"%s is version %s, and this is %s", path, its, own)
	}
}

func (in *inspection) older(than []int) bool {
	var have []int
	for _, part := range strings.Split(in.client, ".") {
		n, _ := strconv.Atoi(part)
		have = append(have, n)
	}
	return in.client != "" && slices.Compare(have, than) < 0
}

func lookCap(in *inspection) {
	text := in.v.Env.Get(client.BlockCapVar)
	if i := slices.IndexFunc(in.scopes, func(s *scope) bool { return s.BlockCap != "" }); i >= 0 {
		text = in.scopes[i].BlockCap
	}
	switch most := client.BlockCap(text); {
	case most == 0:
		in.note("nothing, if you mean it",
			"%s is 0: the client does not limit blocks without a tool call; the loop's own limits do",
			client.BlockCapVar)
	case most == 1:
		in.failure("set it to 8, or take it out", "%s is 1, so the client never continues after a stop",
			client.BlockCapVar)
	case most < 4:
		in.warning("set it to 8, or take it out",
			"%s is %d, so a loop ends STAGNATED after %s in a row without a tool call",
			client.BlockCapVar, most, plain.Count(most-1, "block"))
	default:
		in.good("the client allows %d blocks in a row without a tool call, and the loop ends before that", most)
	}
}

func lookGit(in *inspection) {
	env := proc.EnvOutside(in.v.Env.Vars, in.project)
	if _, err := proc.LookPath("git", proc.Value(env, "PATH")); err != nil {
		in.note("install git", "git is not on PATH: changes of files are seen by their times, and commits are not seen")
		return
	}
	if loopdir.RepoRoot(in.project) == "" {
		in.note("git init", "the project is not a git repository: changes of files are seen by their times")
		return
	}
	git := proc.Git(env, in.project, "rev-parse", "--is-inside-work-tree")
	if r := proc.Run(context.Background(), git); r.Err != nil {
		in.warning("run git status, and see what it says", "git does not work here: %s",
			plain.Line(string(r.Output), 300))
	} else {
		in.good("git works here")
	}
}
