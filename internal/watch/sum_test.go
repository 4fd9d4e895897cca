package watch

import (
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// TestSum says of the cost of all loops that it is the least, if that of one is.
func TestSum(t *testing.T) {
	known := Loop{Status: verb.Status{Spent: &verb.Spent{CostUSD: 1, CostKnown: true}}}
	least := Loop{Status: verb.Status{Spent: &verb.Spent{CostUSD: 0.2, CostKnown: true, Estimated: true, Unknown: 1}}}
	_, cost := Sum([]Loop{known, {}})
	if cost.Cost() != "$1.00" {
		t.Errorf("what is known costs %s", cost.Cost())
	}
	_, cost = Sum([]Loop{known, least})
	if cost.Cost() != "≥≈$1.20" {
		t.Errorf("what is known in part costs %s", cost.Cost())
	}
}
