package boot

import (
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// HookProblem returns a function for loop.Env.HookProblem.
func HookProblem(env loop.Env) func(name string, at *loopdir.Loop) (why, fix string) {
	get := func(name string) string {
		if name == "PATH" { // a job such as cron's has another one than the session, which finds this program, too
			return env.Get(name) + string(filepath.ListSeparator) + filepath.Dir(env.Self)
		}
		return env.Get(name)
	}
	return func(name string, at *loopdir.Loop) (why, fix string) {
		c := client.Find(name)
		if name != "" && c.Name != name { // a client without a row works by MCP
			return "", ""
		}
		return client.Install{Client: c, Get: get, Home: env.Home, Project: at.Project}.HookProblem()
	}
}
