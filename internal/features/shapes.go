package features

import "strings"

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

var markKeys = []string{status: "status", completed: "completed", passes: "passes"}

// state is where an item stands.
type state uint8

const (
	open state = iota
	begun
	done
	blocked
	dropped // not work
)

// states are the words of "status". One that is not known means work.
var states = map[string]state{
	"pending": open, "open": open, "todo": open, "to_do": open, "not_started": open, "new": open, "ready": open, "backlog": open, "planned": open,
	"in_progress": begun, "doing": begun, "started": begun, "active": begun, "review": begun, "in_review": begun, "spec_ready": begun, "failed": begun, "failing": begun,
	"done": done, "completed": done, "complete": done, "closed": done, "passed": done, "passing": done, "finished": done, "verified": done, "implemented": done, "resolved": done,
	"blocked": blocked, "on_hold": blocked, gone: blocked,
	"cancelled": dropped, "canceled": dropped, "deferred": dropped, "postponed": dropped, "skipped": dropped, "wontfix": dropped, "obsolete": dropped, "tombstone": dropped,
}

// gone is the status of an item that a tracker has shown before and does not any
// more.
const gone = "gone"

var underscores = strings.NewReplacer("-", "_", " ", "_")

// stateOf reads a status word.
func stateOf(word string) (s state, known bool) {
	if word == "" {
		return open, true
	}
	s, known = states[underscores.Replace(strings.ToLower(strings.TrimSpace(word)))]
	return s, known
}
