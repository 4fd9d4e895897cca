package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

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
