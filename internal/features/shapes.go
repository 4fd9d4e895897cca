package features

import (
	_ "embed" // for the words of lists
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/wordlist"
)

// shape is a kind of list, as found in public repositories. It is recognised by what the
// file holds, never by the name of the file.
type shape struct {
	key string // of the array that holds the items

	// Status words to write if the list itself has none.
	open, done string
}

// shapes are the lists in a JSON object. Add a row for a new one.
var shapes = []shape{
	{"features", "pending", "done"},
	{"userStories", "pending", "done"}, // prd.json
	{"stories", "open", "done"},
	tasks,
}

var tasks = shape{"tasks", "pending", "done"} // ralphy, Task Master

// Shapes that have no key.
var (
	array      = shape{"[]", "pending", "done"}
	lines      = shape{"{}", "open", "closed"} // one JSON object a line: beads
	checkboxes = shape{"- [ ]", "[ ]", "[x]"}
)

//go:embed words.txt
var table wordlist.Text

// The keys of an item's parts. Of several that an item has, the first one counts.
var (
	titleKeys       = table.List("title")
	descriptionKeys = []string{"description", "details", "detail", "body"}
	acceptanceKeys  = table.List("acceptance")
	needKeys        = []string{"dependencies", "dependsOn", "depends_on", "blocked_by", "blockedBy"}
	unreadNeeds     = table.Set("unread needs")
	labelKeys       = table.Set("labels")

	// Keys that say with true that the item is no work.
	outKeys = []string{
		"deprecated", "obsolete", "cancelled", "canceled", "skipped", "archived", "deferred", "pinned", "ephemeral",
		"is_template",
	}
	// What else beads says of an item.
	beadsKeys        = []string{"_type", "issue_type", "defer_until"}
	typesWithoutWork = table.Set("types without work")
)

var agentKeys = table.Set("agent keys")

// isAgentKey reports whether an agent may write the key: agentKeys has it, in whatever
// case and with whatever hyphens.
func isAgentKey(key string) bool {
	key = strings.ReplaceAll(strings.ReplaceAll(key, "_", ""), "-", "")
	return agentKeys()[strings.ToLower(key)]
}

// readKeys returns all keys of an item that are read.
var readKeys = sync.OnceValue(func() []string {
	return slices.Concat([]string{"id"}, titleKeys(), descriptionKeys, []string{"category"}, acceptanceKeys(),
		entryKeys(), markKeys[1:], outKeys, beadsKeys, needKeys, []string{"priority", "model", "subtasks"})
})

// mark is the key of an item that says whether it passes. If an item has several, the one
// that is last here counts.
type mark uint8

const (
	noMark    mark = iota
	stateMark      // a word, if it is one that we know
	status         // a word
	finished       // this one, and those behind it: true or false
	doneMark
	complete
	completed
	passed
	passing
	passes
	checkbox // one character
)

var markKeys = [...]string{
	stateMark: "state", status: "status", finished: "finished", doneMark: "done", complete: "complete",
	completed: "completed", passed: "passed", passing: "passing", passes: "passes",
}

func markOf(key string) mark {
	for m := passes; m > noMark; m-- {
		if key == markKeys[m] {
			return m
		}
	}
	return noMark
}

// isWord tells whether the mark's value is a word, and not true or false.
func (m mark) isWord() bool { return m == status || m == stateMark }

// state is what a status word means.
type state uint8

const (
	open state = iota
	inProgress
	done
	blocked
	dropped // it is not work
)

// states has the known status words. An unknown one means open.
var states = sync.OnceValue(func() map[string]state {
	all, of := map[string]state{}, table.Lists("states")()
	for s, name := range []string{
		open: "open", inProgress: "begun", done: "done", blocked: "blocked", dropped: "dropped",
	} {
		for _, word := range of[name] {
			all[word] = state(s)
		}
	}
	return all
})

// deletedStatus is the status that Track gives an item that the tracker no longer has.
const deletedStatus = "gone"

// stateOf returns what a status word means, and whether it is known.
func stateOf(word string) (s state, known bool) {
	if word == "" {
		return open, true
	}
	bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) // "✅ Done"
	bare = strings.ReplaceAll(strings.ReplaceAll(bare, "'", ""), "’", "")                                    // "won't fix"
	for _, spelling := range []string{word, bare} {
		spelling = strings.ToLower(strings.TrimSpace(spelling))
		s, known = states()[strings.ReplaceAll(strings.ReplaceAll(spelling, "-", "_"), " ", "_")]
		if known {
			break
		}
	}
	return s, known
}
