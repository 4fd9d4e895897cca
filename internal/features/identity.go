package features

import (
	"crypto/sha256"
	"encoding/hex"
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

// Identity returns 24 hex digits, the start of a sha256 over what a feature asks for: all of its
// keys but the id, agentKeys, and its subtasks, which are items themselves. The order of keys,
// escapes and white space do not count. An item with a duplicate key has no Identity that anybody
// could have trusted. An item of Markdown has only its title.
func (i Item) Identity() string {
	if key := jsontext.Twice(i.raw); key != "" {
		return "twice " + key
	}
	return digest(appendObject(nil, gjson.Parse(i.raw), i.asks))
}

// asks reports whether a key belongs to the Identity.
func (i Item) asks(key string, value gjson.Result) bool {
	switch key {
	case "id":
		return false
	case "subtasks":
		return !value.IsArray()
	case "description":
		return i.mark != checkbox
	}
	return !isAgentKey(key)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// member is a key of an object, and its value.
type member struct {
	key   string
	value gjson.Result
}

// appendObject adds those members of an object that want accepts to text, in the same way
// for all spellings of it.
func appendObject(text []byte, object gjson.Result, want func(key string, value gjson.Result) bool) []byte {
	members := make([]member, 0, 16)
	for key, value := range object.ForEach {
		if want(key.Str, value) {
			members = append(members, member{key.Str, value})
		}
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
		return appendObject(text, v, func(string, gjson.Result) bool { return true })
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
