// Package proof keeps the clean copy of a project in which checks run, outside of the project. The copy has every file
// as a person trusted it, which is the baseline, and of the changes since then those that count.
//
// The baseline is an index in the loop's state folder, and the objects beside it, which are what files say. The project
// is only read, and its git has no say.
package proof

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Place says where a loop keeps its baseline and its copy.
type Place struct {
	Store string // a folder in the loop's state folder: baselines and objects
	Copy  string // the copy, in the user's cache folder
	Name  string // tells apart several projects or copies with one store
}

// named returns the name of a file of ours that is about one project and its copy.
func (p Place) named(file string) string {
	if p.Name == "" {
		return file
	}
	return p.Name + "-" + file
}

// File is a file or a link of a baseline, of the project or of the copy.
type File struct {
	Mode    fs.FileMode // type and permissions
	Hash    string      // sha256 of what it says, or of where the link leads, in hex
	Written time.Time   // as programs may set it
	Stamp   string      // as that of tree.Entry; "": the file has to be read to know what it says
	Ignored bool        // of a baseline: git tracks it although a rule ignores it
	Agents  bool        // of the copy: it had the agent's version at some time
}

func (f File) isLink() bool { return f.Mode&fs.ModeSymlink != 0 }

// runs reports whether its owner can run a file.
func (f File) runs() bool { return f.Mode&0o100 != 0 && !f.isLink() }

// same reports whether two files say the same and are of one kind.
func (f File) same(g File) bool {
	return f.Hash == g.Hash && f.isLink() == g.isLink() && f.runs() == g.runs()
}

// Baseline is the project as a person trusted it.
type Baseline struct {
	ID      string
	Files   map[string]File // by their slash-separated path from the top of the project on
	folders map[string]bool // that have one of these
}

// Has reports whether there is a file below a folder.
func (b *Baseline) Has(folder string) bool { return b.folders[folder] }

// Ignored returns the files that git tracks although a rule ignores them.
func (b *Baseline) Ignored() (names []string) {
	for name, f := range b.Files {
		if f.Ignored {
			names = append(names, name)
		}
	}
	return names
}

// AsTrusted is what the copy is to have if no change counts, and nothing of the project is linked.
func (b *Baseline) AsTrusted() *Look {
	rule := Rule{Own: func(string) bool { return false }}
	return &Look{ID: b.ID, baseline: b, rule: rule, want: b.Files, folders: b.folders}
}

// foldersOf returns the folders above some files.
func foldersOf(files map[string]File) map[string]bool {
	folders := map[string]bool{}
	for name := range files {
		addFolders(folders, name)
	}
	return folders
}

func addFolders(folders map[string]bool, name string) {
	for dir := path.Dir(name); dir != "." && !folders[dir]; dir = path.Dir(dir) {
		folders[dir] = true
	}
}

const (
	baselinePrefix = "baseline-"
	objectsFolder  = "objects"
	newPrefix      = ".new-" // of what is not whole yet
)

// errDamaged says that a baseline cannot be used.
var errDamaged = errors.New("the baseline in the state folder is damaged or gone")

// Baseline reads a baseline.
func (p Place) Baseline(id string) (*Baseline, error) {
	text, err := os.ReadFile(filepath.Join(p.Store, baselinePrefix+id))
	if err != nil || digest(text) != id {
		return nil, errors.Join(errDamaged, err)
	}
	files := parseIndex(string(text))
	return &Baseline{ID: id, Files: files, folders: foldersOf(files)}, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// An index has six fields for each file, which end in a byte that no path has.
const indexFields = 6

// formatIndex returns the text of an index, sorted by path.
func formatIndex(files map[string]File) []byte {
	text := make([]byte, 0, 160*len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		flags := ""
		if f.Ignored {
			flags += "i"
		}
		if f.Agents {
			flags += "a"
		}
		written := ""
		if !f.Written.IsZero() {
			written = strconv.FormatInt(f.Written.UnixNano(), 10)
		}
		for _, field := range []string{
			name, strconv.FormatUint(uint64(f.Mode), 8), f.Hash, written, f.Stamp, flags,
		} {
			text = append(append(text, field...), 0)
		}
	}
	return text
}

// parseIndex reads what formatIndex wrote. A killed process may have left a part of it.
func parseIndex(text string) map[string]File {
	files := make(map[string]File, len(text)/160+1)
	var fields [indexFields]string
	for {
		for i := range fields {
			field, rest, whole := strings.Cut(text, "\x00")
			if !whole {
				return files
			}
			fields[i], text = field, rest
		}
		mode, _ := strconv.ParseUint(fields[1], 8, 32)
		f := File{Mode: fs.FileMode(mode), Hash: fields[2], Stamp: fields[4]}
		nanoseconds, err := strconv.ParseInt(fields[3], 10, 64)
		if err == nil {
			f.Written = time.Unix(0, nanoseconds)
		}
		f.Ignored = strings.Contains(fields[5], "i")
		f.Agents = strings.Contains(fields[5], "a")
		files[fields[0]] = f
	}
}

// readIndex reads a file of ours that formatIndex made. What cannot be read is looked at again.
func (p Place) readIndex(name string) map[string]File {
	text, _ := os.ReadFile(filepath.Join(p.Store, name))
	return parseIndex(string(text))
}

// write writes a file of ours. A killed process may leave a part of it: what it says is looked at again then.
func (p Place) write(name string, text []byte) error {
	file := filepath.Join(p.Store, name)
	_ = os.Remove(file) // it may be a link
	err := writeOver(file, text)
	if err == nil && goneWith(name) != nil {
		ownIndexes.Store(file, p.stampOf(name))
	}
	return err
}

// object returns where the object with a hash is.
func (p Place) object(hash string) string {
	return filepath.Join(p.Store, objectsFolder, hash[:2], hash[2:])
}

func (p Place) hasObject(hash string) bool {
	if len(hash) != hex.EncodedLen(sha256.Size) { // of an index that is damaged
		return false
	}
	_, err := os.Lstat(p.object(hash))
	return err == nil
}

// open opens an object.
func (p Place) open(hash string) (*os.File, error) {
	file, err := os.Open(p.object(hash))
	if err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	return file, nil
}

// verify fails if an object does not say what it should, which has the sum of h. It removes that object, so that the
// next look at a file that says it stores it again.
func (p Place) verify(hash string, h hash.Hash) error {
	if sumOf(h) == hash {
		return nil
	}
	_ = os.Remove(p.object(hash))
	return errDamaged
}

// makeStore makes the folder for objects.
func (p Place) makeStore() error { return os.MkdirAll(filepath.Join(p.Store, objectsFolder), 0o700) }

// keep stores what a file of a folder says as an object, and returns its hash.
func (p Place) keep(root *os.Root, name string) (sum string, err error) {
	in, err := openRegular(root, name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	return p.keepFrom(in)
}

func (p Place) keepFrom(in io.Reader) (sum string, err error) {
	text, err := io.ReadAll(io.LimitReader(in, maxInMemory+1))
	if err != nil {
		return "", err
	}
	if len(text) <= maxInMemory {
		return p.keepText(text)
	}
	out, err := os.CreateTemp(filepath.Join(p.Store, objectsFolder), newPrefix)
	if err != nil {
		return "", storeError{p.orFull(err)}
	}
	defer os.Remove(out.Name()) // unless it was renamed
	h, stored := newHash(), &storeWriter{to: out}
	_, err = io.Copy(io.MultiWriter(stored, h), io.MultiReader(bytes.NewReader(text), in))
	failed := errors.Join(stored.err, out.Close())
	if failed != nil {
		return "", storeError{p.orFull(failed)}
	}
	if err != nil {
		return "", err
	}
	sum = sumOf(h)
	err = os.MkdirAll(filepath.Dir(p.object(sum)), 0o700)
	if err == nil {
		err = p.rename(out.Name(), sum)
	}
	if err != nil {
		return "", storeError{err}
	}
	return sum, nil
}

// maxInMemory is how many bytes of a file are held in memory. If there are not more, an object that is there already
// and says the same is not written again.
const maxInMemory = 1 << 20

// keepText stores a text as an object. Its temporary file is where the object will be: many files that are created in
// one folder at the same time wait for each other. All that store the same text write the same bytes to the same file.
func (p Place) keepText(text []byte) (sum string, err error) {
	sum = digest(text)
	old, err := os.ReadFile(p.object(sum))
	if err == nil && bytes.Equal(old, text) { // else it is damaged
		return sum, nil
	}
	dir, base := filepath.Split(p.object(sum))
	file := filepath.Join(dir, newPrefix+base)
	err = writeOver(file, text)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, 0o700)
		if err == nil {
			err = writeOver(file, text)
		}
	}
	if err == nil {
		err = p.rename(file, sum)
	}
	if err != nil {
		_ = os.Remove(file)
		return "", storeError{p.orFull(err)}
	}
	return sum, nil
}

// writeOver writes a text to a file, over a part of it that a killed process has left.
func writeOver(file string, text []byte) error {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|openFlags, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return errors.Join(err, out.Close())
}

// rename makes a temporary file an object.
func (p Place) rename(file, sum string) error {
	err := os.Rename(file, p.object(sum))
	if err != nil && p.hasObject(sum) { // Windows does not replace a file that somebody reads
		_ = os.Remove(file)
		return nil
	}
	return err
}

// storeError says that something cannot be stored, which is no fault of the file.
type storeError struct{ error }

// storeWriter notes why something cannot be written.
type storeWriter struct {
	to  io.Writer
	err error
}

func (w *storeWriter) Write(text []byte) (n int, err error) {
	n, w.err = w.to.Write(text)
	return n, w.err
}

func newHash() hash.Hash { return sha256.New() }

func sumOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// text returns what an object says, unless that is more than limit bytes.
func (p Place) text(hash string, limit int64) ([]byte, error) {
	file, err := p.open(hash)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	h := newHash()
	text, err := io.ReadAll(io.TeeReader(io.LimitReader(file, limit+1), h))
	if err == nil {
		_, err = io.Copy(h, file)
	}
	if err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	err = p.verify(hash, h)
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > limit:
		return nil, errors.New(tooLong)
	}
	return text, nil
}

// Prune removes the baselines and objects that none of some baselines, and no look of the last hour, needs.
func (p Place) Prune(ids ...string) {
	used := map[string]bool{}
	for _, id := range ids {
		baseline, err := p.Baseline(id)
		if err != nil {
			continue
		}
		for _, f := range baseline.Files {
			used[f.Hash] = true
		}
	}
	seen, _ := fs.Glob(os.DirFS(p.Store), "*"+seenFile) // the path of the store may have brackets
	for _, file := range seen {
		for _, f := range p.readIndex(file) {
			used[f.Hash] = true
		}
	}
	p.prune(baselinePrefix+"*", func(name string) bool {
		return slices.Contains(ids, strings.TrimPrefix(name, baselinePrefix))
	})
	p.prune(objectsFolder+"/??/*", func(name string) bool {
		return used[strings.ReplaceAll(strings.TrimPrefix(name, objectsFolder), "/", "")]
	})
	none := func(string) bool { return false }
	p.prune(objectsFolder+"/"+newPrefix+"*", none) // by calls that were killed
}

// prune removes the old files of the store that match a pattern and are not used.
func (p Place) prune(pattern string, used func(name string) bool) {
	names, _ := fs.Glob(os.DirFS(p.Store), pattern)
	for _, name := range names {
		file := filepath.Join(p.Store, filepath.FromSlash(name))
		if !used(name) && isOld(file) {
			_ = os.Remove(file)
		}
	}
}

// pruneAfter is the age of what is pruned: another process may have just written a younger file. A test has another
// one.
var pruneAfter = time.Hour

func isOld(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && time.Since(info.ModTime()) >= pruneAfter
}

// orFull says that a disk is full, if one is.
func (p Place) orFull(err error) error {
	for _, dir := range []string{p.Store, filepath.Dir(p.Copy)} {
		free, known := loopdir.Free(dir)
		if known && free < 1<<20 {
			return fmt.Errorf("no space is left on the disk of %s, where the copy for the checks needs some; free some "+
				"there, or have the cache folder elsewhere (XDG_CACHE_HOME): %w", dir, err)
		}
	}
	return err
}
