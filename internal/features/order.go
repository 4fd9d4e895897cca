package features

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// need is one item that another has to wait for.
type need struct {
	id          string
	item        *Item // nil if the list does not have it
	fromTracker bool  // a tracker's record says so; trackers leave out items that are closed
}

// met reports whether nobody needs to wait for the needed item any more.
func (n need) met() bool {
	if n.item == nil {
		return n.fromTracker
	}
	return n.item.Passes
}

// isPartOf reports whether the needed item is a subtask of task.
func (n need) isPartOf(task *Item) bool { return strings.HasPrefix(n.id, task.ID+".") }

// allNeeds returns what an item must wait for. A subtask also waits for what its task waits for,
// other than the task's subtasks.
func (l *List) allNeeds(item *Item) (needs []need) {
	needs = l.directNeeds(item)
	if task := l.taskOf(item); task != nil {
		for _, n := range l.allNeeds(task) {
			if !n.isPartOf(task) {
				needs = append(needs, n)
			}
		}
	}
	return needs
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

// directNeeds returns what an item itself says that it has to wait for: one id, an array
// of ids, or a tracker's records {depends_on_id, type}. Of these only records of type
// "blocks", or without a type, count. A subtask may name its siblings by their own ids,
// without the task's.
func (l *List) directNeeds(item *Item) (needs []need) {
	add := func(id string, fromTracker bool) {
		n := need{id: id, fromTracker: fromTracker}
		if item.isSubtask {
			sibling := item.ID[:strings.LastIndexByte(item.ID, '.')+1] + id
			if l.index(sibling) >= 0 {
				n.id = sibling
			}
		}
		if at := l.index(n.id); at >= 0 {
			n.item = &l.all[at]
		}
		needs = append(needs, n)
	}
	for _, v := range gjson.Parse(item.needs()).Array() {
		switch {
		case v.IsObject():
			kind := v.Get("type").String() + v.Get("dependency_type").String()
			if kind == "" || kind == "blocks" {
				add(cmp.Or(v.Get("depends_on_id").String(), v.Get("id").String()), true)
			}
		case v.Type == gjson.Number:
			add(v.Raw, false)
		case v.Str != "":
			add(v.Str, false)
		}
	}
	return needs
}

// findWaiting sets waits of all items that have to wait for others.
func (l *List) findWaiting() {
	waitingTasks := map[*Item]bool{}
	for n := range l.all {
		if item := &l.all[n]; !item.Passes {
			item.waits = item.subtasks > 0 && l.openSubtask(n) != nil ||
				item.isSubtask && l.taskWaits(item, waitingTasks) ||
				item.needsEnd > 0 && slices.ContainsFunc(l.directNeeds(item), func(n need) bool { return !n.met() })
		}
	}
}

// taskWaits reports whether a subtask's task must wait for items other than its subtasks. It keeps
// its answers in known, because a task may have many subtasks and many needs.
func (l *List) taskWaits(item *Item, known map[*Item]bool) bool {
	task := l.taskOf(item)
	waits, isKnown := known[task]
	if task != nil && !isKnown {
		unmet := func(n need) bool { return !n.met() && !n.isPartOf(task) }
		waits = slices.ContainsFunc(l.directNeeds(task), unmet) || l.taskWaits(task, known)
		known[task] = waits
	}
	return waits
}

// openSubtask returns a subtask that is still to be done of the task at an index of all,
// nil if there is none.
func (l *List) openSubtask(at int) *Item {
	subtasks := l.all[at-int(l.all[at].subtasks) : at]
	if i := slices.IndexFunc(subtasks, func(s Item) bool { return !s.Passes && !s.dropped }); i >= 0 {
		return &subtasks[i]
	}
	return nil
}

// splitDropped makes Items and Dropped of all. Without dropped items, Items is all.
func (l *List) splitDropped(hasDropped bool) {
	l.Items = l.all
	if hasDropped {
		l.Items = make([]Item, 0, len(l.all))
		for n := range l.all {
			if l.all[n].dropped {
				l.Dropped = append(l.Dropped, l.all[n])
			} else {
				l.Items = append(l.Items, l.all[n])
			}
		}
	}
	for n := range l.Items {
		if l.Items[n].Passes {
			l.passed++
		}
	}
}

// Next returns the item to work on: of those that are open and wait for no other, the
// first one of the lowest Priority. It returns false if there is none.
func (l List) Next() (Item, bool) {
	next := -1
	for i := range l.Items {
		item := &l.Items[i]
		if !item.Passes && !item.Blocked && !item.waits && (next < 0 || item.Priority < l.Items[next].Priority) {
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
	unmet := make([]int, len(l.all)) // how many others each item still waits for
	waitFor := map[*Item][]int{}     // which items wait for one, as indexes of all
	ready := &queue{all: l.all}
	for n := range l.all {
		item := &l.all[n]
		if item.Passes || item.Blocked || item.dropped {
			continue
		}
		for _, need := range l.allNeeds(item) {
			if !need.met() {
				unmet[n]++
				waitFor[need.item] = append(waitFor[need.item], n)
			}
		}
		for k := n - int(item.subtasks); k < n; k++ {
			if sub := &l.all[k]; !sub.Passes && !sub.dropped {
				unmet[n]++
				waitFor[sub] = append(waitFor[sub], n)
			}
		}
		if unmet[n] == 0 {
			heap.Push(ready, n)
		}
	}
	for ready.Len() > 0 {
		item := &l.all[heap.Pop(ready).(int)]
		order = append(order, *item)
		for _, n := range waitFor[item] {
			if unmet[n]--; unmet[n] == 0 {
				heap.Push(ready, n)
			}
		}
	}
	return order
}

// queue is a heap of the items that can be worked on. The first is the one that Next
// would return.
type queue struct {
	all     []Item
	indexes []int // of all
}

func (q *queue) Len() int      { return len(q.indexes) }
func (q *queue) Swap(i, j int) { q.indexes[i], q.indexes[j] = q.indexes[j], q.indexes[i] }
func (q *queue) Push(at any)   { q.indexes = append(q.indexes, at.(int)) }

func (q *queue) Less(i, j int) bool {
	a, b := q.indexes[i], q.indexes[j]
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
