package features

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// Entry is one condition for a feature to be done, as the list itself states it.
type Entry struct {
	Kind    string   // one of the kinds below
	Text    string   // a line for the shell, or what the agent is told
	Argv    []string // a command that is an array of words
	File    string   // slash-separated, as the list has it, below the project
	Pattern string   // a regular expression; plain text if it is not a valid one
}

// Kinds of entries.
const (
	EntryCommand  = "command"  // Text or Argv has to exit with 0
	EntryExists   = "exists"   // File has to be there
	EntryContains = "contains" // File has to match Pattern
	EntryLacks    = "lacks"    // File must not match Pattern
	EntryText     = "text"     // Text is prose, for the agent
)

// entryKeys are the keys of an item that hold entries, as found in public lists. A text is a command, but below
// criteriaKeys lists have sentences, too, so a text there is one.
var (
	entryKeys    = table.List("entries")
	criteriaKeys = []string{"verification", "completionCriteria"}
)

// testFile is the key of an item that names a file which has to be there.
const testFile = "test_file"

// Entries returns the conditions for the item to be done.
func (i Item) Entries() (entries []Entry) {
	for key, value := range gjson.Parse(i.raw).ForEach {
		switch {
		case key.Str == testFile:
			for _, v := range value.Array() { // a value that is no array counts as an array of one
				e := Entry{Kind: EntryExists, File: v.Str}
				if !filepath.IsLocal(filepath.FromSlash(v.Str)) {
					e = Entry{Kind: EntryText, Text: testFile + ": " + v.Str}
				}
				if v.Str != "" {
					entries = append(entries, e)
				}
			}
		case slices.Contains(criteriaKeys, key.Str):
			entries = append(entries, entriesOf(value, false)...)
		case slices.Contains(entryKeys(), key.Str):
			entries = append(entries, entriesOf(value, true)...)
		}
	}
	return entries
}

// entriesOf returns the entries of a value. isCommand: its key says that a text is a command.
func entriesOf(v gjson.Result, isCommand bool) (entries []Entry) {
	text := strings.TrimSpace(v.Str)
	switch {
	case v.IsObject():
		return typedEntries(v)
	case v.IsArray():
		argv := wordsOf(v, isCommand)
		if argv != nil {
			return []Entry{{Kind: EntryCommand, Argv: argv}}
		}
		for _, one := range v.Array() {
			entries = append(entries, entriesOf(one, isCommand)...)
		}
		return entries
	case text == "":
		return nil
	case isCommand:
		return []Entry{{Kind: EntryCommand, Text: text}}
	}
	return []Entry{{Kind: EntryText, Text: text}}
}

// wordsOf returns the words of an array that is one command, nil if it is none. The first word of a command has no
// space. Where sentences may stand no word has one, nor a letter of a language that is written without spaces.
func wordsOf(array gjson.Result, isCommand bool) (words []string) {
	noWord := func(r rune) bool { return unicode.IsSpace(r) || !isCommand && r > unicode.MaxASCII }
	for n, v := range array.Array() {
		isWord := v.Str != "" && !strings.ContainsFunc(v.Str, noWord)
		if v.Type != gjson.String || !isWord && (n == 0 || !isCommand) {
			return nil
		}
		words = append(words, v.Str)
	}
	return words
}

// typedEntries returns what an object says. One that we do not know, such as {"type": "all_tests_pass"}, is text.
func typedEntries(v gjson.Result) []Entry {
	commands := entriesOf(v.Get("command"), true)
	if len(commands) > 0 {
		return commands
	}
	e := Entry{File: v.Get("file").Str, Pattern: v.Get("pattern").Str}
	local := filepath.IsLocal(filepath.FromSlash(e.File))
	switch kind := v.Get("type").Str; {
	case kind == "source_contains" && local && e.Pattern != "":
		e.Kind = EntryContains
	case kind == "source_not_contains" && local && e.Pattern != "":
		e.Kind = EntryLacks
	case kind == "test_file_exists" && local:
		e = Entry{Kind: EntryExists, File: e.File}
	default:
		e = Entry{Kind: EntryText, Text: strings.Join(strings.Fields(v.Raw), " ")}
	}
	return []Entry{e}
}
