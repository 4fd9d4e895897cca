package features

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// contract is a list of one shape as a person trusted it, and what its file says later.
type contract struct {
	name, text string
	rows       []contractRow
}

// contractRow says what a file differs in, as "what→by what", with ¦ between several; "*" stands for the whole text.
// Wanted are the items (x: done, !: blocked, +: added), the id of the next one, and what does not count.
type contractRow struct{ edits, want string }

// contracts reads testdata/contract.
func contracts(t testing.TB) (all []contract) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("testdata", "contract", "*.txtar"))
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		one := contract{name: name}
		for n, file := range archive.Files {
			text := strings.TrimSuffix(string(file.Data), "\n")
			if n == 0 {
				one.text = text
				continue
			}
			one.rows = append(one.rows, contractRow{text, file.Name})
		}
		all = append(all, one)
	}
	return all
}

// edit returns a text with the edits of a row.
func (r contractRow) edit(t *testing.T, text string) string {
	t.Helper()
	for edit := range strings.SplitSeq(r.edits, "¦") {
		from, to, _ := strings.Cut(edit, "→")
		if from == "*" {
			text = to
			continue
		}
		if !strings.Contains(text, from) {
			t.Fatalf("%q is not in %s", from, text)
		}
		text = strings.Replace(text, from, to, 1)
	}
	return text
}

// TestContract has what files say after their lists were trusted. What is claimed and then taken back is marked in the
// file, which else stays as it is.
func TestContract(t *testing.T) {
	all := contracts(t)
	if len(all) < 9 {
		t.Errorf("only %d shapes", len(all))
	}
	for _, tc := range all {
		if len(tc.rows) < 21 {
			t.Errorf("%s: only %d rows", tc.name, len(tc.rows))
		}
		trusted, err := Parse([]byte(tc.text))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		for _, row := range tc.rows {
			text := row.edit(t, tc.text)
			file, err := Parse([]byte(text))
			if err != nil && !errors.Is(err, ErrEmpty) {
				t.Fatalf("%s: %s: %v", tc.name, text, err)
			}
			l := trusted.TakeFlags(file)
			if got := strings.TrimSpace(shown(l)); got != row.want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", tc.name, text, got, row.want)
			}
			if err := takesBack(trusted, l, text); err != nil {
				t.Errorf("%s: %s: %v", tc.name, text, err)
			}
		}
	}
}

// shown returns the items of a list, the next one, and what does not count.
func shown(l List) string {
	var items, changes []string
	for _, item := range l.Items {
		state := ""
		if item.IsAdded {
			state = "+"
		}
		if item.Blocked {
			state += "!"
		}
		if item.Passes {
			state += "x"
		}
		items = append(items, state+item.ID)
	}
	for _, change := range l.Changes {
		changes = append(changes, change.ID+" was "+change.How)
	}
	next, _ := l.Next()
	return strings.Join(items, " ") + " | " + next.ID + " | " + strings.Join(changes, ", ")
}

// takesBack takes each claim of l back, one by one, in the text of its file.
func takesBack(contract, l List, text string) error {
	for _, item := range l.Items {
		if !item.Passes {
			continue
		}
		file, err := Parse([]byte(text))
		if err != nil {
			return err
		}
		edited, err := file.Mark([]byte(text), l, []string{item.ID}, false)
		if err != nil {
			return err
		}
		after, err := Parse(edited)
		if err != nil {
			return err
		}
		now, _ := contract.TakeFlags(after).Find(item.ID)
		if now.Passes || after.Passed() >= file.Passed() {
			return errors.New(item.ID + " still passes in " + string(edited))
		}
	}
	return nil
}

// TestBookkeeping has real pairs of files between which an agent has worked honestly.
func TestBookkeeping(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "bookkeeping", "*.before.json"))
	if len(files) < 4 {
		t.Fatalf("only %d pairs", len(files))
	}
	for _, name := range files {
		var lists [2]List
		for i, name := range []string{name, strings.Replace(name, ".before.", ".after.", 1)} {
			text, err := os.ReadFile(name)
			if err == nil {
				lists[i], err = Parse(text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		l := lists[0].TakeFlags(lists[1])
		if len(l.Changes) > 0 || l.Passed() != lists[1].Passed() || l.Passed() == 0 {
			t.Errorf("%s: %s", name, shown(l))
		}
	}
}

// FuzzTakeFlags reads any two texts as a contract and its file. The items of the contract come first, as they were, and
// an item passes only if something in the file does.
func FuzzTakeFlags(f *testing.F) {
	for _, tc := range contracts(f) {
		f.Add([]byte(tc.text), []byte(strings.Replace(tc.text, "false", "true", 1)))
	}
	f.Fuzz(func(t *testing.T, was, is []byte) {
		contract, err := Parse(was)
		if err != nil {
			return
		}
		file, err := Parse(is)
		if err != nil {
			return
		}
		l := contract.TakeFlags(file)
		if l.Passed() > file.Passed() {
			t.Fatalf("%d pass, and %d in the file", l.Passed(), file.Passed())
		}
		ids := map[string]bool{}
		for n, item := range l.all {
			if ids[item.ID] {
				t.Fatalf("two items are %q", item.ID)
			}
			ids[item.ID] = true
			if n < len(contract.all) && (item.ID != contract.all[n].ID || item.raw != contract.all[n].raw) {
				t.Fatalf("item %d is %q, and was %q", n, item.ID, contract.all[n].ID)
			}
			if n >= len(contract.all) && !item.IsAdded {
				t.Fatalf("%q was not trusted", item.ID)
			}
			l.Why(item)
		}
		if next, open := l.Next(); open != (len(l.Order()) > 0) {
			t.Fatalf("next is %q, and %d items are in order", next.ID, len(l.Order()))
		}
	})
}
