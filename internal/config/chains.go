package config

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
)

// chains reads "chains": a definition for each name.
func (p *parser) chains(v gjson.Result) map[string]chain.Chain {
	all := map[string]chain.Chain{}
	p.named(v, `"chains" must be an object, such as {"ship": "planner:5 -> builder:30"}`, "a chain's",
		func(name string, value gjson.Result) {
			c, err := chain.Parse(p.str(value, name))
			if err != nil {
				p.fail(value, "the chain %q: %v", name, err)
			}
			all[name] = c
		})
	return all
}

// names reads a list of texts of which none is empty.
func (p *parser) names(v gjson.Result, key, example string) []string {
	names := p.strs(v, key)
	if !v.IsArray() || len(names) == 0 || slices.Contains(names, "") {
		p.fail(v, `%q must be a list of texts, such as [%q]`, key, example)
	}
	return names
}
