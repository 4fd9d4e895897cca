package features

import (
	"slices"
	"strings"
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
	array    = shape{"[]", "pending", "done"}
	lines    = shape{"{}", "open", "closed"} // one JSON object a line: beads
	markdown = shape{"- [ ]", " ", "x"}
)

// The keys of an item's parts. Of several that an item has, the first one counts.
var (
	titleKeys       = []string{"title", "name"}
	descriptionKeys = []string{"description", "details"}
	needKeys        = []string{"dependencies", "dependsOn", "depends_on", "blocked_by", "blockedBy"} // as in readField
	acceptanceKeys  = []string{"acceptance", "acceptance_criteria", "acceptanceCriteria", "steps", "testStrategy"}
)

// readKeys are all keys of an item that are read.
var readKeys = slices.Concat([]string{"id"}, titleKeys, descriptionKeys, []string{"category"}, acceptanceKeys,
	entryKeys, []string{"test_file"}, markKeys[1:], needKeys, []string{"priority", "model", "subtasks"})

// mark is the kind of value that says whether an item passes. If an item has several,
// the one that is last here counts.
type mark uint8

const (
	noMark    mark = iota
	status         // a word
	completed      // true or false
	passes         // true or false
	checkbox       // one character
)

var markKeys = [...]string{status: "status", completed: "completed", passes: "passes"}

func markOf(key string) mark {
	for m := passes; m > noMark; m-- {
		if key == markKeys[m] {
			return m
		}
	}
	return noMark
}

// state is what a status word means.
type state uint8

const (
	open state = iota
	begun
	done
	blocked
	dropped // it is not work
)

// states are the known status words of each state. An unknown one means open.
var states = [...]string{
	open:  " pending open todo to_do not_started new ready backlog planned ",
	begun: " in_progress doing started active review in_review spec_ready failed failing ",
	done: " done completed complete closed passed passing finished verified" +
		" implemented resolved shipped merged fixed ",
	blocked: " blocked on_hold " + goneWord + " ",
	dropped: " cancelled canceled deferred postponed skipped wontfix obsolete tombstone ",
}

// goneWord is the status that Track gives an item that the tracker no longer has.
const goneWord = "gone"

// stateOf returns what a status word means, and whether it is known.
func stateOf(word string) (s state, known bool) {
	if word == "" {
		return open, true
	}
	word = strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(word)), "-", "_"), " ", "_")
	for s, words := range states {
		if strings.Contains(words, " "+word+" ") {
			return state(s), true
		}
	}
	return open, false
}

// knownWords returns the status words of all states, sorted.
func knownWords() []string { return slices.Sorted(strings.FieldsSeq(strings.Join(states[:], ""))) }
