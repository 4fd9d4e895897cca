// Package proof keeps the clean copy of a project in which checks run, outside of the project. The copy has every file
// as a person trusted it, which is the baseline, and of the changes since then those that count.
//
// The baseline is an index in the loop's state folder. Beside it are the pack, which is what its files say, and the
// objects, which are what links and the agent's files say. The project is only read, and its git has no say.
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
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
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
	Path     string      // from the top on, separated by slashes
	Mode     fs.FileMode // type and permissions
	Ignored  bool        // of a baseline: git tracks it although a rule ignores it
	Agents   bool        // of the copy: it had the agent's version at some time
	IsPacked bool        // of a baseline: what it says is in the pack, and not an object
	At, Size int64       // and where it is there, in bytes
	Hash     string      // sha256 of what it says, or of where the link leads, in hex
	Written  time.Time   // as programs may set it
	Stamp    string      // as that of tree.Entry; "": the file has to be read to know what it says
}

func (f *File) isLink() bool { return f.Mode&fs.ModeSymlink != 0 }

// runs reports whether its owner can run a file.
func (f *File) runs() bool { return f.Mode&0o100 != 0 && !f.isLink() }

// same reports whether two files say the same and are of one kind.
func (f *File) same(g *File) bool {
	return f.Hash == g.Hash && f.isLink() == g.isLink() && f.runs() == g.runs()
}

// Index is files, sorted by path. A project may have many: to make maps of them would take longer than to look at them.
type Index []*File

// Find returns a file; nil: there is none.
func (x Index) Find(path string) *File { return x.inOrder()(path) }

// inOrder returns a Find that is fast if paths are looked up in their order.
func (x Index) inOrder() func(path string) *File {
	paths := tree.Lookup{Len: len(x), Name: func(i int) string { return x[i].Path }}
	return func(path string) *File {
		i, is := paths.Find(path)
		if !is {
			return nil
		}
		return x[i]
	}
}

// merge returns the files of two indexes that have no path in common.
func merge(a, b Index) Index {
	if len(b) == 0 {
		return a
	}
	all := make(Index, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].Path < b[0].Path {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// Baseline is the project as a person trusted it.
type Baseline struct {
	ID      string
	Files   Index
	folders map[string]bool // that have one of these
}

// Has reports whether there is a file below a folder.
func (b *Baseline) Has(folder string) bool { return b.folders[folder] }

// Ignored returns the files that git tracks although a rule ignores them.
func (b *Baseline) Ignored() (names []string) {
	for _, f := range b.Files {
		if f.Ignored {
			names = append(names, f.Path)
		}
	}
	return names
}

// AsTrusted is what the copy is to have if no change counts, and nothing of the project is linked.
func (b *Baseline) AsTrusted() *Look {
	rule := Rule{InCopy: func(string) bool { return false }}
	return &Look{ID: b.ID, baseline: b, rule: rule, want: b.Files, folders: b.folders}
}

// foldersOf returns the folders above some files.
func foldersOf(files Index) map[string]bool {
	folders := map[string]bool{}
	last := "."
	for _, f := range files {
		dir := path.Dir(f.Path)
		if dir != last {
			addFolders(folders, f.Path)
			last = dir
		}
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
	packPrefix     = "pack-" // of what its files say
	objectsFolder  = "objects"
	newPrefix      = ".new-" // of what is not whole yet
)

// errDamaged says that a baseline cannot be used.
var errDamaged = errors.New("the baseline in the state folder is damaged or gone")

// Baseline reads a baseline.
func (p Place) Baseline(id string) (*Baseline, error) {
	text, err := p.readText(baselinePrefix + id)
	if err != nil || digest([]byte(text)) != id {
		return nil, errors.Join(errDamaged, err)
	}
	files := parseIndex(text)
	return &Baseline{ID: id, Files: files, folders: foldersOf(files)}, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// An index has eight fields for each file, which end in a byte that no path has.
const indexFields = 8

// formatIndex returns the text of an index.
func formatIndex(files Index) []byte {
	text := make([]byte, 0, 200*len(files))
	for _, f := range files {
		text = append(append(text, f.Path...), 0)
		text = append(strconv.AppendUint(text, uint64(f.Mode), 8), 0)
		text = append(append(text, f.Hash...), 0)
		if !f.Written.IsZero() {
			text = strconv.AppendInt(text, f.Written.UnixNano(), 10)
		}
		text = append(append(append(text, 0), f.Stamp...), 0)
		if f.Ignored {
			text = append(text, 'i')
		}
		if f.Agents {
			text = append(text, 'a')
		}
		text = append(text, 0)
		if f.IsPacked {
			text = append(strconv.AppendInt(text, f.At, 10), 0)
			text = append(strconv.AppendInt(text, f.Size, 10), 0)
		} else {
			text = append(text, 0, 0)
		}
	}
	return text
}

// parseIndex reads what formatIndex wrote. A killed process may have left a part of it.
func parseIndex(text string) Index {
	files := make([]File, 0, strings.Count(text, "\x00")/indexFields)
	var fields [indexFields]string
	for {
		for i := range fields {
			field, rest, whole := strings.Cut(text, "\x00")
			if !whole {
				return indexOf(files)
			}
			fields[i], text = field, rest
		}
		mode, _ := strconv.ParseUint(fields[1], 8, 32)
		f := File{Path: fields[0], Mode: fs.FileMode(mode), Hash: fields[2], Stamp: fields[4]}
		if fields[3] != "" {
			nanoseconds, _ := strconv.ParseInt(fields[3], 10, 64)
			f.Written = time.Unix(0, nanoseconds)
		}
		f.Ignored = strings.Contains(fields[5], "i")
		f.Agents = strings.Contains(fields[5], "a")
		if fields[6] != "" {
			f.IsPacked = true
			f.At, _ = strconv.ParseInt(fields[6], 10, 64)
			f.Size, _ = strconv.ParseInt(fields[7], 10, 64)
		}
		files = append(files, f)
	}
}

func indexOf(files []File) Index {
	index := make(Index, len(files))
	for i := range files {
		index[i] = &files[i]
	}
	return index
}

// readIndex reads a file of ours that formatIndex made. What cannot be read is looked at again.
func (p Place) readIndex(name string) Index {
	text, _ := p.readText(name)
	return parseIndex(text)
}

// readText reads a file of ours, without a second copy of a long text.
func (p Place) readText(name string) (string, error) {
	file, err := os.Open(filepath.Join(p.Store, name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	var text strings.Builder
	info, err := file.Stat()
	if err == nil {
		text.Grow(int(info.Size()))
		_, err = io.Copy(&text, file)
	}
	return text.String(), err
}

// write writes a file of ours. A killed process may leave a part of it: what it says is looked at again then.
func (p Place) write(name string, text []byte) error {
	file := filepath.Join(p.Store, name)
	_ = os.Remove(file) // it may be a link
	info, err := writeOver(file, text)
	if err == nil && indexFiles(name) != nil {
		writtenIndexes.Store(file, stampOfIndex(info, text))
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

// source is where what files say is read: those of a baseline in its pack, and others in objects.
type source struct {
	Place
	pack   *os.File
	noPack error
}

// source opens the pack of a baseline.
func (p Place) source(id string) source {
	pack, err := os.Open(filepath.Join(p.Store, packPrefix+id))
	return source{p, pack, err}
}

func (s source) close() { _ = s.pack.Close() }

// open opens what a file says.
func (s source) open(f *File) (in io.ReadCloser, err error) {
	switch {
	case !f.IsPacked:
		in, err = os.Open(s.object(f.Hash))
	case s.noPack != nil:
		err = s.noPack
	default:
		return io.NopCloser(io.NewSectionReader(s.pack, f.At, f.Size)), nil
	}
	if err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	return in, nil
}

// buffers are for copyTo: io.Copy would make one for each file.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyTo is io.Copy with one of these.
func copyTo(out io.Writer, in io.Reader) (n int64, err error) {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	return io.CopyBuffer(out, struct{ io.Reader }{in}, buffer[:]) // a file itself would not use it
}

// verify fails if what was read of a file is not what it should say. h has the sum of it. An object is removed then, so
// that the next look at a file that says it stores it again.
func (s source) verify(f *File, h hash.Hash) error {
	if sumOf(h) == f.Hash {
		return nil
	}
	if !f.IsPacked {
		_ = os.Remove(s.object(f.Hash))
	}
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
	info, err := in.Stat()
	if err != nil {
		return "", err
	}
	return p.keepFrom(in, info.Size())
}

// keepFrom stores a text of about size bytes.
func (p Place) keepFrom(in io.Reader, size int64) (sum string, err error) {
	var begin bytes.Buffer
	begin.Grow(int(min(size, maxInMemory)) + bytes.MinRead)
	_, err = begin.ReadFrom(io.LimitReader(in, maxInMemory+1))
	if err != nil {
		return "", err
	}
	if begin.Len() <= maxInMemory {
		return p.keepText(begin.Bytes())
	}
	out, err := os.CreateTemp(filepath.Join(p.Store, objectsFolder), newPrefix)
	if err != nil {
		return "", storeError{p.orFull(err)}
	}
	defer os.Remove(out.Name()) // unless it was renamed
	h, stored := newHash(), &storeWriter{to: out}
	_, err = io.Copy(io.MultiWriter(stored, h), io.MultiReader(&begin, in))
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
		err = rename(out.Name(), p.object(sum))
	}
	if err != nil {
		return "", storeError{err}
	}
	return sum, nil
}

// maxInMemory is how many bytes of a file are held in memory. If there are not more, an object that is there already
// and says the same is not written again.
const maxInMemory = 1 << 20

// writing lets one text at a time be stored: on Windows two that are the same could not be.
var writing sync.Mutex

// keepText stores a text as an object. Its temporary file is where the object will be: many files that are created in
// one folder at the same time wait for each other. All that store the same text write the same bytes to the same file.
func (p Place) keepText(text []byte) (sum string, err error) {
	sum = digest(text)
	writing.Lock()
	defer writing.Unlock()
	old, err := os.ReadFile(p.object(sum))
	if err == nil && bytes.Equal(old, text) { // else it is damaged
		return sum, nil
	}
	dir, base := filepath.Split(p.object(sum))
	file := filepath.Join(dir, newPrefix+base)
	_, err = writeOver(file, text)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, 0o700)
		if err == nil {
			_, err = writeOver(file, text)
		}
	}
	if err == nil {
		err = rename(file, p.object(sum))
	}
	if err != nil {
		_ = os.Remove(file)
		return "", storeError{p.orFull(err)}
	}
	return sum, nil
}

// writeOver writes a text to a file, over a part of it that a killed process has left. It returns what the file is
// then.
func writeOver(file string, text []byte) (fs.FileInfo, error) {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|openFlags, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = out.Write(text)
	info, unknown := out.Stat()
	return info, errors.Join(err, unknown, out.Close())
}

// rename gives a temporary file its name, unless another process has done so.
func rename(file, name string) error {
	err := os.Rename(file, name)
	if err != nil && loopdir.Exists(name) { // Windows does not replace a file that somebody reads
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

// text returns what a file says, unless that is more than limit bytes.
func (s source) text(f *File, limit int64) ([]byte, error) {
	in, err := s.open(f)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	h := newHash()
	text, err := io.ReadAll(io.TeeReader(io.LimitReader(in, limit+1), h))
	if err == nil {
		_, err = io.Copy(h, in)
	}
	if err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	err = s.verify(f, h)
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > limit:
		return nil, errors.New(tooLong)
	}
	return text, nil
}

// Prune removes the baselines, packs and objects that none of some baselines, and no look of the last hour, needs.
func (p Place) Prune(ids ...string) {
	used := map[string]bool{}
	for _, id := range ids {
		baseline, err := p.Baseline(id)
		if err != nil {
			continue
		}
		for _, f := range baseline.Files {
			used[f.Hash] = used[f.Hash] || !f.IsPacked
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
	p.prune(packPrefix+"*", func(name string) bool {
		return slices.Contains(ids, strings.TrimPrefix(name, packPrefix))
	})
	p.prune(objectsFolder+"/??/*", func(name string) bool {
		return used[strings.ReplaceAll(strings.TrimPrefix(name, objectsFolder), "/", "")]
	})
	none := func(string) bool { return false }
	p.prune(newPrefix+"*", none) // by calls that were killed
	p.prune(objectsFolder+"/"+newPrefix+"*", none)
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
