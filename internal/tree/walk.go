package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// ignoreFile is the name of a file with rules.
const ignoreFile = ".gitignore"

// files is what a walk has found. All names are paths below the root, separated by slashes.
type files struct {
	root    *os.Root
	list    []Entry           // sorted by path, when the walk is over
	folders []Entry           // and the folders
	excepts func(string) bool // whether a name is left out
	index   []byte            // git's index: "TAG MODE HASH STAGE<tab>NAME<nul>"
	rules   map[string]string // texts of .gitignore files by folder, as it is from Dir
	bytes   int               // of these texts
	err     error             // why something could not be read
	shut    []string          // names of what could not be read; "." is the root

	noIndex error           // why git's index could not be read
	also    map[string]bool // names of what was added although a rule ignores it; nil: nothing is yet

	hidden []string // names of what rules ignore
	isFull bool     // there is more than is looked at
}

// walk finds the files of the tree: those that no rule ignores, and those that git tracks. It uses
// the folders on the disk and the .gitignore files there, or the texts in Rules. An agent could
// write git's other rules, and so hide files that a check depends on. The caller closes the root.
func (t Tree) walk(ctx context.Context) (*files, error) {
	root, err := os.OpenRoot(t.root())
	if err != nil {
		return nil, err
	}
	f := &files{root: root, rules: map[string]string{}, excepts: t.exceptions()}
	var index []byte
	var noIndex error
	both := sync.WaitGroup{}
	if t.Top != "" {
		both.Go(func() {
			noIndex = errors.New("the list of what git tracks could not be read")
			defer func() { _ = recover() }() // a panic here would end the process with status 2
			list := proc.Git(t.Env, t.Top, "--work-tree="+t.Top, "ls-files", "-z", "-t", "--stage", "--cached")
			index, noIndex = proc.GitOutput(ctx, list, "ls-files")
		})
	}
	t.folder(ctx, f, "", nil)
	both.Wait()
	f.noIndex = noIndex
	f.sort()
	f.index = index[:0]
	var names []string
	for entry := range strings.SplitAfterSeq(string(index), "\x00") {
		_, name, is := strings.Cut(strings.TrimSuffix(entry, "\x00"), "\t")
		if is && !f.excepts(name) {
			f.index = append(f.index, entry...)
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		t.addTracked(ctx, f, names)
	}
	return f, nil
}

func (f *files) sort() {
	for _, list := range [][]Entry{f.list, f.folders} {
		slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	}
	slices.Sort(f.hidden)
}

// folder adds what is in a folder and below. above are the rules of the folders above it.
func (t Tree) folder(ctx context.Context, f *files, name string, above *Rules) {
	at := filepath.Join(t.root(), name)
	dir, entries, err := readFolder(at)
	if err != nil { // what fails once would be gone for a check, which would disprove work that is there
		dir, entries, err = readFolder(at)
	}
	if err == nil {
		defer dir.Close()
		err = ctx.Err()
	}
	if err != nil {
		f.fail(path.Clean(name), err)
		return
	}
	r := t.rulesOf(f, name, entries, above)
	prefix := ""
	if name != "" {
		prefix = name + "/"
	}
	for _, entry := range entries {
		if f.isFull || strings.EqualFold(entry.Name(), ".git") {
			continue
		}
		path := prefix + entry.Name()
		if r.Ignore(path, entry.IsDir()) || t.Hide != nil && t.Hide(path) {
			f.hidden = append(f.hidden, path)
			continue
		}
		if f.excepts(path) {
			continue
		}
		e, err := entryIn(dir, entry)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is gone by now
		}
		if err != nil { // as above
			e, err = entryIn(dir, entry)
		}
		if err != nil {
			f.fail(path, err)
			continue
		}
		e.Path = path
		t.add(ctx, f, e, r)
	}
}

// add adds a file, or a folder and what is in it.
func (t Tree) add(ctx context.Context, f *files, e Entry, above *Rules) {
	if f.also != nil {
		e.Ignored = true
		f.also[e.Path] = true
	}
	f.isFull = len(f.list)+len(f.folders) >= maxFiles
	if !e.Mode.IsDir() {
		if len(f.list) == cap(f.list) { // append alone would copy a long list five times
			f.list = slices.Grow(f.list, max(100, len(f.list)))
		}
		f.list = append(f.list, e)
		return
	}
	f.folders = append(f.folders, e)
	t.folder(ctx, f, e.Path, above)
}

// readFolder opens a folder, and returns what is in it, sorted by name.
func readFolder(path string) (*os.File, []fs.DirEntry, error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|folderFlag, 0)
	if err != nil {
		return nil, nil, err
	}
	entries, err := dir.ReadDir(-1)
	if err != nil {
		dir.Close()
		return nil, nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return dir, entries, nil
}

// fail notes why something cannot be read.
func (f *files) fail(name string, err error) {
	f.err = errors.Join(f.err, err)
	f.shut = append(f.shut, name)
}

// addTracked adds those of some files that are there and that some rule ignores.
func (t Tree) addTracked(ctx context.Context, f *files, names []string) {
	if f.also == nil {
		f.also = map[string]bool{}
	}
	list, folders := ByPath(f.list), ByPath(f.folders)
	for _, name := range names {
		local := filepath.FromSlash(name)
		_, isFile := list.Find(name)
		if isFile || f.also[name] || f.isFull || !filepath.IsLocal(local) || f.excepts(name) {
			continue
		}
		_, isFolder := folders.Find(name)
		if isFolder {
			continue
		}
		info, err := os.Lstat(filepath.Join(t.root(), local))
		if err == nil {
			e := entryOf(info)
			e.Path = name
			t.add(ctx, f, e, nil) // a folder is a submodule
		}
	}
	f.sort()
	isSame := func(a, b Entry) bool { return a.Path == b.Path } // of a file, and of the folder above it
	f.list = slices.CompactFunc(f.list, isSame)
	f.folders = slices.CompactFunc(f.folders, isSame)
}

// rulesOf returns the rules that hold in a folder.
func (t Tree) rulesOf(f *files, name string, entries []fs.DirEntry, above *Rules) *Rules {
	at, err := filepath.Rel(t.Dir, filepath.Join(t.root(), name))
	if t.Top == "" || err != nil {
		return above
	}
	at = filepath.ToSlash(at)
	from := 0
	if name != "" {
		from = len(name) + 1
	}
	if text, has := t.Rules[at]; has {
		return ParseRules(text, above, from)
	}
	// Git does not follow a link here, either.
	here := func(e fs.DirEntry) bool { return e.Name() == ignoreFile && e.Type().IsRegular() }
	if t.Rules != nil || !slices.ContainsFunc(entries, here) {
		return above
	}
	text := new(strings.Builder)
	left := int64(maxRules - f.bytes)
	if readFile(f.root, filepath.Join(name, ignoreFile), text, &left) != nil {
		return above // so less is ignored
	}
	f.bytes += text.Len()
	f.rules[at] = text.String()
	return ParseRules(text.String(), above, from)
}

// exceptions returns a function that reports whether a path below the root is left out of the tree.
func (t Tree) exceptions() func(name string) bool {
	var names []string // "." is all of it
	for _, path := range []string{t.Except, t.List, t.Runs} {
		name, err := filepath.Rel(t.root(), path)
		switch {
		case path == "" || err != nil:
		case filepath.IsLocal(name):
			names = append(names, filepath.ToSlash(name))
		case filepath.Base(name) == "..": // it is above the root
			names = append(names, ".")
		}
	}
	return func(name string) bool {
		return slices.ContainsFunc(names, func(e string) bool {
			rest, has := strings.CutPrefix(name, e)
			return e == "." || has && (rest == "" || rest[0] == '/')
		})
	}
}

// each calls do for each number below n, on all processors. If do panics, so does each.
func each(n int, do func(i int)) {
	const few = 64 // calls at a time, since one takes microseconds
	var next atomic.Int64
	var panicked atomic.Value
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/few+1) {
		all.Go(func() {
			defer func() {
				if bug := recover(); bug != nil {
					panicked.Store(fmt.Sprint(bug))
				}
			}()
			for {
				end := int(next.Add(few))
				for i := end - few; i < min(n, end); i++ {
					do(i)
				}
				if end >= n {
					return
				}
			}
		})
	}
	all.Wait()
	if bug := panicked.Load(); bug != nil {
		panic(bug)
	}
}

var errTooLarge = errors.New("there is too much to look through")

// readFile writes a regular file to w. It subtracts the file's size from left, and fails if
// left would become negative.
func readFile(root *os.Root, name string, w io.Writer, left *int64) error {
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK // in case it has become a FIFO
	}
	f, err := root.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("the file was replaced meanwhile"))
	}
	buffer := make([]byte, min(max(info.Size()+1, 512), 64<<10)) // most files are small
	n, err := io.CopyBuffer(w, io.LimitReader(f, *left+1), buffer)
	*left -= n
	if err == nil && *left < 0 {
		err = errTooLarge
	}
	return err
}
