package tree

import (
	"context"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Branch returns the branch that is checked out in a folder of a repository, on one line, or "" for
// none.
func Branch(env []string, dir string) string {
	r := proc.Run(context.Background(), proc.Git(env, dir, "symbolic-ref", "-q", "--short", "HEAD"))
	if r.Err != nil {
		return ""
	}
	return plain.Line(string(r.Output), 300)
}
