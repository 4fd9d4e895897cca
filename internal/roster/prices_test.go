package roster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
)

// cost is an entry of a list, with more keys.
func cost(name string, input, output float64, more string) string {
	return fmt.Sprintf(`%q: {"input_cost_per_token": %g, "output_cost_per_token": %g%s}`, name, input, output, more)
}

func TestReadPrices(t *testing.T) {
	whole := cost("gpt-5", 1.25e-06, 1e-05, `, "cache_read_input_token_cost": 1.25e-07, "mode": "chat"`)
	gpt5 := agent.Price{Model: "gpt-5", Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25}
	flat := func(model string, input, output float64) agent.Price {
		return agent.Price{Model: model, Input: input, Output: output, CacheRead: input, CacheWrite: input}
	}
	for _, tc := range []struct {
		name, list, left, err string
		want                  []agent.Price
	}{
		{"whole", whole, "", "", []agent.Price{gpt5}},
		{"the cache costs as input", cost("m", 1e-6, 2e-6, ""), "", "", []agent.Price{flat("m", 1, 2)}},
		{"writing the cache", cost("m", 1e-6, 2e-6, `, "cache_creation_input_token_cost": 3e-6`), "", "",
			[]agent.Price{{Model: "m", Input: 1, Output: 2, CacheRead: 1, CacheWrite: 3}}},
		{"free", cost("m", 0, 0, ""), "", "", []agent.Price{flat("m", 0, 0)}},
		{"no text, or no price of tokens", whole + `, "sample_spec": {"mode": "one of: chat", "input_cost_per_token": 0,
			"output_cost_per_token": 0}, "dall-e": {"input_cost_per_pixel": 1}, "x": 7,` +
			cost("embed", 1, 1, `, "mode": "embedding"`), "", "", []agent.Price{gpt5}},
		{"the name without a provider", cost("a/m", 9e-6, 9e-6, "") + "," + cost("m", 1e-6, 2e-6, "") + "," +
			cost("b/m", 9e-6, 9e-6, ""), "", "", []agent.Price{flat("m", 1, 2)}},
		{"the shortest name", cost("m-2025-01-01", 9e-6, 9e-6, "") + "," + cost("M", 1e-6, 2e-6, "") + "," +
			cost("m-latest", 9e-6, 9e-6, ""), "", "", []agent.Price{flat("m", 1, 2)}},
		{"the dearest provider", cost("a/m", 1e-6, 2e-6, "") + "," + cost("b/m", 3e-6, 4e-6, "") + "," +
			cost("c/m", 0, 0, ""), "", "", []agent.Price{flat("m", 3, 4)}},
		{"a text", whole + `, "m": {"input_cost_per_token": "1", "output_cost_per_token": 1}`, "m", "",
			[]agent.Price{gpt5}},
		{"below 0", whole + "," + cost("m", 1, -1, ""), "m", "", []agent.Price{gpt5}},
		{"out of range", whole + `, "m": {"input_cost_per_token": 1e999, "output_cost_per_token": 1}`, "m", "",
			[]agent.Price{gpt5}},
		{"a cache of null", whole + "," + cost("m", 1, 1, `, "cache_read_input_token_cost": null`), "m", "",
			[]agent.Price{gpt5}},
		{"a hostile name", whole + "," + strings.Replace(cost("N", 0, 0, ""), "N", `\u001b[2Jx\u202e`, 1), "x",
			"", []agent.Price{gpt5}},
		{"only wrong ones", cost("m", 1, 2, ""), "m", "every price in it is wrong, that of m first", nil},
		{"nothing", `"m": {}`, "", "it has no price of a model that writes text; want a list as LiteLLM has it", nil},
	} {
		got, left, err := ReadPrices([]byte("{" + tc.list + "}"))
		if (err == nil) != (tc.err == "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) ||
			left != tc.left || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %+v, left %q, %v", tc.name, got, left, err)
		}
	}
}
