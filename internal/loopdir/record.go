package loopdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// The largest files that are read, in bytes. What we or an agent write is far smaller.
const (
	maxState    = 1 << 20
	maxProgress = 16 << 20
	maxTrust    = 16 << 20  // includes the hashes of files
	maxReceipts = 256 << 20 // about 300 bytes for each feature and check
	maxIndex    = 64 << 20  // about 150 bytes for each file
)

// The bounds of what an agent writes into its copy of progress.txt.
const (
	MaxNotes = 8 << 20  // bytes of the copy
	MaxNoted = 16 << 10 // characters that one session adds
)

// State returns the record. If there is none, the result has Schema 0. A record that
// cannot be read is an error: State never replaces it by a fresh one.
func (s *Store) State() (decide.State, error) {
	var state decide.State
	data, err := s.record(stateFile, maxState)
	if err == nil && data != nil {
		state, err = parseState(data)
	}
	if err == nil {
		return state, nil
	}
	path := filepath.Join(s.state.Name(), stateFile)
	if errors.Is(err, errHalf) {
		err = &Fix{err, "mv " + plain.Arg(path) + " " + plain.Arg(path+".broken")}
	}
	return decide.State{}, fmt.Errorf("the record %s cannot be used: %w", path, err)
}

// errHalf says of a record that no version of this program wrote all of it.
var errHalf = errors.New("move it away to start over")

// record reads a file of the record, as private does. While this store has the lock, it reads each one once: only what
// checks run could change it, and Restore puts it back.
func (s *Store) record(name string, limit int64) ([]byte, error) {
	data, known := s.cache[name]
	if known {
		return data, nil
	}
	data, err := s.private(name, limit)
	if err == nil && s.locked != nil {
		s.cache[name] = data
	}
	return data, err
}

// private reads a file of the state folder. It returns nil if there is no such file, and
// an error if somebody else may have written the file.
func (s *Store) private(name string, limit int64) ([]byte, error) {
	data, info, err := readInfo(s.state, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = private(info)
	}
	return data, err
}

// maxYear is the last year that a record may name. A later year could exceed 9999 in some
// time zone, and RFC 3339 has four digits for it.
const maxYear = 9000

// parseState reads a record and refuses one that no version of this program wrote.
func parseState(data []byte) (decide.State, error) {
	var state decide.State
	if err := jsontext.Read(data, &state); err != nil {
		return decide.State{}, fmt.Errorf("%w; %w", err, errHalf)
	}
	switch {
	case state.Schema > 0 && state.Schema != decide.SchemaVersion:
		return decide.State{}, fmt.Errorf("another version of ralph-stop-hook wrote it (schema %d); use that version",
			state.Schema)
	case state.Schema < 1, state.Status == "", state.Iteration < 1, state.Endings < 0,
		len(state.Lanes) > decide.MaxLanes,
		state.StartedAt.UTC().Year() < 1, state.StartedAt.UTC().Year() > maxYear,
		state.EndedAt.UTC().Year() < 1, state.EndedAt.UTC().Year() > maxYear: // JSON has no times of other years
		return decide.State{}, fmt.Errorf("fields are missing or make no sense; %w", errHalf)
	}
	return state, nil
}

// replaceJSON writes a record to the state folder, under the lock. It refuses a record
// that would be too large to read again.
func (s *Store) replaceJSON(name string, record any, limit int) error {
	data, err := jsontext.Indent(record)
	if err != nil {
		return err
	}
	if len(data) >= limit {
		return fmt.Errorf("%s: the record would be larger than %d MB", name, limit>>20)
	}
	return s.replaceRecord(name, data)
}

// replaceRecord writes a file of the record, under the lock.
func (s *Store) replaceRecord(name string, data []byte) error {
	delete(s.cache, name)
	return replace(s.state, name, data, 0o600, true, nil)
}

// Progress returns the content of progress.txt, or nil if there is no such file.
func (s *Store) Progress() ([]byte, error) { return optional(read(s.loop, ProgressFile, maxProgress)) }

// optional returns data and err, but nil and no error if the file does not exist.
func optional(data []byte, err error) ([]byte, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// AddNotes adds what somebody has written into another copy of progress.txt. given is that copy as it was before. Notes
// that the file has already are not added again.
func (s *Store) AddNotes(wait time.Duration, given, now []byte) error {
	notes := []byte(plain.Text(string(progress.NewNotes(given, now)), MaxNoted))
	if len(notes) == 0 {
		return nil
	}
	return s.Locked(wait, func() error {
		text, err := s.Progress()
		if err != nil {
			return err
		}
		edited := progress.Append(text, notes)
		switch {
		case len(edited) == len(text):
			return nil
		case len(edited) > maxProgress:
			return fmt.Errorf("%s would be larger than %d MB", ProgressFile, maxProgress>>20)
		}
		return s.WriteFile(ProgressFile, edited)
	})
}

// Commit writes next as the record and then updates the header of progress.txt. The
// rename of state.json is the commit point. After a crash before it, nothing has changed.
// After a crash behind it, the next run updates the header. Commit reads progress.txt
// again before it edits it, to keep a note that somebody has written meanwhile. unshown is
// an error behind the commit point: the record counts, and progress.txt does not show it.
func (s *Store) Commit(next decide.State) (unshown, err error) {
	if err := s.replaceJSON(stateFile, next, maxState); err != nil {
		return nil, fmt.Errorf("cannot save the loop's state in %w", err)
	}
	_ = s.state.Remove(troubleFile) // the trouble is over; usually the file does not exist
	return s.writeHeader(next), nil
}

// writeHeader writes the record's header to progress.txt.
func (s *Store) writeHeader(next decide.State) error {
	if err := s.restoreFolder(); err != nil {
		return fmt.Errorf("cannot create the loop folder again: %w", err)
	}
	text, err := s.Progress()
	if err != nil {
		return err
	}
	edited := progress.Edit(text, next.Header)
	if text != nil && bytes.Equal(text, edited) {
		return nil
	}
	if err := replace(s.loop, ProgressFile, edited, 0o644, true, nil); err != nil {
		return fmt.Errorf("cannot write %w", err)
	}
	return nil
}

// FinishCommit finishes a Commit that was cut off before it wrote progress.txt: the header
// there is still the previous one, or there is no file. It takes the lock only if there is
// something to do.
func (s *Store) FinishCommit(wait time.Duration) {
	pending := func() (decide.State, bool) {
		state, err := s.State()
		text, unread := s.Progress()
		h := progress.Parse(text)
		cut := h == state.Before || text == nil && s.loop != nil
		return state, err == nil && unread == nil && cut && h != state.Header
	}
	if _, is := pending(); !is {
		return
	}
	unlock, err := s.Lock(wait)
	if err != nil {
		return
	}
	defer unlock()
	if state, is := pending(); is {
		_ = s.writeHeader(state) // the next run tries again
	}
}

// WriteFile writes a file of the loop folder, under the lock.
func (s *Store) WriteFile(name string, data []byte) error {
	if err := s.restoreFolder(); err != nil {
		return fmt.Errorf("cannot create the loop folder again: %w", err)
	}
	return replace(s.loop, name, data, 0o644, true, nil)
}

// SaveState commits a record whose header has not changed.
func (s *Store) SaveState(next decide.State) error {
	return s.replaceJSON(stateFile, next, maxState)
}

// restoreFolder creates the loop folder again if it is gone, as after `git clean -fdx`.
func (s *Store) restoreFolder() error {
	if s.loop != nil {
		return nil
	}
	root, err := openRoot(s.Loop.Project)
	if err != nil {
		return err
	}
	defer root.Close()
	rel, err := filepath.Rel(s.Loop.Project, s.Loop.Dir)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s is outside the project %s", s.Loop.Dir, s.Loop.Project)
	}
	if err := root.MkdirAll(rel, 0o755); err != nil {
		return err
	}
	s.loop, err = OpenFolder(root, rel)
	return err
}

// FirstTime reports whether the trouble with this id should be told, and records that it
// was. It returns false if the last trouble told had the same id. A full disk still has
// room for an empty file: the file says that some trouble was told, and nothing more is
// told until an id can be recorded again. Trouble that leaves no trace is told each time.
// Of a record that cannot be opened it is told once for each commit.
func (s *Store) FirstTime(id string) bool {
	if s.state == nil {
		info, err := os.Lstat(filepath.Join(s.Loop.StatePath(), stateFile))
		if err == nil {
			id += info.ModTime().String()
		}
		return s.Loop.FirstTime(id)
	}
	told, err := read(s.state, troubleFile, maxPathBytes)
	switch {
	case err == nil && string(told) == id:
		return false
	case Replace(s.state, troubleFile, []byte(id), 0o600) == nil:
		return true
	case err == nil && len(told) == 0:
		return false
	}
	if f, _, err := openFile(s.state, troubleFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC); err == nil {
		f.Close()
	}
	return true
}

// BeginStop notes that a process answers a stop, until EndStop. If that fails, nobody hears of it when the process is
// killed. The note need not outlive the machine, so it is not synced.
func (s *Store) BeginStop(by decide.Running) {
	if s.state == nil {
		return
	}
	const fresh = stopFile + ".new"
	text, err := json.Marshal(by)
	if err == nil && s.state.WriteFile(fresh, text, 0o600) == nil {
		_ = s.state.Rename(fresh, stopFile)
	}
}

// TreeIndex returns the index of the last look at the work tree that was kept; nil: there is none.
func (s *Store) TreeIndex() []byte {
	if s.state == nil {
		return nil
	}
	index, _ := s.private(indexFile, maxIndex) // without one, all files are read
	return index
}

// KeepTreeIndex keeps the index of a look at the work tree. The caller holds the lock. It is not synced, either.
func (s *Store) KeepTreeIndex(index []byte) {
	const fresh = indexFile + ".new"
	if len(index) < maxIndex && s.state.WriteFile(fresh, index, 0o600) == nil {
		_ = s.state.Rename(fresh, indexFile)
	}
}

// EndStop removes the note of BeginStop, whoever has left it.
func (s *Store) EndStop() {
	if s.state != nil {
		_ = s.state.Remove(stopFile)
	}
}

// Stopping returns which process answers a stop, or was killed while it did; nil: none.
func (s *Store) Stopping() *decide.Running {
	if s.state == nil {
		return nil
	}
	var by decide.Running
	text, err := s.private(stopFile, maxStop)
	if err != nil || json.Unmarshal(text, &by) != nil {
		return nil
	}
	return &by
}

// maxStop bounds stop.json, in bytes.
const maxStop = 1 << 10

// Receipts returns the stored results of checks.
func (s *Store) Receipts() (all []decide.Receipt, err error) {
	data, err := s.record(receiptsFile, maxReceipts)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("the receipts in %s cannot be used: %w; move the file away to prove everything again",
			filepath.Join(s.state.Name(), receiptsFile), err)
	}
	for i := range all {
		all[i].Passed = !all[i].Failed // of those that did not run, none is stored
	}
	return all, nil
}

// SetReceipts stores the results of checks. The caller holds the lock.
func (s *Store) SetReceipts(all []decide.Receipt) error {
	data, _ := json.Marshal(all) // cannot fail: texts, numbers and times
	return s.replaceRecord(receiptsFile, append(data, '\n'))
}

// Source returns the list that a tracker sent last, or nil if it was not asked yet.
func (s *Store) Source() ([]byte, error) { return s.record(sourceFile, features.MaxBytes) }

// SetSource stores the list that a tracker has sent. The caller holds the lock.
func (s *Store) SetSource(text []byte) error {
	if before, err := s.Source(); err == nil && bytes.Equal(before, text) || s.state == nil {
		return err
	}
	delete(s.cache, sourceFile)
	return Replace(s.state, sourceFile, text, 0o600)
}

// ForgetSource removes the stored list, so that the tracker is asked as for the first time.
func (s *Store) ForgetSource() {
	if s.state != nil {
		delete(s.cache, sourceFile)
		_ = s.state.Remove(sourceFile) // usually the file does not exist
	}
}

// ErrUnasked means that a tracker has not been asked for its list.
var ErrUnasked = errors.New("the tracker has not been asked for its list yet; the next stop asks it")

// SourceList returns the list that a tracker sent last. Its Err is ErrUnasked if the
// tracker was not asked yet.
func (s *Store) SourceList(now time.Time) decide.List {
	text, err := s.Source()
	if err == nil && text == nil {
		err = ErrUnasked
	}
	if err != nil {
		return decide.List{Err: err}
	}
	list, err := features.Reading{Now: now}.Parse(text)
	return decide.List{List: list, Err: err}
}

// RunFolder is the folder below a project's root that has the files of runs for people.
const RunFolder = ".agent-state"

// SessionLog returns the path of what a session of a run prints, in RunFolder.
func SessionLog(run string, session int) string {
	return filepath.Join("logs", run, fmt.Sprintf("%d.log", session))
}

// The files of the last run over a loop, of a program that starts sessions by itself.
const (
	runFile = "run.json"
	runLock = "run"    // locked by the process that works the run
	maxRun  = 16 << 20 // bytes
)

// maxAgent bounds a file in which an agent keeps what it asks of a loop through its tools, in bytes.
const maxAgent = 16 << 20

// Agent returns one of the agent's files, or nil if there is none.
func (s *Store) Agent(name string) ([]byte, error) { return s.private(name, maxAgent) }

// LockAgent calls do while this process alone writes the agent's files. The agents of several lanes write
// them while checks of the loop run.
func (s *Store) LockAgent(wait time.Duration, do func() error) error {
	unlock, err := s.lock(agentFile, wait, false)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// SaveAgent writes one of the agent's files, under LockAgent.
func (s *Store) SaveAgent(name string, data []byte) error {
	if err := s.openState(true); err != nil {
		return err
	}
	return replace(s.state, name, data, 0o600, true, nil)
}

// Run returns the record of the last run, or nil if there is none.
func (s *Store) Run() ([]byte, error) { return s.private(runFile, maxRun) }

// SaveRun writes the record of the run. Only the process that holds the lock of LockRun writes it.
func (s *Store) SaveRun(data []byte) error { return s.SaveAgent(runFile, data) }

// LockRun makes this process the only one that runs sessions over the loop, until unlock or until
// it dies. It waits for at most the given time and then returns ErrLocked.
func (s *Store) LockRun(wait time.Duration) (unlock func(), err error) {
	return s.lock(runLock, wait, false)
}

// RunWorks reports whether a process holds the lock of LockRun.
func (s *Store) RunWorks() bool { return s.isLocked(runLock) }

// Trust returns what a person has trusted, or nil if there is no trust record. It ignores
// a record in the project, because an agent may have written it.
func (s *Store) Trust() (*config.Trust, error) {
	if !s.Protected {
		return nil, nil
	}
	data, err := s.record(trustFile, maxTrust)
	if err == nil && data == nil {
		return nil, nil
	}
	var t config.Trust
	if err == nil {
		t, err = config.ParseTrust(data)
	}
	if err == nil && t.ListSHA256 != "" {
		err = s.readTrustedList(&t)
	}
	if err != nil {
		return nil, fmt.Errorf("the trust record %s cannot be used: %w", filepath.Join(s.state.Name(), trustFile), err)
	}
	return &t, nil
}

// readTrustedList reads the list of the contract.
func (s *Store) readTrustedList(t *config.Trust) error {
	name := listPrefix + t.ListSHA256
	text, err := s.record(name, features.MaxBytes)
	if err != nil {
		return err
	}
	if !t.IsList(text) {
		return fmt.Errorf("%s beside it is not the list that was trusted", name)
	}
	t.ListText = jsontext.String(text)
	return nil
}

// ErrUnprotected means that the state folder is not safe from an agent, so no trust is
// recorded there.
var ErrUnprotected = errors.New("the state folder is in the project, " +
	"so commands cannot be kept out of an agent's reach; set RALPH_STATE_DIR to another folder")

// SetTrust records what a person has trusted, the list first: its file is named by what it says, so the record always
// has its own. The list of the record before stays for those who have just read that. The caller holds the lock.
func (s *Store) SetTrust(t config.Trust) error {
	if !s.Protected {
		return ErrUnprotected
	}
	before, _ := s.Trust() // one that is unreadable is replaced
	list := listPrefix + t.ListSHA256
	if t.ListSHA256 != "" {
		if err := s.replaceRecord(list, []byte(t.ListText)); err != nil {
			return err
		}
	}
	if err := s.replaceJSON(trustFile, t, maxTrust); err != nil {
		return err
	}
	return s.removeOthers(listPrefix, func(name string) bool {
		return name == list || before != nil && name == listPrefix+before.ListSHA256
	})
}

// removeOthers removes the files of the state folder that begin with a prefix and are not wanted.
func (s *Store) removeOthers(prefix string, wanted func(name string) bool) error {
	entries, err := os.ReadDir(s.state.Name())
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, prefix) && !wanted(name) {
			err = errors.Join(err, s.state.Remove(name))
		}
	}
	return err
}

// Config returns the text of ralph.json, or nil if there is no such file.
func (s *Store) Config() ([]byte, error) { return optional(read(s.loop, ConfigFile, config.MaxBytes)) }

// UserConfigFile is the name of the user's own configuration.
const UserConfigFile = "config.json"

// UserFile returns the text and the path of a file of the user's own, of at most limit bytes. folder is the system's
// folder for the user's configuration. text is nil if there is no such file. Without a home folder there is no path,
// and so no ceiling is set.
func UserFile(folder, name string, limit int64) (text []byte, path string, err error) {
	if folder == "" {
		return nil, "", nil
	}
	dir := filepath.Join(folder, "ralph-stop-hook")
	text, err = optional(ReadFile(dir, name, limit))
	return text, filepath.Join(dir, name), err
}
