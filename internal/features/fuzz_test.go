package features

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

func addLists(f *testing.F) {
	seeds.Add(f, "*list*.json", "prd.json", "*.json")
	for _, seed := range []string{
		`[{"id":1,"passes":true},{"id":"b"}]`, "\xef\xbb\xbf{\"features\":[{\"p\\u0061sses\":true}]}\r\n",
		`{"userStories":[{"id":"US-1","priority":"P0","x":"é"}]}`, "[\n{},\n]",
	} {
		f.Add([]byte(seed))
	}
}

// FuzzReopen reopens the features that pass one by one. Each time, one value of the text
// must change and no other byte, and one feature more must be open.
func FuzzReopen(f *testing.F) {
	addLists(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := reopens(data, reopen); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
	})
}

func reopen(l List, data []byte, was List, ids []string) ([]byte, error) {
	return l.Mark(data, was, ids, false)
}

func reopens(data []byte, reopen func(List, []byte, List, []string) ([]byte, error)) error {
	l, err := Parse(data)
	if err != nil {
		return nil
	}
	tried := 0
	for i, item := range l.Items {
		if tried++; tried > 20 {
			break
		}
		out, err := reopen(l, data, l, []string{item.ID})
		if err != nil {
			return err
		}
		if !item.Passes {
			if !bytes.Equal(out, data) {
				return fmt.Errorf("%s was open, and it became %q", item.ID, out)
			}
			continue
		}
		after, err := Parse(out)
		if err != nil || len(after.Items) != len(l.Items) || after.Items[i].Passes {
			return fmt.Errorf("without %s it is %q: %v", item.ID, out, err)
		}
		// With a subtask its tasks are opened, and with these what was done with them.
		opened := map[int]bool{}
		for _, other := range l.Items {
			if other.ID == item.ID || strings.HasPrefix(item.ID, other.ID+".") {
				opened[other.markAt] = true
			}
		}
		for n, other := range l.Items {
			if was := other.Passes && !opened[other.markAt]; was != after.Items[n].Passes {
				return fmt.Errorf("without %s, whether %s passes is %v: %q", item.ID, other.ID, !was, out)
			}
		}
		if !after.Items[i].same(item) || !slices.EqualFunc(after.Items[:i], l.Items[:i], Item.same) ||
			!slices.EqualFunc(after.Items[i+1:], l.Items[i+1:], Item.same) {
			return fmt.Errorf("without %s another feature is another: %q", item.ID, out)
		}
		if len(opened) > 1 {
			continue
		}
		head, tail := data[:item.passesStart(data)], data[item.passesEnd(data):]
		if !bytes.HasPrefix(out, head) || !bytes.HasSuffix(out, tail) {
			return fmt.Errorf("without %s more than its value has changed: %q", item.ID, out)
		}
	}
	return nil
}

func (i Item) same(other Item) bool {
	return i.ID == other.ID && i.Title() == other.Title() && i.Description() == other.Description() &&
		i.Priority == other.Priority
}

func (i Item) passesStart(data []byte) int {
	return len(data) - len(bytes.TrimPrefix(data, jsontext.BOM)) + i.markAt
}

func (i Item) passesEnd(data []byte) int { return i.passesStart(data) + i.markLen }

// TestReopenControls checks that the property of FuzzReopen rejects bad results.
func TestReopenControls(t *testing.T) {
	list := []byte(`[{"id":"a","passes":true,"n":1.0},{"id":"b","passes":true}]`)
	if err := reopens(list, reopen); err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string]func(l List, data []byte, ids []string) []byte{
		"changes nothing": func(_ List, data []byte, _ []string) []byte { return data },
		"takes all back": func(_ List, data []byte, _ []string) []byte {
			return bytes.ReplaceAll(data, []byte("true"), []byte("false"))
		},
		"takes the first": func(_ List, data []byte, _ []string) []byte {
			return bytes.Replace(data, []byte("true"), []byte("false"), 1)
		},
		"spells numbers anew": func(l List, data []byte, ids []string) []byte {
			return bytes.Replace(reopened(l, data, ids), []byte("1.0"), []byte("1"), 1)
		},
		"adds a line end": func(l List, data []byte,
			ids []string) []byte {
			return append(reopened(l, data, ids), '\n')
		},
		"breaks it": func(List, []byte, []string) []byte { return []byte("[") },
	} {
		reopen := func(l List, data []byte, _ List, ids []string) ([]byte, error) { return broken(l, data, ids), nil }
		if reopens(list, reopen) == nil {
			t.Errorf("control: one that %s was not caught", name)
		}
	}
}

func reopened(l List, data []byte, ids []string) []byte {
	out, _ := l.Mark(data, l, ids, false)
	return out
}

// FuzzCheck looks for what is wrong with lists. Check must find a problem in each text that Parse refuses.
func FuzzCheck(f *testing.F) {
	for _, tc := range samples {
		f.Add([]byte(strings.NewReplacer("«", "", "|", "", "»", "").Replace(tc.text)))
		f.Add([]byte(asClaimed.Replace(tc.text)))
	}
	for _, tc := range beads {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, problems, _ := Reading{}.Check(data)
		l, err := Parse(data)
		if err != nil && len(problems) == 0 {
			t.Fatalf("Parse refuses the text, and Check finds no problem: %v", err)
		}
		l.Stuck()
	})
}
