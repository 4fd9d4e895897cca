package agent

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestPriceOf(t *testing.T) {
	row := Row{Prices: []Price{{Model: "gpt-5", Input: 7}, {Model: "local/qwen3", Output: 1}, {Model: "gpt-5", Input: 8}}}
	for model, want := range map[string]string{
		"gpt-5":                      "gpt-5",
		"openai/gpt-5":               "gpt-5",
		"GPT-5-2025-08-07":           "gpt-5",
		"gpt-5:high":                 "gpt-5",
		"gpt-5-mini":                 "gpt-5-mini",
		"claude-sonnet-4.5":          "claude-sonnet-4-5",
		"claude-sonnet-4-5-20250929": "claude-sonnet-4-5",
		"claude-sonnet-4-5[1m]":      "claude-sonnet-4-5",
		"x/y/gemini-2.5-pro-latest":  "gemini-2.5-pro",
		"qwen3":                      "local/qwen3",
		"gpt-5.5":                    "",
		"gpt":                        "",
		"":                           "",
		"/":                          "",
		"sonnet":                     "",
	} {
		if got, known := row.PriceOf(model); got.Model != want || known != (want != "") {
			t.Errorf("%q: %+v", model, got)
		}
	}
	if got, _ := row.PriceOf("gpt-5"); got.Input != 7 {
		t.Errorf("a person's own price: %+v", got)
	}
}

func TestPriced(t *testing.T) {
	used := Usage{Input: 1_000_000, Output: 100_000, CacheRead: 2_000_000, TokensKnown: true}
	got := Row{}.withPrice(used, "gpt-5")
	if math.Abs(got.CostUSD-2.5) > 1e-9 || !got.CostKnown || !got.Estimated {
		t.Errorf("%+v", got)
	}
	told := Usage{Input: 5, TokensKnown: true, CostKnown: true, CostUSD: 1}
	if got := (Row{}).withPrice(Usage{Input: 1_000_000}, "o3"); got.CostUSD != 2 || got.CostKnown {
		t.Errorf("a part of the tokens: %+v", got)
	}
	for model, u := range map[string]Usage{"gpt-5": told, "unheard of": used, "o3": {}} {
		if got := (Row{}).withPrice(u, model); got != u {
			t.Errorf("%s: %+v", model, got)
		}
	}
}

// TestListPrices looks for slips: a model twice, no figure, or a cache that costs more than what it saves.
func TestListPrices(t *testing.T) {
	var seen []string
	for _, p := range ListPrices() {
		if slices.Contains(seen, PlainModel(p.Model)) || p.Model != strings.ToLower(p.Model) {
			t.Errorf("%s is there twice, or not in lower case", p.Model)
		}
		seen = append(seen, PlainModel(p.Model))
		if min(p.Input, p.Output, p.CacheRead, p.CacheWrite) <= 0 || p.CacheRead >= p.Input || p.Input >= p.Output {
			t.Errorf("%+v", p)
		}
	}
}
