package features

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Reopen returns data, which Parse has read as l, with the items of these ids in
// was, an earlier reading, not passing any more, and every other byte as it was.
// An item that the list has no id for is known by what it asks for; one that is
// not there any more is an error, and nothing is changed.
func (l List) Reopen(data []byte, was List, ids []string) ([]byte, error) {
	claims := make(map[int]bool, len(ids))
	for _, id := range ids {
		at := l.place(id)
		if before, _ := was.Find(id); at >= 0 && before.derived && l.all[at].Identity() != before.Identity() {
			at = -1
			for n := range l.all {
				if l.all[n].Identity() != before.Identity() {
					continue
				}
				if at >= 0 {
					return nil, fmt.Errorf("the feature %s is there twice by now, and it cannot be told which of them failed", plain.Line(id, 80))
				}
				at = n
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("the feature %s is not in the list any more", plain.Line(id, 80))
		}
		claims[at] = true
	}
	return l.set(data, l, func(at int) bool { return l.all[at].Passes && !claims[at] }), nil
}

// Restore returns baseline, an earlier text of the list that Parse reads, with
// what passes in l passing there too.
func (l List) Restore(baseline []byte) ([]byte, error) {
	was, err := ParseTag(baseline, l.tag)
	if err != nil {
		return nil, err
	}
	return was.set(baseline, l, func(at int) bool {
		now, has := l.Find(was.all[at].ID)
		return has && now.Passes
	}), nil
}

// set returns data with the items passing that passes names, by place, in words as
// like has them. One that says nothing of it does not pass, and stays as it is.
func (l List) set(data []byte, like List, passes func(at int) bool) []byte {
	var edits []int
	for n := range l.all {
		if item := &l.all[n]; item.markLen > 0 && !item.dropped && passes(n) != item.Passes {
			edits = append(edits, n)
		}
	}
	slices.SortFunc(edits, func(a, b int) int { return cmp.Compare(l.all[a].markAt, l.all[b].markAt) })
	var edited bytes.Buffer
	from := 0
	for _, n := range edits {
		item := &l.all[n]
		at := l.bom + int(item.markAt)
		edited.Write(data[from:at])
		edited.WriteString(like.spell(item.mark, !item.Passes, string(data[at:at+int(item.markLen)])))
		from = at + int(item.markLen)
	}
	edited.Write(data[from:])
	return edited.Bytes()
}

// spell is how this list writes that an item passes, or does not; old is what
// stands there.
func (l List) spell(m mark, passes bool, old string) string {
	switch m {
	case status:
		quoted, _ := json.Marshal(l.word(passes, text(old))) // a string always goes
		return string(quoted)
	case checkbox:
		if passes {
			return markdown.done
		}
		return markdown.open
	}
	return strconv.FormatBool(passes)
}

// word is this list's own status word for an item that passes, or is open: of its
// rules, else one that it uses, else what its shape mostly has.
func (l List) word(passes bool, old string) string {
	want := open
	if passes {
		want = done
	}
	for _, word := range gjson.Parse(l.valid).Array() {
		if s, known := stateOf(word.Str); known && s == want {
			return word.Str
		}
	}
	for n := range l.all {
		if item := &l.all[n]; item.mark == status {
			word := item.first("status").String()
			if s, known := stateOf(word); known && s == want && word != "" {
				return word
			}
			if old == "" {
				old = word
			}
		}
	}
	switch {
	case passes && l.shape == array && old == "open":
		return "closed"
	case passes:
		return l.shape.done
	case old == "closed":
		return "open"
	}
	return l.shape.open
}

// Claim says what is to be written into the list to claim an item: a key and its
// value, as JSON. Of a checkbox there is no key, and the value is "[x]".
func (l List) Claim(item Item) (key, value string) {
	m := item.mark
	for n := 0; m == noMark && n < len(l.all); n++ {
		m = l.all[n].mark
	}
	switch m {
	case checkbox:
		return "", "[" + markdown.done + "]"
	case noMark:
		m = passes
	}
	return markKeys[m], l.spell(m, true, "")
}
