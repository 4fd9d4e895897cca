package features

import (
	"cmp"
	"container/heap"
	"slices"
)

// openSubtask returns a subtask that is still to be done of the task at an index of all,
// nil if there is none.
func (l *List) openSubtask(at int) *Item {
	subtasks := l.all[at-l.all[at].subtasks : at]
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
			if item := &l.all[n]; item.dropped {
				if !item.isTombstone() { // that is not even something to be dropped
					l.Dropped = append(l.Dropped, *item)
				}
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
		for _, need := range l.directNeeds(item) {
			at := -1
			switch {
			case need.met():
				continue
			case need.item != nil:
				at = l.index(need.item.ID)
			}
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
