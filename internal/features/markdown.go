package features

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// markdownPatterns are compiled at their first use: most stops read no Markdown.
var markdownPatterns = sync.OnceValue(func() (m struct{ box, heading, notWork *regexp.Regexp }) {
	m.box = regexp.MustCompile(`^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX~/!>?-])\](?:[ \t]+(.*))?$`)
	m.heading = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*)$`)
	m.notWork = regexp.MustCompile(`(?i)\b(optional|future|nice[ -]to[ -]haves?|out of scope)\b`)
	return m
})

// maxDetails bounds the description of an item of Markdown, in bytes.
const maxDetails = 2000

// markdownReader is what readMarkdown keeps from one line to the next.
type markdownReader struct {
	fence          string // of the code block that the line is in: ``` or ~~~
	notWork        int    // level of the heading below which nothing is work; 0: no such heading
	item           *Item  // the one that indented lines describe; nil if none
	indent         int    // of its line
	title, details string
}

// readMarkdown reads items such as "- [ ] title". One with an x passes; one with a hyphen,
// or below a heading such as Optional, is not work. Lines below an item that are indented
// further describe it. It returns false if the text has no checkbox.
func (p *parser) readMarkdown() bool {
	var r markdownReader
	patterns, at := markdownPatterns(), 0
	for line := range strings.Lines(p.Text) {
		begin := at
		at += len(line)
		line = strings.TrimRight(line, "\r\n")
		if r.inCode(line) {
			continue
		}
		if h := patterns.heading.FindStringSubmatch(line); h != nil {
			r.finish()
			if level := len(h[1]); r.notWork == 0 || level <= r.notWork {
				r.notWork = 0
				if patterns.notWork.MatchString(h[2]) {
					r.notWork = level
				}
			}
			continue
		}
		box := patterns.box.FindStringSubmatchIndex(line)
		if box != nil && len(p.all) == maxItems {
			p.fail(begin, "more than %d items", maxItems)
			break
		}
		if box != nil {
			r.finish()
			p.addCheckbox(&r, line, begin, box)
		} else {
			r.describe(line)
		}
	}
	r.finish()
	p.shape, p.unsorted = markdown, true
	return len(p.all) > 0
}

func (r *markdownReader) inCode(line string) bool {
	line = strings.TrimSpace(line)
	switch {
	case r.fence != "":
		if strings.HasPrefix(line, r.fence) {
			r.fence = ""
		}
		return true
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		r.fence = line[:3]
		return true
	}
	return false
}

// addCheckbox adds the item of a line that begins at an offset of the text. Box has the
// submatches of the pattern box: the indent, the mark, the title.
func (p *parser) addCheckbox(r *markdownReader, line string, begin int, box []int) {
	r.title, r.details, r.indent = "", "", box[3]-box[2]
	if box[6] >= 0 {
		r.title = strings.TrimSpace(line[box[6]:box[7]])
	}
	mark := line[box[4]:box[5]]
	item := Item{
		ID: slug(r.title), derived: true, Priority: noPriority, number: int32(len(p.all) + 1), at: int32(begin),
		mark: checkbox, markAt: int32(begin + box[4]), markLen: 1, Passes: mark == "x" || mark == "X",
		dropped: mark == "-" || r.notWork > 0,
	}
	if item.ID == "" {
		item.ID = "#" + strconv.Itoa(int(item.number))
	}
	p.hasDropped = p.hasDropped || item.dropped
	p.all = append(p.all, item)
	r.item = &p.all[len(p.all)-1]
}

// describe takes a line as a part of the item's description if it is indented further
// than the item. Any other line ends the item.
func (r *markdownReader) describe(line string) {
	text := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	switch {
	case text == "":
	case r.item != nil && indent > r.indent && len(r.details) < maxDetails:
		r.details = strings.TrimSpace(r.details + " " + text)
	default:
		r.finish()
	}
}

// finish writes the item as JSON, as the items of other lists are.
func (r *markdownReader) finish() {
	if r.item != nil {
		raw, _ := json.Marshal(map[string]string{"title": r.title, "description": r.details}) // strings never fail
		r.item.raw = string(raw)
	}
	r.item = nil
}
