package main

import (
	"context"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// plainWord is a word that the shell takes as it is. Of any other one only the shell knows what it becomes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./+-]+$`)

// lookUp refuses a check whose command the shell does not find: it would fail after each session, whatever the agent
// does.
func (k *runner) lookUp(check string) error {
	words := strings.Fields(check)
	for len(words) > 1 && strings.Contains(words[0], "=") {
		words = words[1:] // a variable for the command
	}
	switch {
	case len(words) == 0:
		return cli.Usagef("--check has no command; want a line for the shell, such as --check 'make test'")
	case runtime.GOOS == "windows", !plainWord.MatchString(words[0]):
		return nil // cmd.exe does not tell which words are its own commands
	}
	found := proc.Run(context.Background(), proc.Cmd{
		Argv: []string{"/bin/sh", "-c", `command -v "$0"`, words[0]}, Dir: k.Env.Cwd,
		Env: proc.EnvOutside(k.Env.Vars, k.Env.Cwd), Timeout: 10 * time.Second, Output: 1000,
	})
	if found.ExitCode <= 0 { // 0, or the shell itself could not tell
		return nil
	}
	return cli.Usagef("--check %s: the shell finds no program %s; install it, or name its path",
		plain.Arg(plain.Line(check, 200)), words[0])
}
