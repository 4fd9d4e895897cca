package agent

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

// failureWords are words of clients and providers, in lower case. The first row that has one of them in an error
// decides. The samples in testdata have most of them.
var failureWords = []struct {
	class Class
	words []string
}{
	{Context, []string{
		"context window", "maximum context length", "maximum number of tokens", "context_length_exceeded",
	}},
	{Auth, []string{
		"billing details", "insufficient_quota", "api key", "api_key", "missing environment variable", "unauthorized",
		"authentication", "not logged in", "credit balance",
	}},
	{Limit, []string{"usage limit", "daily quota", "rate limit", "rate_limit", "too many requests"}},
	{Transient, []string{
		"high demand", "at capacity", "overloaded", "stream disconnected", "without a finish reason", "missing finish_reason",
		"timed out", "connection", "fetch failed",
		"terminated", "socket", "econnre", "etimedout", "eai_again", "premature close", // of Node's fetch
	}},
}

// classOf judges an error of an agent that has no field for its kind. status is the HTTP status of the provider's
// answer, 0 if none is known. The words must be the client's or the provider's, and never the model's.
func classOf(words string, status int64) Class {
	words = strings.ToLower(words)
	byWords := Failed
search:
	for _, row := range failureWords {
		for _, word := range row.words {
			if strings.Contains(words, word) {
				byWords = row.class
				break search
			}
		}
	}
	switch {
	case byWords == Context || status == 413:
		return Context
	case status >= 401 && status <= 403:
		return Auth
	case status == 429 && byWords != Auth:
		return Limit
	case status >= 500 || status == 408 || status == 409:
		return Transient
	case status == 400 && byWords != Auth:
		return Failed
	}
	return byWords
}

// statusIn returns the HTTP status that an error names, or 0.
func statusIn(words string) int64 {
	m := regexp.MustCompile(`(?:^|status:? |API Error: |HTTP |"code": ?)([45]\d\d)\b`).FindStringSubmatch(words)
	if m == nil {
		return 0
	}
	status, _ := strconv.ParseInt(m[1], 10, 64) // three digits always fit
	return status
}

// resetIn returns when a limit is reset, as an error says it, or zero. Codex names a clock of this machine: "try again
// at 11:36 PM", and with a date "try again at Nov 22nd, 2026 1:44 AM".
func resetIn(words string, now time.Time) time.Time {
	if m := regexp.MustCompile(`try again in (\d+(?:\.\d+)?(?:ms|s|m|h))\b`).FindStringSubmatch(words); m != nil {
		wait, _ := time.ParseDuration(m[1]) // 0 if there are too many digits
		return now.Add(wait)
	}
	m := regexp.MustCompile(`try again at (?:([A-Z][a-z]{2} \d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}:\d\d [AP]M)`).
		FindStringSubmatch(words)
	if m == nil {
		return client.RetryAt(words, now)
	}
	if m[1] == "" {
		return nextClock(m[3], now)
	}
	at, _ := time.ParseInLocation("Jan 2 2006 3:04 PM", m[1]+" "+m[2]+" "+m[3], now.Location()) // zero: no such time
	return at
}

// nextClock returns when a clock shows a time such as "3:04 PM" next.
func nextClock(text string, now time.Time) time.Time {
	clock, err := time.Parse("3:04 PM", text)
	if err != nil {
		return time.Time{}
	}
	for day := now.Day(); ; day++ {
		at := time.Date(now.Year(), now.Month(), day, clock.Hour(), clock.Minute(), 0, 0, now.Location())
		if at.After(now) {
			return at
		}
	}
}
