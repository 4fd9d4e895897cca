package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// text is a text element of a picture.
type text struct {
	X       string `xml:"x,attr"`
	Y       string `xml:"y,attr"`
	Fill    string `xml:"fill,attr"`
	Weight  string `xml:"font-weight,attr"`
	Opacity string `xml:"opacity,attr"`
	Text    string `xml:",chardata"`
}

// picture draws the input and reads the result with a strict XML parser.
func picture(t *testing.T, input, title string) (texts []text) {
	t.Helper()
	svg := draw(parse(input), title)
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
			var x text
			if err := d.DecodeElement(&x, &start); err != nil {
				t.Fatalf("not XML: %v\n%s", err, svg)
			}
			texts = append(texts, x)
		}
	}
	if len(texts) == 0 || texts[0].Text != title {
		t.Fatalf("no title %q in %s", title, svg)
	}
	return texts[1:]
}

// TestLines compares the text of a picture. A "|" separates parts of different styles in a
// line.
func TestLines(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"nothing", "", ""},
		{"lines", "one\n\n  two\n", "one\n  two"},
		{"windows", "one\r\ntwo\r\n", "one\ntwo"},
		{"markup", "<a href=\"x\">&amp;</a> ]]> '", "<a href=\"x\">&amp;</a> ]]> '"},
		{"overwritten", "10 %\r100 %\rok", "ok0 %"},
		{"tab", "a\tb\t\tc", "a       b               c"},
		{"parts", "\x1b[1mbold\x1b[0m plain", "bold| plain"},
		{"letters", "é · … 5 ▸ ü", "é · … 5 ▸ ü"},
		{"combining", "e\u0301a", "e\u0301a"},
		{"invalid", "a\xffb\x00\x07\x7f\u200b\ufffec", "a\ufffdbc"},
		{"cursor", "\x1b[2K\x1b[1;1Ha\x1b[?25lb\x1b[>4;2mc\x1b[38:5:1md", "abcd"},
		{"strings", "\x1b]0;title\x07a\x1b]8;;https://example.org\x1b\\b\x1bP1$q\x1b\\c", "abc"},
		{"short", "\x1b7a\x1b(Bb\x1bMc\x1b", "abc"},
		{"unfinished", "a\x1b", "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got strings.Builder
			y := ""
			for _, x := range picture(t, test.input, "a <title> & 'more'") {
				switch {
				case y != "" && y != x.Y:
					got.WriteString("\n")
				case y != "":
					got.WriteString("|")
				}
				got.WriteString(x.Text)
				y = x.Y
			}
			if got.String() != test.want {
				t.Errorf("got %q, want %q", got.String(), test.want)
			}
		})
	}
}

func TestStyles(t *testing.T) {
	for _, test := range []struct {
		sgr  string
		want text
	}{
		{"", text{}},
		{"0", text{}},
		{"1", text{Weight: "bold"}},
		{"2", text{Opacity: "0.6"}},
		{"32", text{Fill: palette[2]}},
		{"37", text{Fill: palette[7]}},
		{"90", text{Fill: palette[0]}},
		{"1;36", text{Weight: "bold", Fill: palette[6]}},
		{"31;0;33", text{Fill: palette[3]}},
		{"31;39", text{}},
		{"1;2;22", text{}},
		{"1;", text{}},
		{"38;5;1", text{Fill: palette[1]}},
		{"38;5;16", text{Fill: "#000000"}},
		{"38;5;211", text{Fill: "#ff87af"}},
		{"38;5;246", text{Fill: "#949494"}},
		{"38;2;1;2;3", text{}},
		{"38;5", text{}},
		{"48;2;1;2;31", text{}},
		{"32;7;4;99", text{Fill: palette[2]}},
	} {
		got := picture(t, "\x1b["+test.sgr+"mx", "")[0]
		got.X, got.Y, got.Text = "", "", ""
		if got != test.want {
			t.Errorf("%q: %+v, want %+v", test.sgr, got, test.want)
		}
	}
}

// TestColumns compares the column in which the last character of a line is drawn.
func TestColumns(t *testing.T) {
	for _, pair := range [][2]string{
		{"ab", "éü"}, {"a", "e\u0301"}, {"ab", "漢"}, {"ab", "🎉"}, {"        ", "a\t"},
	} {
		a, b := picture(t, pair[0]+"\x1b[1mx", ""), picture(t, pair[1]+"\x1b[1mx", "")
		if x, want := b[len(b)-1].X, a[len(a)-1].X; x != want {
			t.Errorf("behind %q: x is %s, want %s as behind %q", pair[1], x, want, pair[0])
		}
	}
}

// TestWidth checks that the longest line decides the picture's width.
func TestWidth(t *testing.T) {
	width := func(input string) (width int) {
		var root struct {
			Width int `xml:"width,attr"`
		}
		if err := xml.Unmarshal([]byte(draw(parse(input), "t")), &root); err != nil {
			t.Fatal(err)
		}
		return root.Width
	}
	long := strings.Repeat("é", 90)
	if got, want := width("a\n\x1b[1m"+long+"\x1b[0m\nb\n"), width(long); got != want {
		t.Errorf("width %d, want %d as of the longest line alone", got, want)
	}
	if narrow := width("a"); narrow >= width(long) {
		t.Errorf("width %d of one character, %d of 90", narrow, width(long))
	}
}
