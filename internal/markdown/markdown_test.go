package markdown

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// outline is what two readings of Markdown have to agree on: which lines are code and HTML,
// where the boxes and the headings are, and what they say.
type outline []string

func (o *outline) add(line int, format string, args ...any) {
	*o = append(*o, fmt.Sprintf("%6d ", line+1)+fmt.Sprintf(format, args...))
}

func (o outline) String() string {
	slices.Sort(o)
	return strings.Join(slices.Compact(o), "\n")
}

// spaced returns the words of a text, with one space between.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

var someBox = regexp.MustCompile(`^\[[ xX~/!>?-]\](?: |$)`)

// ours is the outline as Reader has it. Deepest is how deep lists and quotations are nested.
func ours(source string) (o outline, deepest int) {
	var b Reader
	n, begun, title := -1, 0, ""
	for line := range strings.Lines(source) {
		n++
		line = strings.TrimRight(line, "\r\n")
		b.Next(line)
		deepest = max(deepest, len(b.open))
		text := spaced(line[b.Text:])
		switch {
		case b.Kind == Heading:
			o.add(n, "heading %d %q", b.Level, spaced(b.Heading))
		case text == "": // to which block an empty line belongs does not matter
		case b.Kind == Fenced:
			o.add(n, "code")
		case b.Kind == HTML:
			o.add(n, "html")
		case b.Kind == Underline:
			o.add(begun, "heading %d %q", b.Level, title)
		case b.Kind == Text && b.Begins:
			begun, title = n, text
			if b.First && someBox.MatchString(text) {
				o.add(n, "box %q", text)
			}
		}
	}
	return o, deepest
}

// theirs is the outline as goldmark has it.
func theirs(source []byte) (o outline) {
	lineOf := func(at int) int { return bytes.Count(source[:at], []byte("\n")) }
	first := func(n ast.Node) (at int, line string) {
		if n.Lines().Len() == 0 {
			return n.Pos(), ""
		}
		s := n.Lines().At(0)
		return s.Start, spaced(string(s.Value(source)))
	}
	all := func(n ast.Node, kind string) {
		for i := range n.Lines().Len() {
			if s := n.Lines().At(i); spaced(string(s.Value(source))) != "" {
				o.add(lineOf(s.Start), "%s", kind)
			}
		}
	}
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			all(n, "code")
		case *ast.HTMLBlock:
			all(n, "html")
			if n.HasClosure() {
				o.add(lineOf(n.ClosureLine.Start), "html")
			}
		case *ast.Heading:
			at, title := first(n)
			o.add(lineOf(at), "heading %d %q", n.Level, title)
		case *ast.ListItem:
			switch n.FirstChild().(type) {
			case *ast.Paragraph, *ast.TextBlock, *ast.Heading: // an item with a line below it is one, too
				at, title := first(n.FirstChild())
				before := strings.TrimRight(string(source[:at]), " ")
				if someBox.MatchString(title) && !strings.HasSuffix(before, "#") {
					o.add(lineOf(at), "box %q", title)
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return o
}

// tamed returns Markdown with spaces for its tabs, and LF for CRLF. Goldmark takes "-"
// before CRLF for text, does not take a tag with a tab behind it for HTML, and counts the
// columns of a tab wrongly behind a mark such as >.
func tamed(source string) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(strings.ReplaceAll(source, "\r\n", "\n")) {
		column := 0
		for _, c := range []byte(line) {
			for column++; c == '\t' && column%4 != 0; column++ {
				out.WriteByte(' ')
			}
			if c == '\t' {
				c = ' '
			}
			out.WriteByte(c)
		}
	}
	return out.Bytes()
}

// unlike matches what the two readings may differ in: Reader reads no definitions of links,
// which are no text of a heading. Goldmark takes an empty item in an item for longer than
// the empty line behind it, an indented hyphen below text for an item, a tag with a space
// before its name, or a slash behind one that closes, for HTML, and no declaration in lower
// case. It lets meta begin a block, as CommonMark did before its version 0.29. In a numbered
// item that begins with a list on its second line it reads later items of that list as code;
// commonmark.js reads them as we do.
var unlike = regexp.MustCompile(`\[[^\]]*\]:|<![a-z]|(?i:</?meta)|</?[ \t]|</[A-Za-z0-9]+/|\n[ \t]+-[ \t\r]*(?:\n|$)` +
	`|(?m)[ \t>](?:[-+*]|\d+[.)])[ \t\r]*\n[ \t>\r]*\n` +
	`|\d[.)][ \t\r]*\n[ \t>]+(?:[-+*]|\d+[.)])`)

// unseen takes out what no person types: goldmark takes some of these characters for spaces.
var unseen = strings.NewReplacer("\r\n", "\r\n", "\r", "", "\v", "", "\f", "", "\x00", "", "\u0085", "", "\u00a0", "")

// differ returns both readings of a text if they differ.
func differ(source string) string {
	source = unseen.Replace(strings.ToValidUTF8(source, ""))
	o, deepest := ours(source)
	a, b := o.String(), theirs(tamed(source)).String()
	if a == b || unlike.MatchString(source) || deepest == maxContainers {
		return ""
	}
	return fmt.Sprintf("%q\nwe read\n%s\ngoldmark reads\n%s", source, a, b)
}

// pieces are what Markdown is made of.
var pieces = []string{
	"\n", "\n", "\n", "\n\n", "\r\n", " ", "  ", "    ", "\t", "- ", "- ", "* ", "+ ", "1. ", "2) ", "10. ", "-", "1.",
	"> ", ">", "[ ] ", "[x] a", "[ ]", "[~] ", "a", "b c", "\\", "```", "````", "~~~", "~~~~", "```js", "`", "# ", "## a",
	"#", "###### a ##", "===", "---", "--", "***", "_ _ _", "<!--", "-->", "<!-- a -->", "<div>", "</div>", "<pre>",
	"</pre>", "<?", "?>", "<!A", "<b>", "<b", "<b a='1' c>", "<![CDATA[", "]]>",
}

// pieced returns the Markdown that bytes stand for, one piece for each.
func pieced(bytes []byte) string {
	var s strings.Builder
	for _, c := range bytes {
		s.WriteString(pieces[int(c)%len(pieces)])
	}
	return s.String()
}

// markdownTexts are hard to read. Each has one open item, "yes".
var markdownTexts = map[string]string{
	"inline code in three backticks":    "```go test``` runs the tests\n\n- [ ] yes\n",
	"a shorter fence in a fence":        "````md\n```\n- [ ] no\n```\n````\n- [ ] yes\n",
	"the other fence in a fence":        "```\n~~~\n- [ ] no\n```\n- [ ] yes\n\n~~~\n- [ ] no\n",
	"a fence with text behind it":       "```\n- [ ] no\n``` no end\n- [ ] no\n```\n- [ ] yes\n",
	"a fence in an item":                "- a\n  ```\n  - [ ] no\n- [ ] yes\n",
	"a fence in a quotation":            "> ```\n> - [ ] no\n\n- [ ] yes\n",
	"a comment":                         "<!--\n- [ ] no\n\n- [ ] no\n-->\n- [ ] yes\n",
	"a comment in one line":             "<!-- - [ ] no -->\n- [ ] yes\n",
	"a comment in an item":              "- a\n  <!--\n  - [ ] no\n  -->\n  - [ ] yes\n",
	"a comment that ends with its item": "- <!--\n  - [ ] no\n\n- [ ] yes\n",
	"details":                           "<details>\n<summary>More</summary>\n\n- [ ] yes\n\n</details>\n",
	"raw HTML":                          "<pre>\n- [ ] no\n\n- [ ] no\n</pre>\n- [ ] yes\n",
	"a tag that begins as another":      "<pre-set>\n- [ ] no\n\n- [ ] yes\n",
	"code by its indent":                "# A\n\n    - [ ] no\n\n- [ ] yes\n",
	"an item in an item":                "1. a\n\n   - b\n\n     - [ ] yes\n",
	"deep in tabs":                      "- a\n\t- b\n\t\t- [ ] yes\n",
	"on the line of its list":           "- - [ ] yes\n",
	"below its mark":                    "-\n  [ ] yes\n",
	"in a quotation":                    "> - [ ] yes\n",
	"a number behind text":              "a\n1) [ ] yes\n",
	"CRLF":                              "```\r\n- [ ] no\r\n```\r\n<!--\r\n- [ ] no\r\n-->\r\n- [ ] yes\r\n",
}

// TestReader compares our reading of Markdown with goldmark's.
func TestReader(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		data := make([]byte, 1+r.IntN(20))
		for i := range data {
			data[i] = byte(r.IntN(len(pieces)))
		}
		if d := differ(pieced(data)); d != "" {
			t.Error(d)
		}
	}
	for name, source := range markdownTexts {
		if d := differ(source); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		o, _ := ours(source)
		if boxes := strings.Count(o.String(), "box"); boxes != 1 || !strings.Contains(o.String(), `box "[ ] yes"`) {
			t.Errorf("%s: %s", name, o)
		}
	}
	box, _ := ours("1. [ ] a\n")
	text, _ := ours("\\- [ ] a\n")
	if theirs([]byte("- [ ] a\n")).String() != box.String() || len(box) != 1 || len(text) > 0 {
		t.Errorf("control: %q, %q", box, text)
	}
}

func FuzzReader(f *testing.F) {
	for _, source := range markdownTexts {
		f.Add([]byte(source))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, source := range []string{string(data), pieced(data)} {
			if d := differ(source); d != "" {
				t.Error(d)
			}
		}
	})
}
