package config

import (
	"math"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// UserConfig is a person's own configuration, for all loops.
type UserConfig struct {
	Limits decide.Limits // ceilings; a limit that it does not give has none
	Agents []Agent
	Prices []Price
}

// Price is what a million tokens of a model cost, in dollars.
type Price struct {
	Model                 string
	Input, Output         float64
	CacheRead, CacheWrite float64 // as much as Input if the configuration does not say it
}

// ParseUserConfig reads a person's own configuration.
func ParseUserConfig(data []byte) (UserConfig, error) {
	own := UserConfig{Limits: decide.Limits{MaxWait: math.MaxInt64}}
	text, err := jsontext.Check(data)
	if err != nil {
		return own, err
	}
	p := &parser{text: text}
	readObject(p, gjson.ParseBytes(text), "the configuration", []key[UserConfig]{
		{name: "limits", read: func(p *parser, v gjson.Result, _ string, o *UserConfig) { p.limits(v, &o.Limits) }},
		{name: "agents", read: func(p *parser, v gjson.Result, name string, o *UserConfig) { p.agents(v, name, &o.Agents) }},
		{name: "prices", read: (*parser).prices},
	}, &own)
	return own, p.err
}

// prices reads "prices".
func (p *parser) prices(v gjson.Result, _ string, o *UserConfig) {
	if !v.IsObject() {
		p.fail(v, `"prices" must be an object, such as {"gpt-5": {"input": 1.25, "output": 10}}`)
		return
	}
	p.members(v, func(model, value gjson.Result) {
		m := Price{Model: model.Str, Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1}
		readObject(p, value, "a price", priceKeys, &m)
		if m.Input < 0 || m.Output < 0 {
			p.fail(value, `the price of %q must have "input" and "output"`, model.Str)
		}
		if m.CacheRead < 0 {
			m.CacheRead = m.Input
		}
		if m.CacheWrite < 0 {
			m.CacheWrite = m.Input
		}
		o.Prices = append(o.Prices, m)
	})
}

// maxDollars is the largest sum that the configuration may name.
const maxDollars = 1e6

// priceKeys has the keys of a price.
var priceKeys = []key[Price]{
	{name: "input", field: func(m *Price) any { return &m.Input }},
	{name: "output", field: func(m *Price) any { return &m.Output }},
	{name: "cache_read", field: func(m *Price) any { return &m.CacheRead }},
	{name: "cache_write", field: func(m *Price) any { return &m.CacheWrite }},
}
