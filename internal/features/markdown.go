package features

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/markdown"
)

// maxDetails bounds the description of an item of Markdown, in bytes.
const maxDetails = 2000

// markdownReader is what readMarkdown keeps from one line to the next.
type markdownReader struct {
	markdown.Reader
	skip           []string // see Reading.Skip
	marks          boxMarks
	legend         bool   // the text says that a list of marks follows
	notWork        int    // level of the heading below which nothing is work; 0: no such heading
	paragraph      string // the text of the last one, which the next line may make a heading
	item           *Item  // the one that lines describe; nil if none
	depth          int    // how many containers the item is in, counting its own
	title, details string
}

// readMarkdown reads items such as "- [ ] title". One with an x passes; one with a hyphen,
// or below a heading such as Optional, is not work. What else is in the list item describes
// it. It returns false if the text has no checkbox.
func (p *parser) readMarkdown() bool {
	r := markdownReader{skip: p.how.Skip, marks: boxMarks{'-': dropped}}
	if r.skip == nil {
		r.skip = SkipHeadings
	}
	at := 0
	for line := range strings.Lines(p.Text) {
		begin := at
		at += len(line)
		line = strings.TrimRight(line, "\r\n")
		r.Next(line)
		if r.Kept < r.depth {
			r.finish()
		}
		switch text := line[r.Text:]; {
		case r.Kind == markdown.Heading && r.Depth() == 0:
			r.section(r.Heading)
		case r.Kind == markdown.Underline && r.Depth() == 0:
			r.section(r.paragraph)
		case r.Kind != markdown.Text || !r.First || !isBox(text):
			if at := boxIn(line); at > 0 && r.isOdd(line[:at]) {
				p.remark(begin+at, "this checkbox is no item: Markdown takes the line for %s", r.block())
			}
			if r.Kind == markdown.Text {
				r.marks.read(text)
				r.describe(line)
			}
		case r.legend && r.marks.readEntry(text):
		case len(p.all) == maxItems:
			p.fail(begin, "more than %d items", maxItems)
			return true
		default:
			r.finish()
			p.addCheckbox(&r, text, begin, begin+r.Text+1)
		}
	}
	r.finish()
	p.applyMarks(r.marks)
	p.shape = checkboxes
	return len(p.all) > 0
}

// isOdd tells whether a box behind these marks looks like that of an item, and is not. Nobody
// takes a box in a fenced block or in a comment for that of an item.
func (r *markdownReader) isOdd(marks string) bool {
	hidden := r.Kind == markdown.Fenced || r.Kind == markdown.HTML && !r.InElement()
	return !hidden && strings.ContainsAny(marks, "-+*.)")
}

// block names the block that the last line is in.
func (r *markdownReader) block() string {
	switch r.Kind {
	case markdown.Indented:
		return "code, since it is indented by four columns or more"
	case markdown.HTML:
		return "HTML, up to the next empty line"
	}
	return "text of the paragraph above it"
}

// isBox tells whether text begins with a checkbox.
func isBox(text string) bool {
	return len(text) > 2 && text[0] == '[' && strings.IndexByte(" xX~/!>?-", text[1]) >= 0 && text[2] == ']' &&
		(len(text) == 3 || text[3] == ' ' || text[3] == '\t')
}

// boxIn returns the offset of the box behind the marks of lists in a line, -1 if there is
// none. Not each is an item: one may be in code, or in a comment.
func boxIn(line string) int {
	text := strings.TrimLeft(line, " \t>-+*0123456789.)")
	if !isBox(text) {
		return -1
	}
	return len(line) - len(text)
}

// section begins what is below a heading.
func (r *markdownReader) section(title string) {
	r.finish()
	r.legend = isLegend(title)
	if r.notWork == 0 || r.Level <= r.notWork {
		r.notWork = 0
		if isSkipHeading(title, r.skip) {
			r.notWork = r.Level
		}
	}
}

// addCheckbox adds the item whose text begins with a box. Begin and markAt are the offsets
// of its line and its mark.
func (p *parser) addCheckbox(r *markdownReader, text string, begin, markAt int) {
	r.title, r.details, r.depth = strings.TrimSpace(text[3:]), "", r.Depth()
	mark := text[1]
	item := Item{
		ID: slug(r.title), Derived: true, Priority: noPriority, number: len(p.all) + 1, at: begin,
		mark: checkbox, markAt: markAt, markLen: 1, Passes: mark == 'x' || mark == 'X',
		dropped: r.notWork > 0,
	}
	if item.ID == "" {
		item.ID = "#" + strconv.Itoa(item.number)
	}
	r.legend = false
	p.all = append(p.all, item)
	r.item = &p.all[len(p.all)-1]
}

// describe takes a line of text as a part of the item's description, if it is in the item,
// and as one of a paragraph that may be a heading, if it is in no list.
func (r *markdownReader) describe(line string) {
	text := &r.details
	if r.Depth() == 0 {
		text = &r.paragraph
		if r.Begins {
			*text = ""
			r.legend = isLegend(line)
		}
	} else if r.item == nil {
		return
	}
	if len(*text) < maxDetails {
		*text = strings.TrimSpace(*text + " " + strings.TrimSpace(line))
	}
}

// finish writes the item as JSON, as the items of other lists are.
func (r *markdownReader) finish() {
	if r.item != nil {
		raw, _ := json.Marshal(map[string]string{"title": r.title, "description": r.details}) // strings never fail
		r.item.raw = string(raw)
	}
	r.item, r.depth = nil, 0
}

// boxMarks are what the marks in boxes mean, apart from " ", "x" and "X". A mark that is not
// here is open.
type boxMarks map[byte]state

var legends = table.Set("legends")

// isLegend tells whether a heading, or a line of text, announces what the marks mean.
func isLegend(text string) bool { return legends()[strings.Join(headingWords(text), "_")] }

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
		if s <= begun && !item.dropped {
			count[mark]++
			if count[mark] == 1 {
				first[mark] = item.at
			}
		}
	}
	for _, mark := range []byte("~/!>?-") {
		if n := count[mark]; n > 0 {
			p.remark(first[mark], "[%c] is taken for work that is not done; items with it: %d", mark, n)
		}
	}
}

// SkipHeadings are the headings of Markdown below which nothing is work, if nobody names
// others.
var SkipHeadings = []string{"Optional", "Future", "Nice to have", "Out of scope"}

var headingTails, headingGlue, headingCounts = table.Set("heading tails"), table.Set("heading glue"),
	table.Set("heading counts")

// isSkipHeading tells whether a heading is one of these phrases, or ends with one in
// brackets. A heading that only contains one is about something else: "Optional fields".
func isSkipHeading(heading string, phrases []string) bool {
	heading = strings.TrimSpace(heading)
	if head, last, has := cutBrackets(heading); has {
		if isPhrase(headingWords(last), phrases) {
			return true
		}
		if len(headingWords(head)) > 0 { // "Future (after v1)"
			heading = head
		}
	}
	return isPhrase(withoutNumber(headingWords(heading)), phrases)
}

// cutBrackets cuts what is in brackets at the end of a heading.
func cutBrackets(heading string) (head, last string, has bool) {
	heading = strings.TrimRight(heading, " .:!?*_`~")
	for _, pair := range []string{"()", "[]"} {
		if inner, closed := strings.CutSuffix(heading, pair[1:]); closed {
			if at := strings.LastIndexByte(inner, pair[0]); at >= 0 {
				return inner[:at], inner[at+1:], true
			}
		}
	}
	return heading, "", false
}

// headingWords returns the words of a heading in lower case.
func headingWords(heading string) []string {
	heading = strings.Map(func(r rune) rune {
		switch {
		case r == '\'' || r == '’':
			return -1
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, heading)
	return strings.Fields(heading)
}

// withoutNumber returns the words of a heading without its number: "3.1", "IV", "Phase 2".
func withoutNumber(words []string) []string {
	counted := len(words) > 1 && headingCounts()[words[0]] && isNumber(words[1])
	if counted {
		words = words[1:]
	}
	for len(words) > 1 && isNumber(words[0]) {
		words = words[1:]
	}
	return words
}

// isNumber tells whether a word counts: "12", "iv", "b", "v2", "p3".
func isNumber(word string) bool {
	digits := strings.TrimLeft(word, "vp")
	return len(word) == 1 || strings.Trim(word, "ivx") == "" ||
		len(word)-len(digits) < 2 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// isPhrase tells whether words are one or more of the phrases, and else only words that
// change nothing.
func isPhrase(words []string, phrases []string) bool {
	found := false
	for len(words) > 0 {
		n := 0
		for _, phrase := range phrases {
			n = max(n, beginWith(words, headingWords(phrase)))
		}
		word := strings.TrimSuffix(words[0], "s")
		switch {
		case n > 0:
			found = true
		case headingGlue()[word], found && headingTails()[word]:
			n = 1
		default:
			return false
		}
		words = words[n:]
	}
	return found
}

// beginWith returns the length of a phrase that words begin with, else 0. The last word of
// several may have an s more or less: "Nice to haves".
func beginWith(words, phrase []string) int {
	n := len(phrase) - 1
	if n < 0 || len(words) <= n || !slices.Equal(words[:n], phrase[:n]) {
		return 0
	}
	a, b := words[n], phrase[n]
	if a == b || n > 0 && strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") {
		return n + 1
	}
	return 0
}
