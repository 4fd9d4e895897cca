package features

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

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
// could have trusted. An item of Markdown has only its title: Beside has the lines below it.
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

// Added returns the keys of the item's Identity that it did not have when the list was was.
func (i Item) Added(was List) (keys []string) {
	before, is := was.Find(i.ID)
	if !is {
		return nil
	}
	had := map[string]bool{}
	for key := range gjson.Parse(before.raw).ForEach {
		had[key.Str] = true
	}
	for key, value := range gjson.Parse(i.raw).ForEach {
		if i.asks(key.Str, value) && !had[key.Str] {
			keys = append(keys, key.Str)
		}
	}
	return keys
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

// Lost returns what the list no longer has of what was trusted, sorted: the ids of items that were
// deleted or reworded, and in words the lost text beside them. Was has an Identity for each id;
// beside is what Beside returned.
func (l List) Lost(was map[string]string, beside []string) (lost []string) {
	for id, identity := range was {
		if item, has := l.Find(id); !has || item.Identity() != identity {
			lost = append(lost, id)
		}
	}
	lost = append(lost, l.lostBeside(beside)...)
	slices.Sort(lost)
	return lost
}

// The text beside a list's items applies to all of them: the rules of a file, the headings of a
// plan. A person trusts it with the items.

// Beside returns what the list says beside its items, each part as its digest, a space,
// and what people know it by. Of JSON these are the values of the other keys, without
// agentKeys, counters and what is current or last; of Markdown all lines that are not blank, in their order, with
// every box empty.
func (l List) Beside() (parts []string) {
	if l.shape != checkboxes {
		for _, m := range l.beside {
			if jsontext.Twice(m.value.Raw) == "" { // else it does not say one thing
				parts = appendParts(parts, m.key, m.value)
			}
		}
		return parts
	}
	for line := range strings.Lines(l.text) {
		line = strings.TrimRight(line, " \t\r\n")
		if b, at := boxIn(line); at >= 0 {
			box := "[ ]"
			if b.joined {
				box = "[ ] "
			}
			line = line[:at] + box + line[at+b.length:]
		}
		if line != "" {
			parts = append(parts, digest([]byte(line))+" "+plain.Line(line, 60))
		}
	}
	return parts
}

// Keys of an object that has items, whose values change with the work.
var changing = sync.OnceValue(func() (keys struct{ any, number *regexp.Regexp }) {
	keys.any = regexp.MustCompile(`(?i)^(current|last)`)
	keys.number = regexp.MustCompile(`(?i)total|complete|pass|fail|remain|pending|done|open|count|progress|` +
		`iteration|session`)
	return keys
})

// appendParts adds the parts of the value of a key. Name is the path of the key.
func appendParts(parts []string, name string, value gjson.Result) []string {
	key := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case isAgentKey(key), changing().any.MatchString(key),
		value.Type == gjson.Number && changing().number.MatchString(key):
	case value.IsObject():
		for inner, v := range value.ForEach {
			parts = appendParts(parts, name+"."+strings.ReplaceAll(inner.Str, ".", "_"), v)
		}
	default:
		parts = append(parts, digest(appendCanonical(appendText(nil, '{', name), value))+" "+plain.Line(name, 60))
	}
	return parts
}

// lostBeside returns in words which parts the list no longer has. Others may be added. Those of
// Markdown must keep their order.
func (l List) lostBeside(was []string) (lost []string) {
	if len(was) == 0 {
		return nil
	}
	now := l.Beside()
	left, next := map[string]int{}, 0
	for i, part := range now {
		now[i], _, _ = strings.Cut(part, " ")
		left[now[i]]++
	}
	ordered := true
	for _, part := range was {
		part, name, _ := strings.Cut(part, " ")
		left[part]--
		if left[part] < 0 {
			lost = append(lost, fmt.Sprintf("the text %q", name))
			continue
		}
		for next < len(now) && now[next] != part {
			next++
		}
		ordered = ordered && next < len(now)
		next++
	}
	if l.shape == checkboxes && lost == nil && !ordered {
		lost = []string{"the order of its lines"}
	}
	return lost
}
