package config

import (
	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// guards reads "guards", and returns the names of those that are off.
func (p *parser) guards(v gjson.Result) (off []string) {
	keys := map[string]func(gjson.Result){}
	for _, name := range decide.Guards {
		keys[name] = func(v gjson.Result) {
			if !p.yes(v, name) {
				off = append(off, name)
			}
		}
	}
	p.object(v, `"guards"`, keys)
	return off
}
