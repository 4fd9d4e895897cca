package features

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// identityKeys are the keys by which a feature is what it is. The rest an agent
// may write: passes, notes, times.
var identityKeys = [...]string{
	"id", "title", "name", "description", "details", "category", "steps", "acceptance", "acceptance_criteria", "acceptanceCriteria",
	"verify", "verification", "completionCriteria", "test_file", "testStrategy",
}

// Identity names what a feature asks for: another one asks for something else.
// How it is spelt (the order of keys, escapes, spaces) does not matter.
func (i Item) Identity() string {
	var values [len(identityKeys)]gjson.Result
	gjson.Parse(i.raw).ForEach(func(key, value gjson.Result) bool {
		if n := slices.Index(identityKeys[:], key.Str); n > 0 { // not the id
			values[n] = value
		}
		return true
	})
	var text []byte
	for n, value := range values {
		if value.Exists() {
			text = meaning(append(text, identityKeys[n]...), value)
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// meaning adds to text what a value means, however it is spelt.
func meaning(text []byte, v gjson.Result) []byte {
	switch {
	case v.Type == gjson.String:
		return named(text, '"', strings.ReplaceAll(v.Str, "\r\n", "\n"))
	case v.Type == gjson.Number:
		return strconv.AppendFloat(append(text, ' '), v.Num, 'g', -1, 64)
	case v.IsArray():
		text = append(text, '[')
		for _, value := range v.Array() {
			text = meaning(text, value)
		}
		return append(text, ']')
	case v.IsObject():
		values := v.Map()
		for _, key := range slices.Sorted(maps.Keys(values)) {
			text = meaning(named(text, '{', key), values[key])
		}
		return append(text, '}')
	}
	return append(append(text, ' '), v.Raw...)
}

// named adds a text to another so that it is clear where it ends.
func named(text []byte, kind byte, s string) []byte {
	return append(append(strconv.AppendInt(append(text, kind), int64(len(s)), 10), ':'), s...)
}

// Lost returns the ids of the items in was, identities by id, that are gone from
// the work of the list or ask for something else, sorted.
func (l List) Lost(was map[string]string) (lost []string) {
	for id, identity := range was {
		if item, has := l.Find(id); !has || item.Identity() != identity {
			lost = append(lost, id)
		}
	}
	slices.Sort(lost)
	return lost
}
