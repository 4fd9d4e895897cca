package features

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Track returns a list of all that a tracker has printed, and of what known, an
// earlier such list, has besides. Of that show returns the tracker's word, nothing
// where it has none; then it is gone: neither open nor done.
func Track(known, printed []byte, show func(id string) []byte) ([]byte, error) {
	if len(bytes.TrimSpace(printed)) == 0 {
		printed = []byte("[]") // sqlite3 prints no row so
	}
	now, problems := parse(printed, "")
	if len(problems) > 0 {
		return nil, fmt.Errorf("what it printed is no list: %v", problems[0])
	}
	before, _ := parse(known, "")
	if len(now.all)+len(before.all) == 0 {
		return nil, errors.New("it printed no items")
	}
	var raws []string
	for n := range now.all {
		if item := &now.all[n]; item.derived {
			return nil, fmt.Errorf("its item %d has no id", item.number)
		}
		if !now.all[n].sub {
			raws = append(raws, now.all[n].raw)
		}
	}
	for n := range before.all {
		item := &before.all[n]
		if at := now.place(item.ID); at >= 0 || item.sub {
			continue
		}
		word := show(item.ID)
		if bytes.HasPrefix(bytes.TrimSpace(word), []byte("{")) { // one item, over several lines perhaps
			word = slices.Concat([]byte("["), word, []byte("]"))
		}
		shown, problems := parse(word, "")
		if at := shown.place(item.ID); at >= 0 && len(problems) == 0 {
			raws = append(raws, shown.all[at].raw)
			continue
		}
		raw, err := sjson.Set(item.raw, markKeys[status], gone)
		for _, m := range []mark{completed, passes} {
			if err == nil {
				raw, err = sjson.Delete(raw, markKeys[m])
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", plain.Line(item.ID, 80), err)
		}
		raws = append(raws, raw)
	}
	return []byte("[\n" + strings.Join(raws, ",\n") + "\n]\n"), nil
}
