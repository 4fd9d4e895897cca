package loopdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

// The names in a loop's state folder.
const (
	stateFile  = "state.json"
	trustFile  = "trust.json"
	startFile  = "start.json" // what a person gave to 'start' last time
	stopFile   = "stop.json"  // the hook that answers a stop now; one that was killed leaves it
	lockFile   = "lock"
	senderFile = "sender" // locked by the process that runs the notifiers
	agentFile  = "agent"  // locked by the process that writes what an agent asks of the loop

	indexFile    = "tree"        // what the files of the work tree said at the last stop that looked there
	sourceFile   = "source.json" // the last list that a tracker sent
	receiptsFile = "receipts.json"
	listPrefix   = "list-"    // and the hash of its text: the list that a person has trusted
	backupFile   = "list.bak" // in the loop folder: the list before our first edit
	troubleFile  = "trouble"  // id of the last trouble told but not recorded; empty if the disk was full
)

// ProofFolder is the folder in a loop's state folder with its baseline.
const ProofFolder = "proof"

// RecordsFolder returns the folder that has the state folder of each loop. stateDir is the user's state folder.
func RecordsFolder(stateDir string) string { return filepath.Join(stateDir, "loops") }

// SessionsFolder returns the folder that says which loop each session works.
func SessionsFolder(stateDir string) string { return filepath.Join(stateDir, "sessions") }

// Copies is the name of the folder with the copies of all loops, below that of the program's caches.
const Copies = "copies"

// CopyFolder returns the folder that has the copies of the loop whose state folder has that name. cacheDir is the
// user's cache folder.
func CopyFolder(cacheDir, name string) string {
	return filepath.Join(cacheDir, "ralph-stop-hook", Copies, name)
}

// CopyFolders returns the folders with copies of the loop that has the state folder at a path: where the caches are
// now, and where they were when a person trusted the loop. A record in the project names none: an agent may have
// written it.
func CopyFolders(cacheDir, path, project string) (there []string) {
	var text []byte
	if Protects(path, project) {
		text, _ = ReadFile(path, trustFile, maxTrust)
	}
	trust, _ := config.ParseTrust(text) // without a record there is the first folder alone
	for _, dir := range []string{CopyFolder(cacheDir, filepath.Base(path)), filepath.Dir(trust.CopyDir)} {
		is := filepath.IsAbs(dir) && filepath.Base(dir) == filepath.Base(path) && Exists(dir)
		if is && !slices.Contains(there, dir) {
			there = append(there, dir)
		}
	}
	return there
}

// Store holds the open folders of a loop. The caller must call Close.
type Store struct {
	Loop      *Loop
	Protected bool              // the record is outside the project; if not, no trust record is believed
	Refused   bool              // only the record may be used: the loop folder is not opened
	loop      *os.Root          // nil if the folder is gone
	state     *os.Root          // nil if there is no folder yet
	locked    *os.File          // has the loop's lock; nil: this store has not
	cache     map[string][]byte // files of the record, while this store has the lock; nil: there is no such file
}

// Open opens those of the loop's folders that exist. It creates nothing.
func (l *Loop) Open() (*Store, error) {
	if l.stateErr != nil {
		return nil, l.stateErr
	}
	s := &Store{Loop: l}
	var err error
	s.loop, err = openRoot(l.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("loop folder: %w", err)
	}
	if err := s.openState(false); err != nil {
		s.Close()
		return nil, fmt.Errorf("state folder: %w", err)
	}
	return s, nil
}

// Fix is an error with the command that a person runs about it.
type Fix struct {
	Err error
	Run string
}

func (f *Fix) Error() string { return f.Err.Error() + "; run: " + f.Run }

func (f *Fix) Unwrap() error { return f.Err }

// OpenRecord opens the record of a loop whose folder must not be used. The store beside an error has no folder, so
// nothing of the loop is read or trusted.
func (l *Loop) OpenRecord() (*Store, error) {
	s := &Store{Loop: l, Refused: true}
	if l.stateErr != nil {
		return s, l.stateErr
	}
	return s, s.openState(false)
}

// Close closes the folders.
func (s *Store) Close() {
	for _, root := range []*os.Root{s.loop, s.state} {
		if root != nil {
			root.Close()
		}
	}
}

// StatePath returns the path of the loop's state folder, outside the project.
func (l *Loop) StatePath() string {
	return filepath.Join(RecordsFolder(l.stateDir), l.key)
}

// WatchedFiles returns the paths of the files that what people see of a loop depends on, but for its list, which may be
// anywhere in the project.
func (l *Loop) WatchedFiles() (paths []string) {
	for _, name := range []string{ProgressFile, ConfigFile, StopLog, CheckLines} {
		paths = append(paths, filepath.Join(l.Dir, name))
	}
	for _, name := range []string{stateFile, trustFile, requestFolder, receiptsFile, runFile, sourceFile, stopFile} {
		paths = append(paths, filepath.Join(l.StatePath(), name))
	}
	return paths
}

// openState opens the state folder. If the folder does not exist, openState creates it if
// create is set; otherwise s.state stays nil, and there is no record.
func (s *Store) openState(create bool) error {
	if s.state != nil {
		return nil
	}
	path := s.Loop.StatePath()
	root, err := openRoot(path)
	if create && errors.Is(err, fs.ErrNotExist) {
		root, err = makeRoot(path, 0o700)
	}
	if err == nil {
		err = checkState(root, path, s.Loop.stateDir)
		if err != nil {
			root.Close()
		}
	}
	switch {
	case err == nil:
		s.state, s.Protected = root, Protects(path, s.Loop.Project)
	case !create && errors.Is(err, fs.ErrNotExist):
		// Windows calls a folder below a file missing, too.
		if _, info, e := nearest(path); e == nil && info.IsDir() {
			err = nil
		} else {
			err = withRemedy(err)
		}
	default:
		err = withRemedy(err)
	}
	return err
}

// withRemedy adds what a person does about a state folder that cannot be used.
func withRemedy(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		const remedy = "give the folder back to yourself: chown, chmod u+rwx; or set RALPH_STATE_DIR to another one"
		return fmt.Errorf("%w; %s", err, remedy)
	case errors.Is(err, errNoLocks):
		return fmt.Errorf("%w; set RALPH_STATE_DIR to a folder on a disk of this machine", err)
	case unwritable(err):
		return fmt.Errorf("%w; set RALPH_STATE_DIR to a folder of yours", err)
	}
	return err
}

// checkState refuses a folder that somebody else could have written, or put where it is.
func checkState(root *os.Root, path, stateDir string) error {
	info, err := root.Stat(".")
	for _, above := range []string{RecordsFolder(stateDir), SessionsFolder(stateDir), stateDir} {
		if info, missing := os.Stat(above); missing == nil && err == nil {
			err = checkOwner(info, above, stateDir)
		}
	}
	if err != nil {
		return err
	}
	return checkOwner(info, path, stateDir)
}

// Protects reports whether a record below the state folder dir is outside the project. It
// compares the folders, not the names, so that a link or another spelling makes no difference.
func Protects(dir, project string) bool {
	want, err := os.Stat(project)
	if err != nil {
		return true
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, want) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// CanKeep reports whether a record can be written below the state folder dir. It tests the
// nearest parent folder that exists.
func CanKeep(dir string) bool {
	dir, info, err := nearest(RecordsFolder(dir))
	return err == nil && info.IsDir() && Writable(dir)
}

// nearest returns path, or the nearest of its parents that exists. It may be a file.
func nearest(path string) (string, fs.FileInfo, error) {
	for {
		info, err := os.Stat(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return path, info, err
		}
		path = filepath.Dir(path)
	}
}

// unwritable reports whether err means that no folder can be created at a place.
func unwritable(err error) bool {
	for _, refusal := range []error{fs.ErrPermission, errReadOnly, errNotDir, syscall.ENOTDIR} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// Bind records that the session works this loop. SessionLoop finds the loop by that record,
// whatever the session's working folder is.
func (s *Store) Bind(session string) error {
	root, err := makeRoot(SessionsFolder(s.Loop.stateDir), 0o700)
	if err != nil {
		return err
	}
	defer root.Close()
	if data, err := read(root, session, maxPathBytes); err == nil && string(data) == s.Loop.Dir+"\n" {
		return nil
	}
	Sweep(root, "") // another session's temporary file: that session may never bind again
	return replace(root, session, []byte(s.Loop.Dir+"\n"), 0o600, true, nil)
}
