package loopdir

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

func newLoop(t testing.TB) *Loop {
	t.Helper()
	project := t.TempDir()
	dir := filepath.Join(project, Below, "checkout")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := Find(Where{StateDir: t.TempDir(), LoopDir: dir, Cwd: project})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// opened opens a loop for a test.
func opened(t testing.TB, l *Loop) *Store {
	t.Helper()
	s, err := l.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// lock holds the loop's lock for the rest of a test.
func lock(t testing.TB, s *Store) {
	t.Helper()
	unlock, err := s.Lock(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unlock)
}

// bump adds one to the iteration of the record.
func bump(l *Loop, lock bool) error {
	s, err := l.Open()
	if err != nil {
		return err
	}
	defer s.Close()
	if lock {
		unlock, err := s.Lock(30 * time.Second)
		if err != nil {
			return err
		}
		defer unlock()
	} else if err := s.openState(true); err != nil {
		return err
	}
	state, err := s.State()
	if err != nil {
		return err
	}
	if state.Schema == 0 {
		state = decide.State{
			Schema: decide.SchemaVersion,
			Ending: decide.Ending{Status: decide.InProgress},
		}
	}
	runtime.Gosched()
	state.Iteration++
	state.Header = decide.HeaderOf(state, 15)
	unshown, err := s.Commit(state)
	return errors.Join(unshown, err)
}

// TestLock lets many writers count at once. As the control, it counts without the lock,
// which must lose counts.
func TestLock(t *testing.T) {
	const writers = 200
	count := func(lock bool) int {
		l := newLoop(t)
		slots := make(chan bool, 16)
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				slots <- true
				if err := bump(l, lock); err != nil && lock {
					t.Error(err)
				}
				<-slots
			})
		}
		all.Wait()
		s, err := l.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		state, err := s.State()
		if err != nil {
			t.Fatal(err)
		}
		return state.Iteration
	}
	if got := count(true); got != writers {
		t.Errorf("counted %d of %d with the lock", got, writers)
	}
	if got := count(false); got == writers {
		t.Errorf("control: nothing was lost without the lock, so this test proves nothing")
	}
}

func TestLockWaits(t *testing.T) {
	l := newLoop(t)
	s := opened(t, l)
	unlock, err := s.Lock(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	other := opened(t, l)
	if _, err := other.Lock(30 * time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("a lock that is held: %v, want ErrLocked", err)
	}
	unlock()
	unlock, err = other.Lock(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for perm, want := range map[os.FileMode]os.FileMode{0o644: 0o664, 0o600: 0o600} { // a file of mode 0600 stays private
		if err := Replace(root, "new", []byte("a"), perm); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, "new"), 0o664); err != nil {
			t.Fatal(err)
		}
		if err := Replace(root, "new", []byte("b"), perm); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "new"))
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("mode %v, want %v", info.Mode(), want)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Replace(root, "folder", []byte("c"), 0o600); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v, want ErrNotRegular", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestSweep checks that sweep removes the temporary file of a killed writer, and nothing
// else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stay := []string{
		"state.json", ".state.json", ".state.jsonx123456789012345678", ".state.json20251101123456",
		".other.json123456789012345678",
	}
	later := time.Now().Add(time.Hour) // another machine's clock
	for _, name := range append(stay, ".state.json123456789012345678") {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, later, later)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := root.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	sweep(root, d, "state.json", 0)
	d.Close()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(stay) {
		t.Errorf("%v, %v; want %v", entries, err, stay)
	}
}

func TestLogs(t *testing.T) {
	l := newLoop(t)
	s := opened(t, l)
	if got := s.LogIteration(); got != 0 {
		t.Errorf("no log: iteration %d", got)
	}
	line := strings.Repeat("x", 1000)
	for n := range 3000 {
		s.Log(line, map[string]int{"iteration": n + 1})
	}
	if got := s.LogIteration(); got != 3000 {
		t.Errorf("iteration %d, want 3000", got)
	}
	for _, name := range []string{HookLog, HookLog + ".1"} {
		info, err := os.Stat(filepath.Join(l.Dir, name))
		if err != nil || info.Size() > maxLog || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if tail := s.LogTail(10); string(tail) != "xxxxxxxxx\n" {
		t.Errorf("tail %q", tail)
	}
	for _, text := range []string{
		"garbage\n", "{\"iteration\": -5}\n", "{\"iteration\": 1e300}\n", "{\"iteration\": \"7\"\n", "\n\n",
	} {
		if err := os.WriteFile(filepath.Join(l.Dir, StopLog), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := s.LogIteration(); got != 0 {
			t.Errorf("%q: iteration %d", text, got)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, good := range []string{"a", "checkout", "größer 🚀", "a.b", "A_1"} {
		if err := CheckName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", ".", "..", "a/b", `a\b`, "-x", "current", "a..b", " a", "a ", "a.", "a\nb", "a\x1bb", "a\u009bb",
		"a\xffb", "a:b", strings.Repeat("a", 101),
	} {
		if CheckName(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestReopen reopens features one by one and checks the list and its backup. A write whose
// confirmation fails must leave no temporary file.
func TestReopen(t *testing.T) {
	l := newLoop(t)
	path := filepath.Join(l.Dir, ListFile)
	if err := os.WriteFile(path, []byte(`[{"id":"a","passes":true},{"id":"b","passes":true}]`), 0o640); err != nil {
		t.Fatal(err)
	}
	s := opened(t, l)
	lock(t, s)
	for _, id := range []string{"a", "b"} {
		if err := s.Mark(path, s.List(path, features.Reading{}).List, []string{id}, false); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		ListFile:   `[{"id":"a","passes":false},{"id":"b","passes":false}]`,
		backupFile: `[{"id":"a","passes":true},{"id":"b","passes":true}]`,
	} {
		if got, err := os.ReadFile(filepath.Join(l.Dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	root, err := os.OpenRoot(l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	moved := errors.New("moved")
	err = replace(root, ListFile, []byte("x"), 0o600, true, func(string) error { return moved })
	if !errors.Is(err, moved) {
		t.Errorf("%v", err)
	}
	if names, _ := filepath.Glob(filepath.Join(l.Dir, "."+ListFile+"*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
	if err := s.Mark(filepath.Join(filepath.Dir(l.Project), "x.json"), features.List{}, nil, false); err == nil {
		t.Error("a list outside the project was taken")
	}
}

// TestListInFolder checks that the temporary files of an earlier run are removed from the
// list's folder, which need not be the loop folder.
func TestListInFolder(t *testing.T) {
	l := newLoop(t)
	dir := filepath.Join(l.Project, "docs")
	path := filepath.Join(dir, "prd.json")
	list := []byte(`[{"id":"a","passes":true}]`)
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(path, list, 0o644)); err != nil {
		t.Fatal(err)
	}
	s := opened(t, l)
	left := []string{filepath.Join(dir, ".prd.json123456712345678"), filepath.Join(l.Dir, ".list.bak123456712345678")}
	for name, sweep := range map[string]func() error{
		"Mark": func() error {
			return s.Mark(path, s.List(path, features.Reading{}).List, []string{"a"}, false)
		},
		"SweepList": func() error { s.SweepList(path); return nil },
	} {
		for _, name := range left {
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_ = os.Remove(filepath.Join(l.Dir, backupFile))
		if err := sweep(); err != nil {
			t.Fatal(err)
		}
		for _, path := range left {
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("%s left %s behind", name, path)
			}
		}
	}
}

// TestSetSourceTwice checks that SetSource removes only old temporary files. Trackers are
// asked without the lock, so another process may still write a new one.
func TestSetSourceTwice(t *testing.T) {
	l := newLoop(t)
	s := opened(t, l)
	lock(t, s)
	now := filepath.Join(l.StatePath(), ".source.json123456712345678")
	killed := filepath.Join(l.StatePath(), ".source.json765432112345678")
	old := time.Now().Add(-time.Hour)
	err := errors.Join(
		os.WriteFile(now, nil, 0o600), os.WriteFile(killed, nil, 0o600), os.Chtimes(killed, old, old),
		s.SetSource([]byte("[]")),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(now); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(killed); err == nil {
		t.Errorf("%s is left", killed)
	}
}

// TestBindSweeps checks that Bind removes an old temporary file of another session.
func TestBindSweeps(t *testing.T) {
	l := newLoop(t)
	s := opened(t, l)
	dir := filepath.Join(l.stateDir, "sessions")
	left := filepath.Join(dir, ".s9-11234567890123456")
	old := time.Now().Add(-time.Hour)
	err := errors.Join(s.Bind("s1"), os.WriteFile(left, nil, 0o600), os.Chtimes(left, old, old), s.Bind("s2"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v; want s1 and s2", entries, err)
	}
}

// TestTellOnce has many processes say the same at once: one of them says it, and no other file is left.
func TestTellOnce(t *testing.T) {
	l := newLoop(t)
	var said atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if l.FirstTime("s1") {
				said.Add(1)
			}
		})
	}
	all.Wait()
	if n := said.Load(); n != 1 {
		t.Errorf("said %d times", n)
	}
	for i := range 2 * maxMessages {
		if !l.FirstTime(strconv.Itoa(i)) {
			t.Errorf("session %d was not told", i)
		}
	}
	left, err := os.ReadDir(filepath.Join(l.stateDir, messagesFolder))
	if err != nil || len(left) != maxMessages {
		t.Errorf("%d files are left: %v", len(left), err)
	}
	if last := strconv.Itoa(2*maxMessages - 1); l.FirstTime(last) {
		t.Errorf("session %s was told twice", last)
	}
}

// TestTrustedList keeps the list that a person has trusted beside the record of trust.
func TestTrustedList(t *testing.T) {
	s := opened(t, newLoop(t))
	lock(t, s)
	files := func() int {
		names, _ := filepath.Glob(filepath.Join(s.Loop.StatePath(), listPrefix+"*"))
		return len(names)
	}
	for n, text := range []string{"- [ ] a", "- [ ] b", "- [ ] c", "", "- [ ] c", ""} {
		trust := config.NewTrust([]byte("{}"), "")
		if text != "" {
			trust.SetList(text)
		}
		if err := s.SetTrust(trust); err != nil {
			t.Fatal(err)
		}
		got, err := s.Trust()
		if err != nil || got.ListText != text || files() > 2 {
			t.Fatalf("trust %d: the list is %q in one of %d files, want %q: %v", n, got.ListText, files(), text, err)
		}
	}
	if err := s.SetTrust(config.NewTrust([]byte("{}"), "")); err != nil || files() != 0 {
		t.Errorf("%d lists are left: %v", files(), err)
	}

	// What a command of the loop does to the list is undone. One that is not what was trusted is not believed.
	trust := config.NewTrust([]byte("{}"), "")
	trust.SetList("- [ ] a")
	path := filepath.Join(s.Loop.StatePath(), listPrefix+trust.ListSHA256)
	err := s.SetTrust(trust)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Backup("")
	if err != nil {
		t.Fatal(err)
	}
	for _, spoil := range []func() error{
		func() error { return os.Remove(path) },
		func() error { return os.WriteFile(path, []byte("- [x] a"), 0o600) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if got, err := opened(t, s.Loop).Trust(); err == nil {
			t.Errorf("the list %q is believed", got.ListText)
		}
		changed, err := s.Restore(kept)
		if err != nil || changed != path {
			t.Errorf("changed is %q, %v", changed, err)
		}
		if got, err := opened(t, s.Loop).Trust(); err != nil || got.ListText != "- [ ] a" {
			t.Errorf("the list is not as it was: %v", err)
		}
	}
}

// TestProofFolder has a command put another folder in the place of the one with the baseline.
func TestProofFolder(t *testing.T) {
	s := opened(t, newLoop(t))
	path := filepath.Join(s.Loop.StatePath(), ProofFolder)
	err := s.Locked(time.Second, func() error { return s.SaveState(record(1)) })
	err = errors.Join(err, os.Mkdir(path, 0o700))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Backup("")
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := s.Restore(kept); err != nil || changed != "" {
		t.Errorf("%q was changed, %v", changed, err)
	}
	err = errors.Join(os.Rename(path, path+".old"), os.MkdirAll(filepath.Join(path, "objects"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	changed, err := s.Restore(kept)
	if err != nil || changed != path || Exists(filepath.Join(path, "objects")) {
		t.Errorf("%q was changed, %v", changed, err)
	}
}

// TestCopyFolders has records of trust name a folder for copies. A record in the project is not believed.
func TestCopyFolders(t *testing.T) {
	project, caches := t.TempDir(), t.TempDir()
	trust := config.NewTrust([]byte("{}"), "")
	trust.CopyDir = filepath.Join(caches, "key", "project")
	text, err := json.Marshal(trust)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(trust.CopyDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string][]string{t.TempDir(): {filepath.Join(caches, "key")}, project: nil} {
		path := filepath.Join(state, "key")
		err := errors.Join(os.Mkdir(path, 0o755), os.WriteFile(filepath.Join(path, trustFile), text, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		if got := CopyFolders(t.TempDir(), path, project); !slices.Equal(got, want) {
			t.Errorf("the record in %s names %q, want %q", state, got, want)
		}
	}
}

// TestGlob finds files in a folder whose name has what patterns have.
func TestGlob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my [project]")
	want := filepath.Join(dir, "lib", "a.txt")
	if err := os.MkdirAll(filepath.Dir(want), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Glob(dir, "l*/*.txt"); len(got) != 1 || got[0] != want {
		t.Errorf("found %q", got)
	}
	if got := Glob(filepath.Join(dir, "none"), "*"); got != nil {
		t.Errorf("found %q in no folder", got)
	}
}
