package record

import (
	"fmt"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Bill says what sessions used.
func Bill(s Sum) string {
	var parts []string
	if s.TokensKnown {
		parts = append(parts, plain.Tokens(s.Usage.Tokens())+" tokens")
	}
	return strings.Join(append(parts, Cost(s)), ", ")
}

// Cost says what sessions cost, as far as it is known.
func Cost(s Sum) string {
	switch {
	case s.CostUSD == 0 && !s.CostKnown:
		return "cost unknown"
	case s.Unknown > 0:
		return fmt.Sprintf("at least %s (of %s unknown)", plain.Dollars(s.CostUSD, s.Estimated),
			plain.Count(s.Unknown, "session"))
	}
	return plain.Dollars(s.CostUSD, s.Estimated)
}

// SpentOf says how much of a bound is spent. What sessions cost of which that is not known is presumed.
func SpentOf(s Sum, bound float64) string {
	if !s.CostKnown && s.CostUSD == 0 {
		return fmt.Sprintf("spent its $%.2f", bound) // the agent says so
	}
	text := fmt.Sprintf("spent %s of $%.2f", Cost(s), bound)
	if s.Presumed > 0 {
		text += fmt.Sprintf(", and presumably $%.3f more", s.Presumed)
	}
	return text
}

// Used says what one session used.
func Used(u agent.Usage) string {
	s := Sum{}
	s.Add(u)
	return Bill(s)
}
