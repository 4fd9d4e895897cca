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
		parts = append(parts, Tokens(AllTokens(s.Usage))+" tokens")
	}
	return strings.Join(append(parts, Cost(s)), ", ")
}

// Cost says what sessions cost, as far as it is known.
func Cost(s Sum) string {
	switch {
	case !s.CostKnown:
		return "cost unknown"
	case s.Unknown > 0:
		return fmt.Sprintf("at least %s (of %s unknown)", Dollars(s.CostUSD, s.Estimated), plain.Count(s.Unknown, "session"))
	}
	return Dollars(s.CostUSD, s.Estimated)
}

// Dollars shows a cost. One that is reckoned from prices is marked.
func Dollars(usd float64, estimated bool) string {
	if estimated {
		return fmt.Sprintf("≈$%.3f", usd)
	}
	return fmt.Sprintf("$%.3f", usd)
}

// Tokens shows a number of tokens in short.
func Tokens(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 10_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// Used says what one session used.
func Used(u agent.Usage) string {
	s := Sum{}
	s.Add(u)
	return Bill(s)
}
