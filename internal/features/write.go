package features

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Mark returns data, which Parse has read as l, with the items of these ids passing, or not
// passing any more. Every other byte stays as it was, but an item without a mark gets one to pass.
// The ids are those of was, an earlier reading of the list; an item is found as TakeFlags finds it.
// If one is not there any more, Mark changes nothing and fails.
func (l List) Mark(data []byte, was List, ids []string, passes bool) ([]byte, error) {
	marked := make(map[int]bool, len(ids)) // indexes of all
	places, _ := was.inFile().places(&l)
	for _, id := range ids {
		at := was.index(id)
		if at >= 0 {
			at = places[at]
		}
		if at < 0 {
			return nil, fmt.Errorf("the feature %s is no longer in the list", plain.Line(id, 80))
		}
		if passes && (l.all[at].dropped || !l.all[at].takesMark()) {
			return nil, fmt.Errorf("the list cannot record that %s passes", plain.Line(id, 80))
		}
		marked[at] = true
		for task := l.taskOf(&l.all[at]); task != nil && !passes; task = l.taskOf(task) { // else this passes with it
			marked[l.index(task.ID)] = true
		}
	}
	return l.set(data, func(at int) bool { return marked[at] && passes || l.all[at].Passes && !marked[at] }), nil
}

// inFile returns the items as their file has them.
func (l List) inFile() *List {
	file := &List{all: slices.Clone(l.all)}
	for n := range file.all {
		if entry := file.all[n].entry; entry != nil {
			file.all[n] = *entry
		}
	}
	return file
}

// set returns data, which Parse has read as l, with those items passing that passes
// names by their indexes in all.
func (l List) set(data []byte, passes func(at int) bool) []byte {
	var edits []int
	for n := range l.all {
		if item := &l.all[n]; item.takesMark() && !item.dropped && passes(n) != item.Passes {
			edits = append(edits, n)
		}
	}
	slices.SortFunc(edits, func(a, b int) int { return cmp.Compare(l.all[a].editAt(), l.all[b].editAt()) })
	words := l.words()
	var edited bytes.Buffer
	from := 0
	for _, n := range edits {
		item := &l.all[n]
		at := l.bom + item.editAt()
		if at < from {
			continue // a subtask that was done since its task was
		}
		edited.Write(data[from:at])
		from = at + item.markLen
		if item.markLen > 0 {
			edited.WriteString(words.value(item.mark, !item.Passes, string(data[at:from])))
			continue
		}
		key, value := l.Claim(*item, true)
		if gjson.Get(item.raw, key).Exists() { // and is no mark
			key, value = "passes", "true"
		}
		fmt.Fprintf(&edited, "%q: %s,", key, value)
	}
	edited.Write(data[from:])
	return edited.Bytes()
}

// editAt returns the offset of the item's mark, or of where it gets one: after the brace with which it begins.
func (i *Item) editAt() int {
	if i.markLen > 0 {
		return i.markAt
	}
	return i.at + 1
}

// takesMark reports whether the item has a mark, or can get one: as an object that is not empty.
func (i *Item) takesMark() bool {
	inside, is := strings.CutPrefix(i.raw, "{")
	return i.markLen > 0 || is && strings.HasPrefix(strings.TrimSpace(inside), `"`)
}

// words are the status words that a list writes.
type words struct {
	open, done string // empty: the list has none of its own
	first      string // the first one in the list, whatever it means
	shape      shape
}

// words returns the status words that the list's items have.
func (l *List) words() words {
	w := words{shape: l.shape}
	for n := 0; n < len(l.all) && (w.open == "" || w.done == ""); n++ {
		item := &l.all[n]
		if !item.mark.isWord() {
			continue
		}
		word := item.word()
		w.first = cmp.Or(w.first, word)
		switch s, known := stateOf(word); {
		case !known || word == "":
		case s == open && w.open == "":
			w.open = word
		case s == done && w.done == "":
			w.done = word
		}
	}
	return w
}

// value returns what to write, as JSON or as a checkbox, so that an
// item passes or does not; old is what is there now.
func (w words) value(m mark, passes bool, old string) string {
	switch m {
	case stateMark, status:
		if is := cmp.Or(old, w.first); is == "true" || is == "false" {
			break
		}
		quoted, _ := json.Marshal(w.word(passes, gjson.Parse(old).String())) // a string never fails
		return string(quoted)
	case checkbox:
		if passes {
			return checkboxes.done
		}
		return checkboxes.open
	}
	return strconv.FormatBool(passes)
}

// word returns the status word of an item that passes, or is open. If the list has no
// such word, old decides which one its shape has.
func (w words) word(passes bool, old string) string {
	old = cmp.Or(old, w.first)
	switch {
	case passes && w.done != "":
		return w.done
	case passes && w.shape == array && old == "open":
		return "closed"
	case passes:
		return w.shape.done
	case w.open != "":
		return w.open
	case old == "closed":
		return "open"
	}
	return w.shape.open
}

// Claim returns what an agent has to write into the list to claim an item, or, without pass, to take its claim back: a
// key, and its value as JSON. A checkbox has no key, and its value is "[x]" or "[ ]".
func (l List) Claim(item Item, pass bool) (key, value string) {
	m := item.mark
	for n := 0; m == noMark && n < len(l.all); n++ {
		m = l.all[n].mark
	}
	if m == noMark {
		m = passes
	}
	value = l.words().value(m, pass, "")
	if m == checkbox {
		return "", value
	}
	return markKeys[m], value
}
