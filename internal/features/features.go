// Package features reads feature lists: bytes in, items out.
//
// A list is recognised by its content, not by its name. It is checked whole
// before anything in it is believed, because gjson answers on broken JSON too.
package features

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// MaxBytes bounds a list. Real ones reach 1.15 MB; 100,000 features are 18 MB.
const MaxBytes = 64 << 20

// maxItems and maxID bound what a list makes of memory and of what is kept: a
// list of millions of empty objects is small on disk. Real ones reach thousands.
const (
	maxItems = 250_000
	maxID    = 500
)

// ErrEmpty says that a list is sound but holds no items.
var ErrEmpty = errors.New("the list has no items")

// Item is one feature.
type Item struct {
	ID          string // as the list spells it; "#3" for the third item of a list without ids
	Title       string
	Description string
	Passes      bool // what the list claims
	Priority    int  // lower is first; noPriority where the list says nothing

	passesAt, passesLen int    // where the text has the value of Passes; 0 where it has none
	raw                 string // the whole item
}

const noPriority = math.MaxInt

// List is a parsed list.
type List struct {
	Items []Item
}

// roots are the keys that hold the items where a list is not a bare array, as
// found in public repositories.
var roots = []string{"features", "userStories"}

// titles are the keys of an item's title; the first one present counts.
var titles = []string{"title", "name"}

// Parse reads a list. The error is a *jsontext.Error where the text is at
// fault, or ErrEmpty.
func Parse(data []byte) (List, error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return List{}, err
	}
	var bad error
	fail := func(at gjson.Result, format string, args ...any) {
		if bad == nil {
			bad = jsontext.ErrorAt(text, at.Index, fmt.Sprintf(format, args...))
		}
	}
	items := recognise(gjson.ParseBytes(text), fail)
	var list List
	items.ForEach(func(_, value gjson.Result) bool {
		list.Items = append(list.Items, parseItem(value, len(list.Items)+1, fail))
		if len(list.Items) > maxItems {
			fail(value, "more than %d items", maxItems)
		}
		return bad == nil
	})
	if bad != nil {
		return List{}, bad
	}
	if len(list.Items) == 0 {
		return List{}, ErrEmpty
	}
	seen := make(map[string]int, len(list.Items))
	for n, item := range list.Items {
		if first, twice := seen[item.ID]; twice {
			fail(items.Array()[n], "items %d and %d have the same id", first+1, n+1)
			return List{}, bad
		}
		seen[item.ID] = n
	}
	return list, nil
}

// failing notes what is wrong, and where; the first time counts.
type failing func(at gjson.Result, format string, args ...any)

// recognise finds the array of the items.
func recognise(root gjson.Result, fail failing) (items gjson.Result) {
	if root.IsArray() {
		return root
	}
	root.ForEach(func(key, value gjson.Result) bool {
		if slices.Contains(roots, key.Str) && value.IsArray() {
			if items.Exists() {
				fail(root, "more than one array of features in one object")
			}
			items = value
		}
		return true
	})
	if !items.Exists() {
		fail(root, `want an array of features, or an object with "features" or "userStories"`)
	}
	return items
}

// parseItem reads one item; number counts from 1.
func parseItem(value gjson.Result, number int, fail failing) Item {
	item := Item{ID: "#" + strconv.Itoa(number), Priority: noPriority, raw: value.Raw}
	if !value.IsObject() {
		fail(value, "item %d is not an object", number)
		return item
	}
	var seenID, seenPasses bool
	best := len(titles)
	value.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "id":
			if seenID {
				fail(key, `item %d has the key "id" twice`, number)
			}
			seenID = true
			id := v.String()
			switch {
			case v.Type != gjson.String && v.Type != gjson.Number:
			case len(id) > maxID:
				fail(v, "the id of item %d is longer than %d bytes", number, maxID)
			case plain.Line(id, maxID) != "": // an id that nobody can see names nothing
				item.ID = id
			}
		case "passes":
			// JSON readers differ in which of two equal keys they take, so a
			// list with two would mean one thing to us and another to the agent.
			if seenPasses {
				fail(key, `item %d has the key "passes" twice`, number)
			}
			seenPasses = true
			item.Passes, item.passesAt, item.passesLen = v.Type == gjson.True, v.Index, len(v.Raw)
			if v.Type != gjson.True && v.Type != gjson.False && v.Type != gjson.Null {
				fail(v, `item %d: "passes" must be true or false`, number)
			}
		case "priority":
			item.Priority = priority(v)
		case "description":
			item.Description = v.String()
		default:
			if i := slices.Index(titles, key.Str); i >= 0 && i < best {
				best, item.Title = i, v.String()
			}
		}
		return true
	})
	return item
}

// priority reads a number, "P0" to "P9", or a word.
func priority(v gjson.Result) int {
	if v.Type == gjson.Number && math.Abs(v.Num) < 1e9 {
		return int(v.Num)
	}
	switch word := strings.ToLower(v.Str); word {
	case "critical", "urgent":
		return 0
	case "high":
		return 1
	case "medium", "normal":
		return 2
	case "low":
		return 3
	default:
		if n, err := strconv.Atoi(strings.TrimPrefix(word, "p")); err == nil {
			return n
		}
	}
	return noPriority
}

// Passed counts the items that the list says pass.
func (l List) Passed() int {
	n := 0
	for _, item := range l.Items {
		if item.Passes {
			n++
		}
	}
	return n
}

// Reopen returns data, which Parse has read as l, with the items of these ids
// not passing any more, and every other byte as it was.
func (l List) Reopen(data []byte, ids []string) []byte {
	return l.set(data, func(item Item) bool { return item.Passes && !slices.Contains(ids, item.ID) })
}

// Restore returns baseline, an earlier text of the list that Parse reads, with
// what passes in l passing there too.
func (l List) Restore(baseline []byte) ([]byte, error) {
	was, err := Parse(baseline)
	if err != nil {
		return nil, err
	}
	return was.set(baseline, func(item Item) bool {
		now, has := l.Find(item.ID)
		return has && now.Passes
	}), nil
}

// set returns data with the items passing that passes names. One that says
// nothing of it does not pass, and stays as it is.
func (l List) set(data []byte, passes func(Item) bool) []byte {
	bom := len(data) - len(bytes.TrimPrefix(data, jsontext.BOM))
	var edited bytes.Buffer
	done := 0
	for _, item := range l.Items {
		want := passes(item)
		if want == item.Passes || item.passesLen == 0 {
			continue
		}
		edited.Write(data[done : bom+item.passesAt])
		edited.WriteString(strconv.FormatBool(want))
		done = bom + item.passesAt + item.passesLen
	}
	edited.Write(data[done:])
	return edited.Bytes()
}

// identityKeys are the keys by which a feature is what it is. The rest an agent
// may write: passes, notes, times.
var identityKeys = []string{
	"id", "title", "name", "description", "details", "category", "steps", "acceptance", "acceptance_criteria", "acceptanceCriteria",
	"verify", "verification", "completionCriteria", "test_file", "testStrategy",
}

// Identity names what a feature asks for: another one asks for something else.
// How it is spelt (the order of keys, escapes, spaces) does not matter.
func (i Item) Identity() string {
	sum := sha256.New()
	values := map[string]any{}
	_ = json.Unmarshal([]byte(i.raw), &values) // Parse has checked it
	for _, key := range identityKeys {
		if value, has := values[key]; has && key != "id" {
			text, _ := json.Marshal(value) // what came from JSON goes there
			fmt.Fprintf(sum, "%q:%s\n", key, strings.ReplaceAll(string(text), `\r\n`, `\n`))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// Lost returns the ids of the items in was, identities by id, that are gone from
// the list or ask for something else, sorted.
func (l List) Lost(was map[string]string) (lost []string) {
	now := make(map[string]string, len(l.Items))
	for _, item := range l.Items {
		if was[item.ID] != "" {
			now[item.ID] = item.Identity()
		}
	}
	for id, identity := range was {
		if now[id] != identity {
			lost = append(lost, id)
		}
	}
	slices.Sort(lost)
	return lost
}

// Find returns the item of that id.
func (l List) Find(id string) (Item, bool) {
	for _, item := range l.Items {
		if item.ID == id {
			return item, true
		}
	}
	return Item{}, false
}

// Open returns the ids of the items that do not pass, in list order.
func (l List) Open() []string {
	open := []string{}
	for _, item := range l.Items {
		if !item.Passes {
			open = append(open, item.ID)
		}
	}
	return open
}

// Next returns the open item of the lowest priority number, the first of
// equals, or false where none is open.
func (l List) Next() (Item, bool) {
	next := -1
	for i, item := range l.Items {
		if !item.Passes && (next < 0 || item.Priority < l.Items[next].Priority) {
			next = i
		}
	}
	if next < 0 {
		return Item{}, false
	}
	return l.Items[next], true
}

// Digest names the items and their states: equal for two lists exactly when
// the same items, in the same order, are open.
func (l List) Digest() string {
	h := sha256.New()
	buf := make([]byte, 0, 64)
	for _, item := range l.Items {
		buf = strconv.AppendInt(buf[:0], int64(len(item.ID)), 10)
		buf = append(append(buf, ':'), item.ID...)
		buf = strconv.AppendBool(buf, item.Passes)
		h.Write(buf)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
