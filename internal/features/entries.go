package features

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// Entry is one condition for a feature to be done, as the list itself states it.
type Entry struct {
	Kind    string // one of the kinds below
	Text    string // the command, or what a person has to look at
	Guessed bool   // the list does not say that Text is a command; it reads like one
	File    string // slash-separated, as the list has it
	Pattern string // a regular expression; plain text if it is not a valid one
}

// Kinds of entries.
const (
	EntryCommand  = "command"  // Text has to exit with 0
	EntryExists   = "exists"   // File has to be there
	EntryContains = "contains" // File has to match Pattern
	EntryLacks    = "lacks"    // File must not match Pattern
	EntryManual   = "manual"   // Text is prose, for a person
)

// entryKeys are the keys of an item that hold entries, as found in public lists.
var entryKeys = []string{"verify", "verification", "completionCriteria"}

// testFile is the key of an item that names a file which has to be there.
const testFile = "test_file"

// Entries returns the conditions for the item to be done, without duplicates. Text that
// reads like a command is one, other text is manual. A typed entry without a command,
// such as {"type": "all_tests_pass"}, is manual too.
func (i Item) Entries() (entries []Entry) {
	item := gjson.Parse(i.raw)
	for _, key := range entryKeys {
		for _, v := range item.Get(key).Array() { // a value that is no array counts as an array of one
			e := entry(v)
			e.Guessed = e.Guessed && key != "verify"
			same := func(other Entry) bool {
				other.Guessed = e.Guessed
				return other == e
			}
			if !slices.ContainsFunc(entries, same) {
				entries = append(entries, e)
			}
		}
	}
	for _, v := range item.Get(testFile).Array() {
		if e := (Entry{Kind: EntryExists, File: v.Str}); v.Str != "" && !slices.Contains(entries, e) {
			entries = append(entries, e)
		}
	}
	return entries
}

func entry(v gjson.Result) Entry {
	if !v.IsObject() {
		if text := strings.TrimSpace(v.Str); v.Type == gjson.String && !prose(text) {
			return Entry{Kind: EntryCommand, Text: text, Guessed: true}
		}
		return Entry{Kind: EntryManual, Text: v.String()}
	}
	file, pattern := v.Get("file").Str, v.Get("pattern").Str
	switch kind := v.Get("type").Str; {
	case strings.TrimSpace(v.Get("command").Str) != "":
		return Entry{Kind: EntryCommand, Text: v.Get("command").Str}
	case kind == "source_contains" && file != "" && pattern != "":
		return Entry{Kind: EntryContains, File: file, Pattern: pattern}
	case kind == "source_not_contains" && file != "" && pattern != "":
		return Entry{Kind: EntryLacks, File: file, Pattern: pattern}
	case kind == "test_file_exists" && file != "":
		return Entry{Kind: EntryExists, File: file}
	}
	return Entry{Kind: EntryManual, Text: strings.Join(strings.Fields(v.Raw), " ")}
}

// grammar is compiled at its first use: most stops read no entries.
var grammar = sync.OnceValue(func() (g struct{ quoted, command, sentence *regexp.Regexp }) {
	g.quoted = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	g.command = regexp.MustCompile(`^(\w+=\S* +)*[a-z0-9_./~$-]`)
	// "make sure the page loads" begins with the name of a program, too.
	g.sentence = regexp.MustCompile(
		`(^|\s)(the|an|is|are|be|can|that|should|must|shall|sure|when|works|work|passes)(\s|$)|\w[.!?]$`)
	return g
})

// prose reports whether text is for people. A command begins with a path or with a program in
// lower case, is one line, and has no words of a sentence outside quotes.
func prose(text string) bool {
	g := grammar()
	return !g.command.MatchString(text) || strings.Contains(text, "\n") ||
		g.sentence.MatchString(g.quoted.ReplaceAllString(text, "''"))
}
