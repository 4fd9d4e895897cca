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
	if n := s.Usage.Tokens(); n > 0 || s.TokensKnown && s.UnknownTokens == 0 {
		parts = append(parts, s.tokensAtLeast()+plain.Tokens(n)+" tokens")
	}
	return strings.Join(append(parts, Cost(s)), ", ")
}

func (s Sum) tokensAtLeast() string {
	if s.UnknownTokens > 0 {
		return "at least "
	}
	return ""
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

// Dollars returns what counts against a bound in dollars: what sessions have told, and what is presumed of others.
func (s Sum) Dollars() float64 { return s.CostUSD + s.Presumed }

// AllTokens is the same in tokens.
func (s Sum) AllTokens() int64 { return s.Usage.Tokens() + s.PresumedTokens }

// SpentOf says how much of a bound is spent.
func SpentOf(s Sum, bound float64) string {
	switch {
	case !s.CostKnown && s.CostUSD == 0:
		return fmt.Sprintf("spent its $%.2f", bound) // the agent says so
	case s.Presumed > 0:
		return fmt.Sprintf("spent %s of $%.2f, including %s assumed for %s of unknown cost",
			plain.Dollars(s.Dollars(), s.Estimated), bound, plain.Dollars(s.Presumed, s.Estimated),
			plain.Count(s.Unknown, "session"))
	}
	return fmt.Sprintf("spent %s of $%.2f", Cost(s), bound)
}

// UsedOf says how many tokens of a bound are used.
func UsedOf(s Sum, bound int64) string {
	if s.PresumedTokens > 0 {
		return fmt.Sprintf("used %d of %d tokens, including %d assumed for %s that did not report all", s.AllTokens(), bound,
			s.PresumedTokens, plain.Count(s.UnknownTokens, "session"))
	}
	return fmt.Sprintf("used %s%d of %d tokens", s.tokensAtLeast(), s.AllTokens(), bound)
}

// Used says what one session used.
func Used(u agent.Usage) string {
	s := Sum{}
	s.Add(u)
	return Bill(s)
}
