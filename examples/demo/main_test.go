package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// fakeHook is an environment variable. If it is set, the test binary is a hook of that
// kind.
const fakeHook = "DEMO_TEST_HOOK"

func TestMain(m *testing.M) {
	kind := os.Getenv(fakeHook)
	if kind == "" {
		status := m.Run()
		if dir, _ := built(); dir != "" {
			os.RemoveAll(dir)
		}
		os.Exit(status)
	}
	const block = `{"decision":"block","reason":"shipping-cost is next"}`
	args := os.Args[1:]
	switch kind {
	case "silent":
		os.Exit(0)
	case "hasty":
		fmt.Println(`{"continue":true,"systemMessage":"Ralph loop COMPLETE: 5 of 5 features."}`)
		os.Exit(0)
	case "twice":
		fmt.Println(block + block)
		os.Exit(0)
	case "failing":
		fmt.Println(block)
		os.Exit(2)
	case "endless":
		fmt.Println(block)
		os.Exit(0)
	case "insistent":
		_, command := notifier()
		args = append(args, "--on-complete", command)
	}
	name := "ralph-stop-hook"
	switch kind {
	case "careless": // it believes a claim without a check
		if err := os.WriteFile("discount-code.txt", nil, 0o644); err != nil {
			panic(err)
		}
		name = "ralph-runner"
	case "mute":
		name = "ralph-runner"
		if args[0] == "delegate" {
			os.Exit(0)
		}
	}
	real := exec.Command(name, args...)
	real.Stdin, real.Stdout = os.Stdin, os.Stdout
	if err := real.Run(); err != nil {
		panic(err)
	}
	if kind == "secretive" {
		if err := os.WriteFile(noticesFile, nil, 0o644); err != nil {
			panic(err)
		}
	}
	os.Exit(0)
}

// built builds the demo and the programs that it shows, once, and returns their folder.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "demo-test-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(os.PathSeparator), ".",
		"../../cmd/ralph-stop-hook", "../../cmd/ralph-runner")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// build returns the path of the demo, and that of a folder with the programs that it shows.
func build(t *testing.T) (demo, bin string) {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	demo = filepath.Join(bin, "demo")
	if runtime.GOOS == "windows" {
		demo += ".exe"
	}
	return demo, bin
}

// perform runs the demo in the repository's root and checks that it leaves no temporary
// file. The folder for temporary files has a name that a shell must quote.
func perform(t *testing.T, program, env string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	temp := filepath.Join(t.TempDir(), "it's a & b")
	if err := os.Mkdir(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), env, "TMPDIR="+temp, "TEMP="+temp, "TMP="+temp)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestDemo(t *testing.T) {
	t.Parallel()
	program, bin := build(t)
	// The person's own settings must not matter.
	stdout, stderr, status := perform(t, program, "RALPH_ON_COMPLETE=exit 1")
	if status != 0 || stderr != "" || !strings.HasSuffix(stdout, "\n5 of 5 features proven, 6 stops, 1 notice.\n") {
		t.Fatalf("status %d, standard error %q, output\n%s", status, stderr, stdout)
	}
	if n := strings.Count(stdout, "next discount-code"); n != 2 {
		t.Errorf("the feature that was claimed early was given %d times, want 2:\n%s", n, stdout)
	}
	for _, want := range []string{
		"next discount-code · attempt 2 · the check", "COMPLETE: checkout: 5 of 5 features proven, after 6 iterations.",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "ralph-demo-") || strings.Contains(stdout, "\x1b") {
		t.Errorf("temporary paths or colours in the output:\n%q", stdout)
	}
	colored, _, status := perform(t, program, "NO_COLOR=1", "-color", "-bin", bin)
	if status != 0 || !strings.Contains(colored, "\x1b[32mend     \x1b[0m  Ralph loop COMPLETE") {
		t.Errorf("with -color: status %d, output\n%q", status, colored)
	}
}

func TestRunner(t *testing.T) {
	t.Parallel()
	program, _ := build(t)
	stdout, stderr, status := perform(t, program, "RALPH_ON_COMPLETE=exit 1", "-runner")
	if status != 0 || stderr != "" || !strings.HasSuffix(stdout, "\n5 of 5 features, 6 sessions, 1 delegated task.\n") {
		t.Fatalf("status %d, standard error %q, output\n%s", status, stderr, stdout)
	}
	for _, want := range []string{
		"next discount-code · attempt 2 · the check", "2 attempts", "5 of 5 features proven, after 6 iterations.",
		"\nThe release note: ", "  task  Write the release note: completed, exit code 0\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "ralph-demo-") || strings.Contains(stdout, "\x1b") {
		t.Errorf("temporary paths or colours in the output:\n%q", stdout)
	}
}

// TestControl checks that the demo can fail.
func TestControl(t *testing.T) {
	program, bin := build(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ hook, want, flag string }{
		{"silent", `stop 1 was allowed`, ""},
		{"hasty", `stop 1 was allowed`, ""},
		{"twice", `want one JSON object`, ""},
		{"failing", `exit status 2`, ""},
		{"endless", `stop 2: after "shipping-cost" the hook's prompt names "shipping-cost"`, ""},
		{"secretive", `called 0 times`, ""},
		{"insistent", `called 2 times`, ""},
		{"silent", `the loop IN_PROGRESS with 0 proven features`, "-runner"},
		{"failing", `ralph-runner --permission-mode acceptEdits --allowed-tools Bash(./notify:*): exit status 2`, "-runner"},
		{"careless", `discount-code took 1 sessions, want 2`, "-runner"},
		{"mute", `the on-complete commands were told [map[`, "-runner"},
	} {
		t.Run(test.hook+test.flag, func(t *testing.T) {
			t.Parallel()
			args := []string{"-hook", self, "-bin", bin}
			if test.flag != "" {
				args = append(args, test.flag)
			}
			stdout, stderr, status := perform(t, program, fakeHook+"="+test.hook, args...)
			if status != 1 || !strings.HasPrefix(stderr, "demo: error: ") || !strings.Contains(stderr, test.want) {
				t.Errorf("status %d, standard error %q, want 1 and %s", status, stderr, test.want)
			}
			if strings.HasSuffix(stdout, "notice.\n") || strings.HasSuffix(stdout, "task.\n") {
				t.Errorf("praised all the same:\n%s", stdout)
			}
		})
	}
}
