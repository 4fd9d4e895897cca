//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// clientDeadline is how long one run of the client may take. A run takes
// seconds; one that takes this long hangs.
const clientDeadline = 120 * time.Second

// findClient returns the absolute path of a real client: for claude that of
// RALPH_E2E_CLIENT, else the one that install.sh put beside this file.
func findClient(name string) (string, error) {
	path := filepath.Join(".client", name, "bin", name)
	if own := os.Getenv("RALPH_E2E_CLIENT"); own != "" && name == "claude" {
		path = own
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", fmt.Errorf("no client to test with, run make e2e: %w", err)
	}
	return path, nil
}

// clientMain is the command claude of the scripts: the real client, headless
// and speaking to the scripted model.
//
//	claude PROMPT [FLAG…]
//	claude -file FILE [FLAG…]
//
// It is a program of its own, and not a function of the test, so that a script
// can run it in the background and wait for it like any other. A program that
// drives the client itself says -p first, and gets the client as it is.
func clientMain() {
	if len(os.Args) > 1 && os.Args[1] == "-p" {
		client := os.Getenv("E2E_CLIENT")
		err := syscall.Exec(client, append([]string{client}, os.Args[1:]...), os.Environ())
		fmt.Fprintln(os.Stderr, "claude:", err)
		os.Exit(1)
	}
	code, err := runClient(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude:", err)
	}
	os.Exit(code)
}

// runClient runs the client to its end, and returns its exit status.
func runClient(args []string) (int, error) {
	if len(args) == 0 || os.Getenv("ANTHROPIC_BASE_URL") == "" {
		return 1, errors.New("usage: model FILE, then claude PROMPT or claude -file FILE")
	}
	args, err := clientArgs(args)
	if err != nil {
		return 1, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, clientDeadline)
	defer cancel()

	cmd := exec.CommandContext(ctx, os.Getenv("E2E_CLIENT"), append([]string{"-p",
		"--output-format", "stream-json", "--verbose", "--include-hook-events"}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// A group of its own, so that nothing the client started outlives the run:
	// first it is asked to end, which lets it stop the commands of its tools
	// (those have groups of their own), then whatever is left is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	err = cmd.Wait()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if ctx.Err() != nil {
		return 1, fmt.Errorf("the client was stopped: %w", context.Cause(ctx))
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return 1, nil // it has said why itself
	}
	return 0, err
}

// clientArgs returns the client's arguments for those of a script's command: a
// prompt, or one from a file, and flags. The agent may do anything, unless the
// script names the mode itself: not being asked would win over that.
func clientArgs(args []string) ([]string, error) {
	if len(args) > 1 && args[0] == "-file" {
		prompt, err := os.ReadFile(args[1])
		if err != nil {
			return nil, err
		}
		args = append([]string{string(prompt)}, args[2:]...)
	}
	if !slices.Contains(args, "--permission-mode") {
		args = append(args, "--dangerously-skip-permissions")
	}
	return args, nil
}
