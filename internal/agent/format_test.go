package agent

import (
	"slices"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

// TestOutputs compares the formats that a configuration may name with those that there are.
func TestOutputs(t *testing.T) {
	var all []string
	for _, f := range formats {
		all = append(all, f.output)
	}
	if !slices.Equal(config.Outputs, all) {
		t.Errorf("config has %q, agent %q", config.Outputs, all)
	}
}

func TestReads(t *testing.T) {
	row := Program("x").Reads(OutputCodex)
	if row.Output != OutputCodex || !row.TellsTokens || row.TellsCost {
		t.Errorf("%+v", row)
	}
	row = row.Reads("unheard of")
	if row.Output != OutputText || row.TellsTokens {
		t.Errorf("%+v", row)
	}
}

func TestCopilotUsage(t *testing.T) {
	got := copilotUsage(`{"modelMetrics": {"m": {"usage": {"inputTokens": 2200, "outputTokens": 70,
		"cacheReadTokens": 1200, "cacheWriteTokens": 0}}, "n": {"usage": {"inputTokens": 1, "outputTokens": -3}}}}`)
	if want := (Usage{Input: 1001, Output: 70, CacheRead: 1200, TokensKnown: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, text := range []string{"", "x", "[]", `{"modelMetrics": 3}`} {
		if got := copilotUsage(text); got != (Usage{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
