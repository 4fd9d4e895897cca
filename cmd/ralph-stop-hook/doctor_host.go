package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// lookSettings looks for files that Claude Code ignores. Which ones another client ignores is not known.
func lookSettings(in *inspection) {
	for _, s := range in.settings {
		if why, fix := in.v.install(s.client, in.project).Ignored(s.Settings); s.client.Strict && why != "" {
			in.failure(fix, "%s", why)
		}
	}
	in.fine("the client can read all settings files")
}

func lookSwitchedOff(in *inspection) {
	var files []client.Settings
	for _, s := range in.settings {
		if s.client.Strict {
			files = append(files, s.Settings)
		}
	}
	if why, fix := in.v.install(client.Find(client.Usual), in.project).SwitchedOff(files...); why != "" {
		in.failure(fix, "%s", why)
	}
	in.fine("nothing switches hooks off")
}

// lookEntry looks for entries that call the hook, of each client.
func lookEntry(in *inspection) {
	for _, c := range client.All {
		in.lookEntries(&c)
	}
	hooked := func(c client.Client) bool { return in.v.install(&c, in.project).Hooked() }
	ignored := func(s settings) bool { return s.Err != nil }
	why, fix := in.v.install(client.Find(client.Usual), in.project).NoEntry()
	switch {
	case why == "", slices.ContainsFunc(in.settings, ignored): // it may be in what cannot be read
	case slices.ContainsFunc(client.All, hooked):
		in.note(fix, "the hook is in no settings of Claude Code, so that does not call it")
	case in.picture != nil && in.picture.Snapshot.State.Run() != "":
		in.note(fix, "the hook is in no settings of this project; a run of ralph-runner needs none")
	default:
		in.failure(fix, "%s", why)
	}
}

// lookEntries looks at the entries of one client. Claude Code reports a misspelt one as a problem, and goes on.
func (in *inspection) lookEntries(c *client.Client) {
	in.before = len(in.found)
	install := in.v.install(c, in.project)
	the := "the hook"
	if c.Name != client.Usual {
		the += " of " + c.Title
	}
	var all []*client.Hook
	var places []string // of the entries for a stop
	stop := c.Events[0]
	for _, s := range in.settings {
		if s.client.Name != c.Name {
			continue
		}
		for _, h := range append(s.Ours(stop), s.Ours("")...) {
			report := in.warning // stops still reach the hook
			if h.Event == stop && len(places) == 0 {
				report = in.failure
			}
			if why, fix := install.NoCall(s.Settings, h); why != "" {
				report(fix, "%s", why)
				break // the fix renews all entries of the file
			}
		}
		for range s.Ours(stop) {
			places = append(places, s.shown)
		}
		all = append(all, s.Ours("")...)
	}
	if plugin := install.Plugin(program); plugin != "" {
		places = append(places, "the plugin "+plugin)
	} else if missing := c.Missing(all); len(all) > 0 && len(missing) > 0 {
		in.warning(install.Init(), "no entry of %s is for %s, so the hook gets no such event", c.Title,
			strings.Join(missing, ", "))
	}
	switch {
	case len(places) > 1:
		in.warning("remove it from all places but one", "%s is in %s", the, strings.Join(places, " and "))
	case len(places) == 1:
		in.fine("%s is in %s", the, places[0])
	}
	if len(places) > 0 && c.Trust != "" {
		in.note(c.Trust, "%s runs the hook only if a person has trusted it", c.Title)
	}
}

// lookProgram looks for the programs of the entries.
func lookProgram(in *inspection) {
	var seen []string
	for _, s := range in.settings {
		install := in.v.install(s.client, in.project)
		for _, h := range s.Ours("") {
			if slices.Contains(seen, h.Command) || !h.Exec { // only the shell knows which one a line runs
				continue
			}
			seen = append(seen, h.Command)
			switch path, why, fix := install.Runs(s.Settings, h); {
			case why != "":
				in.failure(fix, "%s", why)
			case !loopdir.SameFile(path, in.v.Env.Self):
				in.note("check that this is the version you want", "the entry in %s runs %s, but this is %s", s.shown, path,
					in.v.Env.Self)
			default:
				in.good("the entry in %s runs this program, %s", s.shown, path)
			}
		}
	}
}

// versionTimeout is how long a program may take to print its version. A test shortens it.
var versionTimeout = 10 * time.Second

func lookVersions(in *inspection) {
	switch path, words := in.ask("claude", "--version"); {
	case path == "":
		in.note("nothing, if you use Claude Code in an editor", "claude is not on PATH, so its version is unknown")
	case len(words) < 2 || words[1] != "(Claude":
		in.warning("try it: claude --version", "%s did not print its version: %s", path, strings.Join(words, " "))
	default:
		in.good("Claude Code %s", words[0])
	}
	own := cli.VersionText(version)
	if path, words := in.ask("ralph-runner", "version"); path != "" && !slices.Contains(words, own) {
		in.warning("install both from one release: they share the records of loops", "%s is not of version %s: %s", path,
			own, strings.Join(words, " "))
	}
}

// ask runs a program with one word, and returns where PATH finds it and the words that it prints. PATH has no folder of
// the project, whose programs an agent can write.
func (in *inspection) ask(name, word string) (path string, words []string) {
	env := proc.EnvOutside(in.v.Env.Vars, in.project)
	path, err := proc.LookPath(name, proc.Value(env, "PATH"))
	if err != nil {
		return "", nil
	}
	r := proc.Run(context.Background(), proc.Cmd{
		Argv: []string{path, word}, Dir: in.project, Env: env, Stdin: []byte{}, Timeout: versionTimeout, Output: 1000,
	})
	if r.Err != nil {
		return path, strings.Fields(r.Err.Error())
	}
	return path, strings.Fields(plain.Line(string(r.Output), 200))
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
	r := proc.Run(context.Background(), proc.Git(env, in.project, "rev-parse", "--is-inside-work-tree"))
	if r.Err != nil {
		in.warning("run git status, and see what it says", "git does not work here: %s",
			plain.Line(string(r.Output), 300))
		return
	}
	in.good("git works here")
}

// blockingPlugins keep a session going too.
var blockingPlugins = []string{"ralph-loop", "ralph-wiggum"}

func lookRivals(in *inspection) {
	for _, name := range blockingPlugins {
		if plugin := in.v.install(client.Find(client.Usual), in.project).Plugin(name); plugin != "" {
			in.warning("claude plugin disable "+plugin, "the plugin %s blocks stops too", plugin)
		}
	}
	for _, s := range in.settings {
		for _, h := range s.Hooks {
			if h.Event == s.client.Events[0] && !h.Ours {
				in.note("check whether it can block: the loop's limits do not apply to it",
					"%s has another Stop hook: %s", s.shown, h.Command)
			}
		}
	}
	in.fine("no other Stop hook")
}
