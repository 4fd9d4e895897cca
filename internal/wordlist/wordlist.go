// Package wordlist reads lists of words from a text that is a part of the program, when they are first needed.
package wordlist

import (
	"strings"
	"sync"
)

// Text has sections of words. A section begins with its name in brackets, on a line of its own,
// and ends at an empty line.
type Text string

// None of the functions below is inlined: the program would have their closures once for each list.

func (t Text) section(name string) string {
	_, text, has := strings.Cut(string(t), "\n["+name+"]\n")
	if !has {
		panic("there is no list of words " + name)
	}
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// List returns a function that returns the words of a section.
//
//go:noinline
func (t Text) List(name string) func() []string {
	return sync.OnceValue(func() []string { return strings.Fields(t.section(name)) })
}

// Set is List for words whose order does not count.
//
//go:noinline
func (t Text) Set(name string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for word := range strings.FieldsSeq(t.section(name)) {
			all[word] = true
		}
		return all
	})
}

// Lists is List for a section in which each line has names, a colon, and words of each of these
// names.
//
//go:noinline
func (t Text) Lists(name string) func() map[string][]string {
	return sync.OnceValue(func() map[string][]string {
		all := map[string][]string{}
		for line := range strings.Lines(t.section(name)) {
			names, words, _ := strings.Cut(line, ":")
			for name := range strings.SplitSeq(names, ", ") {
				all[name] = append(all[name], strings.Fields(words)...)
			}
		}
		return all
	})
}
