package loopdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// TestSeen reads a list again and again. It is parsed anew only if something may have changed, also if the text is as
// long as before.
func TestSeen(t *testing.T) {
	dir := t.TempDir()
	const open, done = `[{"id": "a", "passes": false}]`, `[{"id": "a", "passes": true }]`
	const later = `[{"id": "a", "passes": false, "defer_until": "2020-01-01"}]`
	const escaped = `[{"id": "a", "passes": false, "defer\u005funtil": "2020-01-01"}]`
	const named = `[{"id": "a", "passes": false, "title": "Read defer_until"}]`
	const subtask = `[{"id": "a", "passes": false, "subtasks": [{"id": 1, "defer\u005funtil": "2020-01-01"}]}]`
	const lines = `{"id": "a", "title": "A", "status": "open"}` + "\n" +
		`{"id": "b", "title": "B", "status": "open", "defer\u005funtil": "2020-01-01"}`
	for _, tc := range []struct {
		name, before, after string
		how                 features.Reading
		same                bool
	}{
		{"nothing changed", open, open, features.Reading{}, true},
		{"as long as before", open, done, features.Reading{}, false},
		{"longer", open, open + "\n", features.Reading{}, false},
		{"shorter", open + "\n", open, features.Reading{}, false},
		{"read in another way", open, open, features.Reading{Skip: []string{"Later"}}, false},
		{"the time counts", later, later, features.Reading{}, false},
		{"the time counts, with an escape in the key", escaped, escaped, features.Reading{}, false},
		{"the time counts in a subtask", subtask, subtask, features.Reading{}, false},
		{"the time counts in a line", lines, lines, features.Reading{}, false},
		{"a title names the key", named, named, features.Reading{}, true},
		{"broken", "[", "[", features.Reading{}, false},
		{"empty", "", "", features.Reading{}, false},
	} {
		s, path := Seen{}, filepath.Join(dir, ListFile)
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(tc.before)
		was := s.read(path, features.Reading{}, []string{dir})
		write(tc.after)
		is, anew := s.read(path, tc.how, []string{dir}), ReadList(path, tc.how, dir)
		same := len(was.Items) > 0 && len(is.Items) > 0 && &was.Items[0] == &is.Items[0]
		if same != tc.same || is.Digest() != anew.Digest() || (is.Err == nil) != (anew.Err == nil) {
			t.Errorf("%s: the same list is %t, %v; want %v", tc.name, same, is, anew)
		}
	}
}

// TestSeenGone reads a list that somebody has removed, or replaced by a link, since.
func TestSeenGone(t *testing.T) {
	dir, s := t.TempDir(), Seen{}
	path := filepath.Join(dir, ListFile)
	if err := os.WriteFile(path, []byte(`[{"id": "a", "passes": false}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if was := s.read(path, features.Reading{}, []string{dir}); was.Err != nil {
		t.Fatal(was.Err)
	}
	if err := os.Rename(path, path+"~"); err != nil {
		t.Fatal(err)
	}
	if is := s.read(path, features.Reading{}, []string{dir}); !is.Missing {
		t.Errorf("it is gone: %v", is)
	}
	if err := os.Symlink(ListFile+"~", path); err != nil {
		t.Skip(err)
	}
	if is := s.read(path, features.Reading{}, []string{dir}); is.Err == nil {
		t.Errorf("it is a link: %v", is)
	}
}
