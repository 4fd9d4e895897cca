package features

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// known are the keys that items have in the lists we know, whether we read them or
// not. Another one that is much like one of these is taken for a slip.
var known = slices.Concat(identityKeys[:], markKeys[1:], needKeys, []string{
	"priority", "model", "subtasks",
	"target_files", "files", "notes", "completionNotes", "labels", "tags", "type", "complexity", "parallel_group",
	"created_at", "updated_at", "completed_at", "startedAt", "completedAt", "assignee", "owner", "estimate", "state", "issue_type",
})

// Check says what is wrong with a list, or one tag of it, or odd, in the order of its
// text: problems are *jsontext.Errors. Where the text cannot be read there is one.
func Check(data []byte, tag string) (List, []error) {
	list, problems := parse(data, tag)
	if list.all == nil && len(problems) > 0 {
		return list, problems
	}
	c := &parser{Scanner: jsontext.Scanner{Text: jsontext.String(data[list.bom:])}, problems: problems}
	slips := map[string]bool{}
	circles := map[string]bool{}
	for n := range list.all {
		item := &list.all[n]
		if list.shape != markdown {
			c.keys(item, slips)
		}
		if item.Title() == "" && item.Description() == "" {
			c.fail(int(item.at), "item %d does not say what is to be done; give it a title or a description", item.number)
		}
		word := item.first("status").String()
		if _, known := stateOf(word); !known && item.mark == status {
			var like []string // a word of the list's own is no slip
			if !strings.Contains(list.valid, `"`+word+`"`) {
				like = knownWords()
			}
			c.fail(int(item.markAt), "%q is no status we know, so it counts as open; %s", plain.Line(word, 80), instead(word, like, "those are pending, in_progress, done, blocked, cancelled"))
		}
		c.needs(&list, item, circles)
	}
	_, open := list.Next()
	switch {
	case len(list.Items) == 0:
		c.fail(0, "there is no work in the list")
	case list.Passed() == len(list.Items):
		c.fail(0, "nothing is open: a loop would end at its first stop")
	case !open:
		c.fail(0, "nothing that is open can be worked on: %s", list.Stuck())
	}
	slices.SortFunc(c.problems, func(a, b error) int {
		x, y := a.(*jsontext.Error), b.(*jsontext.Error)
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col), cmp.Compare(x.Problem, y.Problem))
	})
	return list, c.problems
}

// keys looks at the keys of an item.
func (p *parser) keys(item *Item, slips map[string]bool) {
	p.Pos = int(item.at)
	seen := map[string]bool{}
	p.Enter()
	for {
		key, at, ok := p.Key()
		if !ok {
			return
		}
		p.Skip()
		if seen[key] && key != "id" && markOf(key) == noMark { // those are told of already
			p.fail(at, "item %d has the key %q twice; leave one of them", item.number, plain.Line(key, 80))
		}
		seen[key] = true
		if meant := jsontext.Nearest(key, known); meant != "" && meant != key && !slips[key] && !slices.Contains(known, key) {
			slips[key] = true
			p.fail(at, "unknown key %q; did you mean %q?", plain.Line(key, 80), meant)
		}
	}
}

// needs looks at what an item waits for; a circle is told of once.
func (p *parser) needs(l *List, item *Item, circles map[string]bool) {
	for _, need := range l.ownNeeds(item) {
		switch {
		case item.Passes || need.met() || len(p.problems) == maxProblems:
		case need.item == nil:
			var ids []string
			for n := range l.all {
				ids = append(ids, l.all[n].ID)
			}
			p.fail(int(item.at), "%s needs %q, which the list does not have; %s", plain.Line(item.ID, 80), plain.Line(need.id, 80), instead(need.id, ids, "take it out, or add it"))
		case need.item.dropped:
			p.fail(int(item.at), "%s needs %s, which is not going to be done; take that out, or it is never worked on", plain.Line(item.ID, 80), plain.Line(need.id, 80))
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

// instead says what was probably meant, or else.
func instead(word string, known []string, or string) string {
	if meant := jsontext.Nearest(word, known); meant != "" {
		return fmt.Sprintf("did you mean %q?", plain.Line(meant, 80))
	}
	return or
}
