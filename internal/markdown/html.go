package markdown

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// htmlKind is a kind of block of HTML, by what ends it.
type htmlKind uint8

const (
	noHTML          htmlKind = iota
	htmlRaw                  // <script>, <pre>, <style>, <textarea>: the end of one of them
	htmlComment              // -->
	htmlInstruction          // ?>
	htmlDeclaration          // >
	htmlCDATA                // ]]>
	htmlBlock                // an empty line
)

// beginsHTML returns which block of HTML begins with text, which begins with a <.
func beginsHTML(text string, inText bool) htmlKind {
	switch {
	case strings.HasPrefix(text, "<!--"):
		return htmlComment
	case strings.HasPrefix(text, "<?"):
		return htmlInstruction
	case strings.HasPrefix(text, "<![CDATA["):
		return htmlCDATA
	case len(text) > 2 && text[1] == '!' && isLetter(text[2]):
		return htmlDeclaration
	}
	name, closing := strings.CutPrefix(text[1:], "/")
	end := 0
	for end < len(name) && (isLetter(name[end]) || end > 0 && name[end] >= '0' && name[end] <= '9') {
		end++
	}
	after := name[end:]
	name = strings.ToLower(name[:min(end, 20)])
	ends := after == "" || strings.IndexByte(" \t>", after[0]) >= 0
	switch {
	case ends && !closing && slices.Contains(rawTags, name):
		return htmlRaw
	case (ends || strings.HasPrefix(after, "/>")) && strings.Contains(blockTags, " "+name+" "):
		return htmlBlock
	case !inText && (!slices.Contains(rawTags, name) || strings.HasPrefix(after, "-")) && anyTag().MatchString(text):
		return htmlBlock
	}
	return noHTML
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
	ends := false
	switch b.htmlKind {
	case htmlBlock:
		if ends = text == ""; ends {
			b.Kind = Other
		}
	case htmlComment:
		ends = strings.Contains(text, "-->")
	case htmlInstruction:
		ends = strings.Contains(text, "?>")
	case htmlDeclaration:
		ends = strings.Contains(text, ">")
	case htmlCDATA:
		ends = strings.Contains(text, "]]>")
	case htmlRaw:
		lower := strings.ToLower(text)
		ends = slices.ContainsFunc(rawTags, func(name string) bool { return strings.Contains(lower, "</"+name+">") })
	}
	if ends {
		b.leaf = noLeaf
	}
}
