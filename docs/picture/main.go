// Picture draws terminal text as an SVG: what it reads on standard input,
// colours included, in a window on standard output.
//
//	go run ./examples/demo -color | go run ./docs/picture -title 'make demo' > docs/demo.svg
package main

import (
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

func main() {
	title := flag.String("title", "", "the window's `title`")
	flag.Parse()
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		_, err = os.Stdout.WriteString(draw(parse(string(text)), *title))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture: error:", err)
		os.Exit(1)
	}
}

// style is how a cell looks: attributes of an SVG text.
type style struct{ fill, weight, opacity string }

// cell is a column of a line: a character with those that combine with it, or
// nothing behind one that takes two columns.
type cell struct {
	text string
	style
}

// sequence matches an escape sequence: a control sequence, a string such as a
// title or a link, or a short one (ECMA-48, 5.3 to 5.6).
var sequence = regexp.MustCompile(`^\x1b(\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]*[0-~])`)

// parse returns the lines as a terminal would show them.
func parse(text string) [][]cell {
	lines, col, now := [][]cell{nil}, 0, style{}
	for text = strings.TrimSuffix(text, "\n"); text != ""; {
		if seq := sequence.FindString(text); seq != "" {
			text, now = text[len(seq):], now.after(seq)
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		line := &lines[len(lines)-1]
		switch {
		case r == '\n':
			lines, col = append(lines, nil), 0
		case r == '\r':
			col = 0
		case r == '\t':
			col += 8 - col%8
		case unicode.In(r, unicode.Mn, unicode.Me):
			if col > 0 && col <= len(*line) {
				(*line)[col-1].text += string(r)
			}
		case unicode.IsGraphic(r): // no others are allowed in XML, or seen
			cells := []cell{{string(r), now}, {"", now}}[:max(1, displaywidth.Rune(r))]
			for len(*line) < col+len(cells) {
				*line = append(*line, cell{text: " "})
			}
			col += copy((*line)[col:], cells)
		}
	}
	return lines
}

// palette holds the colours 30 to 37, which are those of 90 to 97 too.
var palette = strings.Fields("#545d68 #f47067 #6bc46d #daaa3f #6cb6ff #dcbdfb #56d4dd #f0f3f6")

// after returns the style after an escape sequence: the same one, unless the
// sequence selects what is drawn here.
func (s style) after(seq string) style {
	params, isSGR := strings.CutSuffix(strings.TrimPrefix(seq, "\x1b["), "m")
	if !isSGR || strings.Trim(params, "0123456789;") != "" {
		return s
	}
	codes := strings.Split(params, ";")
	for i, code := range codes {
		switch n, _ := strconv.Atoi(code); { // none is 0
		case n == 0:
			s = style{}
		case n == 1:
			s.weight = ` font-weight="bold"`
		case n == 2:
			s.opacity = ` opacity="0.6"`
		case n == 22:
			s.weight, s.opacity = "", ""
		case n >= 30 && n <= 37 || n >= 90 && n <= 97:
			s.fill = ` fill="` + palette[n%10] + `"`
		case n == 39:
			s.fill = ""
		case n == 38 && len(codes) == i+3 && codes[i+1] == "5":
			s.fill = ` fill="` + extended(codes[i+2]) + `"`
			return s
		case n == 38 || n == 48:
			return s // what follows are its parts
		}
	}
	return s
}

// extended returns one of the 256 colours: those of the palette, a cube of six
// steps a side, greys.
func extended(code string) string {
	n, _ := strconv.Atoi(code)
	step := func(n int) int { return min(n%6, 1)*55 + n%6*40 }
	switch {
	case n < 16:
		return palette[n%8]
	case n < 232:
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", step(n/36), step(n/6), step(n))
	}
	return fmt.Sprintf("#%02[1]x%02[1]x%02[1]x", (8+10*(n-232))&255)
}

// In pixels. A font whose characters are not 8.43 wide at 14 is spaced to it.
const charWidth, lineHeight, margin, barHeight = 8.43, 21, 22, 48

// draw returns the SVG of a window with the lines in it.
func draw(lines [][]cell, title string) string {
	widest := utf8.RuneCountInString(title) + 20 // beside the dots
	for _, line := range lines {
		widest = max(widest, len(line))
	}
	width, height := int(float64(widest)*charWidth)+2*margin, barHeight+len(lines)*lineHeight+margin
	var b strings.Builder
	const fonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d"
 fill="#adbac7" font-size="14" font-family="%[4]s">
<title>%[3]s</title>
<rect width="%[1]d" height="%[2]d" rx="10" fill="#22272e"/>
`+`<circle cx="26" cy="24" r="6" fill="#ff5f57"/><circle cx="46" cy="24" r="6" fill="#febc2e"/>`+
		`<circle cx="66" cy="24" r="6" fill="#28c840"/>
<text x="50%%" y="29" fill="#768390" text-anchor="middle">%[3]s</text>
`, width, height, html.EscapeString(title), fonts)
	for row, line := range lines {
		// Browsers do not hand xml:space down from the root any more.
		for col, end := 0, 0; col < len(line); col = end {
			text := ""
			for end = col; end < len(line) && line[end].style == line[col].style; end++ {
				text += line[end].text
			}
			s := line[col].style
			fmt.Fprintf(&b, `<text xml:space="preserve" x="%.1f" y="%d" textLength="%.1f"%s%s%s>%s</text>`+"\n",
				margin+float64(col)*charWidth,
				barHeight+row*lineHeight+16, float64(end-col)*charWidth, s.fill, s.weight, s.opacity,
				html.EscapeString(text))
		}
	}
	return b.String() + "</svg>\n"
}
