package features

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

var decidingKeys, otherKeys = table.List("deciding keys"), table.List("other keys")

// knownKeys returns all keys of items in the lists that we know, also those that we do not read.
var knownKeys = sync.OnceValue(func() []string { return slices.Concat(readKeys(), otherKeys()) })

// Check returns what is wrong in a list, and what is only odd: the list is worked all the
// same. All are *jsontext.Errors, in the order of the text. If the text cannot be read there
// is one problem.
func (r Reading) Check(data []byte) (l List, problems, remarks []error) {
	list, problems := r.parse(data)
	if len(list.all) == 0 && len(problems) > 0 {
		return list, problems, nil
	}
	c := &parser{text: list.text, problems: problems, remarks: list.remarks}
	misspelt := map[string]bool{}
	circles := map[string]bool{}
	for n := range list.all {
		item := &list.all[n]
		if list.shape != checkboxes {
			c.checkKeys(item, misspelt)
		}
		if item.Title() == "" && item.Description() == "" {
			c.fail(item.at, "item %d does not describe any work; give it a title or a description",
				item.number)
		}
		word := item.word()
		if _, known := stateOf(word); !known && item.mark.isWord() {
			text := fmt.Sprintf("%q is no status we know, so it counts as open; ", plain.Line(word, 80))
			// Another word that is alike begins in another way: parked is not passed.
			meant := jsontext.Nearest(word, slices.Sorted(maps.Keys(states())))
			if len(meant) > 3 && strings.HasPrefix(strings.ToLower(word), meant[:3]) {
				c.fail(item.markAt, "%sdid you mean %q?", text, meant)
			} else {
				c.remark(item.markAt, "%sthose are pending, in_progress, done, blocked, cancelled", text)
			}
		}
		c.checkNeeds(&list, item, circles)
	}
	_, open := list.Next()
	switch {
	case len(list.Items) == 0:
		c.fail(0, "there is no work in the list")
	case list.Passed() == len(list.Items):
		c.remark(0, "nothing is open: a loop would end at its first stop")
	case !open:
		c.fail(0, "no open feature can be worked on: %s", list.Stuck())
	}
	for _, errs := range [][]error{c.problems, c.remarks} {
		slices.SortFunc(errs, func(a, b error) int {
			x, y := a.(*jsontext.Error), b.(*jsontext.Error)
			return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col), cmp.Compare(x.Problem, y.Problem))
		})
	}
	return list, c.problems, c.remarks
}

// checkKeys reports keys that an item has twice, and those that look like typing errors: they are almost a key that
// decides something. misspelt has the keys that are reported already.
func (p *parser) checkKeys(item *Item, misspelt map[string]bool) {
	seen := map[string]bool{}
	v := gjson.Parse(item.raw)
	v.Index = item.at
	for key := range v.ForEach {
		name := key.Str
		if seen[name] && name != "id" && markOf(name) == noMark { // the parser reports those
			p.fail(key.Index, "item %d has the key %q twice; remove one", item.number, plain.Line(name, 80))
		}
		seen[name] = true
		if misspelt[name] || slices.Contains(knownKeys(), name) || isAgentKey(name) {
			continue
		}
		meant := jsontext.Nearest(name, slices.Concat(decidingKeys(), needKeys))
		if meant != "" {
			misspelt[name] = true
			p.fail(key.Index, "unknown key %q; did you mean %q?", plain.Line(name, 80), meant)
		}
	}
}

// checkNeeds reports needs of an item that cannot be met. Circles has the ids of the
// circles that are reported already.
func (p *parser) checkNeeds(l *List, item *Item, circles map[string]bool) {
	for _, need := range l.unmetNeeds(item) {
		switch {
		case item.Passes || len(p.problems) == MaxProblems:
		case need.item == nil:
			var ids []string
			for n := range l.all {
				ids = append(ids, l.all[n].ID)
			}
			advice := "remove it, or add it"
			if meant := jsontext.Nearest(need.id, ids); meant != "" {
				advice = fmt.Sprintf("did you mean %q?", plain.Line(meant, 80))
			}
			p.fail(item.at, "%s needs %q, which is not in the list; %s", plain.Line(item.ID, 80),
				plain.Line(need.id, 80), advice)
		case need.item.dropped:
			p.fail(item.at, "%s needs %s, which will not be done; remove that dependency, or it will never be worked on",
				plain.Line(item.ID, 80), plain.Line(need.id, 80))
		}
	}
	if !item.waits || circles[item.ID] || len(p.problems) == MaxProblems {
		return
	}
	if circle := l.circle(item); circle != nil {
		p.fail(item.at, "%s %s; remove one of these dependencies", plain.Line(item.ID, 80), l.Why(*item))
		for _, id := range circle {
			circles[id] = true
		}
	}
}

// DuplicateKey returns a key that an item of the list has twice, and the item's id, or "" if there is none.
// Such an item is ambiguous: a reader that takes the other one would read another feature.
func (l List) DuplicateKey() (key, id string) {
	for _, item := range l.all {
		if key := jsontext.DuplicateKey(item.raw); key != "" {
			return key, item.ID
		}
	}
	return "", ""
}
