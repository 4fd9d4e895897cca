package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPKilled kills the server at many moments while it answers. What it has acknowledged is there for the next one,
// and the next one works.
func TestMCPKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its processes end in other ways")
	}
	t.Parallel()
	program, project, state := build(t, "../ralph-runner"), t.TempDir(), t.TempDir()
	demo := filepath.Join(project, ".claude", "data", "ralph-loops", "demo")
	if err := os.MkdirAll(demo, 0o755); err != nil {
		t.Fatal(err)
	}
	list := []byte(`[{"id": "a", "passes": false}]`)
	if err := os.WriteFile(filepath.Join(demo, "feature_list.json"), list, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	start := func() (*exec.Cmd, *mcp.ClientSession) {
		cmd := exec.Command(program, "mcp")
		cmd.Dir, cmd.Env = project, append(os.Environ(), "RALPH_STATE_DIR="+state, "RALPH_LOOP_DIR="+demo)
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return cmd, session
	}
	kept := map[string]bool{} // what was acknowledged
	for round := range 12 {
		cmd, session := start()
		killed := time.AfterFunc(time.Duration(round*7)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		for n := 0; ; n++ {
			id := fmt.Sprintf("h%d", (round*5+n)%60)
			arguments := json.RawMessage(fmt.Sprintf(`{"hookType": "default", "hookId": %q}`, id))
			if n%2 == 1 {
				_, err := session.CallTool(ctx,
					&mcp.CallToolParams{Name: "checkpoint_create", Arguments: json.RawMessage("{}")})
				if err != nil {
					break
				}
				continue
			}
			r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "hook_register", Arguments: arguments})
			if err != nil {
				break
			}
			if r.IsError {
				t.Fatalf("round %d: %s", round, r.Content[0].(*mcp.TextContent).Text)
			}
			kept[id] = true
		}
		killed.Stop()
		_ = session.Close() // of a process that was killed
	}
	_, session := start()
	defer session.Close()
	for _, call := range []string{"hook_list", "checkpoint_list", "iteration_start", "task_get"} {
		r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: call, Arguments: json.RawMessage("{}")})
		if err != nil || r.IsError {
			t.Fatalf("%s: %v, %v", call, r, err)
		}
		text := r.Content[0].(*mcp.TextContent).Text
		for id := range kept {
			if call == "hook_list" && !strings.Contains(text, `"`+id+`"`) {
				t.Errorf("the hook %s was acknowledged and is lost", id)
			}
		}
	}
	if len(kept) == 0 {
		t.Error("the control: no call was acknowledged before the server was killed")
	}
}
