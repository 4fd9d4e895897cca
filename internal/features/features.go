// Package features reads feature lists: bytes in, items out.
//
// A list is recognised by its content, not by its name (shapes.go). One pass reads it and checks all of it (parse.go,
// markdown.go). An item keeps where its text is; what it says is looked up there when somebody asks.
package features

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// MaxBytes bounds a list. Real ones reach 1.15 MB; 100,000 features are 18 MB.
const MaxBytes = 64 << 20

// maxItems and maxID, in bytes, bound the memory of a list and the part of it that is stored: a
// list of millions of empty objects is a small file. Real lists have thousands of items.
const (
	maxItems = 250_000
	maxID    = 500
)

// ErrEmpty means that a list is valid but has no work in it.
var ErrEmpty = errors.New("the list has no items")

// Item is one feature, or a subtask of one.
type Item struct {
	// ID is as the list spells it; of a subtask it begins with the task's: "1.2". An item
	// without one has an ID made of its title, or "#3" for the third.
	ID       string
	Priority float64 // lower is first; noPriority if the list gives none
	Passes   bool    // the list claims that it passes
	Blocked  bool    // the list says that nobody can work on it now
	Derived  bool    // ID is not in the list
	IsAdded  bool    // it came into the list after a person trusted the others
	Heading  string  // what the list has above it: headings of Markdown, or the name of its phase

	waits bool   // it is open and needs an item that does not pass, or a later time
	raw   string // the whole item, as JSON

	entry *Item // of a list that a person trusted: what the file has for the item, without an id if it has nothing

	at              int    // offset in the text
	markAt, markLen int    // the value of its mark, in the text
	needs           string // the ids of the items that it needs, as JSON; "" if it says none
	partOf          string // the id of the item of Markdown that it is nested in; "": none
	subtasks        int    // how many items of List.all right before it are its subtasks
	number          int    // in its array, from 1
	mark            mark
	isSubtask       bool
	dropped         bool
	later           bool // it is put off to a time that has not come
	hasEntries      bool // it has keys that Entries reads; few items do
}

const noPriority = math.MaxFloat64

// List is a parsed list.
type List struct {
	Items   []Item   // the work, in list order
	Dropped []Item   // what is not work: deferred, cancelled, optional
	Tags    []string // of a Task Master file, each as it follows the file's name: "#ui"
	Reading          // how the list was read

	HasEntries bool // Item.Entries returns some for an item; few lists have them

	// Of a list that a person trusted: what the file says of its items, and what does not count.
	Changes []Change

	// Of Markdown: the checkboxes that are no work, and those of the work that are not written as usual.
	LeftOut, Slips LineNotes

	// Of JSON: what says which items others need, and cannot be read.
	Unread LineNotes

	all     []Item           // Items and Dropped; nil for a list that was not parsed
	byID    map[string]int   // indexes of all; nil for a list that was not parsed
	parents map[string][]int // by id, indexes of its parents, as a tracker says, or a list of Markdown
	shape   shape
	remarks []error
	bom     int    // length of the byte order mark
	text    string // the whole text
}

// assignIDs makes the id of every item unique. It is a problem if the list itself gives two items
// the same id.
func (l *List) assignIDs(p *parser) {
	l.byID = make(map[string]int, len(l.all))
	for _, derived := range []bool{false, true} { // the list's own ids go first
		for n := range l.all {
			item := &l.all[n]
			if item.Derived != derived {
				continue
			}
			first := l.index(item.ID)
			if first >= 0 && derived {
				// A subtask keeps its task's id; what is made of a title has no dot.
				item.ID = item.ID[:strings.LastIndexByte(item.ID, '.')+1] + "#" + strconv.Itoa(item.number)
				first = l.index(item.ID)
			}
			if first >= 0 {
				a, b := &l.all[min(first, n)], &l.all[max(first, n)]
				p.fail(b.at, "items %d and %d have the same id %q; give each its own", a.number, b.number, item.ID)
				continue
			}
			l.byID[item.ID] = n
		}
	}
}

// index returns the index in all of the item with that id, or -1.
func (l *List) index(id string) int {
	if l.byID == nil { // the list was not parsed
		return slices.IndexFunc(l.all, func(i Item) bool { return i.ID == id })
	}
	at, has := l.byID[id]
	if !has {
		return -1
	}
	return at
}

// InFile reports whether the file has an entry for the item, which can say that it is done.
func (i Item) InFile() bool { return i.entry == nil || i.entry.ID != "" }

// Workable reports whether somebody can work on the item now: it is open, not blocked, and waits for no
// other item and no later time.
func (i *Item) Workable() bool { return !i.Passes && !i.Blocked && !i.waits }

// firstOf returns the value of the first of these keys that is not empty.
func (i Item) firstOf(keys ...string) gjson.Result {
	for _, key := range keys {
		if v := gjson.Get(i.raw, key); v.Type != gjson.Null && v.Raw != `""` && v.Raw != "[]" {
			return v
		}
	}
	return gjson.Result{}
}

// word returns the item's status word.
func (i Item) word() string {
	if i.entry != nil {
		i = *i.entry
	}
	return i.firstOf(markKeys[status], markKeys[stateMark]).String()
}

// Title returns the item's title. It is foreign text, as all that an item says: package
// plain makes it safe to show. If no key is known to say what the item asks for, the title
// is the first text of another key.
func (i Item) Title() string {
	title := textOf(i.firstOf(titleKeys()...))
	if title != "" || i.firstOf(descriptionKeys...).Exists() || i.firstOf(acceptanceKeys()...).Exists() {
		return title
	}
	for key, value := range gjson.Parse(i.raw).ForEach {
		other := value.Type == gjson.String && !isAgentKey(key.Str) && !isIDKey(key.Str) &&
			!labelKeys()[key.Str] && !slices.Contains(beadsKeys, key.Str) &&
			!slices.Contains(needKeys, key.Str)
		if text := strings.TrimSpace(value.Str); other && text != "" {
			return text
		}
	}
	return ""
}

func isIDKey(key string) bool { return strings.HasSuffix(strings.ToLower(key), "id") }

// textOf returns the text of a value; that of an object is the first text in it.
func textOf(v gjson.Result) string {
	if v.IsObject() {
		for key, value := range v.ForEach {
			if value.Type == gjson.String && value.Str != "" && !isIDKey(key.Str) {
				return value.Str
			}
		}
	}
	return v.String()
}

// Description returns what is to be done.
func (i Item) Description() string { return textOf(i.firstOf(descriptionKeys...)) }

// Descriptions returns all texts that say what is to be done. Behind the first one agents add their notes.
func (i Item) Descriptions() (texts []string) {
	for _, key := range descriptionKeys {
		if text := textOf(i.firstOf(key)); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// Model returns the model that the item asks for.
func (i Item) Model() string { return i.firstOf("model").String() }

// Acceptance returns the points that the item has to meet.
func (i Item) Acceptance() (texts []string) {
	for _, key := range acceptanceKeys() {
		for _, v := range i.firstOf(key).Array() {
			if text := textOf(v); text != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	if !i.hasEntries {
		return texts
	}
	for _, e := range i.Entries() {
		if e.Kind == EntryText && !slices.Contains(texts, e.Text) {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// Passed returns how many items of the work pass, as the list says.
func (l List) Passed() int {
	n := 0
	for i := range l.Items {
		if l.Items[i].Passes {
			n++
		}
	}
	return n
}

// Find returns the item of that id, and false if the list has none or it is not work.
func (l List) Find(id string) (Item, bool) {
	if l.all == nil {
		l.all = l.Items
	}
	if at := l.index(id); at >= 0 && !l.all[at].dropped {
		return l.all[at], true
	}
	return Item{}, false
}

// Text returns the text of the list, as it was read.
func (l List) Text() string { return l.text }

// Open returns the ids of the items that do not pass, in list order.
func (l List) Open() []string {
	open := []string{}
	for i := range l.Items {
		if !l.Items[i].Passes {
			open = append(open, l.Items[i].ID)
		}
	}
	return open
}

// Digest returns 16 hex digits, the start of a sha256 over the ids of the work and
// whether each item is open, blocked or passes, in list order.
func (l List) Digest() string {
	var text []byte
	for i := range l.Items {
		item := &l.Items[i]
		state := byte(' ')
		if item.Passes {
			state = 'x'
		} else if item.Blocked {
			state = '-'
		}
		text = append(text, state)
		text = binary.AppendUvarint(text, uint64(len(item.ID)))
		text = append(text, item.ID...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Wording returns 16 hex digits, the start of a sha256 over the text of Markdown, or over what the items of JSON say,
// without what an agent notes there. White space and escapes do not count.
func (l List) Wording() string {
	var text []byte
	if l.shape == checkboxes {
		text = []byte(l.text)
	}
	for i := range l.all {
		for key, value := range gjson.Parse(l.all[i].raw).ForEach {
			if isAgentKey(key.Str) {
				continue
			}
			if value.IsArray() || value.IsObject() {
				value = value.Get("@ugly")
			}
			text = append(append(append(append(text, key.Str...), 0), value.String()...), 0)
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
