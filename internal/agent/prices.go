package agent

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Price is what a million tokens of a model cost, in dollars.
type Price struct {
	Model      string  `json:"model"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// PricesOf is the month of the prices of ListPrices. docs/assurance/AGENTS.md names the pages from which they are.
const PricesOf = "November 2025"

// ListPrices returns the public prices of common models in PricesOf: those for prompts of the usual length, at once and
// without a discount. So a sum of them is near the bill, and not the bill. OpenAI and Google took nothing for writing
// their caches.
func ListPrices() []Price {
	return []Price{
		{"claude-haiku-4-5", 1, 5, 0.10, 1.25},
		{"claude-opus-4-1", 15, 75, 1.50, 18.75},
		{"claude-opus-4-5", 5, 25, 0.50, 6.25},
		{"claude-sonnet-4", 3, 15, 0.30, 3.75},
		{"claude-sonnet-4-5", 3, 15, 0.30, 3.75},
		{"gpt-4.1", 2, 8, 0.50, 2},
		{"gpt-5", 1.25, 10, 0.125, 1.25},
		{"gpt-5-codex", 1.25, 10, 0.125, 1.25},
		{"gpt-5-mini", 0.25, 2, 0.025, 0.25},
		{"gpt-5-nano", 0.05, 0.40, 0.005, 0.05},
		{"gpt-5.1", 1.25, 10, 0.125, 1.25},
		{"gpt-5.1-codex", 1.25, 10, 0.125, 1.25},
		{"o3", 2, 8, 0.50, 2},
		{"o4-mini", 1.10, 4.40, 0.275, 1.10},
		{"gemini-2.5-flash", 0.30, 2.50, 0.03, 0.30},
		{"gemini-2.5-flash-lite", 0.10, 0.40, 0.01, 0.10},
		{"gemini-2.5-pro", 1.25, 10, 0.125, 1.25},
	}
}

// modelDate is the date at the end of a model's name, as Anthropic and OpenAI write it, or what a client adds.
var modelDate = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(-20\d{6}|-20\d\d-\d\d-\d\d|-latest|:[a-z]+|\[[0-9a-z]+\])+$`)
})

// PlainModel returns the name of a model without its provider and its date, as clients write it differently:
// "anthropic/claude-sonnet-4.5" and "claude-sonnet-4-5-20250929" are one model.
func PlainModel(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	return strings.ReplaceAll(modelDate().ReplaceAllString(name, ""), ".", "-")
}

// PriceOf returns the price of a model: as the person's own prices have it, else as ListPrices. The first price of a
// name counts.
func (r Row) PriceOf(model string) (Price, bool) {
	name := PlainModel(model)
	if name == "" {
		return Price{}, false
	}
	same := func(p Price) bool { return PlainModel(p.Model) == name }
	list := ListPrices()
	if i := slices.IndexFunc(r.Prices, same); i >= 0 {
		return r.Prices[i], true
	}
	if i := slices.IndexFunc(list, same); i >= 0 {
		return list[i], true
	}
	return Price{}, false
}

// cost returns what tokens cost.
func (p Price) cost(u Usage) float64 {
	const million = 1e6
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*p.CacheRead +
		float64(u.CacheWrite)*p.CacheWrite) / million
}

// withPrice completes what a session used with the price of its model, if the agent told tokens and no cost. If it told
// only a part of the tokens, the cost is not known, and is at least this.
func (r Row) withPrice(u Usage, model string) Usage {
	if price, known := r.PriceOf(model); known && !u.CostKnown && u.Tokens() > 0 {
		u.CostUSD = max(u.CostUSD, price.cost(u))
		u.CostKnown = u.TokensKnown
		u.Estimated = true
	}
	return u
}
