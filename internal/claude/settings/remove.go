package settings

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// wasEmpty stands behind the white space of an object or array that was there,
// and empty, before ours came: what Merge makes has no space in that place.
const wasEmpty = " "

// Remove takes every entry of ours out of settings, and what Merge made for
// them: Remove of what Merge made of a text is that text, and nil where there
// was no file.
func Remove(data []byte) ([]byte, error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return nil, err
	}
	mark := data[:len(data)-len(text)]
	for {
		levels, err := first(text)
		switch {
		case err != nil:
			return nil, err
		case levels == nil:
			return slices.Concat(mark, text), nil
		}
		if text = prune(text, levels); text != nil {
			continue
		}
		// All of it was Merge's. A file that was there got no last line end.
		before := data[:len(mark)+space(data[len(mark):])]
		if len(before) == 0 && bytes.HasSuffix(data, []byte("\n")) {
			return nil, nil
		}
		return append([]byte{}, before...), nil
	}
}

// level is an object or array, and one of its members or elements.
type level struct {
	container gjson.Result
	at        int
}

// first returns where the first entry of ours is, from the inside out: the
// group's hooks, the event's list, "hooks", the settings; nil where there is none.
// Of two with one name the first would count again without the second, so two are
// refused.
func first(text []byte) ([]level, error) {
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
					return []level{{entries, entry.Index}, {list, group.Index}, {hooks, event.Index}, {root, key.Index}}, cmp.Or(err, twice)
				}
			}
		}
	}
	return nil, err
}

// prune takes a member out of the innermost level that something else is in, or
// that was there before; nil says that there is none.
func prune(text []byte, levels []level) []byte {
	for depth, l := range levels {
		open := l.container.Index
		begin := open + 1 + space(text[open+1:])
		end, before, after := 0, 0, 0 // of the member, the one before it, and where the next one begins
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
			return splice(text, before, end, "")
		case after > 0:
			return splice(text, l.at, after, "")
		case depth == 0: // a group is one entry of ours, whatever else it says
		default:
			lead := string(text[open+1 : begin])
			if strings.HasSuffix(was, "\n") {
				lead = strings.TrimSuffix(strings.TrimSuffix(was, "\n"), "\r")
			}
			if lead, is := strings.CutSuffix(lead, wasEmpty); is {
				closing := end + space(text[end:])
				return splice(text, open+1, closing, lead)
			}
		}
	}
	return nil
}

// white is what JSON allows between its parts.
const white = " \t\r\n"

// space is how much white space text begins with.
func space(text []byte) int { return len(text) - len(bytes.TrimLeft(text, white)) }
