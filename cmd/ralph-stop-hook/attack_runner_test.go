package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The attacks run with ralph-runner as the host, too. A script's agent is then the agent of its sessions: begin starts
// a run, each stop ends a session, and the next session begins before the script goes on. The agent that the run starts
// is door, which only waits for the script.

// runnerVar has the folder of the door if ralph-runner is the host.
const runnerVar = "ATTACK_DOOR"

// byRunner plays an event of the host.
func byRunner(dir, event, message string) int {
	if path := os.Getenv("HOST_RECORD"); path != "" {
		_ = os.WriteFile(path, []byte("{}\n"), 0o644) // there is a host, and judge looks at the files
	}
	switch {
	case strings.HasPrefix(event, "user-prompt-submit"):
		return startRun(dir)
	case strings.HasPrefix(event, "stop."):
		return endSession(dir, message)
	}
	return 0
}

// door is the agent of a run: it says that a session has begun, waits until the script ends it, and prints the last
// message.
func door(args []string) int {
	dir := args[0]
	for n := 1; ; n++ {
		begun, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("begun.%d", n)), os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return 1 // the script is over
		}
		begun.Close()
		for {
			if message, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("end.%d", n))); err == nil {
				fmt.Println(string(message))
				return 0
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// startRun starts a run in the background, and waits until its first session has begun.
func startRun(dir string) int {
	// The folder is in the command line, so that openDoor finds the process.
	script := fmt.Sprintf("ralph-runner --agent door --wait 0s --cwd %q/../project >%q 2>&1; touch %q", dir,
		filepath.Join(dir, "log"), filepath.Join(dir, "over"))
	cmd := exec.Command("sh", "-c", script)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	return awaitSession(dir, 1)
}

// endSession ends the session that runs, and prints what the run says until the next one has begun.
func endSession(dir, message string) int {
	begun, _ := filepath.Glob(filepath.Join(dir, "begun.*"))
	if _, err := os.Stat(filepath.Join(dir, "over")); err == nil || len(begun) == 0 {
		return 0
	}
	log := filepath.Join(dir, "log")
	before, _ := os.ReadFile(log)
	end := filepath.Join(dir, fmt.Sprintf("end.%d", len(begun)))
	if err := os.WriteFile(end+".new", []byte(message), 0o644); err != nil {
		return 99
	}
	if err := os.Rename(end+".new", end); err != nil {
		return 99
	}
	status := awaitSession(dir, len(begun)+1)
	after, _ := os.ReadFile(log)
	_, _ = os.Stdout.Write(bytes.TrimPrefix(after, before))
	return status
}

func awaitSession(dir string, n int) int {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, name := range []string{fmt.Sprintf("begun.%d", n), "over"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return 0
			}
		}
	}
	fmt.Fprintln(os.Stderr, "no session began, and the run is not over")
	return 99
}

// asHook lists attacks on what only the hook has, and what that is.
var asHook = map[string]string{
	"attach-away":      "a session of Claude Code that calls a verb",
	"check-kills-hook": "a hook that is killed does not answer",
}

// aboutWords begins the lines that are about words, which are those of the hook.
var aboutWords = []string{"continues", "stdout", "! stdout"}

// forRunner returns a folder with the attacks, without the lines that are about words. A short run has an eighth of
// them: each is played with the hook as the host, too.
func forRunner(t *testing.T, folder string) string {
	t.Helper()
	dir := t.TempDir()
	all, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no attacks: %v", err)
	}
	for i, path := range all {
		if testing.Short() && folder == "attack" && i%8 > 0 {
			continue
		}
		if asHook[strings.TrimSuffix(filepath.Base(path), ".txtar")] != "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, line := range strings.SplitAfter(string(text), "\n") {
			isSaid := func(word string) bool { return strings.HasPrefix(strings.TrimSpace(line)+" ", word+" ") }
			if !slices.ContainsFunc(aboutWords, isSaid) {
				kept = append(kept, line)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), []byte(strings.Join(kept, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// openDoor makes ralph-runner the host of a script.
func openDoor(env *testscript.Env, bin string) error {
	dir := filepath.Join(env.WorkDir, "door")
	config := filepath.Join(env.WorkDir, "home", ".config", "ralph-stop-hook")
	for _, dir := range []string{dir, config} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	env.Setenv(runnerVar, dir)
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Defer(func() { _ = exec.Command("pkill", "-9", "-f", dir).Run() }) // the shell, the run, its guard and the door
	text := fmt.Sprintf(`{"agents": {"door": {"command": ["door", %q]}}}`, dir)
	return os.WriteFile(filepath.Join(config, "config.json"), []byte(text), 0o644)
}

// buildRunner returns a folder with ralph-runner.
func buildRunner(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "../ralph-runner").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// attackOnRunner plays a folder's attacks with ralph-runner as the host. Of the open ones, which are the control, at
// least one gets through.
func attackOnRunner(t *testing.T, folder, bin string) map[string]attacked {
	p := params(folder)
	p.Dir = forRunner(t, folder)
	results := attack(t, folder, p, true, func(env *testscript.Env) error { return openDoor(env, bin) })
	through := 0
	for name, a := range results {
		if len(a.problems) == 0 {
			continue
		}
		through++
		if folder == "attack" {
			t.Errorf("%s (runner): %s: %s", name, a.ending, strings.Join(a.problems, "; "))
		}
	}
	if folder != "attack" && through == 0 {
		t.Error("control: no open attack was caught")
	}
	return results
}
