package client

import (
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// TestKind says which events are answered, and which stops are not the agent's own.
func TestKind(t *testing.T) {
	type want struct {
		kind                  decide.Event
		aside, cleared, dying bool
	}
	for _, tc := range []struct {
		event Event
		want  want
	}{
		{Event{Name: Stop}, want{kind: decide.EventStop}},
		{Event{Name: Stop, PermissionMode: "bypassPermissions"}, want{kind: decide.EventStop}},
		{Event{Name: Stop, PermissionMode: "plan"}, want{kind: decide.EventStop, aside: true}},
		{Event{Name: Stop, AgentID: "a"}, want{kind: decide.EventStop, aside: true}},
		{Event{Name: Stop, Reason: "clear"}, want{kind: decide.EventStop}},
		{Event{Name: "SubagentStop", AgentID: "a"}, want{}},
		{Event{Name: PromptSubmit, Prompt: "go on"}, want{kind: decide.EventPrompt}},
		{Event{Name: PromptSubmit, Prompt: "<task-notification>done"}, want{}},
		{Event{Name: StopFailure, AgentID: "a"}, want{kind: decide.EventFailure, dying: true}},
		{Event{Name: SessionStart, Reason: "resume"}, want{kind: decide.EventStart}},
		{Event{Name: SessionStart, Reason: "clear"}, want{kind: decide.EventStart, cleared: true}},
		{Event{Name: SessionEnd, Reason: "clear"}, want{kind: decide.EventEnd, cleared: true, dying: true}},
		{Event{Name: SessionEnd, Reason: "other"}, want{kind: decide.EventEnd, dying: true}},
		{Event{}, want{}},
	} {
		e := tc.event
		if got := (want{e.Kind(), e.IsIgnored(), e.Cleared(), e.Dying()}); got != tc.want {
			t.Errorf("%+v: %+v, want %+v", e, got, tc.want)
		}
	}
}

func TestBlockCap(t *testing.T) {
	for text, want := range map[string]int{
		"": 8, "many": 8, "1e3": 8, "0": 0, "-1": 0, "5": 5, "99999999999999999999": 1<<63 - 1,
	} {
		if got := BlockCap(text); got != want {
			t.Errorf("BlockCap(%q) = %d, want %d", text, got, want)
		}
	}
}
