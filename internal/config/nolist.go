package config

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// ListNone is the "list" of a loop without a list. A file of that name is ./none.
const ListNone = "none"

// NoList reports whether the loop has no list. It is complete when that is claimed, and its checks
// hold.
func (c Config) NoList() bool { return c.List == ListNone }

// HoldsList reports whether checks, or an evaluator's command, judge the features of a list, so
// that the list is held.
func (c Config) HoldsList() bool {
	asks := slices.ContainsFunc(c.Evaluators, func(e Evaluator) bool { return e.Preset == "" })
	return !c.NoList() && (len(c.Checks) > 0 || asks)
}

// aboutFeatures are the keys of ralph.json that say something about features.
var aboutFeatures = []string{
	"skip_headings", "limits.attempts", "limits.features_per_session",
}

// checkNoList refuses what a loop without a list cannot do.
func (p *parser) checkNoList(root gjson.Result, c Config) {
	if !c.NoList() || p.err != nil {
		return
	}
	const none = `, but "list": "none" means that there are none`
	for _, path := range aboutFeatures {
		if v := root.Get(path); v.Exists() && v.Raw != "0" {
			p.fail(v, "%q is about features"+none, path)
		}
	}
	for i := range c.Checks {
		if len(c.Checks[i].Features) > 0 {
			at := root.Get(fmt.Sprintf("checks.%d.features", i))
			p.fail(at, `"features" is about features`+none)
		}
		c.Checks[i].PerClaim = false // there is one claim, that all is done
	}
}
