//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
