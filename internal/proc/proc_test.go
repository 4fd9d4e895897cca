//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestDeadline runs children that would outlive a deadline which kills only the child. The
// bound of 10 s is generous: Run must not wait for the child's 20 s.
func TestDeadline(t *testing.T) {
	for _, line := range []string{
		"sleep 20", "sleep 20 & wait", "trap '' TERM; sleep 20", "(trap '' TERM; sleep 20) & sleep 20", "yes",
	} {
		t.Run(line, func(t *testing.T) {
			begin := time.Now()
			r := Run(t.Context(), Cmd{Shell: line, Timeout: 300 * time.Millisecond, Output: 100})
			if !r.TimedOut || !errors.Is(r.Err, ErrTimeout) {
				t.Errorf("result %+v, want a timeout", r)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("came back after %v", took)
			}
			if len(r.Output) > 100 {
				t.Errorf("kept %d bytes", len(r.Output))
			}
		})
	}
}

func TestRun(t *testing.T) {
	begin := time.Now()
	r := Run(t.Context(), Cmd{
		Shell: "setsid sleep 20 & cat; echo err >&2; pwd; echo $A", Dir: "/",
		Env: []string{"A=b", "PATH=" + os.Getenv("PATH")}, Stdin: []byte("in\n"),
		Timeout: time.Minute, Output: 1000,
	})
	if got := string(r.Output); r.Err != nil || r.ExitCode != 0 || got != "in\nerr\n/\nb\n" {
		t.Errorf("%+v, output %q", r, got)
	}
	if time.Since(begin) > 10*time.Second {
		t.Error("waited for a child that had left")
	}
	r = Run(t.Context(), Cmd{Shell: "exit 3", Timeout: time.Minute})
	if r.ExitCode != 3 || r.Err == nil || r.TimedOut {
		t.Errorf("%+v, want exit status 3", r)
	}
	r = Run(t.Context(), Cmd{Argv: []string{"/no/such/program"}, Timeout: time.Minute})
	if r.ExitCode != -1 || !errors.Is(r.Err, os.ErrNotExist) {
		t.Errorf("%+v, want not exist", r)
	}
}

// TestEndedTogether ends a program shortly before its context, as somebody does who ends all processes. It has not
// failed then; without the end of the context it has.
func TestEndedTogether(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{true, false} {
		ctx, end := context.WithCancelCause(t.Context())
		together := errors.New("ended together")
		if ends {
			time.AfterFunc(300*time.Millisecond, func() { end(together) })
		}
		r := Run(ctx, Cmd{Shell: "kill -TERM $$", Timeout: time.Minute})
		if r.Err == nil || errors.Is(r.Err, together) != ends {
			t.Errorf("its context ends is %v: %v", ends, r.Err)
		}
		end(nil)
	}
}

// TestWhole has a child print after its parent has ended, as an output arrives on a busy machine. If the output counts
// to its end, all of it is there, or there is an error. The control is an output that does not count.
func TestWhole(t *testing.T) {
	t.Parallel()
	late := "(sleep 1; echo late) & echo early"
	r := Run(t.Context(), Cmd{Shell: late, Timeout: time.Minute, Output: 100, Whole: true})
	if r.Err != nil || string(r.Output) != "early\nlate\n" {
		t.Errorf("whole: %v, output %q", r.Err, r.Output)
	}
	r = Run(t.Context(), Cmd{Shell: late, Timeout: time.Minute, Output: 100})
	if r.Err != nil || strings.Contains(string(r.Output), "late") {
		t.Errorf("control: %v, output %q", r.Err, r.Output)
	}
	r = Run(t.Context(), Cmd{Shell: "setsid sleep 20 & echo early", Timeout: time.Minute, Output: 100, Whole: true})
	if r.Err == nil {
		t.Errorf("an output that does not end is no error: %q", r.Output)
	}
}

// TestGitReason runs a command that fails as git does: the error says why, and not what git hints at.
func TestGitReason(t *testing.T) {
	t.Parallel()
	hints := strings.Repeat("hint: Disable this message with git config advice.addIgnoredFile false\n", 6)
	why := "error: unable to write loose object file: No space left on device\nfatal: adding files failed\n"
	full := "git add: error: unable to write loose object file: No space left on device fatal: adding files failed"
	for said, want := range map[string]string{
		"The following paths are ignored:\n" + hints + why: full,
		why + hints:           full,
		"conflict in a.txt\n": "git add: conflict in a.txt",
		"warning: no\nerror: in the way:\n\tmine.txt\n": "git add: error: in the way: mine.txt",
	} {
		c := Cmd{Shell: "cat >&2; exit 128", Stdin: []byte(said), Timeout: time.Minute, Output: 1000}
		_, err := GitOutput(t.Context(), c, "add")
		if err == nil || err.Error() != want || GitExit(err) != 128 {
			t.Errorf("%q: %v, want %q", said, err, want)
		}
	}
}

// A path is one from the command's folder, wherever this process is; a bare name is
// looked up in the command's PATH.
func TestRunFindsProgram(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"here", "sub/there"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho $0\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path := "PATH=.:sub:relative::" + filepath.Join(dir, "sub")
	for name, want := range map[string]string{
		"./here": "./here\n", "sub/there": "sub/there\n", "there": filepath.Join(dir, "sub/there") + "\n", "here": "",
	} {
		r := Run(t.Context(),
			Cmd{Argv: []string{name}, Dir: dir, Env: []string{path}, Timeout: time.Minute, Output: 1000})
		if got := string(r.Output); got != want || (r.Err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, r.Err, want)
		}
	}
}

// TestMain lets this test be the guard that it starts.
func TestMain(m *testing.M) {
	if JobOf(os.Args[0]) == GuardJob {
		os.Exit(Guard(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// TestGuardWaits starts programs with input and without. They begin when Started has returned, and not before: until
// then nobody could find them.
func TestGuardWaits(t *testing.T) {
	for _, input := range []string{"", "in"} {
		dir := t.TempDir()
		begun := filepath.Join(dir, "begun")
		c := Cmd{Shell: "cat > begun", Dir: dir, Guard: os.Args[0], Timeout: time.Minute, Stdin: []byte(input)}
		c.Started = func(int) error {
			time.Sleep(300 * time.Millisecond)
			if _, err := os.Stat(begun); err == nil {
				t.Errorf("with %q as its input it ran before it was known", input)
			}
			return nil
		}
		r := Run(t.Context(), c)
		if got, err := os.ReadFile(begun); string(got) != input || r.Err != nil {
			t.Errorf("it read %q, want %q: %v, %+v", got, input, err, r)
		}
	}
}

// TestGuardRefused does not let a program start.
func TestGuardRefused(t *testing.T) {
	for _, input := range []string{"", "in"} {
		dir, refused := t.TempDir(), errors.New("refused")
		c := Cmd{Shell: "cat > begun", Dir: dir, Guard: os.Args[0], Timeout: time.Minute, Stdin: []byte(input)}
		c.Started = func(int) error { return refused }
		if r := Run(t.Context(), c); !r.NotRun || !errors.Is(r.Err, refused) {
			t.Errorf("%+v", r)
		}
		if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
			t.Errorf("with %q as its input it ran", input)
		}
	}
}

func TestGuard(t *testing.T) {
	guard := os.Args[0]
	for line, want := range map[string]int{
		"exit 0": 0, "echo out; echo err >&2; exit 7": 7, "kill -9 $$": -1, "kill -9 $PPID; sleep 20": -1,
		"sleep 20 & true": 0,
	} {
		begin := time.Now()
		r := Run(t.Context(), Cmd{Shell: line, Guard: guard, Timeout: time.Minute, Output: 100})
		if code := r.ExitCode; code != want && !(want < 0 && code > 0) || (r.Err == nil) != (want == 0) {
			t.Errorf("%s: %+v, want exit status %d", line, r, want)
		}
		if want == 7 && string(r.Output) != "out\nerr\n" {
			t.Errorf("output %q", r.Output)
		}
		if time.Since(begin) > 10*time.Second {
			t.Errorf("%s: waited for a process that it left", line)
		}
	}
	for _, line := range []string{"wc -c", "true; echo 300000"} { // the first line reads all input, the second reads none
		r := Run(t.Context(),
			Cmd{Shell: line, Stdin: make([]byte, 300_000), Guard: guard, Timeout: time.Minute, Output: 100})
		if got := strings.TrimSpace(string(r.Output)); got != "300000" || r.Err != nil {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if runtime.GOOS == "linux" {
		for _, how := range []string{"true", "sleep 20"} { // the first ends by itself, the second at its deadline
			dir := t.TempDir()
			line := "for i in 1 2 3; do setsid sh -c 'until test -e over; do sleep 0.02; done; touch left' & done; " +
				"sleep 0.2; " + how
			Run(t.Context(), Cmd{Shell: line, Dir: dir, Guard: guard, Timeout: time.Second})
			if err := os.WriteFile(filepath.Join(dir, "over"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
			if _, err := os.Stat(filepath.Join(dir, "left")); err == nil {
				t.Errorf("%s: a process that left the group lived on", how)
			}
		}
	}
	missing := Cmd{Argv: []string{"/no/such/program"}, Guard: guard, Timeout: time.Minute, Output: 200}
	r := Run(t.Context(), missing)
	if r.ExitCode != notStarted || !strings.Contains(string(r.Output), "no such file") {
		t.Errorf("%+v", r)
	}
}

func TestTail(t *testing.T) {
	for _, chunk := range []int{1, 3, 7, 100, 5000} {
		k := &Tail{Limit: 10}
		text := strings.Repeat("0123456789abc", 200)
		for i := 0; i < len(text); i += chunk {
			_, _ = k.Write([]byte(text[i:min(i+chunk, len(text))]))
		}
		if got, want := string(k.Bytes()), text[len(text)-10:]; got != want || cap(k.buf) > 64 {
			t.Errorf("chunks of %d: %q, want %q; cap %d", chunk, got, want, cap(k.buf))
		}
	}
}

func TestAlive(t *testing.T) {
	pid := os.Getpid()
	if !Alive(pid, Start(pid)) || Alive(pid, "1"+Start(pid)) && Start(pid) != "" || Alive(0, "") || Alive(1<<30, "") {
		t.Error("Alive is wrong about this process, another start, or no process")
	}
	if runtime.GOOS == "linux" && (!Alive(pid, "1@pid:[1]") || Known("1@pid:[1]") || !Known(Start(pid))) {
		t.Error("a process of another namespace cannot be looked at")
	}
}

func TestHead(t *testing.T) {
	head := &Head{Limit: 1000}
	r := Run(t.Context(), Cmd{Shell: "yes | head -c 10000000", Stdout: head, Timeout: time.Minute})
	if n := len(head.Bytes()); r.Err != nil || n < 1000 || n > 200_000 {
		t.Errorf("kept %d bytes of 10 MB, %v", n, r.Err)
	}
}
