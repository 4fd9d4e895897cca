package client

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// Remove takes all our entries out of settings, and what Merge made for them. What
// Merge made of a text becomes that text again, byte for byte. Remove returns nil if
// there was no file before Merge.
func Remove(data []byte) ([]byte, error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return nil, err
	}
	mark := data[:len(data)-len(text)]
	for {
		levels, err := firstOurs(text)
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
		// Merge made all of it. It ends the text with a line end only if there was no file.
		before := data[:len(mark)+jsontext.Space(data[len(mark):])]
		if len(before) == 0 && bytes.HasSuffix(data, []byte("\n")) {
			return nil, nil
		}
		return append([]byte{}, before...), nil
	}
}

// level is an object or array, and the place of one of its members or elements.
type level struct {
	container gjson.Result
	at        int // offset in the text of the member's key, or of the element
}

// firstOurs returns the levels that our first entry is in, from the inside out: the
// group's hooks, the event's list, "hooks" and the settings. It returns nil if there is
// no entry of ours. It is an error if one of the keys on the way is there twice: with
// the second member cut out, the first one would count again.
func firstOurs(text []byte) ([]level, error) {
	root := gjson.ParseBytes(text)
	key, hooks, err := member(text, root, "hooks")
	if err != nil || !hooks.IsObject() {
		return nil, err
	}
	for event, list := range hooks.ForEach {
		for _, group := range list.ForEach {
			_, entries, twice := member(text, group, "hooks")
			err = cmp.Or(err, twice)
			for _, entry := range entries.Array() {
				if list.IsArray() && entries.IsArray() && ours(entry) {
					_, _, twice := member(text, hooks, event.Str)
					return []level{
						{entries, entry.Index}, {list, group.Index}, {hooks, event.Index}, {root, key.Index},
					}, cmp.Or(err, twice)
				}
			}
		}
	}
	return nil, err
}

// prune cuts our entry out of the text, with every level that only it was in. It stops
// at the innermost level that holds something else, or that was there, and empty, before
// Merge. It returns nil if there is no such level.
func prune(text []byte, levels []level) []byte {
	for depth, l := range levels {
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
		case depth == 0: // the group goes with its only entry, whatever else it says
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
