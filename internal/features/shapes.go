package features

import (
	"slices"
	"strings"
)

// shape is a kind of list, as found in public repositories. One is known by what
// it holds, never by its name.
type shape struct {
	key string // of the array that holds the items

	// Status words where the list itself shows none.
	open, done string
}

// shapes are the kinds of JSON lists: a new one is a row here.
var shapes = []shape{
	{"features", "pending", "done"},
	{"userStories", "pending", "done"}, // prd.json
	{"stories", "open", "done"},
	tasks,
}

var tasks = shape{"tasks", "pending", "done"} // ralphy, Task Master

// Kinds that are not told by a key of theirs.
var (
	array    = shape{"[]", "pending", "done"}
	lines    = shape{"{}", "open", "closed"} // one JSON object a line: beads
	markdown = shape{"- [ ]", " ", "x"}
)

// The keys of an item's parts; the first that is there counts.
var (
	titleKeys       = []string{"title", "name"}
	descriptionKeys = []string{"description", "details"}
	needKeys        = []string{"dependencies", "dependsOn", "depends_on", "blocked_by", "blockedBy"} // those of parser.item
	acceptanceKeys  = []string{"acceptance", "acceptance_criteria", "acceptanceCriteria", "steps", "testStrategy"}
)

// mark is what says whether an item passes; a later one outweighs the ones before.
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

// state is where an item stands.
type state uint8

const (
	open state = iota
	begun
	done
	blocked
	dropped // not work
)

// states are the words of "status", by state. One that is not known means work.
var states = [...]string{
	open:    " pending open todo to_do not_started new ready backlog planned ",
	begun:   " in_progress doing started active review in_review spec_ready failed failing ",
	done:    " done completed complete closed passed passing finished verified implemented resolved shipped merged fixed ",
	blocked: " blocked on_hold " + gone + " ",
	dropped: " cancelled canceled deferred postponed skipped wontfix obsolete tombstone ",
}

// gone is the status of an item that a tracker has shown before and does not any
// more.
const gone = "gone"

// stateOf reads a status word.
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
