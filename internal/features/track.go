package features

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Track merges a list that a tracker has printed into known, an earlier result of Track. For an
// item that is only in known, show returns what the tracker says about it, or nothing. Then the
// item gets the status deletedStatus and counts as blocked. Items keep only the keys that are read.
// Other keys depend on the tracker's command, and change by themselves.
func Track(known, printed []byte, show func(id string) []byte) ([]byte, error) {
	if len(bytes.TrimSpace(printed)) == 0 {
		printed = []byte("[]") // sqlite3 prints nothing if there is no row
	}
	now, problems := Reading{}.parse(printed)
	if len(problems) > 0 {
		return nil, fmt.Errorf("its output is not a list: %v", problems[0])
	}
	before, _ := Reading{}.parse(known)
	if len(now.all)+len(before.all) == 0 {
		return nil, errors.New("it printed no items")
	}
	var raws []string
	for n := range now.all {
		item := &now.all[n]
		if item.Derived {
			return nil, fmt.Errorf("its item %d has no id", item.number)
		}
		if !item.isSubtask {
			raws = append(raws, withReadKeys(item.raw))
		}
	}
	for n := range before.all {
		item := &before.all[n]
		if now.index(item.ID) >= 0 || item.isSubtask {
			continue
		}
		raw, has := shownItem(item.ID, show(item.ID))
		if !has {
			var err error
			raw, err = setDeleted(item.raw)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", plain.Line(item.ID, 80), err)
			}
		}
		raws = append(raws, withReadKeys(raw))
	}
	return []byte("[\n" + strings.Join(raws, ",\n") + "\n]\n"), nil
}

// withReadKeys returns an item with those of its keys that are read.
func withReadKeys(raw string) string {
	var kept []string
	for key, value := range gjson.Parse(raw).ForEach {
		if !slices.Contains(readKeys(), key.Str) {
			continue
		}
		text := value.Raw
		if key.Str == "subtasks" && value.IsArray() {
			var parts []string
			for _, part := range value.Array() {
				parts = append(parts, withReadKeys(part.Raw))
			}
			text = "[" + strings.Join(parts, ",") + "]"
		}
		kept = append(kept, key.Raw+":"+text)
	}
	return "{" + strings.Join(kept, ",") + "}"
}

// shownItem returns the item of that id in what a tracker has printed of it.
func shownItem(id string, printed []byte) (raw string, has bool) {
	if bytes.HasPrefix(bytes.TrimSpace(printed), []byte("{")) { // one item, perhaps over several lines
		printed = slices.Concat([]byte("["), printed, []byte("]"))
	}
	list, problems := Reading{}.parse(printed)
	at := list.index(id)
	if at < 0 || len(problems) > 0 {
		return "", false
	}
	return list.all[at].raw, true
}

// setDeleted returns an item with deletedStatus as its only mark.
func setDeleted(raw string) (string, error) {
	raw, err := sjson.Set(raw, markKeys[status], deletedStatus)
	for m := finished; m <= passes; m++ {
		if err == nil {
			raw, err = sjson.Delete(raw, markKeys[m])
		}
	}
	return raw, err
}
