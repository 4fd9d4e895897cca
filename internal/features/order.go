package features

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// need is one item that another has to wait for.
type need struct {
	id     string
	item   *Item // nil: the list does not have it
	record bool  // a tracker says so, which leaves out what is closed
}

// needsOf returns what an item has to wait for. A subtask needs what its task needs,
// too.
func (l *List) needsOf(item *Item) (needs []need) {
	needs = l.ownNeeds(item)
	if task := l.taskOf(item); task != nil {
		for _, n := range l.needsOf(task) {
			if !n.within(task) {
				needs = append(needs, n)
			}
		}
	}
	return needs
}

// taskOf returns the task that an item is a part of, nil where it is none.
func (l *List) taskOf(item *Item) *Item {
	if item.sub {
		if at := l.place(item.ID[:strings.LastIndexByte(item.ID, '.')]); at >= 0 {
			return &l.all[at]
		}
	}
	return nil
}

// within tells whether it is a part of a task.
func (n need) within(task *Item) bool { return strings.HasPrefix(n.id, task.ID+".") }

// ownNeeds returns what an item itself says that it has to wait for: an id or ids, or
// a tracker's records {depends_on_id, type}, of which only those that block count. A
// subtask has its siblings by their own numbers.
func (l *List) ownNeeds(item *Item) (needs []need) {
	add := func(id string, record bool) {
		n := need{id: id, record: record}
		if item.sub {
			sibling := item.ID[:strings.LastIndexByte(item.ID, '.')+1] + id
			if at := l.place(sibling); at >= 0 {
				n.id = sibling
			}
		}
		if at := l.place(n.id); at >= 0 {
			n.item = &l.all[at]
		}
		needs = append(needs, n)
	}
	for _, v := range gjson.Parse(item.needs()).Array() {
		switch {
		case v.IsObject():
			blocks := v.Get("type").String() + v.Get("dependency_type").String()
			if id := v.Get("depends_on_id").String(); blocks == "" || blocks == "blocks" {
				if id == "" {
					id = v.Get("id").String()
				}
				add(id, true)
			}
		case v.Type == gjson.Number:
			add(v.Raw, false)
		case v.Str != "":
			add(v.Str, false)
		}
	}
	return needs
}

// met tells whether nobody has to wait for it any more.
func (n need) met() bool { return n.item == nil && n.record || n.item != nil && n.item.Passes }

// order settles which items wait for others, and which are work.
func (l *List) order(t traits) {
	tasks := map[*Item]bool{}
	for n := 0; t.tied && n < len(l.all); n++ {
		if item := &l.all[n]; !item.Passes {
			item.waits = item.kids > 0 && l.openKid(n) != nil || item.sub && l.taskWaits(item, tasks) ||
				item.needsEnd > 0 && slices.ContainsFunc(l.ownNeeds(item), func(n need) bool { return !n.met() })
		}
	}
	l.Items = l.all
	for n := 0; t.aside && n < len(l.all); n++ {
		switch dropped := l.all[n].dropped; {
		case dropped && l.Dropped == nil:
			l.Items = slices.Clone(l.all[:n])
			fallthrough
		case dropped:
			l.Dropped = append(l.Dropped, l.all[n])
		case l.Dropped != nil:
			l.Items = append(l.Items, l.all[n])
		}
	}
	for n := range l.Items {
		if l.Items[n].Passes {
			l.passed++
		}
	}
}

// taskWaits tells whether an item is a part of a task that waits for others. Tasks has
// what was found of each, since one may have many parts and need many.
func (l *List) taskWaits(item *Item, tasks map[*Item]bool) bool {
	task := l.taskOf(item)
	waits, known := tasks[task]
	if task != nil && !known {
		waits = slices.ContainsFunc(l.ownNeeds(task), func(n need) bool { return !n.met() && !n.within(task) }) || l.taskWaits(task, tasks)
		tasks[task] = waits
	}
	return waits
}

// openKid returns a subtask that is left to do of the task at a place of all.
func (l *List) openKid(at int) *Item {
	kids := l.all[at-int(l.all[at].kids) : at]
	if i := slices.IndexFunc(kids, func(k Item) bool { return !k.Passes && !k.dropped }); i >= 0 {
		return &kids[i]
	}
	return nil
}

// Next returns the item to work on: open, waiting for no other, of the lowest
// priority number, the first of equals; or false where there is none.
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

// Order returns the items that can be worked on, in the order in which Next gives
// them if each comes to pass.
func (l List) Order() (order []Item) {
	left := make([]int, len(l.all)) // how many others each item waits for
	frees := map[*Item][]int{}      // who waits for an item
	ready := &queue{all: l.all}
	for n := range l.all {
		item := &l.all[n]
		if item.Passes || item.Blocked || item.dropped {
			continue
		}
		for _, need := range l.needsOf(item) {
			if !need.met() {
				left[n]++
				frees[need.item] = append(frees[need.item], n)
			}
		}
		for k := n - int(item.kids); k < n; k++ {
			if kid := &l.all[k]; !kid.Passes && !kid.dropped {
				left[n]++
				frees[kid] = append(frees[kid], n)
			}
		}
		if left[n] == 0 {
			heap.Push(ready, n)
		}
	}
	for ready.Len() > 0 {
		item := &l.all[heap.Pop(ready).(int)]
		order = append(order, *item)
		for _, n := range frees[item] {
			if left[n]--; left[n] == 0 {
				heap.Push(ready, n)
			}
		}
	}
	return order
}

// queue is a heap of items that can be worked on, by their places in all. Its first
// is the one that Next would return.
type queue struct {
	all    []Item
	places []int
}

func (q *queue) Len() int      { return len(q.places) }
func (q *queue) Swap(i, j int) { q.places[i], q.places[j] = q.places[j], q.places[i] }
func (q *queue) Push(at any)   { q.places = append(q.places, at.(int)) }

func (q *queue) Less(i, j int) bool {
	a, b := q.places[i], q.places[j]
	return cmp.Or(cmp.Compare(q.all[a].Priority, q.all[b].Priority), cmp.Compare(a, b)) < 0
}

func (q *queue) Pop() any {
	last := len(q.places) - 1
	at := q.places[last]
	q.places = q.places[:last]
	return at
}

// Why says in one line why nobody can work on an open item now, nothing where
// somebody can.
func (l List) Why(item Item) string {
	name := func(id string) string { return plain.Line(id, 80) }
	if item.Blocked {
		if word := item.first("status").String(); word == gone {
			return "is gone from what the tracker lists"
		} else if s, _ := stateOf(word); s == blocked {
			return "is " + plain.Line(word, 40) + ", as the list says"
		}
		return "is part of a task that is blocked"
	}
	if !item.waits {
		return ""
	}
	if at := l.place(item.ID); item.kids > 0 && l.openKid(at) != nil {
		return "needs its subtask " + name(l.openKid(at).ID)
	}
	why := ""
	for _, n := range l.needsOf(&item) {
		switch {
		case n.met():
		case n.item == nil:
			return fmt.Sprintf("needs %s, which the list does not have", name(n.id))
		case n.item.dropped:
			return fmt.Sprintf("needs %s, which is not going to be done", name(n.id))
		case why == "":
			why = "needs " + name(n.id)
		}
	}
	if circle := l.circle(&item); circle != nil {
		return "needs itself: " + plain.Line(strings.Join(circle, " → "), 300)
	}
	return why
}

// circle returns the ids of a circle of needs through an item, which is the first
// and the last of them.
func (l *List) circle(item *Item) []string {
	came := map[string]string{}
	for queue := []*Item{item}; len(queue) > 0 && len(came) < maxCircle; queue = queue[1:] {
		for _, n := range l.needsOf(queue[0]) {
			if n.item == nil || came[n.item.ID] != "" {
				continue
			}
			came[n.item.ID] = queue[0].ID
			if n.item.ID == item.ID {
				path := []string{item.ID}
				for at := came[item.ID]; at != item.ID; at = came[at] {
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

// maxCircle bounds the search: nobody can see through a longer one anyway.
const maxCircle = 200

// Stuck says of the first few open items why nobody can work on them.
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
