package features

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
)

// items returns an array of n items. Each is the pattern with its number in place of N.
func items(n int, pattern string) []byte {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(pattern, "N", fmt.Sprint(i)) + ",")
	}
	return []byte("[" + strings.TrimSuffix(b.String(), ",") + "]")
}

// TestLinear runs each operation on lists of two lengths.
func TestLinear(t *testing.T) {
	read := func(data []byte) List {
		l, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	ids := func(l List) (ids []string) {
		for _, item := range l.Items {
			ids = append(ids, item.ID)
		}
		return ids
	}
	for name, prepare := range map[string]func(n int) (do func() error){
		"parse ids that do not ascend": func(n int) func() error {
			data := items(n, `{"title":"N"},{"id":"N-x"}`)
			return func() error { _, err := Parse(data); return err }
		},
		"reopen all, and no word for it in the list": func(n int) func() error {
			data := items(n, `{"id":"N","title":"t","status":"done"}`)
			l := read(data)
			return func() error { _, err := l.Mark(data, l, ids(l), false); return err }
		},
		"reopen all that have no id and have moved": func(n int) func() error {
			was := read(items(n, `{"description":"N","passes":true}`))
			data := []byte(`[{"description":"new","passes":true},` +
				string(items(n, `{"description":"N","passes":true}`))[1:])
			l := read(data)
			return func() error { _, err := l.Mark(data, was, ids(was), false); return err }
		},
		"take the flags of a list whose items have no id, have moved and are reworded": func(n int) func() error {
			was := read(items(n, `{"description":"N"}`))
			now := read([]byte(`[{"description":"new","passes":true},` +
				string(items(n, `{"description":"N","passes":true},{"description":"other N"}`))[1:]))
			return func() error {
				if passed := was.TakeFlags(now).Passed(); passed != n+1 {
					return fmt.Errorf("%d items pass", passed)
				}
				return nil
			}
		},
		"order, each item before those in front of it": func(n int) func() error {
			n *= 4
			l := read(items(n, `{"id":"N","priority":-N}`))
			return func() error {
				if len(l.Order()) != n {
					return fmt.Errorf("%d items are in order", len(l.Order()))
				}
				return nil
			}
		},
		"order and waiting, many children of an epic that needs many": func(n int) func() error {
			data := []byte(`[{"id":"e","title":"t","dependencies":` + string(items(n, `"N"`)) + "}," +
				string(items(n, `{"id":"N","title":"t"}`))[1:])
			children := items(n, `{"id":"c-N","title":"t","dependencies":[{"depends_on_id":"e","type":"parent-child"}]}`)
			data = append(append(data[:len(data)-1], ','), children[1:]...)
			return func() error {
				if l := read(data); len(l.Order()) != 2*n+1 {
					return fmt.Errorf("%d items are in order", len(l.Order()))
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) { hostile.Linear(t, 1000, prepare) })
	}
}
