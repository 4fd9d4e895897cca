//go:build e2e

package e2e

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// apiKey is shorter than the 20 characters by which the client remembers a key
// that a person has approved.
const apiKey = "dummy"

// TestMain makes the client a command of the scripts; see clientMain.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"claude": clientMain})
}

// TestScripts runs the scripts with the programs of this checkout. It fails without a client,
// because a run that tested nothing must not look like a success.
func TestScripts(t *testing.T) {
	t.Parallel()
	client, err := findClient("claude")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	buildPrograms(t, bin)
	told := new(table)
	t.Cleanup(func() { told.print(os.Stdout) })
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Defer(func() { told.collect(env) })
			return setup(env, client, bin)
		},
		Cmds: commands(),
	})
}

// buildPrograms builds the programs of this checkout into a folder.
func buildPrograms(t *testing.T, bin string) {
	build := exec.Command("go", "build", "-o", bin, "../cmd/ralph-stop-hook", "../cmd/ralph-runner")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// commands are the commands of the scripts.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"model":    cmdModel,
		"requests": cmdRequests,
		"blocks":   cmdBlocks,
		"begun":    cmdBegun,
		"asked":    cmdAsked,
		"used":     cmdUsed,
		"jsonfile": cmdJSONFile,
		"count":    cmdCount,
		"exits":    cmdExits,
		"terminal": cmdTerminal,
		"picture":  cmdPicture,
	}
}

// setup gives a script its own home, state and project. A script starts in the
// project; the files beside it (models, notifiers) are out of the agent's way.
//
// testscript passes none of the parent's environment on but PATH, so a run
// inside a session of Claude Code sees none of that session's variables.
func setup(env *testscript.Env, client, bin string) error {
	repo, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	built, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return err
	}
	home, project := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "project")
	claude := filepath.Join(home, ".claude")
	for _, dir := range []string{claude, project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	// The answers to the questions that the client asks a person once, in a terminal.
	answers := mustJSON(map[string]any{
		"hasCompletedOnboarding":        true,
		"bypassPermissionsModeAccepted": true,
		"customApiKeyResponses":         map[string]any{"approved": []string{apiKey}},
		"projects":                      map[string]any{project: map[string]any{"hasTrustDialogAccepted": true}},
	})
	if err := os.WriteFile(filepath.Join(claude, ".claude.json"), answers, 0o600); err != nil {
		return err
	}
	for _, kv := range [][2]string{
		{"PATH", bin + string(os.PathListSeparator) + env.Getenv("PATH")},
		{"HOME", home},
		{"CLAUDE_CONFIG_DIR", claude},
		{"XDG_STATE_HOME", filepath.Join(home, ".local", "state")},
		{"LOOPS", filepath.Join(project, ".claude", "data", "ralph-loops")},
		{"ANTHROPIC_API_KEY", apiKey},
		{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
		{"DISABLE_AUTOUPDATER", "1"},
		{"CLAUDE_CODE_MAX_RETRIES", "1"},
		// The client refuses to skip its permission prompts as root without it.
		{"IS_SANDBOX", "1"},
		{"E2E_CLIENT", client},
		{"REPO", repo},
		{"BUILT", strings.TrimSpace(string(built))},
	} {
		env.Setenv(kv[0], kv[1])
	}
	env.Cd = project
	env.Values[models{}] = make(map[string]*model)
	return nil
}

// current returns the agent's requests to the current model. It fails if the model could
// not answer all of them.
func current(ts *testscript.TestScript) []request {
	m := ts.Value(models{}).(map[string]*model)[""]
	if m == nil {
		ts.Fatalf("no model: use the command model first")
	}
	requests, err := m.recorded()
	ts.Check(err)
	return requests
}

// cmdModel starts a model for a file, or returns to the previous one. Clients that start
// later use that model.
func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	all := ts.Value(models{}).(map[string]*model)
	m := all[args[0]]
	if m == nil {
		var err error
		m, err = newModel(ts.ReadFile(args[0]))
		ts.Check(err)
		ts.Defer(m.Close)
		all[args[0]] = m
	}
	all[""] = m
	pointAt(ts, m.URL)
}

// cmdRequests asserts the number of the agent's requests to the current model.
func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	expect(ts, neg, args, "requests", len(current(ts)))
}

// cmdBlocks asserts how often a hook blocked a stop.
func cmdBlocks(ts *testscript.TestScript, neg bool, args []string) {
	expect(ts, neg, args, "blocks", blocks(current(ts)))
}

// cmdBegun asserts how many conversations were begun with the current model.
func cmdBegun(ts *testscript.TestScript, neg bool, args []string) {
	expect(ts, neg, args, "conversations", begun(current(ts)))
}

// cmdAsked asserts that the agent sent the model a text that matches. The text may come
// from a prompt, a skill or a tool.
func cmdAsked(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: asked REGEXP")
	}
	want, err := regexp.Compile(args[0])
	ts.Check(err)
	found := slices.ContainsFunc(current(ts), func(req request) bool {
		return slices.ContainsFunc(req.Messages, func(msg message) bool {
			return want.MatchString(strings.Join(append(texts(msg.Content), answers(msg.Content)...), "\n"))
		})
	})
	if found == neg {
		ts.Fatalf("a text that matches %q: %v, want %v", args[0], found, !neg)
	}
}

// cmdCount asserts the number of lines of a file.
func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: count FILE N")
	}
	expect(ts, neg, args[1:], "lines", strings.Count(ts.ReadFile(args[0]), "\n"))
}

// cmdExits runs a program as exec does, and asserts its exit status: exits N PROGRAM [ARG…].
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits N PROGRAM [ARG…]")
	}
	err, code := ts.Exec(args[1], args[2:]...), 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err, code = nil, exit.ExitCode()
	}
	ts.Check(err)
	expect(ts, neg, args[:1], "is the exit status", code)
}

// expect compares a number with the one that the script names.
func expect(ts *testscript.TestScript, neg bool, args []string, what string, got int) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: %s N", what)
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got != want {
		ts.Fatalf("%d %s, want %d", got, what, want)
	}
}

// cmdJSONFile asserts that a JSON file has a value at a gjson path.
func cmdJSONFile(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: jsonfile FILE PATH VALUE")
	}
	data := ts.ReadFile(args[0])
	if !gjson.Valid(data) {
		ts.Fatalf("%s is not JSON:\n%s", args[0], data)
	}
	value := gjson.Get(data, args[1])
	if same := value.Exists() && value.String() == args[2]; same == neg {
		ts.Fatalf("%s is %s in\n%s", args[1], value.Raw, data)
	}
}
