package config

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
)

// chains reads "chains": a definition for each name.
func (p *parser) chains(v gjson.Result) map[string]chain.Chain {
	if !v.IsObject() {
		p.fail(v, `"chains" must be an object, such as {"ship": "planner:5 -> builder:30"}`)
		return nil
	}
	all := map[string]chain.Chain{}
	v.ForEach(func(key, value gjson.Result) bool {
		_, twice := all[key.Str]
		switch {
		case !isName(key.Str):
			p.fail(key, "a chain's name has letters, digits, - and _; %q has others", key.Str)
		case twice:
			p.fail(key, "the key %q is there twice", key.Str)
		}
		c, err := chain.Parse(p.str(value, key.Str))
		if err != nil {
			p.fail(value, "the chain %q: %v", key.Str, err)
		}
		all[key.Str] = c
		return p.err == nil
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
