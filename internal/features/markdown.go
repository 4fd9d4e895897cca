package features

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// boxes is what Markdown is read by, made at its first use: most stops read none.
var boxes = sync.OnceValue(func() (g struct{ box, heading, later *regexp.Regexp }) {
	g.box = regexp.MustCompile(`^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX~/!>?-])\](?:[ \t]+(.*))?$`)
	g.heading = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*)$`)
	g.later = regexp.MustCompile(`(?i)\b(optional|future|nice[ -]to[ -]haves?|out of scope)\b`)
	return g
})

// maxDetails bounds what is read of the lines below a checkbox.
const maxDetails = 2000

// checkboxes reads Markdown: "- [ ] title", done when there is an x, not work when
// there is a dash or below a heading such as Optional. Lines below that are indented
// further describe it. It returns false where the text has no checkbox.
func (p *parser) checkboxes() bool {
	var title, details string
	var item *Item
	indent, aside, fence := 0, 0, ""
	finish := func() {
		if item != nil {
			raw, _ := json.Marshal(map[string]string{"title": title, "description": details}) // texts always go
			item.raw = string(raw)
		}
		item = nil
	}
	g, at := boxes(), 0
	for line := range strings.Lines(p.Text) {
		begin := at
		at += len(line)
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
			continue
		}
		if h := g.heading.FindStringSubmatch(line); h != nil {
			finish()
			if aside == 0 || len(h[1]) <= aside {
				aside = 0
				if g.later.MatchString(h[2]) {
					aside = len(h[1])
				}
			}
			continue
		}
		b := g.box.FindStringSubmatchIndex(line)
		switch {
		case b != nil && len(p.all) < maxItems:
			finish()
			mark := line[b[4]:b[5]]
			title, details, indent = "", "", b[3]-b[2]
			if b[6] >= 0 {
				title = strings.TrimSpace(line[b[6]:b[7]])
			}
			p.all = append(p.all, Item{
				ID: slug(title), derived: true, Priority: noPriority, number: int32(len(p.all) + 1), at: int32(begin),
				mark: checkbox, markAt: int32(begin + b[4]), markLen: 1, Passes: mark == "x" || mark == "X",
				dropped: mark == "-" || aside > 0,
			})
			if item = &p.all[len(p.all)-1]; item.ID == "" {
				item.ID = "#" + strconv.Itoa(int(item.number))
			}
		case b != nil:
			p.fail(begin, "more than %d items", maxItems)
			return true
		case item != nil && trimmed != "" && len(line)-len(strings.TrimLeft(line, " \t")) > indent && len(details) < maxDetails:
			details = strings.TrimSpace(details + " " + trimmed)
		case trimmed != "":
			finish()
		}
	}
	finish()
	p.shape, p.traits = markdown, traits{shuffled: true, aside: true}
	return len(p.all) > 0
}
