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
	dollars := func(to *float64, key string) func(gjson.Result) {
		return func(v gjson.Result) {
			if *to = v.Num; v.Type != gjson.Number || v.Num < 0 || v.Num > 1e6 {
				p.fail(v, "%q must be dollars for a million tokens, such as 1.25", key)
			}
		}
	}
	p.object(v, "a price", map[string]func(gjson.Result){
		"input":      dollars(&m.Input, "input"),
		"output":     dollars(&m.Output, "output"),
		"cache_read": dollars(&m.CacheRead, "cache_read"), "cache_write": dollars(&m.CacheWrite, "cache_write"),
	})
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
