package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// TestResources reads every resource, and the prompt.
func TestResources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(loopdir.Below+"/demo/RALPH_PROMPT.md", "ralph-loop: .claude/data/ralph-loops/demo\n\x1b[31mWork.\n")
	w.call("iteration_start", "{}")
	ctx := context.Background()
	for uri, want := range map[string]string{
		"ralph://loops":             `"name": "other"`,
		"ralph://loops/demo/status": `"status": "IN_PROGRESS"`,
		"ralph://loops/demo/list":   `"title": "First"`,
		"ralph://loops/demo/log":    "iteration_start iteration 1",
	} {
		r, err := w.client.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(r.Contents[0].Text, want) {
			t.Errorf("%s: no %s: %v, %v", uri, want, r, err)
		}
	}
	for _, uri := range []string{
		"ralph://loops/nope/status", "ralph://loops/demo", "ralph://loops/../x/status", "ralph://loops/a%2Fb/log",
		"ralph://loops/demo/status/more", "ralph://else",
	} {
		if r, err := w.client.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %v", uri, r.Contents)
		}
	}
	p, err := w.client.GetPrompt(ctx, &mcp.GetPromptParams{Name: "work", Arguments: map[string]string{"loop": "demo"}})
	if err != nil {
		t.Fatal(err)
	}
	text := p.Messages[0].Content.(*mcp.TextContent).Text
	if !strings.HasPrefix(text, "ralph-loop: ") || strings.Contains(text, "\x1b") || !strings.Contains(text, "task_get") {
		t.Errorf("the prompt is %q", text)
	}
}

// TestSubscription is told of a loop that changes, and of no other.
func TestSubscription(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, err := New(w.desk, "test", &strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	updated := make(chan string, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			updated <- r.Params.URI
		},
	})
	near, far := mcp.NewInMemoryTransports()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go s.sdk.Run(ctx, far)
	go s.watch(ctx)
	session, err := client.Connect(ctx, near, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"ralph://loops/demo/list", "ralph://loops/other/list"} {
		if err := session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	late := time.After(time.Minute)
	for n := 0; ; n++ { // the client does not wait until it is subscribed, so one change may be too early
		w.claim([]string{"a", "b"}[n%2])
		select {
		case uri := <-updated:
			if uri != "ralph://loops/demo/list" {
				t.Errorf("told of %s", uri)
			}
			return
		case <-time.After(lookEvery):
		case <-late:
			t.Fatal("not told")
		}
	}
}

// TestTools holds the descriptions to what clients need: closed schemas, explicit annotations, short names.
func TestTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list, err := w.client.ListTools(context.Background(), nil)
	if err != nil || len(list.Tools) != 12 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, tool := range list.Tools {
		a := tool.Annotations
		reads := tool.Name == "task_get" || strings.HasSuffix(tool.Name, "_list") || tool.Name == "checkpoint_resume"
		if a == nil || a.ReadOnlyHint != reads || a.DestructiveHint == nil || *a.DestructiveHint ||
			a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
			text, err := json.Marshal(schema)
			if err != nil || !strings.Contains(string(text), `"additionalProperties":false`) {
				t.Errorf("%s: an open schema: %s, %v", tool.Name, text, err)
			}
		}
	}
}
