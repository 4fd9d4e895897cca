package features

import (
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
