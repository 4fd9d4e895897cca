package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// ignoreFile is the name of a file with rules.
const ignoreFile = ".gitignore"

// file is a file, folder or link of the tree.
type file struct {
	name  string // its path below the root
	entry fs.DirEntry
	info  fs.FileInfo // as of see
	hash  string      // of what it says, as of readFiles
}

// files is what a walk has found.
type files struct {
	root  *os.Root
	list  []file            // folders come before what is in them
	seen  map[string]bool   // the names in list
	index []string          // git's index: "TAG MODE HASH STAGE<tab>NAME"
	rules map[string]string // texts of .gitignore files by folder, as it is from Dir
	bytes int               // of these texts
	err   error             // why something could not be read
	shut  []string          // names of what could not be read, separated by slashes; "." is the root

	noIndex   error // why git's index could not be read
	unignored int   // how many of list no rule ignores; they come first

	hidden []string // names of what rules ignore
}

// walk finds the files of the tree: those that no rule ignores, and those that git tracks. It uses
// the folders on the disk and the .gitignore files there, or the texts in Rules. An agent could
// write git's other rules, and so hide files that a check depends on. The caller closes the root.
func (t Tree) walk(ctx context.Context) (*files, error) {
	root, err := os.OpenRoot(t.root())
	if err != nil {
		return nil, err
	}
	f := &files{root: root, seen: map[string]bool{".": true}, rules: map[string]string{}}
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
	f.unignored = len(f.list)
	for entry := range bytes.SplitSeq(index, []byte{0}) {
		if _, name, is := strings.Cut(string(entry), "\t"); is {
			name = filepath.FromSlash(name)
			if t.excepted(filepath.Join(t.root(), name)) {
				continue
			}
			f.index = append(f.index, string(entry))
			t.tracked(ctx, f, name)
		}
	}
	f.see()
	return f, nil
}

// see looks at each file that was added since the last time, and forgets those that are gone.
func (f *files) see() {
	errs := make([]error, len(f.list))
	each(len(f.list), func(i int) {
		if f.list[i].info == nil {
			f.list[i].info, errs[i] = f.list[i].entry.Info()
		}
	})
	kept := f.list[:0]
	unignored := f.unignored
	for i, one := range f.list {
		switch {
		case errs[i] == nil:
			kept = append(kept, one)
			continue
		case !errors.Is(errs[i], fs.ErrNotExist):
			f.err = errors.Join(f.err, errs[i])
			f.shut = append(f.shut, filepath.ToSlash(one.name))
		}
		if i < f.unignored {
			unignored--
		}
	}
	f.list = kept
	f.unignored = unignored
}

// folder adds what is in a folder. above are the rules of the folders above it.
func (t Tree) folder(ctx context.Context, f *files, name string, above *rules) {
	entries, err := os.ReadDir(filepath.Join(t.root(), name))
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		f.err = errors.Join(f.err, err)
		f.shut = append(f.shut, filepath.ToSlash(filepath.Clean(name)))
		return
	}
	r := t.rulesOf(f, name, entries, above)
	for _, entry := range entries {
		if len(f.list) > maxFiles || strings.EqualFold(entry.Name(), ".git") {
			continue
		}
		path := filepath.Join(name, entry.Name())
		slashed := filepath.ToSlash(path)
		if r.ignore(slashed, entry.IsDir()) || t.Hide != nil && t.Hide(slashed) {
			f.hidden = append(f.hidden, slashed)
			continue
		}
		if t.add(f, path, entry) {
			t.folder(ctx, f, path, r)
		}
	}
}

// add adds what is at a path, if the tree covers it. It reports whether that is a folder.
func (t Tree) add(f *files, name string, entry fs.DirEntry) (folder bool) {
	if t.excepted(filepath.Join(t.root(), name)) {
		return false
	}
	f.list, f.seen[name] = append(f.list, file{name: name, entry: entry}), true
	return entry.IsDir()
}

// tracked adds a file that git tracks, if it is there and some rule ignores it.
func (t Tree) tracked(ctx context.Context, f *files, name string) {
	if f.seen[name] || len(f.list) > maxFiles || !filepath.IsLocal(name) {
		return
	}
	info, err := os.Lstat(filepath.Join(t.root(), name))
	if err == nil && t.add(f, name, fs.FileInfoToDirEntry(info)) {
		t.folder(ctx, f, name, nil) // a submodule
	}
}

// rulesOf returns the rules that hold in a folder.
func (t Tree) rulesOf(f *files, name string, entries []fs.DirEntry, above *rules) *rules {
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
		return parseRules(text, above, from)
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
	return parseRules(text.String(), above, from)
}

// excepted reports whether the absolute path is left out of the tree.
func (t Tree) excepted(path string) bool {
	below := func(e string) bool {
		rest, has := strings.CutPrefix(path, e)
		return e != "" && has && (rest == "" || rest[0] == filepath.Separator)
	}
	return below(t.Except) || below(t.List) || below(t.Runs)
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
