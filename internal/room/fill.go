package room

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Contents is what the room is to have.
type Contents struct {
	Tree    string            // as of Prove
	Trusted string            // the tree of 'trust': the agent's files differ from it
	Rules   map[string]string // texts of the trusted .gitignore files, by folder from Base on
	Base    string            // the project, from the top of the tree on
	Lent    map[string]string // folders of the project that are linked, by path from the top on
	Files   map[string][]byte // files that are written beside the tree: the list, for example
}

// Fill makes the room what it is to be. What is there of an earlier time and is ignored by the rules stays, but for
// build files that nobody has prepared; all else goes. If the room cannot be filled, Fill makes it anew, once. What
// changes in the room from then on has the time that Fill returns, or a later one. That is zero where programs can set
// the times of all files.
func (r Room) Fill(ctx context.Context, c Contents) (at time.Time, err error) {
	at, err = r.fill(ctx, c)
	if err == nil || ctx.Err() != nil {
		return at, err
	}
	if reset := r.Reset(); reset != nil {
		return at, errors.Join(err, reset)
	}
	at, err = r.fill(ctx, c)
	if err != nil && ctx.Err() == nil {
		_ = r.Reset() // it may have filled the disk
	}
	return at, err
}

func (r Room) fill(ctx context.Context, c Contents) (at time.Time, err error) {
	r.tidy()
	if info, err := os.Lstat(r.Dir); err != nil || !info.IsDir() {
		if err := r.Reset(); err != nil {
			return at, err
		}
		if err := os.MkdirAll(r.Dir, 0o700); err != nil {
			return at, err
		}
	}
	made := r.Prepared().Made
	drop := func(name string) bool { // a check could leave a program there that the next one runs
		build := config.BuildFile(name) || config.BuildFile(name+"/x")
		return !within(made, name) && (build || path.Base(name) == attributesFile)
	}
	var last lastFill
	r.read("filled.json", &last)
	now := r.clock()
	switch {
	case last.Tree != "" && last.Trusted != c.Trusted: // what was made in the room may be newer than what it is made of
		return at, errors.New("another tree is trusted")
	case now.IsZero(): // so all files may have changed since
		last.At = time.Time{}
	case now.Before(last.At):
		return at, errors.New("the system's clock was set back")
	}
	files, err := r.Files(ctx, c.Tree)
	if err != nil {
		return at, err
	}
	keep := make(map[string]bool, len(files))
	add := func(name string) {
		keep[name] = false
		for dir := path.Dir(name); dir != "." && !keep[dir]; dir = path.Dir(dir) {
			keep[dir] = true
		}
	}
	for _, name := range files {
		add(name)
	}
	for name := range c.Lent {
		add(name)
	}
	for name := range c.Files {
		add(name)
	}
	// What goes is gone before git comes: it would wait for a pipe that is called .gitattributes.
	changed, moved, err := r.tree(c).Sweep(ctx, keep, drop, last.At)
	if err != nil {
		return at, err
	}
	changed = slices.DeleteFunc(changed, func(name string) bool {
		_, isLent := c.Lent[name]
		return isLent
	})
	known := !last.At.IsZero() && !moved && len(changed) <= maxArgs
	wrote := true
	switch {
	case known && len(changed) == 0 && last.Tree == c.Tree:
		wrote = false
	case known && r.checkoutSome(ctx, last.Tree, c.Tree, changed) == nil:
	default:
		last.Tree = ""
		if !last.At.IsZero() { // else these are all files
			err = r.remove(changed)
		}
		if err == nil {
			err = r.checkout(ctx, c.Tree, changed)
		}
	}
	if err != nil {
		return at, err
	}
	if err := r.beside(c); err != nil {
		return at, err
	}
	if wrote {
		last.Agents, err = r.date(ctx, c, last, files, changed)
	}
	if err != nil {
		return at, err
	}
	at = r.tick()
	r.write("filled.json", lastFill{c.Tree, at, c.Trusted, last.Agents})
	return at, nil
}

// checkout makes the room what a tree is. Git looks at each file, and at what the changed ones say.
func (r Room) checkout(ctx context.Context, tree string, changed []string) error {
	if err := r.look(ctx, r.Dir, filled, changed, changed); err != nil {
		return err
	}
	// With --reset git also writes files anew that are there and differ, and removes what is in their way.
	_, err := r.git(ctx, r.Dir, filled, nil, "read-tree", "-u", "--reset", tree)
	return err
}

// remove removes files, so that they are written anew: one may be a hard link to another.
func (r Room) remove(files []string) error {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range files {
		if err := root.RemoveAll(filepath.FromSlash(name)); err != nil {
			return err
		}
	}
	return nil
}

// checkoutSome writes the files that differ between two trees, and some others of the second one.
func (r Room) checkoutSome(ctx context.Context, from, to string, others []string) error {
	edits, err := r.diff(ctx, from, to)
	if err != nil {
		return err
	}
	in := new(bytes.Buffer)
	for _, e := range edits {
		if e.mode != noMode && e.mode != folderMode {
			fmt.Fprintf(in, "%s %s\t%s\x00", e.mode, e.Is, e.Path)
		}
	}
	if len(others) > 0 {
		out, err := r.git(ctx, r.Git, filled, nil, slices.Concat([]string{"ls-tree", "-z", to, "--"}, others)...)
		if err != nil {
			return err
		}
		in.Write(out)
	}
	index, remove, err := r.temporaryIndex("fill-")
	if err != nil {
		return err
	}
	defer remove()
	_, err = r.git(ctx, r.Dir, index, in.Bytes(), "update-index", "-z", "--index-info")
	if err == nil {
		_, err = r.git(ctx, r.Dir, index, nil, "checkout-index", "--force", "--all")
	}
	return err
}

// date sets the times of files, since make goes by them: it would take a committed output for done that a filling wrote
// after the work. A file that is as at trust gets its time of then, and a file of the agent's a later one. A file that
// the agent has put back stays one of the agent's: an earlier check may have made something of its other text, which
// would be newer than at trust. last is the filling before, without a tree if any of the files may have been written;
// else changed were. date returns the agent's files.
func (r Room) date(ctx context.Context, c Contents, last lastFill, files, changed []string) (
	agents []string, err error) {
	edits, err := r.diff(ctx, c.Trusted, c.Tree)
	if err != nil {
		return nil, err
	}
	isAgents := map[string]bool{}
	for _, name := range last.Agents {
		isAgents[name] = true
	}
	for _, e := range edits {
		isAgents[e.Path] = true
	}
	if last.Tree == "" {
		changed = files
	} else {
		since, err := r.diff(ctx, last.Tree, c.Tree)
		if err != nil {
			return nil, err
		}
		for _, e := range since {
			if e.mode != noMode && e.mode != folderMode {
				changed = append(changed, e.Path)
			}
		}
	}
	times, newest := r.times(c.Trusted, files)
	later := r.tick()
	if !later.After(newest) {
		later = newest.Add(2 * time.Second) // file systems tell two seconds apart
	}
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, name := range changed {
		info, err := os.Lstat(filepath.Join(r.Dir, filepath.FromSlash(name)))
		if err != nil { // its path is too long for that
			info, err = root.Lstat(filepath.FromSlash(name))
		}
		if err != nil {
			return nil, err
		}
		at, right := times[name], info.ModTime().Equal(times[name])
		if isAgents[name] {
			at, right = later, info.ModTime().After(newest)
		}
		if right || !info.Mode().IsRegular() { // make goes by what a link leads to
			continue
		}
		if err := root.Chtimes(filepath.FromSlash(name), at, at); err != nil {
			return nil, err
		}
	}
	if last.Tree == "" { // git does not know these times, and the next checkout would write the files anew
		_, _ = r.git(ctx, r.Dir, filled, nil, "update-index", "-q", "--refresh")
		r.tidyTimes(c.Trusted)
	}
	return slices.Sorted(maps.Keys(isAgents)), nil
}

// lastFill is how the room was when it was filled last.
type lastFill struct {
	Tree    string
	At      time.Time // of what has changed since
	Trusted string
	Agents  []string // files that were the agent's at some filling since the room was made
}

// tick waits until files that change get a later time than those that have changed before, and returns that time. It is
// zero if the file system tells no such time, or only seconds.
func (r Room) tick() time.Time {
	before := r.clock()
	for range 50 { // Linux counts on within 10 ms
		if now := r.clock(); now.After(before) {
			return now
		}
		time.Sleep(time.Millisecond)
	}
	return time.Time{}
}

// clock returns the time that a file gets that changes now, beside the room; zero if there is no such time.
func (r Room) clock() time.Time {
	file, err := os.CreateTemp(filepath.Dir(r.Dir), ".clock-")
	if err != nil {
		return time.Time{}
	}
	defer os.Remove(file.Name())
	defer file.Close()
	return tree.ChangedAt(file.Name())
}

// ChangedSince returns the first of some files of the room that is not free, and that has changed since a time that
// Fill returned, or is gone; "" if there is none. Files that are beside the tree may change. A folder, too, is not free
// if nothing free is in it, except the room itself: it could be replaced, and put back.
func (r Room) ChangedSince(files []string, since time.Time, beside map[string][]byte,
	free func(name string) bool) string {
	if since.IsZero() {
		return ""
	}
	changed := func(name string) bool {
		at := tree.ChangedAt(filepath.Join(r.Dir, filepath.FromSlash(name)))
		return at.IsZero() || !at.Before(since)
	}
	folders := map[string]bool{".": true} // whether something free is in it
	for _, name := range files {
		_, isFree := beside[name]
		isFree = isFree || free(name)
		if !isFree && changed(name) {
			return name
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			folders[dir] = folders[dir] || isFree
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		if !folders[dir] && changed(dir) {
			return dir + "/"
		}
	}
	return ""
}

// beside writes what is in the room beside the tree.
func (r Room) beside(c Contents) error {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, target := range c.Lent {
		name = filepath.FromSlash(name)
		if text, err := root.Readlink(name); err == nil && text == target {
			continue
		}
		err := errors.Join(root.RemoveAll(name), root.MkdirAll(filepath.Dir(name), 0o755), root.Symlink(target, name))
		if err != nil {
			return err
		}
	}
	for name, text := range c.Files {
		name = filepath.FromSlash(name)
		err := errors.Join(root.RemoveAll(name), root.MkdirAll(filepath.Dir(name), 0o755),
			root.WriteFile(name, text, 0o644))
		if err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(r.Dir, filepath.FromSlash(c.Base)), 0o755)
}

// tidy removes what calls left that were killed.
func (r Room) tidy() {
	_ = os.Remove(filepath.Join(r.Git, filled+".lock"))
	entries, _ := os.ReadDir(r.Git)
	for _, entry := range entries {
		prefix, _, temporary := strings.Cut(entry.Name(), "-")
		temporary = temporary && slices.Contains([]string{"snapshot", "prove", "fill"}, prefix)
		if info, err := entry.Info(); temporary && err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(filepath.Join(r.Git, entry.Name()))
		}
	}
}

// Reset removes the room. The next Fill makes it anew.
func (r Room) Reset() error {
	if err := loopdir.RemoveAll(r.Dir); err != nil {
		return err
	}
	for _, name := range []string{filled, filled + ".lock", "filled.json", "prepared.json"} {
		if err := os.Remove(filepath.Join(r.Git, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Size counts the files in the room, and their bytes.
func (r Room) Size() (files int, bytes int64) {
	_ = filepath.WalkDir(r.Dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files++
			if info, err := entry.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return files, bytes
}

// Inputs returns a hash of the files of a tree that match. Two trees with the same of them have the same hash.
func (r Room) Inputs(ctx context.Context, id string, match func(path string) bool) (string, error) {
	out, err := r.git(ctx, r.Git, filled, nil, "ls-tree", "-r", "-z", id)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, line := range proc.GitTexts(out) {
		if _, name, _ := strings.Cut(line, "\t"); match(name) {
			fmt.Fprintf(sum, "%q\n", line)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// Prepared is what commands have done in the room that prepare it.
type Prepared struct {
	Inputs map[string]string // hashes, by command
	Made   []string          // what they made and git ignores, from the top on
	Stamp  string            // of all that is in there
}

// Prepared returns what SetPrepared stored, unless the room was made anew since.
func (r Room) Prepared() (p Prepared) {
	r.read("prepared.json", &p)
	return p
}

// AsPrepared reports whether all that was made is as it was then. Only caches may differ.
func (r Room) AsPrepared(p Prepared) bool { return p.Stamp == r.stamp(p.Made) }

// SetPrepared stores what was done in the room. before is what was hidden there before.
func (r Room) SetPrepared(ctx context.Context, c Contents, inputs map[string]string, before []string) {
	p := Prepared{Inputs: inputs}
	for _, name := range r.Hidden(ctx, c) {
		if !slices.Contains(before, name) {
			p.Made = append(p.Made, name)
		}
	}
	p.Stamp = r.stamp(p.Made)
	r.write("prepared.json", p)
}

// Unprepare removes what was made.
func (r Room) Unprepare() error {
	var all error
	for _, name := range r.Prepared().Made {
		all = errors.Join(all, loopdir.RemoveAll(filepath.Join(r.Dir, filepath.FromSlash(name))))
	}
	return errors.Join(all, os.RemoveAll(filepath.Join(r.Git, "prepared.json")))
}

// Hidden returns what is in the room and git ignores, without what is below that.
func (r Room) Hidden(ctx context.Context, c Contents) []string {
	all, _ := r.tree(c).Hidden(ctx) // what cannot be read is made anew each time
	return all
}

// stamp returns a text that changes with the files below some folders, but for those in caches.
func (r Room) stamp(names []string) string {
	sum := sha256.New()
	add := func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			fmt.Fprintf(sum, "%q %v\n", path, err)
		case !entry.IsDir():
			fmt.Fprintf(sum, "%q %s\n", path, tree.Stamp(path))
		case entry.Name() == ".cache" || entry.Name() == "__pycache__":
			return fs.SkipDir
		default:
			fmt.Fprintf(sum, "%q\n", path)
		}
		return nil
	}
	for _, name := range names {
		_ = filepath.WalkDir(filepath.Join(r.Dir, filepath.FromSlash(name)), add) // add returns no other error
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// tree is the room as a tree under the trusted rules: those in the room are the agent's.
func (r Room) tree(c Contents) tree.Tree {
	rules := c.Rules
	if rules == nil {
		rules = map[string]string{}
	}
	dir := filepath.Join(r.Dir, filepath.FromSlash(c.Base))
	return tree.Tree{Dir: dir, Top: r.Dir, Rules: rules, Beside: c.Files}
}

// Differ returns the paths of the files that differ between two trees.
func (r Room) Differ(ctx context.Context, from, to string) (paths []string, err error) {
	edits, err := r.diff(ctx, from, to)
	for _, e := range edits {
		if e.mode != folderMode && e.was != folderMode {
			paths = append(paths, e.Path)
		}
	}
	return paths, err
}
