package features

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// identityKeys are the keys that say what a feature asks for. An agent may write the
// others: passes, notes, times.
var identityKeys = [...]string{
	"id", "title", "name", "description", "details", "category",
	"steps", "acceptance", "acceptance_criteria", "acceptanceCriteria",
	"verify", "verification", "completionCriteria", "test_file", "testStrategy",
}

// Twice returns a key that an object of the item has twice, or "" if there is none. Such
// an item is not one thing: of two checks one could be trusted and the other one run.
func (i Item) Twice() string { return jsontext.Twice(i.raw) }

// Identity returns 24 hex digits, the start of a sha256 over what a feature asks for. The
// id is not part of it. Neither is spelling: the order of keys, escapes, white space. An
// item that has a key twice asks for nothing that could have been trusted.
func (i Item) Identity() string {
	if key := i.Twice(); key != "" {
		return "twice " + key
	}
	var values [len(identityKeys)]gjson.Result
	gjson.Parse(i.raw).ForEach(func(key, value gjson.Result) bool {
		if n := slices.Index(identityKeys[:], key.Str); n > 0 { // 0 is the id
			values[n] = value
		}
		return true
	})
	var text []byte
	for n, value := range values {
		if value.Exists() {
			text = appendCanonical(append(text, identityKeys[n]...), value)
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// appendCanonical adds a value to text, in the same way for all spellings of it.
func appendCanonical(text []byte, v gjson.Result) []byte {
	switch {
	case v.Type == gjson.String:
		return appendText(text, '"', strings.ReplaceAll(v.Str, "\r\n", "\n"))
	case v.Type == gjson.Number:
		return strconv.AppendFloat(append(text, ' '), v.Num, 'g', -1, 64)
	case v.IsArray():
		text = append(text, '[')
		for _, value := range v.Array() {
			text = appendCanonical(text, value)
		}
		return append(text, ']')
	case v.IsObject():
		values := v.Map()
		for _, key := range slices.Sorted(maps.Keys(values)) {
			text = appendCanonical(appendText(text, '{', key), values[key])
		}
		return append(text, '}')
	}
	return append(append(text, ' '), v.Raw...)
}

// appendText adds s to text behind its kind and its length, which show where it ends.
func appendText(text []byte, kind byte, s string) []byte {
	return append(append(strconv.AppendInt(append(text, kind), int64(len(s)), 10), ':'), s...)
}

// Lost returns those ids of was that the work of the list no longer has, or whose items
// ask for something else now, sorted. Was has an Identity for each id.
func (l List) Lost(was map[string]string) (lost []string) {
	for id, identity := range was {
		if item, has := l.Find(id); !has || item.Identity() != identity {
			lost = append(lost, id)
		}
	}
	slices.Sort(lost)
	return lost
}
