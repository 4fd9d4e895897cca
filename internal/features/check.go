package features

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// knownKeys are the keys of items in the lists that we know, also those that we do not read. Check
// reports a key that nearly is one of these as a typing error.
var knownKeys = slices.Concat(readKeys, []string{
	"target_files", "files", "notes", "completionNotes", "labels", "tags", "type", "complexity", "parallel_group",
	"created_at", "updated_at", "completed_at", "startedAt", "completedAt",
	"assignee", "owner", "estimate", "state", "issue_type",
})

// Check returns what is wrong or odd in a list, or in one tag of it. The problems are
// *jsontext.Errors, in the order of the text. If the text cannot be read there is one.
func Check(data []byte, tag string) (List, []error) {
	list, problems := parse(data, tag)
	if list.all == nil && len(problems) > 0 {
		return list, problems
	}
	c := &parser{Scanner: jsontext.Scanner{Text: jsontext.String(data[list.bom:])}, problems: problems}
	misspelt := map[string]bool{}
	circles := map[string]bool{}
	for n := range list.all {
		item := &list.all[n]
		if list.shape != markdown {
			c.checkKeys(item, misspelt)
		}
		if item.Title() == "" && item.Description() == "" {
			c.fail(int(item.at), "item %d does not say what is to be done; give it a title or a description",
				item.number)
		}
		word := item.firstOf("status").String()
		if _, known := stateOf(word); !known && item.mark == status {
			var similar []string // none for a word of the list's own rules
			if !strings.Contains(list.validStatus, `"`+word+`"`) {
				similar = knownWords()
			}
			c.fail(int(item.markAt), "%q is no status we know, so it counts as open; %s", plain.Line(word, 80),
				suggest(word, similar, "those are pending, in_progress, done, blocked, cancelled"))
		}
		c.checkNeeds(&list, item, circles)
	}
	_, open := list.Next()
	switch {
	case len(list.Items) == 0:
		c.fail(0, "there is no work in the list")
	case list.Passed() == len(list.Items):
		c.fail(0, "nothing is open: a loop would end at its first stop")
	case !open:
		c.fail(0, "no open feature can be worked on: %s", list.Stuck())
	}
	slices.SortFunc(c.problems, func(a, b error) int {
		x, y := a.(*jsontext.Error), b.(*jsontext.Error)
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col), cmp.Compare(x.Problem, y.Problem))
	})
	return list, c.problems
}

// checkKeys reports keys that an item has twice, and those that look like typing errors.
// Misspelt has the keys that are reported already.
func (p *parser) checkKeys(item *Item, misspelt map[string]bool) {
	p.Pos = int(item.at)
	seen := map[string]bool{}
	p.Enter()
	for {
		key, at, ok := p.Key()
		if !ok {
			return
		}
		p.Skip()
		if seen[key] && key != "id" && markOf(key) == noMark { // the parser reports those
			p.fail(at, "item %d has the key %q twice; leave one of them", item.number, plain.Line(key, 80))
		}
		seen[key] = true
		if misspelt[key] || slices.Contains(knownKeys, key) {
			continue
		}
		if meant := jsontext.Nearest(key, knownKeys); meant != "" {
			misspelt[key] = true
			p.fail(at, "unknown key %q; did you mean %q?", plain.Line(key, 80), meant)
		}
	}
}

// checkNeeds reports needs of an item that cannot be met. Circles has the ids of the
// circles that are reported already.
func (p *parser) checkNeeds(l *List, item *Item, circles map[string]bool) {
	for _, need := range l.directNeeds(item) {
		switch {
		case item.Passes || need.met() || len(p.problems) == maxProblems:
		case need.item == nil:
			var ids []string
			for n := range l.all {
				ids = append(ids, l.all[n].ID)
			}
			p.fail(int(item.at), "%s needs %q, which the list does not have; %s",
				plain.Line(item.ID, 80), plain.Line(need.id, 80), suggest(need.id, ids, "take it out, or add it"))
		case need.item.dropped:
			p.fail(int(item.at), "%s needs %s, which is not going to be done; take that out, or it is never worked on",
				plain.Line(item.ID, 80), plain.Line(need.id, 80))
		}
	}
	if !item.waits || circles[item.ID] || len(p.problems) == maxProblems {
		return
	}
	if circle := l.circle(item); circle != nil {
		p.fail(int(item.at), "%s %s; take one of these needs out", plain.Line(item.ID, 80), l.Why(*item))
		for _, id := range circle {
			circles[id] = true
		}
	}
}

// suggest asks whether the known word nearest to word was meant. If none is near, it returns
// otherwise.
func suggest(word string, known []string, otherwise string) string {
	if meant := jsontext.Nearest(word, known); meant != "" {
		return fmt.Sprintf("did you mean %q?", plain.Line(meant, 80))
	}
	return otherwise
}
