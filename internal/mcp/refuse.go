package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tool"
)

// What only a person may do is refused here in words that name a way out, before the SDK or a schema refuses it in
// others.

// persons are the verbs that only a person may call, with the words that ask for them in arguments.
var persons = []struct {
	verbs, keys []string
	why, line   string // line has the loop's name for %s
}{
	{
		[]string{"command", "check_add", "evaluate_add", "notify"},
		[]string{
			"command", "commands", "checks", "evaluate", "evaluator", "source", "notifiers", "on_complete", "onComplete",
			"on_failure", "on_stagnation", "on_iteration", "script", "shell",
		},
		"commands come only from what a person trusts", "ralph-runner trust %s",
	},
	{
		[]string{"extend"}, []string{"extend", "deadline", "limits", "max_iterations"},
		"only a person raises a limit", "ralph-runner extend %s",
	},
	{
		[]string{"resume", "loop_resume"}, []string{"status", "loopStatus", "resume"},
		"only a person continues a loop that has ended", "ralph-runner resume %s",
	},
	{
		[]string{"trust"}, []string{"trust", "trusted"},
		"only a person trusts what a loop runs", "ralph-runner trust %s",
	},
	{
		[]string{"untrust"}, []string{"untrust"},
		"only a person takes trust back", "ralph-runner untrust %s",
	},
	{
		[]string{"init", "task_create", "loop_create"}, []string{"init", "force"},
		"only a person makes a loop that runs commands", "ralph-stop-hook init %s",
	},
}

func forPerson(why, line, loop string) error {
	if loop == "" {
		loop = "NAME"
	}
	return tool.ForPerson(why, fmt.Sprintf(line, plain.Arg(plain.Line(loop, 100))))
}

// refused refuses arguments that ask for what only a person may do.
func (s *Server) refused(name string, arguments json.RawMessage) error {
	var in map[string]json.RawMessage
	if json.Unmarshal(arguments, &in) != nil {
		return nil // the schema says what is wrong
	}
	var loop string
	_ = json.Unmarshal(in["taskId"], &loop) // "" if it is something else
	for _, p := range persons {
		for key := range in {
			if slices.Contains(p.keys, key) {
				return forPerson(fmt.Sprintf("%s takes no %q: %s", name, key, p.why), p.line, loop)
			}
		}
	}
	var rules []struct{ Type string }
	if json.Unmarshal(in["validationRules"], &rules) == nil {
		for _, r := range rules {
			if slices.Contains(agenthook.Commands, r.Type) {
				return forPerson(fmt.Sprintf("a rule of the type %s runs a command: %s", r.Type, persons[0].why),
					persons[0].line, loop)
			}
		}
	}
	var kind string
	if name == "hook_register" && json.Unmarshal(in["hookType"], &kind) == nil && kind != "" &&
		!slices.Contains([]string{agenthook.Default, agenthook.Validation, agenthook.Promise}, kind) {
		return fmt.Errorf("unknown hookType %q; there are %s, %s and %s", plain.Line(kind, 80), agenthook.Default,
			agenthook.Validation, agenthook.Promise)
	}
	return nil
}

// personsVerbs answers calls of tools that there are not, and that only a person could use.
func (s *Server) personsVerbs(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		call, is := req.(*mcp.CallToolRequest)
		if method != "tools/call" || !is || call.Params == nil {
			return next(ctx, method, req)
		}
		for _, p := range persons {
			if slices.Contains(p.verbs, call.Params.Name) {
				var result mcp.CallToolResult
				result.SetError(forPerson(fmt.Sprintf("there is no tool %s: %s", call.Params.Name, p.why), p.line, ""))
				return &result, nil
			}
		}
		return next(ctx, method, req)
	}
}
