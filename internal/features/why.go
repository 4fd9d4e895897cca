package features

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Why returns in one line why nobody can work on an open item now, or nothing if somebody can.
func (l List) Why(item Item) string {
	name := func(id string) string { return plain.Line(id, 80) }
	if item.Blocked {
		if word := item.word(); word == goneWord {
			return "is gone from what the tracker lists"
		} else if s, _ := stateIn(l.ownWords, word); s == blocked {
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
		case n.met():
		case n.item == nil:
			return fmt.Sprintf("needs %s, which the list does not have", name(n.id))
		case n.item.dropped:
			return fmt.Sprintf("needs %s, which is not going to be done", name(n.id))
		case why == "":
			why = "needs " + name(n.id)
		}
	}
	if whole := l.heldBy(&item); why == "" && whole != nil {
		return fmt.Sprintf("is part of %s, which nobody can work on", name(whole.ID))
	}
	if circle := l.circle(&item); circle != nil {
		return "needs itself: " + plain.Line(strings.Join(circle, " → "), 300)
	}
	return why
}

// heldBy returns the item that an item is a part of, directly or not, and on which nobody can
// work, whatever it needs.
func (l *List) heldBy(item *Item) *Item {
	seen := []*Item{item}
	for n := 0; n < len(seen) && n < maxCircle; n++ {
		for _, whole := range l.wholes(seen[n]) {
			if whole.Blocked || whole.later {
				return whole
			}
			if !slices.Contains(seen, whole) {
				seen = append(seen, whole)
			}
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
