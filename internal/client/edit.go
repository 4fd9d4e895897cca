package client

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// Edits of a client's JSON that change one value and no other byte. What add makes of a text becomes that text again
// by cut.

// level is an object or array, and the place of one of its members or elements.
type level struct {
	container gjson.Result
	at        int  // offset in the text of the member's key, or of the element
	goes      bool // it goes with its only element, whatever else was there
}

// edit changes a text without its byte order mark. Without a text, change gets an empty object.
func edit(data []byte, change func(text []byte) ([]byte, error)) ([]byte, error) {
	text := bytes.TrimPrefix(data, jsontext.BOM)
	mark := data[:len(data)-len(text)]
	if jsontext.Space(text) == len(text) {
		out, err := change([]byte("{}"))
		if err != nil {
			return nil, err
		}
		out = append([]byte("{"), out[1+len(jsontext.WasEmpty):]...)
		if data == nil {
			return append(out, '\n'), nil
		}
		return slices.Concat(data, out), nil
	}
	if _, err := jsontext.Check(text); err != nil {
		if comment(text) {
			err = fmt.Errorf("%w (this must be strict JSON: comments are not allowed)", err)
		}
		return nil, err
	}
	out, err := change(text)
	if err != nil {
		return nil, err
	}
	return slices.Concat(mark, out), nil
}

// follow follows keys into a text, and returns the value below them and its levels, from the inside out.
func follow(text []byte, keys ...string) (levels []level, found gjson.Result, err error) {
	found = gjson.ParseBytes(text)
	found.Raw = strings.TrimSpace(found.Raw) // gjson keeps what follows the last brace
	for _, name := range keys {
		key, value, err := member(text, found, name)
		if err != nil {
			return nil, found, err
		}
		levels = slices.Insert(levels, 0, level{found, key.Index, false})
		found = value
	}
	return levels, found, nil
}

// add adds a value as the last element of the array that keys lead to. It creates what is missing on the way.
func add(text []byte, keys []string, value string) ([]byte, error) {
	_, at, err := follow(text)
	for n, key := range keys {
		if !at.IsObject() {
			return nil, errors.New("the settings are not a JSON object")
		}
		_, next, err := member(text, at, key)
		last := n == len(keys)-1
		switch {
		case err != nil:
			return nil, err
		case !next.Exists():
			return jsontext.Insert(text, at, key, wrap(keys[n+1:], value)), nil
		case last && !next.IsArray():
			return nil, jsontext.ErrorAt(text, next.Index, fmt.Sprintf("%q is not an array", key))
		case !last && !next.IsObject():
			return nil, jsontext.ErrorAt(text, next.Index, fmt.Sprintf("%q is not an object", key))
		}
		at = next
	}
	return jsontext.Insert(text, at, "", value), err
}

// wrap returns an array with a value, as keys lead to it.
func wrap(keys []string, value string) string {
	value = "[" + value + "]"
	for _, key := range slices.Backward(keys) {
		value = fmt.Sprintf("{%q:%s}", key, value)
	}
	return value
}

// member returns the key and the value of a member of an object. It is an error if two
// members have the name, because the host reads the last and gjson the first.
func member(text []byte, object gjson.Result, name string) (key, found gjson.Result, err error) {
	if !object.IsObject() {
		return key, found, nil
	}
	for k, value := range object.ForEach {
		if k.Str == name && found.Exists() {
			return key, found, jsontext.ErrorAt(text, k.Index, fmt.Sprintf("the key %q is there twice", name))
		}
		if k.Str == name {
			key, found = k, value
		}
	}
	return key, found, nil
}

// cut takes values out of a text, and what add made for them. The first value is where find finds it; find returns no
// levels if there is none. The result is nil if there was no file before add.
func cut(data []byte, find func(text []byte) ([]level, error)) ([]byte, error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return nil, err
	}
	mark := data[:len(data)-len(text)]
	for {
		levels, err := find(text)
		switch {
		case err != nil:
			return nil, err
		case levels == nil:
			return slices.Concat(mark, text), nil
		}
		text = prune(text, levels)
		if text != nil {
			continue
		}
		// add made all of it. It ends the text with a line end only if there was no file.
		before := data[:len(mark)+jsontext.Space(data[len(mark):])]
		if len(before) == 0 && bytes.HasSuffix(data, []byte("\n")) {
			return nil, nil
		}
		return append([]byte{}, before...), nil
	}
}

// prune cuts a value out of the text, with every level that only it was in. It stops at the innermost level that holds
// something else, or that was there, and empty, before add. It returns nil if there is no such level.
func prune(text []byte, levels []level) []byte {
	for _, l := range levels {
		open := l.container.Index
		begin := open + 1 + jsontext.Space(text[open+1:])
		end := 0
		before := 0
		after := 0 // the ends of the member and of the one before it, and the start of the next
		for key, value := range l.container.ForEach {
			from, to := value.Index, value.Index+len(value.Raw)
			if l.container.IsObject() {
				from = key.Index
			}
			switch {
			case from < l.at:
				before = to
			case from == l.at:
				end = to
			case after == 0:
				after = from
			}
		}
		switch was := strings.TrimRight(string(text[open+1:begin]), " \t"); {
		case before > 0:
			return jsontext.Splice(text, before, end, "")
		case after > 0:
			return jsontext.Splice(text, l.at, after, "")
		case l.goes:
		default:
			lead := string(text[open+1 : begin])
			if strings.HasSuffix(was, "\n") {
				lead = strings.TrimSuffix(strings.TrimSuffix(was, "\n"), "\r")
			}
			if lead, is := strings.CutSuffix(lead, jsontext.WasEmpty); is {
				closing := end + jsontext.Space(text[end:])
				return jsontext.Splice(text, open+1, closing, lead)
			}
		}
	}
	return nil
}

// comment tells whether broken settings look like JSON with comments.
func comment(data []byte) bool {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		line = bytes.TrimSpace(line)
		begins := bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("/*"))
		if begins || bytes.Contains(line, []byte(" // ")) {
			return true
		}
	}
	return false
}
