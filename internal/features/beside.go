package features

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

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
		if at := boxIn(line); at >= 0 {
			line = line[:at+1] + " " + line[at+2:]
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
		if left[part]--; left[part] < 0 {
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
