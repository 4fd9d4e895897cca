package features

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// need is one item that another has to wait for.
type need struct {
	id   string
	item *Item // nil if the list does not have it
}

// allNeeds returns what an item has to wait for: what it needs itself, and what the items
// need that it is a part of, other than their parts.
func (l *List) allNeeds(item *Item) (needs []need) {
	needs = l.unmetNeeds(item)
	for _, whole := range l.allWholes(item) {
		for _, n := range l.unmetNeeds(whole) {
			if !l.isPart(n, whole) {
				needs = append(needs, n)
			}
		}
	}
	return needs
}

// Wholes returns the items that an item is a part of, the nearest first.
func (l List) Wholes(item Item) (wholes []Item) {
	if !item.isSubtask && l.parents == nil {
		return nil
	}
	for _, whole := range l.allWholes(&item) {
		wholes = append(wholes, *whole)
	}
	return wholes
}

// allWholes returns the items that an item is a part of, directly or not.
func (l *List) allWholes(item *Item) []*Item {
	seen := []*Item{item}
	for n := 0; n < len(seen) && n < maxCircle; n++ {
		for _, whole := range l.wholes(seen[n]) {
			if !slices.Contains(seen, whole) {
				seen = append(seen, whole)
			}
		}
	}
	return seen[1:]
}

// wholes returns the items that an item is a part of: the task of a subtask, and the
// parents that are open.
func (l *List) wholes(item *Item) (wholes []*Item) {
	if task := l.taskOf(item); task != nil {
		wholes = append(wholes, task)
	}
	for _, at := range l.parents[item.ID] {
		if parent := &l.all[at]; !parent.Passes && !parent.dropped {
			wholes = append(wholes, parent)
		}
	}
	return wholes
}

// isPart tells whether the needed item is a part of another.
func (l *List) isPart(n need, whole *Item) bool {
	return strings.HasPrefix(n.id, whole.ID+".") || slices.ContainsFunc(l.parents[n.id], func(at int) bool {
		return l.all[at].ID == whole.ID
	})
}

// taskOf returns the task that a subtask is a part of, nil for any other item.
func (l *List) taskOf(item *Item) *Item {
	if item.isSubtask {
		if at := l.index(item.ID[:strings.LastIndexByte(item.ID, '.')]); at >= 0 {
			return &l.all[at]
		}
	}
	return nil
}

// parentRecord is the kind of a tracker's record that says which item another one is a part of.
const parentRecord = "parent-child"

// The kinds of records: of those that are waited for, and of those that are for people.
var blockingRecords, otherRecords = table.Set("blocking records"), table.Set("other records")

// name is how an item names another one: by its id, or in a record.
type name struct {
	id         string
	kind       string // of a record
	isTracker  bool   // the record is a tracker's
	isReadable bool   // we know which item it names, and what for
}

// names yields the names in what an item has for its needs: one id, an array of ids, or records such as a tracker's
// {depends_on_id, type}.
func names(needs string) iter.Seq[name] {
	return func(yield func(name) bool) {
		for _, v := range gjson.Parse(needs).Array() {
			switch {
			case v.IsArray(): // an item had two keys for its needs
				for n := range names(v.Raw) {
					if !yield(n) {
						return
					}
				}
			case v.IsObject():
				if !recordNames(v, yield) {
					return
				}
			case !yield(name{id: idOf(v), isReadable: v.Type == gjson.String || v.Type == gjson.Number}):
				return
			}
		}
	}
}

func idOf(v gjson.Result) string {
	if v.Type == gjson.Number {
		return v.Raw // 1.10 is not 1.1
	}
	return v.Str
}

// recordNames yields the names in a record. It returns false if yield does.
func recordNames(v gjson.Result, yield func(name) bool) bool {
	record := name{kind: cmp.Or(v.Get("type").String(), v.Get("dependency_type").String())}
	isKnown := record.kind == "" || blockingRecords()[record.kind] || otherRecords()[record.kind]
	for _, key := range recordKeys() {
		ids := v.Get(key)
		if !ids.Exists() {
			continue
		}
		record.isTracker = key == "depends_on_id" || key == "id"
		for _, id := range ids.Array() {
			record.id = idOf(id)
			record.isReadable = isKnown && record.id != ""
			if !yield(record) {
				return false
			}
		}
		return true
	}
	return yield(record)
}

var recordKeys = table.List("record keys")

// isReadable reports whether we know what all that an item has for its needs stands for.
func isReadable(needs string) bool {
	for n := range names(needs) {
		if !n.isReadable {
			return false
		}
	}
	return true
}

func sameNames(a, b string) bool {
	return slices.Equal(slices.Collect(names(a)), slices.Collect(names(b)))
}

// unmetNeeds returns what an item itself says that it has to wait for, and that does not pass. A subtask may name its
// siblings by their own ids, without the task's.
func (l *List) unmetNeeds(item *Item) (needs []need) {
	for name := range names(item.needs) {
		if name.id == "" || name.kind != "" && !blockingRecords()[name.kind] {
			continue
		}
		n := need{id: name.id}
		if item.isSubtask {
			sibling := item.ID[:strings.LastIndexByte(item.ID, '.')+1] + n.id
			if l.index(sibling) >= 0 {
				n.id = sibling
			}
		}
		at := l.index(n.id)
		if at < 0 && name.isTracker || at >= 0 && l.all[at].Passes { // trackers leave out items that are closed
			continue
		}
		if at >= 0 {
			n.item = &l.all[at]
		}
		needs = append(needs, n)
	}
	return needs
}

// findParents sets parents.
func (l *List) findParents() {
	for n := range l.all {
		item := &l.all[n]
		if at := l.index(item.partOf); item.partOf != "" && at >= 0 {
			l.addParent(item, at)
		}
		if !strings.Contains(item.needs, parentRecord) {
			continue
		}
		for name := range names(item.needs) {
			if at := l.index(name.id); name.kind == parentRecord && at >= 0 && at != n {
				l.addParent(item, at)
			}
		}
	}
}

func (l *List) addParent(item *Item, at int) {
	if l.parents == nil {
		l.parents = map[string][]int{}
	}
	l.parents[item.ID] = append(l.parents[item.ID], at)
}

// findWaiting sets waits of all items.
func (l *List) findWaiting() {
	l.findParents()
	shut := map[*Item]bool{}
	isShut := func(whole *Item) bool { return l.isShut(whole, shut) }
	for n := range l.all {
		item := &l.all[n]
		isPart := item.isSubtask || l.parents != nil // else it has no wholes
		item.waits = !item.Passes && (item.later || item.subtasks > 0 && l.openSubtask(n) != nil ||
			isPart && slices.ContainsFunc(l.wholes(item), isShut) || item.needs != "" && len(l.unmetNeeds(item)) > 0)
	}
}

// isShut tells whether the parts of an item have to wait: for what it needs, other than its
// parts, or since nobody can work on it now. It keeps its answers in known: an item may
// have many parts and many needs.
func (l *List) isShut(whole *Item, known map[*Item]bool) bool {
	shut, isKnown := known[whole]
	if !isKnown {
		known[whole] = false // parents in a circle
		shut = whole.Blocked || whole.later ||
			slices.ContainsFunc(l.unmetNeeds(whole), func(n need) bool { return !l.isPart(n, whole) }) ||
			slices.ContainsFunc(l.wholes(whole), func(outer *Item) bool { return l.isShut(outer, known) })
		known[whole] = shut
	}
	return shut
}

// Why returns in one line why nobody can work on an open item now, or nothing if somebody can.
func (l List) Why(item Item) string {
	name := func(id string) string { return plain.Line(id, 80) }
	if item.Blocked {
		if word := item.word(); word == deletedStatus {
			return "is gone from what the tracker lists"
		} else if s, _ := stateOf(word); s == blocked {
			return "is " + plain.Line(word, 40) + ", as the list says"
		}
		return "is part of a task that is blocked"
	}
	if item.later {
		return "is put off until " + plain.Line(item.firstOf("defer_until").String(), 40)
	}
	if !item.waits {
		return ""
	}
	if item.subtasks > 0 {
		if sub := l.openSubtask(l.index(item.ID)); sub != nil {
			return "needs its subtask " + name(sub.ID)
		}
	}
	why := ""
	for _, n := range l.allNeeds(&item) {
		switch {
		case n.item == nil:
			return fmt.Sprintf("needs %s, which is not in the list", name(n.id))
		case n.item.dropped:
			return fmt.Sprintf("needs %s, which will not be done", name(n.id))
		case why == "":
			why = "needs " + name(n.id)
		}
	}
	if whole := l.blockingWhole(&item); why == "" && whole != nil {
		return fmt.Sprintf("is part of %s, which nobody can work on", name(whole.ID))
	}
	if circle := l.circle(&item); circle != nil {
		return "needs itself: " + plain.Line(strings.Join(circle, " → "), 300)
	}
	return why
}

// blockingWhole returns the item that an item is a part of, directly or not, and on which nobody can
// work, whatever it needs.
func (l *List) blockingWhole(item *Item) *Item {
	for _, whole := range l.allWholes(item) {
		if whole.Blocked || whole.later {
			return whole
		}
	}
	return nil
}

// circle returns the ids of a circle of needs through an item, nil if there is none. The
// item's id is the first and the last of them.
func (l *List) circle(item *Item) []string {
	neededBy := map[string]string{} // the item by which the search came to an item
	for queue := []*Item{item}; len(queue) > 0 && len(neededBy) < maxCircle; queue = queue[1:] {
		for _, n := range l.allNeeds(queue[0]) {
			if n.item == nil || neededBy[n.item.ID] != "" {
				continue
			}
			neededBy[n.item.ID] = queue[0].ID
			if n.item.ID == item.ID {
				path := []string{item.ID}
				for at := neededBy[item.ID]; at != item.ID; at = neededBy[at] {
					path = append(path, at)
				}
				path = append(path, item.ID)
				slices.Reverse(path)
				return path
			}
			queue = append(queue, n.item)
		}
	}
	return nil
}

// Stuck returns why nobody can work on the first five of the open items that wait.
func (l List) Stuck() string {
	var why []string
	for i := range l.Items {
		if reason := l.Why(l.Items[i]); reason != "" && !l.Items[i].Passes {
			why = append(why, plain.Line(l.Items[i].ID, 80)+" "+reason)
		}
		if len(why) == 5 {
			break
		}
	}
	return strings.Join(why, "; ")
}

// openSubtask returns a subtask that is still to be done of the task at an index of all,
// nil if there is none.
func (l *List) openSubtask(at int) *Item {
	subtasks := l.all[at-l.all[at].subtasks : at]
	if i := slices.IndexFunc(subtasks, func(s Item) bool { return !s.Passes && !s.dropped }); i >= 0 {
		return &subtasks[i]
	}
	return nil
}

// splitDropped makes Items and Dropped of all.
func (l *List) splitDropped() {
	first := slices.IndexFunc(l.all, func(i Item) bool { return i.dropped })
	if first < 0 { // as in most lists
		l.Items = l.all
		return
	}
	l.Items = slices.Clone(l.all[:first])
	for n := first; n < len(l.all); n++ {
		item := &l.all[n]
		if item.dropped {
			l.Dropped = append(l.Dropped, *item)
		} else {
			l.Items = append(l.Items, *item)
		}
	}
}

// Next returns the item to work on: of those that are Workable, the first one of the lowest
// Priority. It returns false if there is none.
func (l List) Next() (Item, bool) { return l.NextBut(nil) }

// NextBut returns what Next would return if the items with these ids were not there.
func (l List) NextBut(except map[string]bool) (Item, bool) {
	next := -1
	for i := range l.Items {
		item := &l.Items[i]
		if item.Workable() && (next < 0 || item.Priority < l.Items[next].Priority) && !except[item.ID] {
			next = i
		}
	}
	if next < 0 {
		return Item{}, false
	}
	return l.Items[next], true
}

// Order returns the items that can be worked on, in the order in which Next returns them
// if each passes in turn.
func (l List) Order() (order []Item) {
	count := len(l.all)
	unmet := make([]int, 2*count) // how many others each item, and each item's parts, still wait for
	waitFor := map[int][]int{}    // which of these wait for one, as indexes of unmet
	wait := func(n, forWhat int) {
		unmet[n]++
		waitFor[forWhat] = append(waitFor[forWhat], n)
	}
	whole, shut := make([]bool, count), map[*Item]bool{}
	for n := range l.all {
		for _, w := range l.wholes(&l.all[n]) {
			if !l.isShut(w, shut) {
				continue
			}
			at := l.index(w.ID)
			wait(n, count+at)
			wait(count+n, count+at)
			whole[at] = true
		}
	}
	for n := range l.all {
		item := &l.all[n]
		if item.Blocked || item.later {
			unmet[count+n]++
		}
		if item.Passes || item.Blocked || item.later || item.dropped {
			unmet[n]++
		}
		for _, need := range l.unmetNeeds(item) {
			at := l.index(need.id)
			wait(n, at)
			if whole[n] && !l.isPart(need, item) {
				wait(count+n, at)
			}
		}
		for k := n - item.subtasks; k < n; k++ {
			if sub := &l.all[k]; !sub.Passes && !sub.dropped {
				wait(n, k)
			}
		}
	}
	ready := &queue{all: l.all}
	push := func(n int) {
		if unmet[n] == 0 && (n < count || waitFor[n] != nil) {
			heap.Push(ready, n)
		}
	}
	for n := range unmet {
		push(n)
	}
	for ready.Len() > 0 {
		n := heap.Pop(ready).(int)
		if n < count {
			order = append(order, l.all[n])
		}
		for _, n := range waitFor[n] {
			unmet[n]--
			push(n)
		}
	}
	return order
}

// queue is a heap of the indexes of unmet that wait for nothing: those of items' parts, then the
// item that Next would return.
type queue struct {
	all     []Item
	indexes []int
}

func (q *queue) Len() int      { return len(q.indexes) }
func (q *queue) Swap(i, j int) { q.indexes[i], q.indexes[j] = q.indexes[j], q.indexes[i] }
func (q *queue) Push(at any)   { q.indexes = append(q.indexes, at.(int)) }

func (q *queue) Less(i, j int) bool {
	a, b := q.indexes[i], q.indexes[j]
	if last := max(a, b); last >= len(q.all) {
		return a == last
	}
	return cmp.Or(cmp.Compare(q.all[a].Priority, q.all[b].Priority), cmp.Compare(a, b)) < 0
}

func (q *queue) Pop() any {
	last := len(q.indexes) - 1
	at := q.indexes[last]
	q.indexes = q.indexes[:last]
	return at
}

// maxCircle bounds the search for a circle. Nobody can follow a longer one anyway.
const maxCircle = 200
