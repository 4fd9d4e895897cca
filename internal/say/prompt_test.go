package say

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// maxTokens is how many tokens the prompt of a stop that continues may have, beside the feature's text, the output of a
// check and the files that do not count. It stays in every later request of the session.
const maxTokens = 220

// bytesPerToken is the fewest bytes that a token of these prompts has on average: 3.42 to 3.58 were measured with
// @anthropic-ai/tokenizer 0.0.4, when the five prompts below had 137 to 216 tokens, all included.
const bytesPerToken = 3.2

// TestPromptSize bounds the prompts of stops that continue.
func TestPromptSize(t *testing.T) {
	dir := t.TempDir()
	at := &loopdir.Loop{
		Name: "checkout-service", Project: dir,
		Dir: filepath.Join(dir, ".claude", "data", "ralph-loops", "checkout-service"),
	}
	if err := os.MkdirAll(at.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at.Dir, loopdir.PromptFile), []byte("The steps.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := features.Parse([]byte(`[{"id": "a", "passes": true}, {"id": "b", "title": "B", "passes": false}]`))
	if err != nil {
		t.Fatal(err)
	}
	next, _ := list.Next()
	for name, change := range map[string]func(*loop.Picture, *decide.Decision){
		"a feature": func(*loop.Picture, *decide.Decision) {},
		"no list": func(p *loop.Picture, d *decide.Decision) {
			p.Snapshot.NoList, p.Config.Task, d.Feature = true, "Build a todo API: create, list, delete.", features.Item{}
		},
		"a check failed": func(p *loop.Picture, d *decide.Decision) {
			d.Failure = &decide.Receipt{Check: "c", Name: "npm test --workspace services/checkout", Tail: "exit status 1"}
			p.Snapshot.Reopened = []string{"b"}
		},
		"nothing changed, and a question": func(p *loop.Picture, d *decide.Decision) {
			d.Next.Unchanged, d.Next.Questions = 2, 1
		},
		"a wrong claim that all is done": func(p *loop.Picture, d *decide.Decision) { d.Promised = true },
	} {
		p := &loop.Picture{Loop: &loop.Loop{At: at}}
		p.Config.List = "services/checkout/feature_list.json"
		p.Snapshot.List.List = list
		d := decide.Decision{Verdict: decide.Continue, Limit: 45, Feature: next}
		d.Next.Iteration = 3
		change(p, &d)
		text := Prompt(p, d, "")
		for _, words := range []string{"checkout-service/RALPH_PROMPT.md", "<promise>BLOCKED: reason</promise>"} {
			if !strings.Contains(text, words) {
				t.Errorf("%s: the prompt lacks %q:\n%s", name, words, text)
			}
		}
		if strings.Contains(text, commits) {
			t.Errorf("%s: the steps of the first prompt are said again:\n%s", name, text)
		}
		size := len(text) - len("  id: b\n  title: B\n")
		if d.Failure != nil {
			size -= len(d.Failure.Tail)
		}
		if tokens := float64(size) / bytesPerToken; tokens > maxTokens {
			t.Errorf("%s: about %.0f tokens, at most %d:\n%s", name, tokens, maxTokens, text)
		}
	}
}

// TestCounts checks that the first prompt names the checks, and which changes count.
func TestCounts(t *testing.T) {
	c, err := config.Parse([]byte(`{"checks": [{"command": "npm test"}, {"name": "its test", "command": ["go", "test"]}],
		"work": ["src/**"], "protect": ["+**/conftest.py", "run.sh"]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `
These checks decide what is done: npm test, go test.
Only changes to these files count: src/**.
The checks use the trusted version of these files, so changes to them have no effect: **/conftest.py, run.sh.
`
	if got := Counts(c); got != want {
		t.Errorf("got %s", got)
	}
	if got := Counts(config.Config{}); got != "" {
		t.Errorf("without checks: %q", got)
	}
}
