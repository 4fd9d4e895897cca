package features

import (
	"slices"
	"strings"
)

// boxMarks are what the marks in boxes mean, apart from " ", "x" and "X". A mark that is not
// here is open.
type boxMarks map[byte]state

// isLegend tells whether a heading, or a line of text, announces what the marks mean.
func isLegend(text string) bool {
	words := strings.Join(headingWords(text), " ")
	return slices.Contains([]string{
		"legend", "status legend", "checkbox legend", "task legend", "key", "status key", "symbols", "status symbols",
		"markers", "status markers", "marks",
	}, words)
}

// readEntry reads a list item below a legend's heading. It returns false if the item does
// not say what its mark means.
func (m boxMarks) readEntry(text string) bool {
	s, known := beginningState(text[3:])
	if known {
		m[text[1]] = s
	}
	return known
}

// beginningState returns the state whose word a text begins with.
func beginningState(text string) (s state, known bool) {
	words := headingWords(text)
	for n := min(2, len(words)); n > 0 && !known; n-- {
		s, known = stateOf(strings.Join(words[:n], "_"))
	}
	return s, known
}

// read reads a line of text that may say what marks mean: "[~] deferred, `[!]` = blocked".
func (m boxMarks) read(text string) {
	for {
		at := strings.IndexByte(text, '[')
		if at < 0 {
			return
		}
		text = text[at:]
		if len(text) < 4 || text[2] != ']' || strings.IndexByte("~/!>?-", text[1]) < 0 {
			text = text[1:]
			continue
		}
		mark := text[1]
		text = text[3:]
		meaning, _, _ := strings.Cut(text, "[")
		if end := strings.IndexAny(meaning, ",;|"); end >= 0 {
			meaning = meaning[:end]
		}
		if s, known := beginningState(meaning); known {
			m[mark] = s
		}
	}
}

// applyMarks sets the states of the items by their marks. One with a ~ whose title is
// struck through is no work.
func (p *parser) applyMarks(marks boxMarks) {
	count, first := map[byte]int{}, map[byte]int{}
	for n := range p.all {
		item := &p.all[n]
		mark := p.Text[item.markAt]
		if mark == ' ' || mark == 'x' || mark == 'X' {
			continue
		}
		s := marks[mark]
		title := item.Title()
		if mark == '~' && len(title) > 4 && strings.HasPrefix(title, "~~") && strings.HasSuffix(title, "~~") {
			s = dropped
		}
		item.Passes = s == done
		item.Blocked = s == blocked
		item.dropped = item.dropped || s == dropped
		p.hasDropped = p.hasDropped || item.dropped
		if s <= begun && !item.dropped {
			if count[mark]++; count[mark] == 1 {
				first[mark] = int(item.at)
			}
		}
	}
	for _, mark := range []byte("~/!>?-") {
		if n := count[mark]; n > 0 {
			p.remark(first[mark], "[%c] is taken for work that is not done; items with it: %d", mark, n)
		}
	}
}
