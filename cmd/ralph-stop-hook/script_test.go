package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

var update = flag.Bool("update", false, "update the scripts' golden files")

// clientPayloads is the folder of events that other clients than Claude Code sent.
var clientPayloads, _ = filepath.Abs(filepath.Join("testdata", "payloads"))

// payloads is the folder of the host's events, recorded from the real client.
var payloads, _ = filepath.Abs(filepath.Join("..", "..", "internal", "client", "testdata", "payloads"))

var examples, _ = filepath.Abs(filepath.Join("..", "..", "examples"))

// Scripts kill the hook at a system call by its number. With one thread, the order of the
// calls is the same in every run.
func init() {
	if os.Getenv("TEST_ONE_THREAD") != "" {
		runtime.LockOSThread()
	}
	assumeEntry = os.Getenv("TEST_ENTRY") == "assumed"
	if wait, err := time.ParseDuration(os.Getenv("TEST_CLIENT_TIMEOUT")); err == nil {
		versionTimeout = wait
	}
	if wait, err := time.ParseDuration(os.Getenv("TEST_INPUT_WAIT")); err == nil {
		inputWait = wait
	}
	if most, err := time.ParseDuration(os.Getenv("TEST_DRY_RUN")); err == nil {
		loop.DryRunTime = most
	}
	if os.Getenv("TEST_PANIC") != "" {
		testOnlyStep = func(*loop.Loop, context.Context, loop.Event) (*loop.Step, error) { panic("a bug") }
	}
}

// commands are what scripts start.
var commands = map[string]func(){
	"ralph-stop-hook": main,
	"host":            func() { os.Exit(hostMain(os.Args[1:])) },
	"start":           func() { os.Exit(start(os.Args[1:])) },
	"notifier":        func() { os.Exit(notifier()) },
	"quitter":         quitter,
	"locker":          func() { os.Exit(locker(os.Args[1], os.Args[2])) },
	"door":            func() { os.Exit(door(os.Args[1:])) },
	"claude":          playClient,
	"idler":           func() { _, _ = io.Copy(io.Discard, os.Stdin) },
}

// idler is a process that lives as long as the tests, beside what scripts start.
var idler = sync.OnceValue(func() *exec.Cmd {
	cmd := exec.Command("idler")
	if _, err := cmd.StdinPipe(); err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd // with its input, which must stay open
})

// playClient shows its arguments, a line each, and what the script has it say, such as its version.
func playClient() {
	if os.Getenv("CLAUDE_SAYS") == "started" {
		cwd, _ := os.Getwd()
		fmt.Println("in", cwd)
		for n, arg := range os.Args[1:] {
			line, _, _ := strings.Cut(arg, "\n")
			fmt.Printf("argument %d: %s\n", n+1, line)
		}
	}
	fmt.Println(os.Getenv("CLAUDE_SAYS"))
}

// locker holds the lock in a file until the file go exists, as no program of ours would.
func locker(file, until string) int {
	f, err := loopdir.LockFile(file, time.Second)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer f.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(until); err == nil {
			return 0
		}
	}
	return 1
}

func TestMain(m *testing.M) {
	if proc.JobOf(os.Args[0]) != "" {
		main() // testscript.Main takes the job out of argv[0]
	}
	testscript.Main(testsAndIdler{m}, commands)
}

// testsAndIdler ends the idler after the tests: Windows deletes no program that runs, and testscript deletes the folder
// of all of them.
type testsAndIdler struct{ *testing.M }

func (t testsAndIdler) Run() int {
	code := t.M.Run()
	_ = idler().Process.Kill()
	_ = idler().Wait()
	return code
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, params("script"))
}

// params returns the parameters for the scripts of a folder of testdata.
func params(folder string) testscript.Params {
	return testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			// The home is apart from the project, so that no folder above either one has files of
			// ours.
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("USERPROFILE", filepath.Join(env.WorkDir, "home"))
			env.Setenv("LOCALAPPDATA", filepath.Join(env.WorkDir, "home", "state"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "home", "state"))
			env.Setenv("STATE", filepath.Join(env.WorkDir, "home", "state", "ralph-stop-hook"))
			env.Setenv("LOOP", filepath.Join(".claude", "data", "ralph-loops", "checkout"))
			for _, kv := range gittest.Vars {
				env.Setenv(kv[0], kv[1])
			}
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				env.Setenv("GIT_"+who+"_NAME", "t")
				env.Setenv("GIT_"+who+"_EMAIL", "t@example.com")
			}
			env.Setenv("PAYLOADS", payloads)
			env.Setenv("CLIENTS", clientPayloads)
			env.Setenv("TEST_ENTRY", "assumed") // scripts call the hook themselves
			env.Setenv("CLAUDE_SAYS", "2.1.329 (Claude Code)")
			env.Setenv("EXAMPLES", examples)
			env.Setenv("PID", strconv.Itoa(idler().Process.Pid))
			real, err := filepath.EvalSymlinks(env.WorkDir)
			if err != nil {
				return err
			}
			env.Setenv("REAL", real)
			return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o755)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"json":      jsonCommand,
			"continues": continuesCommand,
			"flip":      flipCommand,
			"tree":      treeCommand,
			"count":     countCommand,
			"repeat":    repeatCommand,
			"loopkey":   loopkeyCommand,
			"replace":   replaceCommand,
			"append":    appendCommand,
			"ago":       agoCommand,
			"await":     awaitCommand,
			"grown":     grownCommand,
		},
	}
}

// hostMain plays the client: host PAYLOAD [key=value]… [-- hook arguments]. It sends a
// recorded payload with the session and the folder of the script. A value @FILE is the text of
// that file. Its exit status is that of the hook. HOST_ENV has variables of the settings' env that would end
// this program, too. With HOST_PLUGIN the hook is called as the plugin calls it.
func hostMain(args []string) int {
	payload := args[0]
	if !filepath.IsAbs(payload) {
		payload = filepath.Join(os.Getenv("PAYLOADS"), payload)
	}
	data, err := os.ReadFile(payload)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	cwd, _ := os.Getwd()
	set := append([]string{"session_id=s1", "cwd=" + cwd}, args[1:]...)
	var hookArgs []string
	for i, kv := range set {
		if kv == "--" {
			hookArgs = set[i+1:]
			break
		}
		key, value, _ := strings.Cut(kv, "=")
		if name, is := strings.CutPrefix(value, "@"); is {
			text, err := os.ReadFile(name)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 99
			}
			value = string(text)
		}
		data, err = sjson.SetBytes(data, key, value)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 99
		}
	}
	if dir := os.Getenv(runnerVar); dir != "" {
		return byRunner(dir, args[0], gjson.GetBytes(data, "last_assistant_message").String())
	}
	argv := []string{"ralph-stop-hook"}
	if os.Getenv("HOST_PLUGIN") != "" {
		argv = []string{"sh", filepath.Join(os.Getenv("EXAMPLES"), "..", "hooks", "run.cmd")}
	}
	argv = append(append(argv, "hook"), hookArgs...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), strings.Fields(os.Getenv("HOST_ENV"))...)
	if !slices.Contains(hookArgs, "--client") {
		cmd.Env = append(cmd.Env, "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli")
		if os.Getenv("CLAUDE_PROJECT_DIR") == "" {
			cmd.Env = append(cmd.Env, "CLAUDE_PROJECT_DIR="+cwd)
		}
	}
	asUser(cmd, os.Getenv("HOST_UID"))
	err = recorded(cmd)
	if err != nil {
		if code := cmd.ProcessState.ExitCode(); code > 0 {
			return code
		}
		fmt.Fprintln(os.Stderr, err)
		return 98
	}
	return 0
}

// start plays a person who starts a session with a loop's prompt: start [-paste] [SESSION
// [LOOP]].
func start(args []string) int {
	session, loop, pasted := "s1", "current", ""
	if len(args) > 0 && args[0] == "-paste" {
		pasted, args = "\n\n<pasted_content id=\"795f\">\n", args[1:]
	}
	if len(args) > 0 {
		session = args[0]
	}
	if len(args) > 1 {
		loop = args[1]
	}
	loops := filepath.Join(".claude", "data", "ralph-loops")
	if name, err := os.ReadFile(filepath.Join(loops, loop)); err == nil {
		loop = strings.TrimSpace(string(name)) // current, where links cannot be made
	}
	prompt, err := os.ReadFile(filepath.Join(loops, loop, "RALPH_PROMPT.md"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	return hostMain([]string{"user-prompt-submit.json", "session_id=" + session, "prompt=" + pasted + string(prompt)})
}

// notifier adds its standard input, as one line, to the file that its argument names. It
// adds its environment to the file of that name with .env.
func notifier() int {
	var in bytes.Buffer
	if _, err := in.ReadFrom(os.Stdin); err != nil {
		return 1
	}
	env := strings.Join(os.Environ(), "\n") + "\n"
	for name, text := range map[string]string{os.Args[1]: in.String(), os.Args[1] + ".env": env} {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return 1
		}
		if _, err := f.WriteString(text); err != nil || f.Close() != nil {
			return 1
		}
	}
	fmt.Println("noticed")
	return 0
}

// quitter catches signals as the hook does, again and again, while it sends itself
// SIGQUIT. One that is not caught or ignored ends it with status 2.
func quitter() {
	ignoreSignals()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			_ = self.Signal(syscall.SIGQUIT)
		}
	}()
	for range 2000 {
		_, stop := catchInHook(context.Background())
		stop()
	}
}

// jsonCommand: json FILE PATH VALUE asserts a value; FILE may be stdout, which
// must then be exactly one JSON value.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	text := ts.ReadFile(args[0])
	if !gjson.Valid(text) {
		ts.Fatalf("not one JSON value: %.300q", text)
	}
	got := gjson.Get(text, args[1]).String()
	if (got == args[2]) == neg {
		ts.Fatalf("%s of %s is %q, want %q (negated: %v)", args[1], args[0], got, args[2], neg)
	}
}

// continuesCommand implements continues: standard output is one answer, and it sends the agent
// on, by the reason of a block or by context.
func continuesCommand(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile("stdout")
	if !gjson.Valid(text) || len(args) > 0 {
		ts.Fatalf("continues: not one JSON value: %.300q", text)
	}
	answer, prompt := gjson.Parse(text), ""
	switch {
	case answer.Get("decision").Str == "block":
		prompt = answer.Get("reason").Str
	case answer.Get("hookSpecificOutput.hookEventName").Str == "Stop":
		prompt = answer.Get("hookSpecificOutput.additionalContext").Str
	}
	if (prompt == "") != neg {
		ts.Fatalf("the answer sends the agent on with %q (negated: %v)", prompt, neg)
	}
}

// flipCommand implements flip FILE: the agent claims the first open feature.
func flipCommand(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	text := ts.ReadFile(args[0])
	now := strings.Replace(text, `"passes": false`, `"passes": true`, 1)
	if now == text {
		ts.Fatalf("nothing to flip in %s", args[0])
	}
	ts.Check(os.WriteFile(path, []byte(now), 0o644))
}

// treeCommand implements tree FILE DIR…: it writes the contents and times of folders to a
// file, so that a script can prove that nothing was written.
func treeCommand(ts *testscript.TestScript, neg bool, args []string) {
	var b strings.Builder
	for _, dir := range args[1:] {
		dir = ts.MkAbs(dir)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if slices.Contains([]string{"lock", "checks", "first", "sender", "stop.json"}, d.Name()) {
				return nil // who locked last is in these, and who answers a stop
			}
			fmt.Fprintf(&b, "%s %v", path, info.Mode())
			if filepath.Base(filepath.Dir(path)) != "loops" { // the folder of a record has stop.json for a moment
				fmt.Fprintf(&b, " %d", info.ModTime().UnixNano())
			}
			if info.Mode().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				fmt.Fprintf(&b, " %x", sha256.Sum256(data))
			}
			b.WriteByte('\n')
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			ts.Fatalf("%v", err)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
}

// countCommand implements count FILE N, which asserts the number of lines.
func countCommand(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); got != want {
		ts.Fatalf("%s has %d lines, want %d", args[0], got, want)
	}
}

// repeatCommand implements repeat FILE N TEXT, which writes TEXT N times.
func repeatCommand(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(args[2], n)), 0o644))
}

// replaceCommand implements replace FILE OLD NEW, which replaces the first OLD in the
// file.
func replaceCommand(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("no %q in %s", args[1], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o644))
}

// loopkeyCommand sets $RECORD to the state folder of the only loop.
func loopkeyCommand(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(filepath.Join(ts.Getenv("STATE"), "loops", "*"))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d loops in the state folder, want 1", len(found))
	}
	ts.Setenv("RECORD", found[0])
}

// appendCommand implements append FILE LINE: it adds a line, as an agent does to its
// notes.
func appendCommand(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	ts.Check(err)
	_, err = f.WriteString(args[1] + "\n")
	ts.Check(err)
	ts.Check(f.Close())
}

// agoCommand implements ago FIELD DURATION: it sets a time in the record of the only loop
// to that long ago.
func agoCommand(ts *testscript.TestScript, neg bool, args []string) {
	loopkeyCommand(ts, false, nil)
	path := filepath.Join(ts.Getenv("RECORD"), "state.json")
	before, err := time.ParseDuration(args[1])
	ts.Check(err)
	data, err := sjson.SetBytes([]byte(ts.ReadFile(path)), args[0], time.Now().Add(-before))
	ts.Check(err)
	ts.Check(os.WriteFile(path, data, 0o600))
}

// awaitCommand implements await FILE N: it waits until a file has N lines, which a process
// writes that nobody else waits for.
func awaitCommand(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	got := 0
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		data, _ := os.ReadFile(ts.MkAbs(args[0])) // not there yet
		got = bytes.Count(data, []byte("\n"))
		if got >= want {
			break
		}
	}
	if got != want {
		ts.Fatalf("%s has %d lines, want %d", args[0], got, want)
	}
}

// grownCommand implements grown FILE MB. The file has the calls that the host recorded.
// The last call must not take more than MB more memory than the first one.
func grownCommand(ts *testscript.TestScript, neg bool, args []string) {
	most, err := strconv.Atoi(args[1])
	ts.Check(err)
	calls := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	first, last := gjson.Get(calls[0], "Peak").Int(), gjson.Get(calls[len(calls)-1], "Peak").Int()
	if len(calls) < 2 || first == 0 || last-first > int64(most) {
		ts.Fatalf("from %d to %d MB in %d calls, want %d MB more at most", first, last, len(calls), most)
	}
}
