package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	turn   = `{"type":"turn_context","payload":{"model":"gpt-5"}}` + "\n"
	limits = `{"type":"event_msg","payload":{"type":"token_count","rate_limits":{` +
		`"primary":{"used_percent":100.0,"window_minutes":300,"resets_at":1795311361},` +
		`"secondary":{"used_percent":40,"resets_at":1795646161}}}}` + "\n"
)

func TestReadRollout(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       " 0001-01-01 00:00",
		turn + limits:                            "gpt-5 2026-11-22 01:36",
		strings.Replace(limits, "40", "100", 1):  " 2026-11-25 22:36",
		strings.Replace(limits, "100.0", "3", 1): " 2026-11-25 22:36",
		limits + strings.Replace(limits, "1795311361", "1795311961", 1):  " 2026-11-22 01:46",
		strings.Replace(limits, "1795311361", `"soon"`, 1):               " 0001-01-01 00:00",
		limits + `{"type":"event_msg","payload":{"type":"token_count"}}`: " 2026-11-22 01:36",
		limits[:len(limits)/2] + "\n" + turn + "half a line {":           "gpt-5 0001-01-01 00:00",
		strings.Replace(turn, "gpt-5", `gpt\u001b[31m\n5`, 1):            "gpt 5 0001-01-01 00:00",
	} {
		model, reset := readRollout(text)
		if got := model + " " + reset.Format("2006-01-02 15:04"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestRollout finds the file of a thread by its id, which is printed by the agent and may be anything.
func TestRollout(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "sessions", "2026", "11", "22")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "rollout-2026-11-22T01-02-03-0199-7a.jsonl")
	if err := os.WriteFile(name, []byte(strings.Repeat("x", maxFile)+"the end"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := rollout(home, "0199-7a"); len(got) != maxFile || !strings.HasSuffix(got, "the end") {
		t.Errorf("%d bytes", len(got))
	}
	for _, thread := range []string{"", "*", "0199-7b", "../22/rollout-2026-11-22T01-02-03-0199-7a", "0199-7?"} {
		if got := rollout(home, thread); got != "" {
			t.Errorf("%q: %d bytes", thread, len(got))
		}
	}
}
