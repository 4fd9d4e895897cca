package features

import (
	"slices"
	"strings"
	"unicode"
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
	checkboxes = shape{"- [ ]", " ", "x"}
)

// The keys of an item's parts. Of several that an item has, the first one counts.
var (
	titleKeys = []string{
		"title", "name", "behavior", "behaviour", "requirement", "feature", "summary", "story", "user_story", "userStory",
		"task", "subject", "objective", "goal", "scenario", "text", "content", "what", "statement", "issue",
	}
	// Keys that say with true that the item is no work, as in readField.
	outKeys = []string{
		"deprecated", "obsolete", "cancelled", "canceled", "skipped", "archived", "deferred", "pinned", "ephemeral",
		"is_template",
	}
	// What else beads says of an item.
	beadsKeys       = []string{"_type", "issue_type", "defer_until"}
	descriptionKeys = []string{"description", "details", "detail", "body"}
	needKeys        = []string{"dependencies", "dependsOn", "depends_on", "blocked_by", "blockedBy"} // as in readField
	acceptanceKeys  = []string{
		"acceptance", "acceptance_criteria", "acceptanceCriteria", "steps", "testStrategy", "criteria", "success_criteria",
		"successCriteria", "definition_of_done", "done_when", "validation",
	}
)

// Keys of an item whose text does not say what is to be done.
var labelKeys = []string{
	"category", "priority", "model", "test_file", "type", "labels", "tags", "phase", "version", "url",
}

// readKeys are all keys of an item that are read.
var readKeys = slices.Concat([]string{"id"}, titleKeys, descriptionKeys, []string{"category"}, acceptanceKeys,
	entryKeys, []string{"test_file"}, markKeys[1:], outKeys, beadsKeys, needKeys, []string{"priority", "model", "subtasks"})

// notWorkTypes are the types of beads that no agent works on.
const notWorkTypes = " gate molecule message agent role rig convoy event slot merge-request "

// tombstone is the status that beads gives an item that was removed.
const tombstone = "tombstone"

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
	begun
	done
	blocked
	dropped // it is not work
)

// states are the known status words of each state. An unknown one means open.
var states = [...]string{
	open: " pending open todo to_do not_started notstarted new ready backlog planned false incomplete not_done" +
		" unfinished ",
	begun: " in_progress inprogress doing started active wip review in_review spec_ready failed fail failing hooked" +
		" testing in_testing partial partially_complete partially_done ",
	done: " done completed complete closed pass passed passing finished verified true success succeeded" +
		" implemented resolved shipped merged fixed delivered deployed released ",
	blocked: " blocked on_hold " + goneWord + " ",
	dropped: " cancelled canceled deferred postponed skipped wontfix wont_fix wont_do abandoned obsolete deprecated" +
		" duplicate archived not_planned pinned " + tombstone + " ",
}

// goneWord is the status that Track gives an item that the tracker no longer has.
const goneWord = "gone"

// stateOf returns what a status word means, and whether it is known.
func stateOf(word string) (s state, known bool) {
	if word == "" {
		return open, true
	}
	if s, known = lookUp(word); !known { // "✅ Done", "won't fix"
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if bare = strings.ReplaceAll(strings.ReplaceAll(bare, "'", ""), "’", ""); bare != "" && bare != word {
			return lookUp(bare)
		}
	}
	return s, known
}

func lookUp(word string) (s state, known bool) {
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
