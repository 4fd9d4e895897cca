package jsontext

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Edits that keep the layout of a file that a person wrote.

// Insert adds a member to an object, or an element to an array, where key is empty. It
// comes last, in the layout of the file.
func Insert(text []byte, container gjson.Result, key, value string) []byte {
	open := container.Index
	end := open + len(container.Raw) - 1
	last := len(bytes.TrimRight(text[:end], " \t\r\n"))
	empty := last == open+1
	outer := Lead(text, open)
	add := func(before string) string {
		value := Layout(text, before, value)
		switch {
		case key == "":
			return value
		case oneLine(text):
			return `"` + key + `":` + value
		}
		return `"` + key + `": ` + value
	}
	switch {
	case empty && oneLine(text):
		return splice(text, open+1, end, add(""))
	case oneLine(text):
		return splice(text, last, last, ","+add(""))
	case empty:
		inner := outer + indent(text)
		return splice(text, open+1, end, eol(text)+inner+add(inner)+eol(text)+outer)
	}
	first := bytes.IndexByte(text[open:end], '\n')
	if first < 0 {
		return splice(text, last, last, ", "+add(outer))
	}
	inner := Lead(text, open+first+1)
	if at := end - len(bytes.TrimLeft(text[open+1:end], " \t\r\n")); bytes.IndexByte(text[open:at], '\n') >= 0 {
		inner = Lead(text, at) // blank lines may come before the first member
	}
	return splice(text, last, last, ","+eol(text)+inner+add(inner))
}

// oneLine tells whether a file is written in one line. An empty object does not count:
// what comes into it gets the usual layout.
func oneLine(text []byte) bool {
	text = bytes.TrimSpace(text)
	return !bytes.Contains(text, []byte("\n")) && string(text) != "{}"
}

// splice puts add in the place of the bytes from the offset from to the offset to.
func splice(text []byte, from, to int, add string) []byte {
	return slices.Concat(text[:from], []byte(add), text[to:])
}

// Layout lays raw JSON out as the file does: in one line, or in several lines that
// begin with the indent before.
func Layout(text []byte, before, raw string) string {
	var b bytes.Buffer
	if oneLine(text) || json.Indent(&b, []byte(raw), before, indent(text)) != nil {
		return raw
	}
	return strings.ReplaceAll(b.String(), "\n", eol(text))
}

// Lead returns the white space that the line of an offset begins with.
func Lead(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indent returns one level of the file's indent, which is that of its first indented line.
func indent(text []byte) string {
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		rest := bytes.TrimLeft(line, " \t")
		if len(rest) < len(line) && len(bytes.TrimSpace(rest)) > 0 {
			return string(line[:len(line)-len(rest)])
		}
	}
	return "  "
}

// eol returns the line end of the file.
func eol(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
