package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	checks, allowed []string
	mode            string
	behind          []string // arguments for the client
}

func (v verbs) start() *cobra.Command {
	s := &starter{verbs: v}
	cmd := &cobra.Command{
		Use:   "start [NAME|LIST] [flags] [-- ARGUMENT...]",
		Short: "Start the client on a loop; make it if there is none",
		Long: `Start the client on the loop NAME, in this terminal. LIST is a file with features: if no
loop works on it, start makes one and installs the hook. Without either, start takes the
current loop or the project's list. The client gets each ARGUMENT.`,
		Example: `  ralph-stop-hook start prd.json --check 'npm test' --allowed-tools 'Bash(npm test:*)'
  ralph-stop-hook start checkout --permission-mode acceptEdits -- --model opus`,
		RunE: func(c *cobra.Command, words []string) error {
			if at := c.ArgsLenAtDash(); at >= 0 {
				words, s.behind = words[:at], words[at:]
			}
			return s.run(c.OutOrStdout(), words)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.checks, "check", nil, config.Usage("checks"))
	f.StringVar(&s.mode, "permission-mode", "", "use permission mode `MODE`, such as acceptEdits")
	f.StringArrayVar(&s.allowed, "allowed-tools", nil, "allow `RULE`, such as 'Bash(npm test:*)'; repeatable")
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
	err = s.OfferTrust(w, l)
	if err == nil {
		argv, err = s.argv(l)
	}
	l.Close()
	if err != nil {
		return err
	}
	if err := os.Chdir(at.Project); err != nil {
		return err
	}
	return become(argv, s.Env.Vars)
}

// find returns the loop, and makes it if there is none.
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
	case at != nil && len(s.checks) > 0:
		return nil, fmt.Errorf(`the loop %s is there already; add the check to "checks" in its ralph.json, then run: %s`,
			plain.Line(at.Name, 100), s.Env.Call("trust", at.Name))
	case at != nil:
		return at, nil
	}
	return s.Find([]string{i.Name})
}

// argv returns the command line of the client. It refuses a loop on which no session could begin.
func (s *starter) argv(l *loop.Loop) ([]string, error) {
	p, err := l.Look()
	if err != nil {
		return nil, err
	}
	state, env := p.Snapshot.Record(), s.Env
	env.Client = state.Client
	status := verb.Quick(p)
	begins := state.Status.GoesOn() && p.Snapshot.Brought == "" && status.Doom == ""
	switch why, fix := say.Unanswered(env, l.At); {
	case !begins, state.Status == decide.InProgress && p.Snapshot.OwnerKnown && p.Snapshot.OwnerAlive:
		return nil, fmt.Errorf("the loop %s cannot be started (%s); next step: %s", status.Name,
			cmp.Or(status.Doom, string(status.Status)), status.Then)
	case why != "":
		return nil, fmt.Errorf("%s; first: %s", why, fix)
	}
	for _, warning := range say.Warnings(p) {
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
	argv = append(argv, prompt)
	if s.mode != "" {
		argv = append(argv, "--permission-mode", s.mode)
	}
	if len(s.allowed) > 0 {
		argv = append(append(argv, "--allowedTools"), s.allowed...)
	}
	return append(argv, s.behind...), nil
}

// client returns the command line of the client without a prompt. work is the loop or the list, for another agent.
func (s *starter) client(env loop.Env, work string) ([]string, error) {
	ask, _ := env.Clients(env.Client)
	path, err := proc.LookPath(ask[0], s.Env.Get("PATH"))
	if err != nil {
		return nil, fmt.Errorf("the program %s is not on PATH; install it, or work with another agent: ralph-runner %s "+
			"--agent NAME", ask[0], plain.Arg(work))
	}
	if env.Client != "" && len(s.mode)+len(s.allowed) > 0 {
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
