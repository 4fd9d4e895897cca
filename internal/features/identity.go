package features

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

var agentKeys = table.Set("agent keys")

// isAgentKey reports whether an agent may write the key: agentKeys has it, in whatever
// case and with whatever hyphens.
func isAgentKey(key string) bool {
	key = strings.ReplaceAll(strings.ReplaceAll(key, "_", ""), "-", "")
	return agentKeys()[strings.ToLower(key)]
}

// Twice returns a key that an object of the list has twice, and where, or "" if there is none.
// Such an item is ambiguous: one of two checks could be trusted and the other one run.
func (l List) Twice() (key, where string) {
	for _, item := range l.all {
		if key := jsontext.Twice(item.raw); key != "" {
			return key, "the feature " + plain.Line(item.ID, 80)
		}
	}
	for _, m := range l.beside {
		if key := jsontext.Twice(m.value.Raw); key != "" {
			return key, "the list's " + plain.Line(m.key, 80)
		}
	}
	return "", ""
}

// member is a key of an object, and its value.
type member struct {
	key   string
	value gjson.Result
}

// appendObject adds an object to text, in the same way for all spellings of it.
func appendObject(text []byte, object gjson.Result) []byte {
	members := make([]member, 0, 16)
	for key, value := range object.ForEach {
		members = append(members, member{key.Str, value})
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	for _, m := range members {
		text = appendCanonical(appendText(text, '{', m.key), m.value)
	}
	return append(text, '}')
}

// appendCanonical adds a value to text, in the same way for all spellings of it.
func appendCanonical(text []byte, v gjson.Result) []byte {
	switch {
	case v.Type == gjson.String:
		return appendText(text, '"', strings.ReplaceAll(v.Str, "\r\n", "\n"))
	case v.Type == gjson.Number && len(v.Raw) <= exactDigits && !math.IsInf(v.Num, 0):
		return strconv.AppendFloat(append(text, ' '), v.Num, 'g', -1, 64)
	case v.IsArray():
		text = append(text, '[')
		for _, value := range v.Array() {
			text = appendCanonical(text, value)
		}
		return append(text, ']')
	case v.IsObject():
		return appendObject(text, v)
	}
	return append(append(text, ' '), v.Raw...)
}

// exactDigits is the length up to which two numbers that differ are not the same float64,
// if they are not too large for one.
const exactDigits = 15

// appendText adds s to text behind its kind and its length, which show where it ends.
func appendText(text []byte, kind byte, s string) []byte {
	return append(append(strconv.AppendInt(append(text, kind), int64(len(s)), 10), ':'), s...)
}
