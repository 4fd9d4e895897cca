package features

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// outline is what an item of Markdown says of its place among the others.
type outline struct {
	depth int    // how many containers the item is in, counting its own
	label string // the word that its title begins with, such as 1.2 or T004
	needs string // what its lines say that begin as in needsWords; "": it has none
	isP   bool   // spec-kit's [P]: it can be worked on beside those around it
}

// needsWords begin a line below an item that names what it needs, in any case: "**Depends on**: 1.1, 1.2".
var needsWords = []string{"dependencies", "depends on", "depends", "blocked by"}

// needsIn returns what a line names that an item needs.
func needsIn(line string) (needs string, is bool) {
	text := strings.TrimLeft(line, " \t>-+*_")
	for _, words := range needsWords {
		if len(text) > len(words) && strings.EqualFold(text[:len(words)], words) {
			needs, is = strings.CutPrefix(strings.TrimLeft(text[len(words):], "*_ "), ":")
			if is {
				return needs, true
			}
		}
	}
	return "", false
}

// outlineOf returns the outline of an item with this title.
func outlineOf(depth int, title string) outline {
	label, rest, _ := strings.Cut(title, " ")
	o := outline{depth: depth, label: trimLabel(label)}
	for _, word := range strings.Fields(rest) { // "T004 [US1] [P] Write the encoder"
		if word[0] != '[' {
			break
		}
		o.isP = o.isP || word == "[P]"
	}
	return o
}

func trimLabel(label string) string { return strings.Trim(label, ".:*_`()") }

// isSpecKit reports whether the item has a label of spec-kit: a T, and at least three digits.
func (o outline) isSpecKit() bool {
	digits, is := strings.CutPrefix(o.label, "T")
	return is && len(digits) >= 3 && strings.Trim(digits, "0123456789") == ""
}

// nameNeeds sets the needs of items of Markdown: an item needs those that are nested in it, as in Kiro's tasks.md, and
// those whose labels a line of it names. In spec-kit's tasks.md, which may end in a checklist without labels, an item
// without [P] needs all before it, and one with [P] those before the last item without.
func (l *List) nameNeeds(outlines []outline) {
	byLabel := map[string]int{}
	ofSpecKit := 0
	for n, o := range outlines {
		if _, twice := byLabel[o.label]; twice {
			n = -1 // it names none of the two
		}
		byLabel[o.label] = n
		if o.isSpecKit() {
			ofSpecKit++
		}
	}
	if 2*ofSpecKit > len(outlines) {
		l.needInOrder(outlines)
		return
	}
	needs := make([][]int, len(outlines))
	var open []int // the items that the next one may be nested in
	for n, o := range outlines {
		for len(open) > 0 && outlines[open[len(open)-1]].depth >= o.depth {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			outer := open[len(open)-1]
			needs[outer] = append(needs[outer], n)
			l.all[n].partOf = l.all[outer].ID
		}
		open = append(open, n)
		for _, label := range labelsIn(o.needs) {
			at, is := byLabel[label]
			if is && at >= 0 && !slices.Contains(open, at) {
				needs[n] = append(needs[n], at)
			}
		}
	}
	for n := range needs {
		l.setNeeds(n, needs[n])
	}
}

// labelsIn returns the words of a text that may be labels: those with a digit.
func labelsIn(text string) (labels []string) {
	isSeparator := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;/&+", r) }
	for _, word := range strings.FieldsFunc(text, isSeparator) {
		if strings.ContainsAny(word, "0123456789") {
			labels = append(labels, trimLabel(strings.TrimPrefix(word, "#")))
		}
	}
	return labels
}

// needInOrder sets the needs of spec-kit's items. What an item needs by way of another one is not named.
func (l *List) needInOrder(outlines []outline) {
	last := -1 // the last item without [P]
	for n, o := range outlines {
		var needs []int
		if last >= 0 {
			needs = append(needs, last)
		}
		if !o.isP {
			for k := last + 1; k < n; k++ {
				needs = append(needs, k)
			}
			last = n
		}
		l.setNeeds(n, needs)
	}
}

// setNeeds notes which items an item needs. Those that are no work are not waited for.
func (l *List) setNeeds(n int, needs []int) {
	var ids []string
	for _, at := range needs {
		if !l.all[at].dropped {
			ids = append(ids, l.all[at].ID)
		}
	}
	if len(ids) > 0 {
		text, _ := json.Marshal(ids) // strings never fail
		l.all[n].needs = string(text)
	}
}
