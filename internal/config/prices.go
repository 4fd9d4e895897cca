package config

import (
	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// Price is what a million tokens of a model cost, in dollars.
type Price struct {
	Model                 string
	Input, Output         float64
	CacheRead, CacheWrite float64 // as much as Input if the configuration does not say it
}

// ParsePrices reads the prices of a person's own configuration, {"prices": {...}}.
func ParsePrices(data []byte) ([]Price, error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text}
	v := gjson.ParseBytes(text).Get("prices")
	switch {
	case !v.Exists():
		return nil, nil
	case !v.IsObject():
		p.fail(v, `"prices" must be an object, such as {"gpt-5": {"input": 1.25, "output": 10}}`)
	}
	var all []Price
	v.ForEach(func(key, value gjson.Result) bool {
		all = append(all, p.price(key.Str, value))
		return p.err == nil
	})
	return all, p.err
}

func (p *parser) price(model string, v gjson.Result) Price {
	m := Price{Model: model, Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1}
	readObject(p, v, "a price", priceKeys, &m)
	if m.Input < 0 || m.Output < 0 {
		p.fail(v, `the price of %q must have "input" and "output"`, model)
	}
	if m.CacheRead < 0 {
		m.CacheRead = m.Input
	}
	if m.CacheWrite < 0 {
		m.CacheWrite = m.Input
	}
	return m
}

// maxDollars is the largest sum that the configuration may name.
const maxDollars = 1e6

// priceKeys has the keys of a price.
var priceKeys = []key[Price]{
	{name: "input", read: dollars(func(m *Price) *float64 { return &m.Input })},
	{name: "output", read: dollars(func(m *Price) *float64 { return &m.Output })},
	{name: "cache_read", read: dollars(func(m *Price) *float64 { return &m.CacheRead })},
	{name: "cache_write", read: dollars(func(m *Price) *float64 { return &m.CacheWrite })},
}

func dollars(field func(*Price) *float64) func(p *parser, v gjson.Result, key string, m *Price) {
	return func(p *parser, v gjson.Result, key string, m *Price) {
		*field(m) = v.Num
		if v.Type != gjson.Number || v.Num < 0 || v.Num > maxDollars {
			p.fail(v, "%q must be dollars for a million tokens, such as 1.25", key)
		}
	}
}
