// Package features reads feature lists: bytes in, items out.
//
// A list is recognised by its content, not by its name (shapes.go). It is read in
// one pass that checks it whole (parse.go, tags.go, markdown.go); what an
// item says is looked up in its text when somebody asks.
package features

import (
	"cmp"
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

// maxItems and maxID bound what a list makes of memory and of what is kept: a
// list of millions of empty objects is small on disk. Real ones reach thousands.
const (
	maxItems = 250_000
	maxID    = 500
)

// ErrEmpty says that a list is sound but holds no work.
var ErrEmpty = errors.New("the list has no items")

// Item is one feature.
type Item struct {
	ID       string // as the list spells it, "1.2" for a subtask; without one, made of the title, or "#3" for the third
	Priority int32  // lower is first; noPriority where the list says nothing
	Passes   bool   // what the list claims
	Blocked  bool   // the list says that nobody can work on it now

	waits   bool   // for items that do not pass
	derived bool   // the list has no id for it
	raw     string // the whole item, as JSON

	// Of lists of thousands this is what is touched, so it is small.
	at                int32 // where it begins in the text
	markAt, markLen   int32 // the value of its mark
	needsAt, needsEnd int32 // the ids of what has to pass before it, as JSON, in raw
	kids              int32 // how many items of the list before it are its subtasks
	number            int32 // in its array, from 1
	mark              mark
	sub               bool // it is a part of another
	dropped           bool
}

const noPriority = math.MaxInt32

// needs are the ids of what has to pass before it, as JSON.
func (i *Item) needs() string { return i.raw[i.needsAt:i.needsEnd] }

// List is a parsed list.
type List struct {
	Items   []Item   // the work, in list order
	Dropped []Item   // what is not work: deferred, cancelled, optional
	Tags    []string // of a Task Master file, as they stand behind its name: "#ui"

	all    []Item           // both; nil for a list that was not parsed
	passed int              // of Items
	sorted bool             // all ascends by id, which a binary search needs no map for
	places map[string]int32 // where in all an id is; nil where sorted
	shape  shape
	tag    string // as asked for
	valid  string // the file's own status words, as JSON
	bom    int    // bytes before the text
}

// name gives every item an id of its own, and says where two have one.
func (l *List) name(p *parser) {
	if l.sorted = !p.shuffled; l.sorted {
		return
	}
	l.places = make(map[string]int32, len(l.all))
	for _, derived := range []bool{false, true} {
		for n := range l.all {
			item := &l.all[n]
			if item.derived != derived {
				continue
			}
			first := l.place(item.ID)
			if first >= 0 && derived {
				// Still behind its task's id: what is made of a title has no dot.
				item.ID = item.ID[:strings.LastIndexByte(item.ID, '.')+1] + "#" + strconv.Itoa(int(item.number))
				first = l.place(item.ID)
			}
			if first >= 0 {
				a, b := &l.all[min(first, n)], &l.all[max(first, n)]
				p.fail(int(b.at), "items %d and %d have the same id %q; give each its own", a.number, b.number, item.ID)
				continue
			}
			l.places[item.ID] = int32(n)
		}
	}
}

// ascends tells whether items are in the order of ids that the list itself has.
func ascends(a, b *Item) bool { return !a.derived && !b.derived && compareIDs(a.ID, b.ID) < 0 }

// compareIDs compares ids as those are that somebody has counted up: 9, 10.
func compareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// place returns where the item of that id is in all, or -1.
func (l *List) place(id string) int {
	switch {
	case l.sorted:
		if at, has := slices.BinarySearchFunc(l.all, id, func(i Item, id string) int { return compareIDs(i.ID, id) }); has {
			return at
		}
	case l.places != nil:
		if at, has := l.places[id]; has {
			return int(at)
		}
	default: // the list was not parsed
		return slices.IndexFunc(l.all, func(i Item) bool { return i.ID == id })
	}
	return -1
}

// first returns the value of the first of these keys that the item has something in.
func (i Item) first(keys ...string) gjson.Result {
	for _, key := range keys {
		if v := gjson.Get(i.raw, key); v.Type != gjson.Null && v.Raw != `""` && v.Raw != "[]" {
			return v
		}
	}
	return gjson.Result{}
}

// Title is the item's title, as foreign text.
func (i Item) Title() string { return i.first(titleKeys...).String() }

// Description is what is to be done, as foreign text.
func (i Item) Description() string { return i.first(descriptionKeys...).String() }

// Model is the model that the item asks for, as foreign text.
func (i Item) Model() string { return i.first("model").String() }

// Acceptance is what has to hold for it to pass, as foreign texts.
func (i Item) Acceptance() (texts []string) {
	for _, v := range i.first(acceptanceKeys...).Array() {
		if text := v.String(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// Passed counts the items that the list says pass.
func (l List) Passed() int {
	if l.all != nil {
		return l.passed
	}
	n := 0
	for i := range l.Items {
		if l.Items[i].Passes {
			n++
		}
	}
	return n
}

// Find returns the item of that id, if it is work.
func (l List) Find(id string) (Item, bool) {
	if l.all == nil {
		l.all = l.Items
	}
	if n := l.place(id); n >= 0 && !l.all[n].dropped {
		return l.all[n], true
	}
	return Item{}, false
}

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

// Digest names the items and their states: it is equal for two lists exactly when
// the same items, in the same order, are open.
func (l List) Digest() string {
	h := sha256.New()
	buf := make([]byte, 0, 8<<10)
	for i := range l.Items {
		item := &l.Items[i]
		state := byte(' ')
		if item.Passes {
			state = 'x'
		} else if item.Blocked {
			state = '-'
		}
		buf = append(binary.AppendUvarint(append(buf, state), uint64(len(item.ID))), item.ID...)
		if len(buf) > 7<<10 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil)[:8])
}
