package features

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/markdown"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// maxDetails bounds the description of an item of Markdown, in bytes.
const maxDetails = 2000

// markdownReader is what readMarkdown keeps from one line to the next.
type markdownReader struct {
	markdown.Reader
	skip           []string  // see Reading.Skip
	line           int       // the number of the last one
	legend         bool      // the text says that a list of marks follows
	notWork        int       // level of the heading below which nothing is work; 0: no such heading
	notWorkTitle   string    // of that heading
	headings       [6]string // above the line, by level
	heading        string    // all of them
	paragraph      string    // the text of the last one, which the next line may make a heading
	item           *Item     // the one that lines describe; nil if none
	outline        *outline  // of that
	depth          int       // how many containers the item is in, counting its own
	optional       int       // how many containers an optional item is in that lines are below; 0: they are below none
	title, details string
}

// readMarkdown reads items such as "- [ ] title". One with an x passes; one that is marked as optional, or is below a
// heading such as Optional, is not work. What else is in the list item describes it. It returns false if the text has
// no checkbox, and no problem either.
func (p *parser) readMarkdown() bool {
	r := markdownReader{skip: p.how.Skip}
	if r.skip == nil {
		r.skip = SkipHeadings
	}
	at := 0
	for line := range strings.Lines(p.text) {
		begin := at
		at += len(line)
		line = strings.TrimRight(line, "\r\n")
		usual := withUsualMarks(line)
		r.Next(usual)
		r.line++
		if r.Kept < r.depth {
			r.finish()
		}
		if r.Kept < r.optional {
			r.optional = 0
		}
		if r.Kind != markdown.Fenced && isConflictMarker(line) {
			p.fail(begin, "an unresolved merge conflict: %s (keep the lines that are right, and delete the markers)",
				plain.Line(line, 80))
			p.all = nil
			return true
		}
		text := line[len(line)-len(usual)+r.Text:]
		box, isBox := readBox(text)
		switch {
		case r.Kind == markdown.Text && r.First && isBox:
			switch {
			case r.legend && beginsWithState(text[box.length:]): // it explains a mark
			case len(p.all) == maxItems:
				p.fail(begin, "more than %d items", maxItems)
				return true
			default:
				r.finish()
				p.addCheckbox(&r, box, line, begin, len(line)-len(text))
			}
			continue
		case r.Kind == markdown.Heading && r.Depth() == 0:
			r.section(r.Heading)
		case r.Kind == markdown.Underline && r.Depth() == 0:
			r.section(r.paragraph)
		case r.Kind == markdown.Text:
			r.describe(line)
		}
		p.leaveBox(&r, line)
	}
	r.finish()
	p.shape = checkboxes
	return len(p.all)+len(p.problems) > 0
}

// isConflictMarker tells whether git has written a line around the two sides of a conflict. Seven bars alone may be a
// row of a table.
func isConflictMarker(line string) bool {
	for _, mark := range []string{"<<<<<<<", ">>>>>>>", "|||||||"} {
		if rest, is := strings.CutPrefix(line, mark); is {
			return strings.HasPrefix(rest, " ") || rest == "" && mark[0] != '|'
		}
	}
	return false
}

// box is a checkbox, with the bracket at each end.
type box struct {
	length   int
	done     bool
	optional bool // a * is behind it, as Kiro writes
	blank    bool
	joined   bool // no space is behind it
}

// maxBox bounds the length of a checkbox. A mark may have several bytes.
const maxBox = 16

// readBox reads the checkbox with which a text begins. One that says x or a tick is done, with any other sign it is
// open. A letter or a digit is a label: "- [P] can run in parallel".
func readBox(text string) (b box, is bool) {
	end := strings.IndexByte(text[:min(len(text), maxBox)], ']')
	if end < 1 || text[0] != '[' {
		return b, false
	}
	mark := strings.TrimFunc(text[1:end], func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) })
	mark = strings.TrimSuffix(mark, "\ufe0f") // which makes a picture of a tick
	r, size := utf8.DecodeRuneInString(mark)
	b.length, b.blank = end+1, mark == ""
	b.done = !b.blank && strings.ContainsRune("xX✓✔✅☑", r)
	rest := text[b.length:]
	behind, _ := utf8.DecodeRuneInString(rest)
	if optional, has := strings.CutPrefix(rest, "*"); has {
		b.optional = optional == "" || optional[0] == ' ' || optional[0] == '\t'
	}
	b.joined = rest != "" && !unicode.IsSpace(behind) && !b.optional
	switch {
	case size != len(mark), !b.done && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		return b, false
	case b.joined: // [x](a link), []byte
		isText := unicode.IsLetter(behind) || unicode.IsDigit(behind) || strings.ContainsRune("*_`", behind)
		return b, isText && (b.done || b.blank && end > 1)
	}
	return b, true
}

// boxIn returns the checkbox behind the marks of lists, headings and tables in a line, and its offset, -1 if there is
// none. Not each is an item: one may be in code, or in a comment.
func boxIn(line string) (b box, at int) {
	text := strings.TrimLeftFunc(line, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsGraphic(r) || strings.ContainsRune(">-+*#0123456789.()|"+bullets, r)
	})
	b, is := readBox(text)
	if !is {
		return b, -1
	}
	return b, len(line) - len(text)
}

// bullets stand for the - of a list where a text comes from a word processor or a chat.
const bullets = "•◦▪‣∙·●○–—"

// withUsualMarks returns a line with a checkbox, with a - in place of a bullet, and a space in place of each blank or
// invisible character before the box that Markdown does not know. Any other line stays as it is.
func withUsualMarks(line string) string {
	at := strings.IndexByte(line, '[')
	if at < 0 || !strings.ContainsFunc(line[:at], func(r rune) bool { return r > unicode.MaxASCII }) {
		return line
	}
	if _, boxAt := boxIn(line); boxAt != at {
		return line
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r <= unicode.MaxASCII:
			return r
		case strings.ContainsRune(bullets, r):
			return '-'
		}
		return ' '
	}, line[:at]) + line[at:]
}

// leaveBox notes the checkbox of a line that is no item, though a person may take it for one. Nobody takes a box in a
// fenced block or in a comment for that of an item. Without the mark of a list it may be prose: "[x] is done".
func (p *parser) leaveBox(r *markdownReader, line string) {
	b, at := boxIn(line)
	if at < 0 || r.Kind == markdown.Fenced || r.Kind == markdown.HTML && !r.InElement() {
		return
	}
	text := line[at+b.length:]
	bare := !strings.ContainsAny(line[:at], "-+*#.)"+bullets)
	if bare && (r.Kind != markdown.Text || !b.blank || strings.Contains(text, "[")) || r.legend && beginsWithState(text) {
		return
	}
	why := "not a list item"
	switch {
	case r.Kind == markdown.Heading:
		why = "a heading"
	case r.Kind == markdown.Indented:
		why = "indented as code"
	case r.Kind == markdown.HTML:
		why = "inside HTML"
	case strings.Contains(line[:at], "|"):
		why = "in a table"
	}
	p.leftOut.add(r.line, why, text)
}

// section begins what is below a heading.
func (r *markdownReader) section(title string) {
	r.finish()
	r.legend = isLegend(title)
	r.headings[r.Level-1] = plain.Line(title, 100)
	clear(r.headings[r.Level:])
	r.heading = joinHeadings(r.headings[:r.Level])
	if r.notWork == 0 || r.Level <= r.notWork {
		r.notWork = 0
		if isSkipHeading(title, r.skip) {
			r.notWork, r.notWorkTitle = r.Level, plain.Line(title, 40)
		}
	}
}

// joinHeadings returns in one line the titles of headings from outside.
func joinHeadings(titles []string) string {
	titles = slices.DeleteFunc(slices.Clone(titles), func(title string) bool { return title == "" })
	return strings.Join(titles, " > ")
}

// addCheckbox adds the item of a line with a box. Begin is the offset of the line, boxAt that of the box in it.
func (p *parser) addCheckbox(r *markdownReader, b box, line string, begin, boxAt int) {
	before, shown, title := line[:boxAt], line[boxAt:boxAt+b.length], line[boxAt+b.length:]
	if b.optional {
		title = title[1:]
	}
	r.title, r.details, r.depth = strings.TrimSpace(title), "", r.Depth()
	if b.optional && r.optional == 0 {
		r.optional = r.depth
	}
	item := Item{
		ID: slug(r.title), Derived: true, Priority: noPriority, number: len(p.all) + 1, at: begin, Heading: r.heading,
		mark: checkbox, markAt: begin + boxAt, markLen: b.length, Passes: b.done, dropped: r.notWork+r.optional > 0,
	}
	if item.ID == "" {
		item.ID = "#" + strconv.Itoa(item.number)
	}
	switch {
	case r.optional > 0:
		p.leftOut.add(r.line, "optional", r.title)
	case r.notWork > 0:
		p.leftOut.add(r.line, fmt.Sprintf("below %q", r.notWorkTitle), r.title)
	default:
		p.nameSlip(r, b, before, shown, title)
	}
	r.legend = false
	p.all = append(p.all, item)
	p.outlines = append(p.outlines, outlineOf(r.depth, r.title))
	r.item, r.outline = &p.all[len(p.all)-1], &p.outlines[len(p.outlines)-1]
}

// nameSlip notes a box that is not written as usual, or whose line is not, with what is before and behind it.
func (p *parser) nameSlip(r *markdownReader, b box, before, shown, behind string) {
	if strings.ContainsFunc(before, func(r rune) bool { return r > unicode.MaxASCII }) {
		shown = before + shown
	}
	if blank, size := utf8.DecodeRuneInString(behind); size > 1 && unicode.IsSpace(blank) {
		shown += behind[:size]
	}
	if !b.joined && slices.Contains([]string{"[ ]", "[x]", "[X]"}, shown) {
		return
	}
	read := " read as open"
	if b.done {
		read = " read as done"
	}
	if b.joined {
		read = " without a space" + read
	}
	clean := strings.Map(func(r rune) rune { // plain.Line would make one space of several
		switch {
		case r > unicode.MaxASCII && (unicode.IsSpace(r) || !unicode.IsGraphic(r)):
			return '␣'
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, strings.TrimLeft(shown, " \t"))
	p.slips.add(r.line, clean+read, r.title)
}

// LineNotes says something about lines of a list, each time with the line's number and text.
type LineNotes struct {
	First []string // MaxProblems of them
	All   int
}

func (n *LineNotes) add(line int, what, text string) {
	n.All++
	if len(n.First) < MaxProblems {
		n.First = append(n.First, fmt.Sprintf("line %d, %s: %s", line, what, plain.Line(strings.TrimSpace(text), 60)))
	}
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
	} else if needs, is := needsIn(line); is {
		r.outline.needs += " " + needs
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

var legends = table.Set("legends")

// isLegend tells whether a heading, or a line of text, announces what the marks mean.
func isLegend(text string) bool { return legends()[strings.Join(headingWords(text), "_")] }

// beginsWithState tells whether a text begins with a status word, as the explanation of a mark does.
func beginsWithState(text string) bool {
	words := headingWords(text)
	for n := min(2, len(words)); n > 0; n-- {
		_, known := stateOf(strings.Join(words[:n], "_"))
		if known {
			return true
		}
	}
	return false
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
