// Package markdown reads the blocks of Markdown, as CommonMark has them: lists, quotations,
// code, HTML and headings. It reads no links and no emphasis.
package markdown

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Reader reads Markdown line by line and tells of each line which block of CommonMark it
// is in. It reads no links and no emphasis.
type Reader struct {
	open []container // the quotations and list items that the last line is in, from outside
	leaf leaf        // what the next line may go on with, in the innermost of open

	// The fenced block, or the block of HTML, that the next line may go on with.
	fence       byte // the character of its marks
	fenceLength int
	htmlEnd     string // what ends it: rawEnd, or "" for an empty line

	// What the last line is.
	Kind    Kind
	Kept    int    // how many of open were open before it
	Text    int    // offset in the line of its text, behind the marks of containers
	Begins  bool   // it is the first line of a paragraph,
	First   bool   // which is the first thing in a list item
	Level   int    // of a heading
	Heading string // the title of one with a # before it
}

// Depth returns how many quotations and list items the last line is in.
func (b *Reader) Depth() int { return len(b.open) }

// InElement tells whether the last line is HTML that an empty line ends, and no comment.
func (b *Reader) InElement() bool { return b.Kind == HTML && b.htmlEnd == "" }

// container is a quotation or an item of a list.
type container struct {
	quote  bool
	indent int  // columns before the content of an item
	empty  bool // the item has no content yet
}

// leaf is a kind of block that has lines of text.
type leaf uint8

const (
	noLeaf leaf = iota
	paragraph
	fenced
	html
)

// Kind is what a line of Markdown is.
type Kind uint8

const (
	Other     Kind = iota // blank, a break, or the first or last line of a fenced block
	Text                  // of a paragraph
	Heading               // a # is before its title
	Underline             // makes a heading of the paragraph before it
	Fenced                // in a fenced block
	Indented              // code, by its indent
	HTML
)

// maxContainers bounds how deep lists and quotations are nested, and so the work for a
// line. What is deeper is text.
const maxContainers = 100

// Next reads a line, which has no line end.
func (b *Reader) Next(line string) {
	c := cursor{line: line}
	matched := b.match(&c)
	b.Kind, b.Kept, b.Begins, b.First = Other, matched, false, false
	columns, after := c.indent()
	b.Text = after
	switch rest := line[after:]; {
	case matched < len(b.open) || b.leaf < fenced:
		b.begin(&c, matched)
	case b.leaf == html:
		b.goOnHTML(rest)
	case columns < 4 && closes(rest, b.fence, b.fenceLength):
		b.leaf = noLeaf
	default:
		b.Kind = Fenced
	}
}

// match passes the marks of the containers that the line stays in, and returns how many
// these are.
func (b *Reader) match(c *cursor) int {
	for n := range b.open {
		columns, after := c.indent()
		blank := after == len(c.line)
		switch in := &b.open[n]; {
		case in.quote:
			if columns > 3 || blank || c.line[after] != '>' {
				return n
			}
			c.skip(columns)
			c.pass(1)
			c.skip(1)
		case blank && in.empty, !blank && columns < in.indent:
			return n
		case !blank:
			c.skip(in.indent)
		}
	}
	return len(b.open)
}

// begin reads what begins in a line behind the marks of the first containers, which it
// stays in.
func (b *Reader) begin(c *cursor, matched int) {
	inText := b.leaf == paragraph           // the line may go on with the paragraph before it,
	lazy := inText && matched < len(b.open) // though it lacks marks of its containers
	end := func() {                         // something else begins
		b.open, b.leaf = b.open[:matched], noLeaf
		inText, lazy = false, false
	}
	fill := func() {
		if len(b.open) > 0 {
			b.open[len(b.open)-1].empty = false
		}
	}
	if !inText {
		end()
	}
	for {
		columns, after := c.indent()
		b.Text = after
		switch rest := c.line[after:]; {
		case rest == "":
			end()
			return
		case columns > 3 && !inText:
			fill()
			b.Kind = Indented
			return
		case columns > 3:
		case rest[0] == '>' && matched < maxContainers:
			end()
			fill()
			c.skip(columns)
			c.pass(1)
			c.skip(1)
			b.open = append(b.open, container{quote: true})
			matched++
			continue
		case b.beginLeaf(rest, inText, lazy):
			leaf := b.leaf
			end()
			fill()
			b.leaf = leaf
			return
		default:
			if in, ok := readMarker(c, inText && !lazy); ok && matched < maxContainers {
				end()
				fill()
				b.open = append(b.open, in)
				matched++
				continue
			}
		}
		break
	}
	b.Kind = Text
	if lazy {
		b.Kept = len(b.open)
		return
	}
	if !inText {
		b.Begins = true
		b.First = len(b.open) > 0 && b.open[len(b.open)-1].empty
		b.leaf = paragraph
		fill()
	}
}

// beginLeaf tells whether text begins a block that is neither a container nor a paragraph.
// It sets kind, and leaf where the next line may go on with the block.
func (b *Reader) beginLeaf(text string, inText, lazy bool) bool {
	b.leaf = noLeaf
	switch mark := text[0]; mark {
	case '#':
		b.Level, b.Heading = readHeading(text)
		if b.Level > 0 {
			b.Kind = Heading
			return true
		}
	case '`', '~':
		length := len(text) - len(strings.TrimLeft(text, text[:1]))
		if length >= 3 && !(mark == '`' && strings.Contains(text[length:], "`")) {
			b.leaf, b.fence, b.fenceLength = fenced, mark, length
			return true
		}
	case '<':
		if end, is := beginsHTML(text, inText); is {
			b.leaf, b.htmlEnd = html, end
			b.goOnHTML(text)
			return true
		}
	case '=', '-':
		if inText && !lazy && closes(text, mark, 1) {
			b.Level = 1
			if mark == '-' {
				b.Level = 2
			}
			b.Kind = Underline
			return true
		}
	}
	if isBreak(text) {
		return true
	}
	if inText {
		b.leaf = paragraph
	}
	return false
}

// readHeading returns the level and the title of a heading that begins with a #; the level is
// 0 for other text.
func readHeading(text string) (level int, title string) {
	title = strings.TrimLeft(text, "#")
	level = len(text) - len(title)
	if level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
		return 0, ""
	}
	title = strings.Trim(title, " \t")
	if open := strings.TrimRight(title, "#"); open == "" || open[len(open)-1] == ' ' || open[len(open)-1] == '\t' {
		title = strings.TrimRight(open, " \t") // the marks at the end are no part of it
	}
	return level, title
}

// closes tells whether text has at least so many of one mark, and nothing else but white
// space behind them.
func closes(text string, mark byte, least int) bool {
	n := 0
	for n < len(text) && text[n] == mark {
		n++
	}
	return n >= least && strings.Trim(text[n:], " \t") == ""
}

// isBreak tells whether text is a line across the page, such as ***.
func isBreak(text string) bool {
	mark, n := text[0], 0
	if mark != '*' && mark != '-' && mark != '_' {
		return false
	}
	for i := range len(text) {
		switch text[i] {
		case mark:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// readMarker passes the mark of a list item, and the white space behind it. It returns
// false, and passes nothing, if there is none. Only some items may end a paragraph: those
// with content, and of numbered ones the first.
func readMarker(c *cursor, inText bool) (item container, ok bool) {
	columns, after := c.indent()
	rest := c.line[after:]
	width := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	switch {
	case width > 9, width == len(rest):
		return item, false
	case width == 0 && strings.IndexByte("-+*", rest[0]) < 0:
		return item, false
	case width > 0 && rest[width] != '.' && rest[width] != ')':
		return item, false
	case inText && width > 0 && strings.TrimLeft(rest[:width-1], "0")+rest[width-1:width] != "1":
		return item, false
	}
	width++
	before := *c
	c.skip(columns)
	c.pass(width)
	spaces, content := c.indent()
	blank := content == len(c.line)
	if !blank && spaces == 0 || blank && inText {
		*c = before
		return item, false
	}
	if blank || spaces > 4 {
		spaces = 1
	}
	c.skip(spaces)
	return container{indent: columns + width + spaces, empty: true}, true
}

// cursor is a place in a line. A tab reaches to the next multiple of four columns.
type cursor struct {
	line    string
	at, col int
	inTab   int // columns of the tab before at that are not passed yet
}

// indent returns how many columns of white space come next, and the offset after them.
func (c *cursor) indent() (columns, after int) {
	columns, after = c.inTab, c.at
	for col := c.col; after < len(c.line); after++ {
		width := 1
		switch c.line[after] {
		case '\t':
			width = 4 - col%4
		case ' ':
		default:
			return columns, after
		}
		columns += width
		col += width
	}
	return columns, after
}

// skip passes at most so many columns of white space.
func (c *cursor) skip(columns int) {
	for ; columns > 0; columns-- {
		switch {
		case c.inTab > 0:
			c.inTab--
		case c.at < len(c.line) && c.line[c.at] == '\t':
			c.inTab = 3 - c.col%4
			c.col += 4 - c.col%4
			c.at++
		case c.at < len(c.line) && c.line[c.at] == ' ':
			c.pass(1)
		default:
			return
		}
	}
}

// pass passes bytes that are no tabs.
func (c *cursor) pass(n int) { c.at, c.col = c.at+n, c.col+n }

// rawEnd stands for the end of one of rawTags.
const rawEnd = "</"

// beginsHTML tells whether a block of HTML begins with text, which begins with a <, and what ends it.
func beginsHTML(text string, inText bool) (end string, is bool) {
	switch {
	case strings.HasPrefix(text, "<!--"):
		return "-->", true
	case strings.HasPrefix(text, "<?"):
		return "?>", true
	case strings.HasPrefix(text, "<![CDATA["):
		return "]]>", true
	case len(text) > 2 && text[1] == '!' && isLetter(text[2]):
		return ">", true
	}
	name, closing := strings.CutPrefix(text[1:], "/")
	length := 0
	for length < len(name) && (isLetter(name[length]) || length > 0 && name[length] >= '0' && name[length] <= '9') {
		length++
	}
	after := name[length:]
	name = strings.ToLower(name[:min(length, 20)])
	ends := after == "" || strings.IndexByte(" \t>", after[0]) >= 0
	switch {
	case ends && !closing && slices.Contains(rawTags, name):
		return rawEnd, true
	case (ends || strings.HasPrefix(after, "/>")) && strings.Contains(blockTags, " "+name+" "):
		return "", true
	case !inText && (!slices.Contains(rawTags, name) || strings.HasPrefix(after, "-")) && anyTag().MatchString(text):
		return "", true
	}
	return "", false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

var rawTags = []string{"script", "pre", "style", "textarea"}

const blockTags = " address article aside base basefont blockquote body caption center col colgroup dd details dialog" +
	" dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe" +
	" legend li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td" +
	" tfoot th thead title tr track ul "

// anyTag matches a line that is one tag, compiled at its first use: most lists have none.
var anyTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<(?:[A-Za-z][A-Za-z0-9-]*` +
		`(?:[ \t]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[ \t]*=[ \t]*(?:[^\s"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)*[ \t]*/?` +
		`|/[A-Za-z][A-Za-z0-9-]*[ \t]*)>[ \t]*$`)
})

// goOnHTML reads a line of the block of HTML, whose text behind white space is given.
func (b *Reader) goOnHTML(text string) {
	b.Kind = HTML
	ends := strings.Contains(text, b.htmlEnd)
	switch b.htmlEnd {
	case "":
		ends = text == ""
		if ends {
			b.Kind = Other
		}
	case rawEnd:
		lower := strings.ToLower(text)
		ends = slices.ContainsFunc(rawTags, func(name string) bool { return strings.Contains(lower, "</"+name+">") })
	}
	if ends {
		b.leaf = noLeaf
	}
}
