package boot

import (
	"context"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// VersionOf asks another program of ours for its version. It returns where PATH finds the program, "" if there is none.
// It does not look in the project, whose programs an agent can write. The version is "unknown" if it does not say one.
func VersionOf(env loop.Env, program, project string) (path, version string) {
	vars := proc.EnvOutside(env.Vars, project)
	path, err := proc.LookPath(program, proc.Value(vars, "PATH"))
	if err != nil {
		return "", ""
	}
	r := proc.Run(context.Background(), proc.Cmd{
		Argv: []string{path, "version"}, Dir: project, Env: vars, Stdin: []byte{}, Timeout: 10 * time.Second, Output: 1000,
	})
	words := strings.Fields(string(r.Output)) // NAME VERSION SYSTEM GO
	if r.Err != nil || len(words) < 2 || words[0] != program {
		return path, "unknown"
	}
	return path, plain.Line(words[1], 100)
}
