package proof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Contents is what the copy is to have beside what was looked at.
type Contents struct {
	Rules map[string]string // texts of the trusted .gitignore files, by folder from Base on
	Base  string            // the project, from the top on
	Files map[string][]byte // files that are no part of what is proven, by path from the top on
	Git   bool              // a repository that borrows from the project

	Settings string // if they change, the copy is made again

	// OnlyPrepared reports whether only what "prepare" made in a folder stays there. It may be nil.
	OnlyPrepared func(folder string) bool
}

// copyFile is the index of what Fill has written, and copyOfFile says of what: the baseline and the settings.
const (
	copyFile   = "copy"
	copyOfFile = "copy-of"
)

// Filled is what a copy had when it was filled.
type Filled struct {
	At    time.Time // what has changed since has this time, or a later one; zero: programs can set the times of all files
	files Index
}

// Fill makes the copy what it is to be. What is there of an earlier time and is the copy's own stays. If that fails,
// Fill makes the whole copy again, once. before is what an earlier call of this process has returned, if there was one:
// meanwhile commands may write the index of the copy.
func (p Place) Fill(ctx context.Context, l *Look, c Contents, before Filled) (now Filled, err error) {
	now, err = p.fill(ctx, l, c, before.files)
	if err == nil || ctx.Err() != nil || errors.Is(err, errDamaged) {
		return now, err
	}
	if p.Reset() != nil {
		return now, err
	}
	now, err = p.fill(ctx, l, c, nil)
	if err != nil && ctx.Err() == nil {
		err = p.orFull(err)
		_ = p.Reset() // it may have filled the disk
	}
	return now, err
}

func (p Place) fill(ctx context.Context, l *Look, c Contents, have Index) (filled Filled, err error) {
	if err := p.unlinkAbove(); err != nil {
		return filled, err
	}
	of, _ := os.ReadFile(filepath.Join(p.Store, p.named(copyOfFile)))
	info, missing := os.Lstat(p.Copy)
	now := l.baseline.ID + digest([]byte(c.Settings))
	if missing != nil || !info.IsDir() || string(of) != now {
		// What was made in the copy may be newer than what another baseline makes it of. With other settings, it may have
		// links where it now has its own.
		have = nil
		if err := p.Reset(); err != nil {
			return filled, err
		}
		err := errors.Join(os.MkdirAll(p.Copy, 0o700), p.write(p.named(copyOfFile), []byte(now)))
		if err != nil {
			return filled, err
		}
	}
	if err := os.Chmod(p.Copy, 0o700); err != nil {
		return filled, err
	}
	root, err := os.OpenRoot(p.Copy)
	if err != nil {
		return filled, err
	}
	defer root.Close()
	source := p.source(l.baseline.ID)
	defer source.close()
	f := &filler{source: source, Look: l, root: root, contents: c, made: p.Prepared().Made, have: have}
	if have == nil {
		f.have = p.readIndex(p.named(copyFile))
	}
	changed, err := f.fill(ctx)
	if err == nil && changed {
		err = p.writeCopyIndex(f.now, now)
	}
	if err != nil {
		return filled, err
	}
	return Filled{p.tick(), f.now}, nil
}

// writeCopyIndex writes the index of the copy. If that is cut short, the copy is made again: only the index knows which
// files had the agent's version.
func (p Place) writeCopyIndex(files Index, of string) error {
	err := os.Remove(filepath.Join(p.Store, p.named(copyOfFile)))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = p.write(p.named(copyFile), formatIndex(files))
	}
	if err == nil {
		err = p.write(p.named(copyOfFile), []byte(of))
	}
	return err
}

// unlinkAbove removes a link in the place of one of the folders above the copy, up to that of all copies: a command
// could have moved them to where an agent can write.
func (p Place) unlinkAbove() error {
	for dir := filepath.Dir(p.Copy); ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = os.Remove(dir)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if filepath.Base(dir) == loopdir.Copies || dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// filler fills the copy.
type filler struct {
	source
	*Look
	root     *os.Root
	contents Contents
	made     []string // what "prepare" made
	have     Index    // what the copy should have had
	now      Index    // and what it has now
}

// fill reports whether now differs from have.
func (f *filler) fill(ctx context.Context) (changed bool, err error) {
	folders := maps.Clone(f.folders)
	for name := range f.contents.Files {
		addFolders(folders, name)
	}
	links := f.links()
	for _, name := range links {
		addFolders(folders, name)
	}
	wanted := f.want.inOrder()
	keep := func(name string) (file, folder bool) {
		_, isExtra := f.contents.Files[name]
		folder = folders[name]
		return !folder && (isExtra || wanted(name) != nil), folder
	}
	stays := func(name string) bool {
		isPrepared := f.contents.OnlyPrepared != nil && f.contents.OnlyPrepared(name)
		return f.contents.Git && name == gitFolder || within(links, name) || within(f.made, name) ||
			f.rule.InCopy(name) && !isPrepared
	}
	err = f.removeUnwanted()
	if err != nil {
		return false, err
	}
	files, there, err := tree.Sweep(ctx, f.Copy, keep, stays)
	if err != nil {
		return false, err
	}
	todo := f.compare(files)
	missing := maps.Clone(f.folders)
	for _, dir := range there {
		delete(missing, dir)
	}
	for _, dir := range slices.Sorted(maps.Keys(missing)) {
		if err := f.makeFolder(dir); err != nil {
			return false, err
		}
	}
	if err := f.putAll(ctx, todo); err != nil {
		return false, err
	}
	changed = f.noteDeletions() || len(todo) > 0 || len(f.now) != len(f.have)
	for _, name := range links {
		if err := f.link(name, 1); err != nil {
			return false, err
		}
	}
	for name, text := range f.contents.Files {
		name = filepath.FromSlash(name)
		err := errors.Join(f.root.RemoveAll(name), f.root.MkdirAll(filepath.Dir(name), 0o755),
			f.root.WriteFile(name, text, 0o644))
		if err != nil {
			return false, err
		}
	}
	if f.contents.Git {
		if err := f.borrowGit(); err != nil {
			return false, err
		}
	}
	err = os.MkdirAll(filepath.Join(f.Copy, filepath.FromSlash(f.contents.Base)), 0o755)
	return changed, err
}

// task is a file that is to be written.
type task struct {
	at       int  // in want
	replaces bool // what is there
}

// compare returns what is to be written, and notes the rest. there are the files that the copy has.
func (f *filler) compare(there []tree.Entry) (todo []task) {
	f.now = make(Index, len(f.want))
	had := f.have.inOrder()
	paths := tree.ByPath(there)
	for i, want := range f.want {
		have := had(want.Path)
		at, is := paths.Find(want.Path)
		sameMode := have != nil && have.Mode.Perm() == want.Mode.Perm()
		if !is || !sameMode || !have.same(want) || !f.isAsWritten(have, &there[at]) {
			todo = append(todo, task{i, is})
			continue
		}
		f.now[i] = have
		if want.Agents {
			have.Agents = true
		}
	}
	return todo
}

// noteDeletions notes the files of the baseline that are not to be there: so the agent's version is that there is none.
// It reports whether one of them was.
func (f *filler) noteDeletions() (changed bool) {
	wanted := f.want.inOrder()
	var gone Index
	for _, was := range f.baseline.Files {
		if wanted(was.Path) != nil {
			continue
		}
		have := f.have.Find(was.Path)
		changed = changed || have == nil || have.Hash != ""
		gone = append(gone, &File{Path: was.Path, Agents: true})
	}
	f.now = merge(f.now, gone)
	return changed
}

// makeFolder makes a folder, and those above it, unless it is there.
func (f *filler) makeFolder(name string) error {
	local := filepath.FromSlash(name)
	info, err := f.root.Lstat(local)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		_ = f.root.Remove(local) // MkdirAll says why it stays
	}
	return f.root.MkdirAll(local, 0o755)
}

// removeUnwanted removes what was filled in, and is not to be in the copy any more. What git ignores now would stay.
func (f *filler) removeUnwanted() error {
	wanted := f.want.inOrder()
	for _, have := range f.have {
		name := have.Path
		if have.Hash == "" || wanted(name) != nil {
			continue
		}
		local := filepath.FromSlash(name)
		_, err := f.root.Lstat(local)
		if err == nil {
			err = f.root.RemoveAll(local)
		} else if !errors.Is(err, fs.ErrPermission) {
			continue // it is gone, or a link is in the place of a folder above it
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isAsWritten reports whether a file of the copy is as Fill has written it.
func (f *filler) isAsWritten(have *File, e *tree.Entry) bool {
	if !e.Changed.IsZero() {
		return e.HasStamp(have.Stamp)
	}
	if have.isLink() { // a system without such times: its text says all
		text, err := f.root.Readlink(filepath.FromSlash(have.Path))
		return err == nil && digest([]byte(text)) == have.Hash
	}
	hash, err := hashFile(f.root, have.Path)
	return err == nil && hash == have.Hash
}

// putAll writes files, with what the objects say.
func (f *filler) putAll(ctx context.Context, todo []task) error {
	names := make([]string, len(todo))
	for i, one := range todo {
		names[i] = f.want[one.at].Path
	}
	errs := make([]error, len(todo))
	inFolders(ctx, f.root, names, func(i int, root *os.Root, err error) {
		if err == nil {
			f.now[todo[i].at], err = f.put(root, todo[i])
		}
		if err != nil {
			errs[i] = fmt.Errorf("%s: %w", names[i], err)
		}
	})
	first := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if first >= 0 {
		return errs[first]
	}
	return ctx.Err()
}

// inFolders calls do for the index of each of some files below root, and for the folder of the file, on all processors.
// A file is opened faster from its folder than by its whole path, and two processors are in each other's way in one
// folder. Nothing more is called when ctx is over.
func inFolders(ctx context.Context, root *os.Root, names []string, do func(i int, folder *os.Root, err error)) {
	indexes := map[string][]int{} // by folder
	for i, name := range names {
		dir := path.Dir(name)
		indexes[dir] = append(indexes[dir], i)
	}
	next := make(chan string)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for dir := range next {
				folder, err := root.OpenRoot(filepath.FromSlash(dir))
				for _, i := range indexes[dir] {
					if ctx.Err() == nil {
						do(i, folder, err)
					}
				}
				if err == nil {
					folder.Close()
				}
			}
		})
	}
	for dir := range indexes {
		next <- dir
	}
	close(next)
	all.Wait()
}

// put writes one file or link. Make goes by the time of a file: a file that is as at 'trust' gets its time of then, and
// one that was the agent's at some time a later one, since a check may have made something of its other text.
func (f *filler) put(root *os.Root, one task) (*File, error) {
	want := *f.want[one.at]
	local := path.Base(want.Path)
	had := f.have.Find(want.Path)
	want.Agents = want.Agents || had != nil && had.Agents
	if one.replaces {
		err := root.Remove(local)
		if err != nil {
			return nil, err
		}
	}
	if want.isLink() {
		text, err := f.text(&want, maxLink)
		if err == nil {
			err = root.Symlink(string(text), local)
		}
		return withStamp(root, &want, local, err)
	}
	return withStamp(root, &want, local, f.putFile(root, &want, local))
}

// withStamp returns a file with the stamp that it has in the copy.
func withStamp(root *os.Root, file *File, local string, err error) (*File, error) {
	if err != nil {
		return file, err
	}
	info, err := root.Lstat(local)
	if err == nil {
		file.Stamp = tree.StampOf(info)
	}
	return file, err
}

func (f *filler) putFile(root *os.Root, want *File, local string) error {
	in, err := f.open(want)
	if err != nil {
		return err
	}
	defer in.Close()
	perm := want.Mode.Perm() | 0o600
	out, err := root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	h := newHash()
	_, err = copyTo(io.MultiWriter(out, h), in)
	if err == nil {
		err = f.verify(want, h)
	}
	err = errors.Join(err, out.Close())
	if err == nil && !want.Agents {
		err = root.Chtimes(local, want.Written, want.Written)
	}
	return err
}

// Git ignores files of the project that checks need, such as packages and keys. The copy has links to them.

// links returns what the copy has by links.
func (f *filler) links() (names []string) {
	for _, name := range f.ignored {
		if !f.wants(name) && !isBelow(name, f.wants) && !f.rule.InCopy(name) && !within(f.made, name) {
			names = append(names, name)
		}
	}
	return names
}

// ofPackages are caches that tools write beside the packages: those in the copy are its own.
var ofPackages = []string{".cache", ".vite", ".vitest", ".tmp"}

// link links a file or folder that git ignores. Of a folder each entry is linked, and of one whose name begins with @
// each entry of that: so a link in it to a package of the project leads to the one in the copy, and what a check adds
// stays in the copy.
func (f *filler) link(name string, levels int) error {
	from := filepath.Join(f.project, filepath.FromSlash(name))
	if _, isExtra := f.contents.Files[name]; isExtra || f.rule.InCopy(name) {
		return nil
	}
	info, err := os.Lstat(from)
	if err != nil {
		return nil // it is gone by now
	}
	holds := f.folders[name] || f.holdsExtra(name)
	switch {
	case !info.IsDir() && holds:
		return f.unlink(name, nil)
	case !info.IsDir(), levels == 0 && !holds:
		return f.linkOne(name, from, info)
	}
	if err := f.makeFolder(name); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil // the check will say what it misses
	}
	here := map[string]bool{}
	for _, entry := range entries {
		below := path.Join(name, entry.Name())
		here[entry.Name()] = true
		if f.wants(below) || slices.Contains(ofPackages, entry.Name()) {
			continue
		}
		more := 0
		if strings.HasPrefix(entry.Name(), "@") {
			more = 1
		}
		if err := f.link(below, more); err != nil {
			return err
		}
	}
	return f.unlink(name, here)
}

// holdsExtra reports whether one of the contents' files is below a folder.
func (f *filler) holdsExtra(folder string) bool {
	for name := range f.contents.Files {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// linkOne makes one link. A link of the project whose text leads to a file of the project leads to that of the copy.
func (f *filler) linkOne(name, from string, info fs.FileInfo) error {
	local := filepath.FromSlash(name)
	to := from
	if info.Mode()&fs.ModeSymlink != 0 {
		text, err := os.Readlink(from)
		text = linkText(f.project, name, text)
		end := path.Join(path.Dir(name), filepath.ToSlash(text))
		if err == nil && !filepath.IsAbs(text) && end != ".." && !strings.HasPrefix(end, "../") {
			to = text
		}
	}
	now, err := f.root.Readlink(local)
	if err == nil && now == to {
		return nil
	}
	err = errors.Join(f.root.RemoveAll(local), f.root.MkdirAll(filepath.Dir(local), 0o755))
	if err != nil {
		return err
	}
	err = f.root.Symlink(to, local)
	if err == nil || runtime.GOOS != "windows" {
		return err
	}
	return copyAll(filepath.Join(f.Copy, local), from) // Windows lets only some users make links
}

func copyAll(to, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return nil
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// unlink removes links of a folder to what is not in the project any more.
func (f *filler) unlink(name string, here map[string]bool) error {
	entries, err := os.ReadDir(filepath.Join(f.Copy, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		below := path.Join(name, entry.Name())
		local := filepath.FromSlash(below)
		isScope := strings.HasPrefix(entry.Name(), "@")
		switch {
		case here[entry.Name()], f.wants(below):
			continue
		case entry.Type()&fs.ModeSymlink != 0:
			err = f.root.Remove(local)
		case entry.IsDir() && (isScope || f.folders[below]):
			err = f.unlink(below, nil)
			_ = f.root.Remove(local) // if nothing is left there
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tick waits until files that change get a later time than those that have changed before, and returns that time. It is
// zero if the file system tells no such time, or only seconds.
func (p Place) tick() time.Time {
	before := p.clock()
	for range 50 { // Linux counts on within 10 ms
		now := p.clock()
		if now.After(before) {
			return now
		}
		time.Sleep(time.Millisecond)
	}
	return time.Time{}
}

// clock returns the time that what changes now gets, from the folder of the copy; zero if there is no such time.
func (p Place) clock() time.Time {
	dir, now := filepath.Dir(p.Copy), time.Now()
	err := os.Chtimes(dir, now, now)
	if err != nil {
		return time.Time{}
	}
	return tree.ChangedAt(dir)
}

// ChangedSince returns the first file of the copy that is not free, and that is not as Fill has left it; "" if there is
// none. A folder, too, is not free if nothing free is in it, except the copy itself: it could be replaced, and put
// back.
func (p Place) ChangedSince(filled Filled, free func(name string) bool) string {
	if filled.At.IsZero() {
		return ""
	}
	folders := map[string]bool{} // whether something free is in it
	for _, f := range filled.files {
		if f.Hash == "" { // the copy does not have it
			continue
		}
		isFree := free(f.Path)
		if !isFree && p.stampIn(f.Path) != f.Stamp {
			return f.Path
		}
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			folders[dir] = folders[dir] || isFree
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		at := tree.ChangedAt(filepath.Join(p.Copy, filepath.FromSlash(dir)))
		if !folders[dir] && (at.IsZero() || !at.Before(filled.At)) {
			return dir + "/"
		}
	}
	return ""
}

// stampIn returns the stamp of a file of the copy, "" if it is gone.
func (p Place) stampIn(name string) string {
	info, err := os.Lstat(filepath.Join(p.Copy, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return tree.StampOf(info)
}

// Reset removes the copy. The next Fill makes it again.
func (p Place) Reset() error {
	if err := loopdir.RemoveAll(p.Copy); err != nil {
		return err
	}
	for _, name := range []string{copyFile, copyOfFile, preparedFile} {
		err := os.Remove(filepath.Join(p.Store, p.named(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// tree is the copy as a tree under the trusted rules: those in the copy are the agent's.
func (p Place) tree(c Contents) tree.Tree {
	rules := c.Rules
	if rules == nil {
		rules = map[string]string{}
	}
	dir := filepath.Join(p.Copy, filepath.FromSlash(c.Base))
	return tree.Tree{Dir: dir, Top: p.Copy, Rules: rules, Hide: c.OnlyPrepared}
}
