package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// starter starts the client with a loop's prompt, in this terminal.
type starter struct {
	verbs
	checks   []string
	flags    loopdir.StartFlags
	hasFlags bool // the person gave some, if only to clear those of last time
}

func (v verbs) start() *cobra.Command {
	s := &starter{verbs: v}
	cmd := &cobra.Command{
		Use:   "start [NAME|LIST] [flags] [-- ARGUMENT...]",
		Short: "Start the client on a loop; create it if there is none",
		Long: `Start the client on the loop NAME, in this terminal. LIST is a file with features, or
its folder: if no loop works on it, start creates one. The default is the current loop, or the
project's list. start installs the hook where it is missing, and adds a --check that is new.
Each ARGUMENT is passed to the client. Flags and arguments are used again next time, until you
give others.`,
		Example: `  ralph-stop-hook start prd.json --check 'npm test' --allowed-tools 'Bash(npm test:*)'
  ralph-stop-hook start checkout --permission-mode acceptEdits -- --model opus`,
		RunE: func(c *cobra.Command, words []string) error {
			at := c.ArgsLenAtDash()
			if at >= 0 {
				words, s.flags.Arguments = words[:at], words[at:]
			}
			s.hasFlags = at >= 0 || c.Flags().Changed("permission-mode") || c.Flags().Changed("allowed-tools")
			return s.run(c.OutOrStdout(), words)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.checks, "check", nil, config.Usage("checks"))
	f.StringVar(&s.flags.PermissionMode, "permission-mode", "", "use permission mode `MODE`, such as acceptEdits")
	f.StringArrayVar(&s.flags.AllowedTools, "allowed-tools", nil, "allow `RULE`, such as 'Bash(npm test:*)'; repeatable")
	return cmd
}

func (s *starter) run(w io.Writer, words []string) error {
	if err := s.PersonOnly(); err != nil {
		return err
	}
	at, err := s.find(w, words)
	if err != nil {
		return err
	}
	l, err := loop.Open(s.Env, at)
	if err != nil {
		return err
	}
	var argv []string
	if !s.hasFlags {
		s.flags = l.Store.StartFlags()
	}
	err = s.OfferTrust(w, l)
	if err == nil {
		argv, err = s.argv(l)
	}
	if err == nil && s.hasFlags {
		err = l.Store.Locked(loop.LockWait, func() error { return l.Store.SetStartFlags(s.flags) })
	}
	l.Close()
	if err != nil {
		return err
	}
	said := append([]string{"starting", filepath.Base(argv[0]), "on the loop", at.Name}, s.flags.Line()...)
	fmt.Fprintln(w, plain.Line(strings.Join(said, " "), 500))
	if err := os.Chdir(at.Project); err != nil {
		return err
	}
	return become(argv, s.Env.Vars)
}

// find returns the loop, and creates it if there is none.
func (s *starter) find(w io.Writer, words []string) (*loopdir.Loop, error) {
	i := s.newInit(program+" start", w)
	i.Checks = s.checks
	at, err := i.FindOrMake(words, func() error {
		if err := i.plan(); err != nil {
			return err
		}
		if _, err := s.client(s.Env, cmp.Or(i.List, i.Name)); err != nil {
			return err
		}
		return i.write()
	})
	switch {
	case err != nil:
		return nil, err
	case at == nil:
		return s.Find([]string{i.Name})
	}
	return at, s.addMissing(i, at)
}

// addMissing gives a loop that exists what the person asks for and it lacks: checks, and the hook.
func (s *starter) addMissing(i *initialiser, at *loopdir.Loop) error {
	l, err := loop.Open(s.Env, at)
	if err != nil {
		return err
	}
	defer l.Close()
	p, err := l.Look()
	if err != nil {
		return err
	}
	if err := cannotStart(p); err != nil && p.Snapshot.Record().Status != decide.Complete { // a check reopens that
		return err
	}
	i.Project = at.Project
	err = i.AddChecks(l)
	if err != nil {
		return err
	}
	p, err = l.Look()
	if err != nil {
		return err
	}
	if err := cannotStart(p); err != nil { // before its hook is installed
		return err
	}
	env := s.Env
	env.Client = p.Snapshot.Record().Client
	if why, _ := say.HookProblem(env, at); why == "" {
		return nil
	}
	i.client = cmp.Or(env.Client, client.Usual)
	for _, step := range []func() error{i.planHook, i.hook.merge, i.outside, i.preflight, i.hook.write} {
		if err := step(); err != nil {
			return err
		}
	}
	i.hook.report(i)
	return nil
}

// argv returns the command line of the client. It refuses a loop on which no session could begin.
func (s *starter) argv(l *loop.Loop) ([]string, error) {
	p, err := l.Look()
	if err != nil {
		return nil, err
	}
	if err := cannotStart(p); err != nil {
		return nil, err
	}
	env := s.Env
	env.Client = p.Snapshot.Record().Client
	if why, fix := say.HookProblem(env, l.At); why != "" {
		return nil, fmt.Errorf("%s; first: %s", why, fix)
	}
	for _, warning := range slices.Concat(say.Warnings(p), s.rivals(l.At.Project), s.approvals(p)) {
		fmt.Fprintf(os.Stderr, "%s: warning: %s\n", program, warning)
	}
	prompt, err := say.StartPrompt(l.At)
	if err != nil {
		return nil, err
	}
	argv, err := s.client(env, l.At.Name)
	if err != nil {
		return nil, err
	}
	return append(append(argv, prompt), s.flags.Line()...), nil
}

// cannotStart says why no session can begin on a loop; nil: one can.
func cannotStart(p *loop.Picture) error {
	state, status := p.Snapshot.Record(), verb.Quick(p)
	if state.Status == decide.InProgress && p.Snapshot.OwnerKnown && p.Snapshot.OwnerAlive {
		return fmt.Errorf("a session works on the loop %s already; '%s' stops it after its turn", status.Name,
			p.Loop.Call("pause"))
	}
	if state.Status.GoesOn() && p.Snapshot.Brought == "" && status.Doom == "" {
		return nil
	}
	return fmt.Errorf("the loop %s cannot be started (%s); next step: %s", status.Name,
		cmp.Or(status.Doom, string(status.Status)), status.Then)
}

// rivals says what else answers the stops of a project, and what to do about that.
func (s *starter) rivals(project string) (warnings []string) {
	in := s.newInspection(project, *client.Find(client.Usual))
	in.look([]probe{{"others", lookRivals}})
	for _, found := range in.found {
		if found.Level != "ok" {
			warnings = append(warnings, found.Text+"; "+found.Fix)
		}
	}
	return warnings
}

// approvals says which commands of the loop's work wait for a person. Who is asked about every edit knows that.
func (s *starter) approvals(p *loop.Picture) []string {
	arguments := strings.Join(s.flags.Arguments, " ")
	if p.Snapshot.Record().Client != "" || strings.Contains(arguments, "--dangerously-skip-permissions") ||
		strings.Contains(arguments, "--permission-mode") || strings.Contains(arguments, "--allowed") {
		return nil
	}
	project := p.Loop.At.Project
	allowed := strings.Split(strings.Join(s.flags.AllowedTools, ","), ",")
	permissions := s.install(client.Find(client.Usual), project).Permissions(s.flags.PermissionMode, allowed)
	if permissions.RefuseAll() {
		return nil
	}
	var commands, rules []string
	add := func(command, arguments, rule string) {
		if permissions.Refuse(command + arguments) {
			commands = append(commands, plain.Line(command, 200))
			rules = append(rules, "Bash("+plain.Line(command, 200)+rule+")")
		}
	}
	for _, command := range p.Config.ChecksToTry() {
		add(command, "", "")
	}
	if loopdir.RepoRoot(project) != "" { // the prompt asks for commits
		add("git add", " -A", ":*")
		add("git commit", " -m", ":*")
	}
	if len(commands) == 0 {
		return nil
	}
	flag := plain.CommandLine([]string{"--allowed-tools", strings.Join(rules, ",")})
	return []string{fmt.Sprintf("Claude Code will ask you before it runs %s, and the loop waits until you answer; "+
		"to allow that: %s", strings.Join(commands, ", "), flag)}
}

// client returns the command line of the client without a prompt. work is the loop or the list, for another agent.
func (s *starter) client(env loop.Env, work string) ([]string, error) {
	ask, _ := env.Clients(env.Client)
	path, err := proc.LookPath(ask[0], s.Env.Get("PATH"))
	if err != nil {
		return nil, fmt.Errorf("the program %s is not on PATH; install it, or work with another agent: ralph-runner %s "+
			"--agent NAME", ask[0], plain.Arg(work))
	}
	if env.Client != "" && len(s.flags.PermissionMode)+len(s.flags.AllowedTools) > 0 {
		return nil, cli.Usagef("--permission-mode and --allowed-tools are for Claude Code; "+
			"what %s takes stands behind --", client.Find(env.Client).Title)
	}
	return append([]string{path}, ask[1:]...), nil
}

// become makes this process the program of argv. Where no system call does that, it waits for the program.
func become(argv, env []string) error {
	if err := syscall.Exec(argv[0], argv, env); !errors.Is(err, errors.ErrUnsupported) {
		return &os.PathError{Op: "start", Path: argv[0], Err: err}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, env
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return &cli.Exit{Code: ended.ExitCode()}
	}
	return err
}
