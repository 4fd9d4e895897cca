package config

import (
	"slices"
	"strings"
	"testing"
)

// FuzzOwn reads any bytes as a person's own configuration. The result is an error, or agents that can be started, each
// name once, and prices within their bounds.
func FuzzOwn(f *testing.F) {
	for _, text := range []string{
		`{"agents":{"builder":{"command":["./b","--x"],"args":["y"],"output":"claude","prompt_by":"file"}}}`,
		`{"agents":{"a":{"extends":"claude","model":"opus","prompt":"p.md","complete_on":["file:X"],"checks":["true"]}}}`,
		`{"prices":{"gpt-5.5":{"input":1.25,"output":10,"cache_read":0.125,"cache_write":1.25}}}`,
		`{"prices":{"m":{"input":1e999,"output":-1}}}`, `{"agents":{"a":{"command":[""]}},"agents":{}}`,
		`{"limits":{"max_iterations":5}}`, "", "[]", "\xef\xbb\xbf{}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		own, err := ParseUserConfig(data)
		if err != nil {
			return
		}
		var names []string
		for _, a := range own.Agents {
			names = append(names, a.Name)
			if !startable(a) {
				t.Fatalf("%q: %+v", data, a)
			}
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != len(own.Agents) {
			t.Fatalf("%q: %q", data, names)
		}
		for _, p := range own.Prices {
			least := min(p.Input, p.Output, p.CacheRead, p.CacheWrite)
			most := max(p.Input, p.Output, p.CacheRead, p.CacheWrite)
			if !(least >= 0 && most <= 1e6) {
				t.Fatalf("%q: %+v", data, p)
			}
		}
	})
}

// startable reports whether an agent has a program or the name of another agent, in words that a program can get.
func startable(a Agent) bool {
	words := append(slices.Clone(a.Argv), a.Args...)
	return isName(a.Name) && (a.Extends == "") == (len(a.Argv) > 0) && (a.Extends != "" || a.Argv[0] != "") &&
		!slices.ContainsFunc(words, func(word string) bool { return strings.ContainsRune(word, 0) })
}
