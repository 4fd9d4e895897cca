package features

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Change is one thing that the file of a list says of an item, and that does not count.
type Change struct {
	ID  string
	How string // one of the words below

	Old, New []string // with Reworded: what the item asks for, in lines
}

// What the file of a list may do to an item of the contract.
const (
	Deleted   = "deleted"
	Cancelled = "cancelled" // it is there, and no work any more
	Reworded  = "reworded"
	Reordered = "reordered" // it has other dependencies or another priority
)

// TakeFlags returns the list as a person trusted it, which is l, with the flags of the file: whether an item is done,
// or blocked. Nothing else in the file counts. Items that the file adds come last.
func (l List) TakeFlags(file List) List {
	merged := List{
		Reading: l.Reading, HasEntries: l.HasEntries, Tags: file.Tags,
		LeftOut: file.LeftOut, Slips: file.Slips, Unread: l.Unread, shape: file.shape, text: l.text,
		all: make([]Item, 0, len(l.all)), byID: make(map[string]int, len(l.all)),
	}
	if len(file.all) == 0 {
		merged.shape = l.shape
	}
	places, known := l.places(&file)
	for n := range l.all {
		item, entry := l.all[n], &Item{}
		if places[n] >= 0 {
			entry = &file.all[places[n]]
		}
		switch {
		case !item.dropped:
			merged.Changes = append(merged.Changes, item.changes(entry)...)
		case entry.ID != "" && !entry.dropped: // nobody has trusted it as work
			item.dropped = false
			item.setAdded()
		}
		item.takeFlags(entry)
		merged.add(item)
	}
	for n := range file.all {
		if !known[n] && file.all[n].word() != deletedStatus { // a new one that is gone is nothing
			merged.addNew(&file, n, known)
		}
	}
	merged.findWaiting()
	merged.splitDropped()
	return merged
}

// PassIn returns another version of the file of l in which the item with that id passes. It is data if that has no such
// item, or cannot be read.
func (l List) PassIn(data []byte, id string) []byte {
	file, err := l.Reading.Parse(data)
	if err != nil {
		return data
	}
	marked, err := file.Mark(data, l.TakeFlags(file), []string{id}, true)
	if err != nil {
		return data
	}
	return marked
}

// MergeFlags returns a version of a list's file in which those items pass, too, that pass in another version and did
// not in the one from which both come. An item that the first version has not any more passes nowhere.
func (r Reading) MergeFlags(base, other, data []byte) ([]byte, error) {
	list, err := r.Parse(data)
	if err != nil {
		return nil, err
	}
	now, err := r.Parse(other)
	if err != nil {
		return nil, err
	}
	before, _ := r.Parse(base) // without one nothing did
	now, before = list.TakeFlags(now), list.TakeFlags(before)
	for n := range list.all {
		if now.all[n].Passes && !before.all[n].Passes && !list.all[n].Passes {
			data = list.PassIn(data, list.all[n].ID)
		}
	}
	return data, nil
}

// matcher finds the items of a contract in a file.
type matcher struct {
	contract, file *List
	places         []int  // of each item of the contract: where the file has it; -1: nowhere
	found          []bool // of each item of the file: it is one of the contract
}

// places returns for each item of l where the file has it, -1: nowhere, and for each item of the file whether l has it.
// An item with an id of its own is found by that. Any other is found by what it says, else by its title, else by its
// place between its neighbours.
func (l *List) places(file *List) (places []int, known []bool) {
	m := matcher{contract: l, file: file, places: make([]int, len(l.all)), found: make([]bool, len(file.all))}
	for n := range m.places {
		m.places[n] = -1
	}
	m.matchIDs()
	m.matchWording()
	m.matchTitles()
	m.matchNeighbours()
	return m.places, m.found
}

// match notes that the file has the item n of the contract at an index.
func (m *matcher) match(n, at int) {
	m.places[n] = at
	m.found[at] = true
}

// matchIDs finds items by their own ids, and those that say what they said.
func (m *matcher) matchIDs() {
	for n := range m.contract.all {
		item := &m.contract.all[n]
		at := m.file.index(item.ID)
		if at < 0 {
			continue
		}
		same := &m.file.all[at]
		if !item.Derived && !same.Derived || item.raw == same.raw {
			m.match(n, at)
		}
	}
}

// matchWording finds items without an id that ask for the same.
func (m *matcher) matchWording() {
	var same map[string][]int // indexes of the file's items, made when they are first needed
	for n := range m.contract.all {
		item := &m.contract.all[n]
		if m.places[n] >= 0 || !item.Derived {
			continue
		}
		if same == nil {
			same = map[string][]int{}
			for at := range m.file.all {
				if !m.found[at] {
					wording := m.file.all[at].wording()
					same[wording] = append(same[wording], at)
				}
			}
		}
		wording := item.wording()
		if all := same[wording]; len(all) > 0 {
			m.match(n, all[0])
			same[wording] = all[1:]
		}
	}
}

// matchTitles finds items by the ids that were made of their titles.
func (m *matcher) matchTitles() {
	for n := range m.contract.all {
		item := &m.contract.all[n]
		if m.places[n] >= 0 || !item.Derived || strings.HasPrefix(item.ID, "#") {
			continue
		}
		at := m.file.index(item.ID)
		if at >= 0 && !m.found[at] && m.file.all[at].Derived {
			m.match(n, at)
		}
	}
}

// matchNeighbours finds items without an id where as many stand in a row between the same neighbours as before.
func (m *matcher) matchNeighbours() {
	for n := 0; n < len(m.places); n++ {
		if m.places[n] >= 0 {
			continue
		}
		end := n
		for end < len(m.places) && m.places[end] < 0 {
			end++
		}
		from, to := 0, len(m.found)
		if n > 0 {
			from = m.places[n-1] + 1
		}
		if end < len(m.places) {
			to = m.places[end]
		}
		if to-from == end-n && m.fits(n, from, end-n) {
			for i := range end - n {
				m.match(n+i, from+i)
			}
		}
		n = end
	}
}

// fits reports whether count items of the file, from an index on, can be those of the contract from n on.
func (m *matcher) fits(n, from, count int) bool {
	for i := range count {
		old, now := &m.contract.all[n+i], &m.file.all[from+i]
		if m.found[from+i] || !old.Derived || old.isSubtask != now.isSubtask {
			return false
		}
	}
	return true
}

// changes returns what the file's entry for the item says, and what does not count.
func (i *Item) changes(entry *Item) []Change {
	switch {
	case entry.ID == "":
		return []Change{{ID: i.ID, How: Deleted}}
	case entry.dropped:
		return []Change{{ID: i.ID, How: Cancelled}}
	case i.raw == entry.raw:
		return nil
	}
	was, now := i.asksFor(), entry.asksFor()
	if before, after := i.details(), entry.details(); !strings.HasPrefix(after, before) {
		was, now = append(was, "details: "+before), append(now, "details: "+after)
	}
	switch {
	case !slices.Equal(was, now):
		return []Change{{i.ID, Reworded, was, now}}
	case i.Priority != entry.Priority || !sameNames(i.needs, entry.needs):
		return []Change{{ID: i.ID, How: Reordered}}
	}
	return nil
}

// details returns what the item says behind its description.
func (i Item) details() string {
	texts := i.Descriptions()
	return strings.Join(texts[min(1, len(texts)):], " ")
}

// asksFor returns in lines what an agent hears of the item, and what is run for it.
func (i Item) asksFor() (lines []string) {
	add := func(what string, texts ...string) {
		if text := strings.Join(texts, " "); text != "" {
			lines = append(lines, what+": "+text)
		}
	}
	add("title", i.Title())
	add("description", i.Description())
	add("model", i.Model())
	for _, text := range i.Acceptance() {
		add("done when", text)
	}
	if !i.hasEntries {
		return lines
	}
	for _, e := range i.Entries() {
		if e.Kind != EntryText {
			add(e.Kind, slices.DeleteFunc(append([]string{e.File, e.Pattern, e.Text}, e.Argv...), func(s string) bool {
				return s == ""
			})...)
		}
	}
	return lines
}

// wording returns what the item asks for.
func (i Item) wording() string { return strings.Join(i.asksFor(), "\n") }

// takeFlags gives an item of the contract the flags of its entry in the file. Without one it is open.
func (i *Item) takeFlags(entry *Item) {
	i.entry = entry
	i.Passes = entry.Passes && !entry.dropped
	i.Blocked = entry.Blocked && !entry.dropped
	i.later = i.later && !i.Passes
	if entry.mark != noMark {
		i.mark = entry.mark
	}
}

// setAdded marks an item that no person has trusted. It comes last, whatever it says.
func (i *Item) setAdded() {
	i.IsAdded = true
	i.Priority = math.Inf(1)
}

// add adds an item.
func (l *List) add(item Item) {
	l.byID[item.ID] = len(l.all)
	l.all = append(l.all, item)
}

// addNew adds an item of the file that no person has trusted. It gets an id that no item of the contract has. known
// says which items before it are none of the new ones.
func (l *List) addNew(file *List, n int, known []bool) {
	item := file.all[n]
	item.entry = &file.all[n]
	item.setAdded()
	item.subtasks = 0
	for at := n - file.all[n].subtasks; at < n; at++ {
		if !known[at] {
			item.subtasks++
		}
	}
	outer := item.ID[:strings.LastIndexByte(item.ID, '.')+1]
	for number := len(l.all) + 1; l.index(item.ID) >= 0; number++ {
		item.ID = outer + "#" + strconv.Itoa(number)
	}
	l.add(item)
}
