package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// early is the feature that the scripted agent claims before it has done it.
const early = "discount-code"

// isAgent reports whether this program was started in the place of Claude Code.
func isAgent(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == "claude"
}

// done returns the file that a feature leaves when it is done.
func done(id string) string { return id + ".txt" }

// playAgent is one session: a prompt on standard input, and lines on standard output as Claude Code prints them with
// --output-format stream-json. The figures are made up.
func playAgent() error {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	said := "The release note: discounts, shipping and mails in the checkout."
	if f := given(string(prompt)); f.id != "" {
		said, err = work(f, string(prompt))
		if err != nil {
			return err
		}
	}
	model := "scripted"
	out := json.NewEncoder(os.Stdout)
	return errors.Join(
		out.Encode(map[string]any{"type": "system", "subtype": "init", "session_id": "demo", "model": model}),
		out.Encode(map[string]any{"type": "assistant", "message": map[string]any{
			"model": model, "content": []any{map[string]any{"type": "text", "text": said}},
		}}),
		out.Encode(map[string]any{
			"type": "result", "subtype": "success", "is_error": false, "result": said, "total_cost_usd": 0.03,
			"modelUsage": map[string]any{model: map[string]any{"inputTokens": 4000, "outputTokens": 500}},
		}),
	)
}

// given returns the feature that a prompt is about, zero if it is about none.
func given(prompt string) feature {
	_, line, _ := strings.Cut(prompt, "\n  id: ")
	id, _, _ := strings.Cut(line, "\n")
	return named(id)
}

// work does a feature and claims it. The early one is only claimed until a prompt says what is missing.
func work(f feature, prompt string) (said string, err error) {
	said = f.id + " is done."
	if f.id == early && !strings.Contains(prompt, missing(f.id)) {
		said = f.id + " was easy."
	} else {
		err = os.WriteFile(done(f.id), []byte(f.title+"\n"), 0o644)
	}
	list, err2 := os.ReadFile(listFile)
	open := strings.TrimSuffix(f.json(false), "}")
	claimed := strings.Replace(string(list), open, strings.TrimSuffix(f.json(true), "}"), 1)
	return said, errors.Join(err, err2, os.WriteFile(listFile, []byte(claimed), 0o644))
}

func missing(id string) string { return done(id) + " is missing" }

// check is the check of a feature.
func check(id string) error {
	if _, err := os.Stat(done(id)); err != nil {
		return errors.New(missing(id))
	}
	return nil
}
