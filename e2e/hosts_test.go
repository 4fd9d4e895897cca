//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

// TestHosts works a loop in one session of each client that calls the Stop hook, beside Claude Code.
func TestHosts(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	buildPrograms(t, bin)
	for _, h := range client.All[1:] {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			found, err := findClient(h.Name)
			if err != nil {
				t.Skip(err)
			}
			testscript.Run(t, testscript.Params{
				Dir:                 filepath.Join("testdata", "hosts"),
				RequireExplicitExec: true,
				Setup: func(env *testscript.Env) error {
					if err := setup(env, found, bin); err != nil {
						return err
					}
					env.Setenv("HOST", h.Name)
					return prepareAgent(env, h.Name, found)
				},
				Condition: func(cond string) (bool, error) { return slices.Contains(strings.Split(cond, "|"), h.Name), nil },
				Cmds:      commands(),
			})
		})
	}
}
