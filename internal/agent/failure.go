package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	has := func(word string) bool { return strings.Contains(words, word) }
	byWords := Failed
	for _, row := range slices.Backward(failureWords) { // the first row decides
		if slices.ContainsFunc(row.words, has) {
			byWords = row.class
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

// statusWords match what clients write before an HTTP status.
const statusWords = `^|status:? |API Error: |HTTP |"code": ?`

// statusIn returns the HTTP status that an error names behind some words, which are a pattern, or 0.
func statusIn(words, behind string) int64 {
	m := regexp.MustCompile(`(?:` + behind + `)([45]\d\d)\b`).FindStringSubmatch(words)
	if m == nil {
		return 0
	}
	status, _ := strconv.ParseInt(m[1], 10, 64) // three digits always fit
	return status
}
