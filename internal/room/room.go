// Package room keeps the folder in which checks run, outside of the project: what the project had when a person
// trusted it, and of what has changed since only what the agent may change.
//
// A bare repository of our own says what is in it. The project is only read: its git configuration, attributes, hooks
// and index have no say.
package room

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Room is where the room is. Nobody but Fill and Reset may be called at the same time as Fill.
type Room struct {
	Git string   // the folder of our repository
	Dir string   // the room itself
	Env []string // where git is
}

// Change is a file that is not in the room as it is in the project.
type Change struct {
	Path string `json:"path"` // from the tree's root on; a folder ends with a slash
	Why  string `json:"why"`
}

const (
	gitTime = 10 * time.Minute // a first snapshot of a large project takes minutes
	maxFile = 100 << 20        // bytes of a file that is taken
	filled  = "room"           // the index of the last read-tree; what was written since looks changed to git
	none    = "0000000000000000000000000000000000000000"
)

// Why a file is not in the room as it is in the project.
const (
	tooLarge   = `it is larger than 100 MB, which a room does not take; make it smaller, or have "prepare" make it there`
	notRegular = "it is no file"
	unreadable = "it cannot be read"
	noName     = "git takes no such name"
	leadsOut   = "the link leads out of the room"
	inTheWay   = "a file that stays is in its place"

	attributesPipe = "it is no file, and git would wait for it: nothing beside it and below counts"
)

// gitConfig is that of our repository. Git holds no file in memory that is larger than the threshold.
const gitConfig = `[core]
	repositoryformatversion = 0
	bare = false
	autocrlf = false
	safecrlf = false
	filemode = %[1]v
	symlinks = %[1]v
	ignorecase = %[2]v
	precomposeunicode = false
	attributesFile = "%[3]s"
	excludesFile = "%[3]s"
	hooksPath = "%[3]s"
	fsmonitor = false
	untrackedCache = false
	splitIndex = false
	sparseCheckout = false
	protectHFS = true
	protectNTFS = true
	longpaths = true
	trustctime = true
	bigFileThreshold = 8m
	looseCompression = 1
[index]
	version = 4
	skipHash = true
[gc]
	auto = 0
[maintenance]
	auto = false
`

const attributesFile = ".gitattributes"

// attributes win over all .gitattributes of the project: a file is taken and written byte for byte.
const attributes = "* -text -eol -crlf -filter -ident -working-tree-encoding\n"

// Make makes our repository, unless it is there.
func (r Room) Make() error {
	head := filepath.Join(r.Git, "HEAD")
	if _, err := os.Lstat(head); err == nil {
		return nil
	}
	for _, dir := range []string{"info", "objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(r.Git, dir), 0o700); err != nil {
			return err
		}
	}
	windows := runtime.GOOS == "windows"
	text := fmt.Sprintf(gitConfig, !windows, windows || runtime.GOOS == "darwin", filepath.ToSlash(os.DevNull))
	if windows {
		text = strings.ReplaceAll(text, os.DevNull, "") // git for Windows has no such file
	}
	// HEAD comes last: with it, the repository is complete.
	for _, file := range [][2]string{
		{filepath.Join(r.Git, "config"), text}, {filepath.Join(r.Git, "info", "attributes"), attributes},
		{head, "ref: refs/heads/none\n"},
	} {
		if err := os.WriteFile(file[0], []byte(file[1]), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// git runs git with an index of ours over a work tree.
func (r Room) git(ctx context.Context, work, index string, in []byte, args ...string) ([]byte, error) {
	c := proc.Git(r.Env, work, args...)
	c.Stdin = in
	c.Timeout = gitTime
	c.Env = append(c.Env, "GIT_DIR="+r.Git, "GIT_WORK_TREE="+work, "GIT_INDEX_FILE="+filepath.Join(r.Git, index),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1")
	out, err := proc.GitOutput(ctx, c, args[0])
	if err != nil {
		err = r.orFull(err)
	}
	return out, err
}

// orFull says that a disk is full, if one is: git mostly says only which file it cannot write.
func (r Room) orFull(err error) error {
	full := func(dir string) bool {
		free, known := loopdir.Free(dir)
		return known && free < 1<<20
	}
	switch {
	case full(r.Git):
		return fmt.Errorf("no space is left on the disk of %s, which the room needs; free some there: %w", r.Git, err)
	case full(r.Dir), strings.Contains(err.Error(), "No space left"):
		return fmt.Errorf("no space is left on the disk of %s, which the room needs; free some there, or have the "+
			"cache folder elsewhere (XDG_CACHE_HOME): %w", r.Dir, err)
	}
	return err
}

// temporaryIndex returns the name of an index that git is to make, and what removes it.
func (r Room) temporaryIndex(prefix string) (name string, remove func(), err error) {
	dir, err := os.MkdirTemp(r.Git, prefix)
	return filepath.Join(filepath.Base(dir), "index"), func() { _ = os.RemoveAll(dir) }, err
}

// writeTree writes the tree of an index.
func (r Room) writeTree(ctx context.Context, index string) (id string, err error) {
	out, err := r.git(ctx, r.Git, index, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// joined is the reverse of proc.GitTexts.
func joined(names []string) []byte {
	if len(names) == 0 {
		return nil
	}
	return []byte(strings.Join(names, "\x00") + "\x00")
}

// Files returns the paths of the files in a tree, sorted. Those of the last one are kept.
func (r Room) Files(ctx context.Context, id string) (files []string, err error) {
	kept := filepath.Join(r.Git, "files")
	text, _ := os.ReadFile(kept)
	last, rest, _ := bytes.Cut(text, []byte{0})
	if string(last) == id && bytes.HasSuffix(rest, []byte{0, 0}) { // else a killed process has left half of it
		return proc.GitTexts(rest[:len(rest)-1]), nil
	}
	out, err := r.git(ctx, r.Git, filled, nil, "ls-tree", "-r", "-z", "--name-only", id)
	if err != nil {
		return nil, fmt.Errorf("the trusted tree cannot be read: %w", err)
	}
	_ = os.WriteFile(kept, fmt.Appendf(nil, "%s\x00%s\x00", id, out), 0o600)
	return proc.GitTexts(out), nil
}

// Entries looks at the files of a tree as they are now. Of those that the tree has named trusted, "" for none, it also
// returns those that git ignores.
func (r Room) Entries(ctx context.Context, t tree.Tree, trusted string) (tree.Entries, error) {
	if err := r.Make(); err != nil {
		return tree.Entries{}, err
	}
	kept := r.known()
	also := kept.Ignored
	if trusted != "" && kept.Trusted != trusted {
		var err error
		also, err = r.Files(ctx, trusted)
		if err != nil {
			return tree.Entries{}, err
		}
	}
	return t.Entries(ctx, also)
}

// Snapshot is the project as it was at one time.
type Snapshot struct {
	Tree string       // its id
	Left []Change     // what cannot be taken
	Seen tree.Entries // its files
}

// Snapshot stores the files of a tree as they are now, as Entries returns them. It takes nothing of the lent folders.
func (r Room) Snapshot(ctx context.Context, t tree.Tree, trusted string, lent []string) (now Snapshot, err error) {
	began := time.Now()
	entries, err := r.Entries(ctx, t, trusted)
	if err != nil {
		return now, err
	}
	now.Seen = entries
	kept := r.known()
	stamp := fmt.Sprintf("%q %q %s", t.Top, lent, entries.Stamp)
	if entries.Stamp != "" && trusted != "" && kept.Stamp == stamp {
		now.Tree = kept.Tree
		now.Left = kept.Left
		return now, nil
	}
	s := &snapshot{Room: r, ctx: ctx, top: t.Top, began: kept.Began}
	waits := map[string]bool{}
	if entries.Closed != nil {
		s.left = append(s.left, Change{".", plain.Line(entries.Closed.Error(), 300)})
	}
	var ignored []string
	noLinks := trusted == "" || kept.NoLinks && kept.Trusted == trusted
	for _, e := range entries.List {
		if e.Ignored {
			ignored = append(ignored, e.Path)
		}
		noLinks = noLinks && e.Mode&fs.ModeSymlink == 0
		switch {
		case within(lent, e.Path), e.Ignored && s.behindLink(e.Path):
		case s.waits(path.Dir(e.Path), waits):
		case e.Mode.IsRegular() && e.Size > maxFile:
			s.left = append(s.left, Change{e.Path, tooLarge})
		case e.Mode.IsRegular(), e.Mode&fs.ModeSymlink != 0:
			s.files = append(s.files, e)
		default:
			s.left = append(s.left, Change{e.Path, notRegular})
		}
	}
	now.Tree, err = s.take()
	if err != nil {
		return now, err
	}
	now.Left = s.left
	if trusted == "" {
		kept.Trusted = now.Tree
		kept.Ignored = ignored
		s.writeTimes(now.Tree)
	}
	kept.NoLinks = noLinks
	kept.Began = began
	if trusted != "" {
		r.prune(ctx, &kept, trusted, now.Tree)
	}
	kept.Stamp, kept.Tree, kept.Left = "", now.Tree, now.Left
	if entries.Stamp != "" {
		kept.Stamp = stamp
	}
	r.write("project.json", kept)
	return now, nil
}

// writeTimes stores when the files of a tree were written, unless that is known. Make goes by these times.
func (s *snapshot) writeTimes(id string) {
	if _, err := os.Lstat(s.timesOf(id)); err == nil {
		return
	}
	var text []byte
	now := time.Now()
	for _, f := range s.files {
		if f.Written.After(now) {
			f.Written = now
		}
		text = fmt.Appendf(text, "%d\t%s\x00", f.Written.UnixNano(), f.Path)
	}
	s.replace(s.timesOf(id), text)
}

// timesOf returns the file with the times of a tree.
func (r Room) timesOf(id string) string { return filepath.Join(r.Git, "times-"+id) }

// tidyTimes removes the times of other trees.
func (r Room) tidyTimes(id string) {
	all, _ := filepath.Glob(r.timesOf("*"))
	for _, file := range all {
		if file != r.timesOf(id) {
			_ = os.Remove(file)
		}
	}
}

// times returns when the files of a tree had been written, by path, and the last of these times. A file without one was
// written long ago.
func (r Room) times(id string, files []string) (times map[string]time.Time, newest time.Time) {
	times = make(map[string]time.Time, len(files))
	newest = time.Unix(1e9, 0)
	for _, name := range files {
		times[name] = newest
	}
	text, _ := os.ReadFile(r.timesOf(id))
	for _, line := range proc.GitTexts(text) {
		at, name, _ := strings.Cut(line, "\t")
		nanoseconds, err := strconv.ParseInt(at, 10, 64)
		if err == nil {
			times[name] = time.Unix(0, nanoseconds)
		}
		if times[name].After(newest) {
			newest = times[name]
		}
	}
	return times, newest
}

// known is what is known of the project since the last snapshot.
type known struct {
	Stamp   string   // of all files; empty: the next snapshot looks at each
	Tree    string   // with Stamp: what they are
	Left    []Change // with Stamp: and what was not taken
	Trusted string   // the snapshot that was the last one for 'trust'
	Ignored []string // the files of that which git tracks although it ignores them
	NoLinks bool     // there was no link in that, and in none of the snapshots since
	Objects int      // how many objects a folder of the repository had after the last prune
	Began   time.Time
}

// prune removes what the repository has no use for any more, when there is twice as much as it left last time.
func (r Room) prune(ctx context.Context, kept *known, trees ...string) {
	count := func() int {
		some, _ := os.ReadDir(filepath.Join(r.Git, "objects", "17")) // git spreads them evenly
		return len(some)
	}
	if count() <= 2*kept.Objects+mostObjects {
		return
	}
	var last lastProof
	var room lastFill
	r.read("proof.json", &last)
	r.read("filled.json", &room)
	args := []string{"prune", "--expire=" + pruneAfter, "--"}
	for _, id := range append(trees, kept.Trusted, last.Proof.Tree, room.Tree) {
		if id != "" {
			args = append(args, id)
		}
	}
	_, _ = r.git(ctx, r.Git, filled, nil, args...) // if it fails, there is more, and that is all
	kept.Objects = count()
}

// A test has other bounds.
var (
	mostObjects = 27           // how many objects one of 256 folders of the repository may have beside those
	pruneAfter  = "1.hour.ago" // another process may be writing objects that are younger
)

func (r Room) known() (k known) {
	r.read("project.json", &k)
	return k
}

// read reads a file of ours. If it cannot be read, or a killed process has left half of it, what it would save is done
// again.
func (r Room) read(name string, to any) {
	text, err := os.ReadFile(filepath.Join(r.Git, name))
	if err == nil {
		_ = json.Unmarshal(text, to)
	}
}

func (r Room) write(name string, what any) {
	text, err := json.Marshal(what)
	if err == nil {
		r.replace(filepath.Join(r.Git, name), text)
	}
}

// replace writes a file of ours, whole or not at all.
func (r Room) replace(file string, text []byte) {
	if os.WriteFile(file+".new", text, 0o600) == nil {
		_ = os.Rename(file+".new", file)
	}
}

// within reports whether a path is that of one of these folders, or below it.
func within(folders []string, name string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// snapshot is one that is being taken.
type snapshot struct {
	Room
	ctx   context.Context
	top   string
	files []tree.Entry
	left  []Change
	index string // the name of a temporary one

	began time.Time // when the last one was
}

// waits reports whether git would wait for ever where it looks for the attributes of files in a folder: there or above
// is a pipe of that name. known are the folders that were looked at.
func (s *snapshot) waits(dir string, known map[string]bool) bool {
	if is, has := known[dir]; has {
		return is
	}
	info, err := os.Lstat(filepath.Join(s.top, filepath.FromSlash(dir), attributesFile))
	pipe := err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) != 0
	known[dir] = pipe || dir != "." && s.waits(path.Dir(dir), known)
	if pipe {
		s.left = append(s.left, Change{path.Join(dir, attributesFile), attributesPipe})
	}
	return known[dir]
}

// behindLink reports whether a folder above a file is a link: git takes no such file.
func (s *snapshot) behindLink(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(filepath.Join(s.top, filepath.FromSlash(dir)))
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// take works on an index of its own, so that it needs no lock, and leaves none behind if it is killed.
func (s *snapshot) take() (id string, err error) {
	kept, list := filepath.Join(s.Git, "project"), filepath.Join(s.Git, "project.list")
	index, remove, err := s.temporaryIndex("snapshot-")
	if err != nil {
		return "", err
	}
	defer remove()
	s.index = index
	was, err := s.was(list)
	if err != nil {
		return "", err
	}
	if was != nil {
		err = os.Link(kept, filepath.Join(s.Git, s.index))
	}
	for try := range 3 {
		if err == nil {
			err = s.add(was)
		}
		if err == nil || s.ctx.Err() != nil {
			break
		}
		was = nil
		_ = os.Remove(filepath.Join(s.Git, s.index)) // it may be broken
		if s.drop() == 0 && try > 0 {
			break
		}
		err = nil
	}
	if err == nil {
		id, err = s.writeTree(s.ctx, s.index)
	}
	if err != nil {
		return "", err
	}
	// If this is killed now, the next one takes all files anew.
	err = errors.Join(os.RemoveAll(list), os.Rename(filepath.Join(s.Git, s.index), kept))
	if err == nil {
		_ = os.WriteFile(list, s.listed(), 0o600)
	}
	return id, err
}

// was returns the stamps of the files that the index has, by path; nil if that is not known.
func (s *snapshot) was(list string) (map[string]string, error) {
	text, err := os.ReadFile(list)
	if !bytes.HasSuffix(text, []byte("\x00\x00")) {
		return nil, nil
	}
	was := make(map[string]string, len(s.files))
	for _, one := range proc.GitTexts(text[:len(text)-1]) {
		if stamp, name, is := strings.Cut(one, "\t"); is { // else there is none
			was[name] = stamp
		}
	}
	return was, err
}

// listed is what was reads.
func (s *snapshot) listed() []byte {
	all := make([]string, len(s.files))
	for i, f := range s.files {
		all[i] = f.Stamp + "\t" + f.Path
	}
	return append(joined(all), 0)
}

// add makes the index what the files are. was has what the index has.
func (s *snapshot) add(was map[string]string) error {
	var changed, fresh []string
	gone := maps.Clone(was)
	for _, f := range s.files {
		stamp, has := was[f.Path]
		doubtful := f.ChangedSince(s.began) // git may take it for what it was
		if !has {
			fresh = append(fresh, f.Path)
		} else if stamp != f.Stamp || f.Changed.IsZero() || doubtful {
			changed = append(changed, f.Path)
		}
		if !doubtful {
			delete(gone, f.Path)
		}
	}
	err := s.look(s.ctx, s.top, s.index, slices.Collect(maps.Keys(gone)), slices.Concat(changed, fresh))
	if err != nil || len(fresh) == 0 {
		return err
	}
	out, err := s.git(s.ctx, s.top, s.index, nil, "ls-files", "-z")
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, name := range proc.GitTexts(out) {
		taken[name] = true
	}
	slices.Sort(fresh)
	s.files = slices.DeleteFunc(s.files, func(f tree.Entry) bool {
		if _, is := slices.BinarySearch(fresh, f.Path); !is || taken[f.Path] {
			return false
		}
		if _, gone := os.Lstat(filepath.Join(s.top, filepath.FromSlash(f.Path))); gone == nil {
			s.left = append(s.left, Change{f.Path, noName})
		}
		return true
	})
	return nil
}

// maxArgs is how many paths are arguments of one call.
const maxArgs = 200

// look takes files out of an index, and then makes it say what others are in a work tree. Of a file that is in both
// lists git reads what it says, whatever its times are.
func (r Room) look(ctx context.Context, work, index string, gone, paths []string) error {
	update := func(paths []string, args ...string) error {
		_, err := r.git(ctx, work, index, joined(paths), slices.Concat([]string{"update-index"}, args)...)
		return err
	}
	var first []string
	if len(gone) > maxArgs {
		if err := update(gone, "--force-remove", "-z", "--stdin"); err != nil {
			return err
		}
	} else if len(gone) > 0 {
		first = []string{"--force-remove"}
		for _, name := range gone {
			first = append(first, "./"+name) // else it might be a flag
		}
		first = append(first, "--no-force-remove")
	}
	if len(first)+len(paths) == 0 {
		return nil
	}
	return update(paths, append(first, "--add", "--remove", "--replace", "-z", "--stdin")...)
}

// drop leaves out the files that cannot be read, and returns how many these are.
func (s *snapshot) drop() (dropped int) {
	kept := s.files[:0]
	for _, e := range s.files {
		switch {
		case s.behindLink(e.Path):
		case e.Mode.IsRegular() && closed(filepath.Join(s.top, filepath.FromSlash(e.Path))):
			s.left = append(s.left, Change{e.Path, unreadable})
		default:
			kept = append(kept, e)
		}
	}
	dropped = len(s.files) - len(kept)
	s.files = kept
	return dropped
}

// closed reports whether a file is there and cannot be opened.
func closed(path string) bool {
	f, _, err := loopdir.OpenAny(path)
	if err == nil {
		f.Close()
	}
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}
