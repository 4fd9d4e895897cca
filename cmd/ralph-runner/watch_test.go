package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// terminal is a terminal of tmux in which a program runs.
type terminal struct {
	*testing.T
	socket string
}

func newTerminal(t *testing.T, width, height int, dir string, env []string, command string) terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux")
	}
	term := terminal{t, filepath.Join(t.TempDir(), "socket")}
	cmd := exec.Command("tmux", "-S", term.socket, "-f", os.DevNull, "new-session", "-d", "-x", strconv.Itoa(width),
		"-y", strconv.Itoa(height), "-c", dir, command)
	cmd.Env = append(env, "TERM=xterm-256color")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", term.socket, "kill-server").Run() })
	return term
}

func (t terminal) tmux(args ...string) string {
	t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", t.socket}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// sees waits until the screen has all of some texts.
func (t terminal) sees(texts ...string) string {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		screen, missing := t.tmux("capture-pane", "-p"), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return screen
		}
		if time.Now().After(end) {
			t.Fatalf("there is no %q on\n%s", missing, screen)
		}
	}
}

func (t terminal) press(keys ...string) { t.tmux(append([]string{"send-keys"}, keys...)...) }

// TestWatchInTerminal watches a live run in a small terminal, which grows while it runs.
func TestWatchInTerminal(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	runner, hook := build(t, "../ralph-runner"), build(t, "../ralph-stop-hook")
	env := []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "RALPH_STATE_DIR=" + filepath.Join(dir, "state"),
	}
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("feature_list.json", `[{"id": "login", "title": "Log in", "passes": false}]`, 0o644)
	write("agent.sh", "#!/bin/sh\necho the agent works\nuntil test -e go; do sleep 0.1; done\n"+
		"sed -i.old 's/false/true/' feature_list.json\n", 0o755)
	start := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = project, env
		return cmd
	}
	if out, err := start(hook, "init", "demo", "--settings", "none").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	config := filepath.Join(dir, ".config", "ralph-stop-hook")
	if err := os.MkdirAll(config, 0o755); err != nil {
		t.Fatal(err)
	}
	agents := `{"agents": {"worker": {"command": ["sh", "agent.sh"]}}}`
	if err := os.WriteFile(filepath.Join(config, "config.json"), []byte(agents), 0o644); err != nil {
		t.Fatal(err)
	}
	term := newTerminal(t, 60, 20, project, env, runner+" watch; sleep 60")
	term.sees("1 loop · 0 running · 0 need you", "> ○ demo", "NOT STARTED", "0/1")
	run := start(runner, "--agent", "worker")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run.Process.Kill() }()
	term.sees("1 loop · 1 running")
	term.press("Enter")
	term.sees("[features]", "open     login Log in")
	term.press("2")
	term.sees("[agent]", "the agent works")

	term.tmux("resize-window", "-x", "200", "-y", "60")
	screen := term.sees("[agent]",
		"esc back · tab next part · n note · ? help · q quit")
	for line := range strings.SplitSeq(screen, "\n") {
		if utf8.RuneCountInString(line) > 200 {
			t.Errorf("a line is too long: %q", line)
		}
	}
	term.press("?")
	term.sees("filter the list")
	term.press("Escape")
	term.sees("[agent]") // else the terminal would take both for one key
	term.press("c")
	term.sees("Cancel demo? Only resume brings it back. [y/N]")
	term.press("n")
	term.sees("nothing was done")
	write("go", "", 0o644)
	term.sees("COMPLETE")
	if err := run.Wait(); err != nil {
		t.Errorf("the run: %v", err)
	}
	term.press("Escape")
	term.sees("> ✓ demo", "COMPLETE", "1/1")
	term.tmux("resize-window", "-x", "40", "-y", "10")
	term.sees("> ✓ demo", "COMPLETE")
	term.press("q")
	for end := time.Now().Add(20 * time.Second); strings.Contains(term.tmux("capture-pane", "-p"), "> ✓ demo"); {
		if time.Now().After(end) {
			t.Fatal("q does not end it")
		}
		time.Sleep(50 * time.Millisecond)
	}
}
