package features

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// items returns an array of n items. Each is the pattern with its number in place of N.
func items(n int, pattern string) []byte {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(pattern, "N", fmt.Sprint(i)) + ",")
	}
	return []byte("[" + strings.TrimSuffix(b.String(), ",") + "]")
}

// TestLinear runs each operation on a list, and on one of 16 times the length. Linear work
// takes about 16 times as long then, quadratic work 256 times.
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
			return func() error { _, err := l.Reopen(data, l, ids(l)); return err }
		},
		"reopen all that have no id and have moved": func(n int) func() error {
			was := read(items(n, `{"description":"N","passes":true}`))
			data := []byte(`[{"description":"new","passes":true},` +
				string(items(n, `{"description":"N","passes":true}`))[1:])
			l := read(data)
			return func() error { _, err := l.Reopen(data, was, ids(was)); return err }
		},
		"restore": func(n int) func() error {
			data := items(n, `{"id":"N","title":"t","status":"todo"}`)
			l := read(items(n, `{"id":"N","title":"t","status":"done"}`))
			return func() error { _, err := l.Restore(data); return err }
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
		"keys that are left": func(n int) func() error {
			data := items(n, `{"id":"N","kN":1}`)
			l := read(data)
			return func() error {
				if left := l.Left(data, ToPRD); len(left) != n {
					return fmt.Errorf("%d keys are left", len(left))
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			// Some clocks tick every 16 ms only, so runs of 50 ms are timed together.
			took := func(do func() error) time.Duration {
				begin, runs := time.Now(), 0
				for ; time.Since(begin) < 50*time.Millisecond; runs++ {
					if err := do(); err != nil {
						t.Fatal(err)
					}
				}
				return time.Since(begin) / time.Duration(runs)
			}
			short, long := prepare(1000), prepare(16_000)
			least := time.Duration(math.MaxInt64)
			for range 4 {
				least = min(least, took(short))
			}
			// Another process can only make a run longer, so one short enough run is proof.
			begin, longest := time.Now(), 64*least
			for took(long) > longest {
				if time.Since(begin) > 10*time.Second {
					t.Fatalf("1,000 items take %v, and no run of 16,000 takes less than %v", least, longest)
				}
			}
		})
	}
}
