package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// survey is what stands between two commits in the project's work tree. Its names are from the root.
type survey struct {
	r        *Repo
	old, new string
	changes  []change
	todo     []change // files that are still as in old
	other    []string // files that are neither as in old nor as in new: a person changed them
	index    apart    // the project's work tree, with what will be its index
	seen     map[string]fs.FileInfo
	done     bool // the project's index is that of new
}

// survey looks at each file that two commits tell apart.
func (r *Repo) survey(ctx context.Context, old, new string) (*survey, error) {
	s := &survey{r: r, old: old, new: new, seen: map[string]fs.FileInfo{}}
	var err error
	s.changes, err = r.changes(ctx, old, new)
	if err != nil {
		return nil, err
	}
	// They are looked at before git is asked: what a person changes from now on stays.
	missing := map[string]error{}
	for _, c := range s.changes {
		s.seen[c.name], missing[c.name] = s.lstat(c.name)
	}
	s.index, err = r.here(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.staged(ctx); err != nil {
		return nil, err
	}
	isOld, err := s.dirty(ctx)
	if err != nil {
		return nil, err
	}
	// What a person has staged of other files stays, and so does what git knows of the files on the disk.
	if _, err := s.index.git(ctx, "read-tree", "-i", "-m", old, new); err != nil {
		return nil, err
	}
	isNew, err := s.dirty(ctx)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, c := range s.changes {
		gone[c.name] = gone[c.name] || c.gone()
	}
	for _, c := range s.changes {
		info, err := s.seen[c.name], missing[c.name]
		there := err == nil && (!info.IsDir() || !c.gone() && !s.onlyGone(c.name, gone))
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			s.other = append(s.other, c.name)
		case c.gone() && !there || !c.gone() && there && !info.IsDir() && !isNew[c.name]:
			// written already, or a person made the same change
		case c.made() && !there || !c.made() && there && !isOld[c.name] || r.blind:
			s.todo = append(s.todo, c)
		default:
			s.other = append(s.other, c.name)
		}
	}
	return s, nil
}

// staged refuses files of which the index has another version than both commits: a person has staged it. If the index
// is that of new, all is done: it is written last.
func (s *survey) staged(ctx context.Context) error {
	differs := map[string]int{}
	for _, commit := range []string{s.old, s.new} {
		names, err := s.index.names(ctx, "diff-index", "--cached", "--name-only", "-z", commit)
		if err != nil {
			return err
		}
		for _, name := range names {
			differs[name]++
		}
		s.done = !slices.ContainsFunc(s.changes, func(c change) bool { return slices.Contains(names, c.name) })
		if s.done && commit == s.old && len(s.changes) > 0 { // as it mostly is
			s.done = false
			return nil
		}
	}
	var staged []string
	for _, c := range s.changes {
		if differs[c.name] == 2 {
			staged = append(staged, c.name)
		}
	}
	if len(staged) > 0 {
		return fmt.Errorf("%s is staged in the project, and the merge would write it: commit or unstage it",
			decide.Names(s.r.fromProjects(staged)))
	}
	return nil
}

// refresh notes in the index how the files on the disk are.
func (s *survey) refresh(ctx context.Context) {
	_, _ = s.index.git(ctx, "update-index", "-q", "--refresh") // it fails if something is changed
}

// dirty returns the files on the disk that are not as in the index.
func (s *survey) dirty(ctx context.Context) (map[string]bool, error) {
	s.refresh(ctx)
	names, err := s.index.names(ctx, "diff-files", "--name-only", "-z")
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all, err
}

// lstat looks at a file of the project. A link or a file in the place of a folder above it is an error: nothing is
// written through it. If that is one of the files here, then there is no file below it.
func (s *survey) lstat(name string) (fs.FileInfo, error) {
	for up := path.Dir(name); up != "."; up = path.Dir(up) {
		info, err := os.Lstat(s.path(up))
		if err == nil && !info.IsDir() {
			if slices.ContainsFunc(s.changes, func(c change) bool { return c.name == up }) {
				return nil, fs.ErrNotExist
			}
			return nil, fmt.Errorf("%s is no folder", plain.Line(up, 300))
		}
	}
	return os.Lstat(s.path(name))
}

// onlyGone reports whether a folder has no files but those that go away, so that a file may take its place.
func (s *survey) onlyGone(name string, gone map[string]bool) bool {
	return filepath.WalkDir(s.path(name), func(at string, entry fs.DirEntry, err error) error {
		below, err2 := filepath.Rel(s.r.top, at)
		if err == nil && err2 == nil && !entry.IsDir() && !gone[filepath.ToSlash(below)] {
			return errors.New("another file")
		}
		return errors.Join(err, err2)
	}) == nil
}

func (s *survey) path(name string) string { return filepath.Join(s.r.top, filepath.FromSlash(name)) }

// prepare writes the new versions of the files aside, on the same file system. So a full disk is noticed before
// anything changes, and each file takes its place in one step.
func (s *survey) prepare(ctx context.Context) error {
	aside := s.r.aside()
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	if err := os.Mkdir(aside, 0o700); err != nil {
		return err
	}
	var names strings.Builder
	for _, c := range s.todo {
		if !c.gone() {
			names.WriteString(c.name + "\x00")
		}
	}
	below, err := filepath.Rel(s.r.top, aside)
	if err != nil {
		return err
	}
	_, err = s.index.feed(ctx, []byte(names.String()), "checkout-index", "-q", "-z", "--stdin",
		"--prefix="+filepath.ToSlash(below)+"/")
	return err
}

// write gives the project its files, and then its index. It leaves a file that a person has changed since the survey.
func (s *survey) write(ctx context.Context) error {
	for _, removes := range []bool{true, false} { // a file may take the place of a folder
		for _, c := range s.todo {
			if c.gone() != removes {
				continue
			}
			if !s.asSeen(c.name) && !s.r.blind {
				s.other = append(s.other, c.name)
				continue
			}
			if err := s.put(c); err != nil {
				return err
			}
			s.r.step("put")
		}
	}
	s.refresh(ctx)
	err := copyIndex(s.index.index, filepath.Join(s.r.git, "index"))
	if err != nil {
		return err
	}
	s.r.step("indexed")
	if err := os.RemoveAll(s.r.aside()); err != nil || len(s.other) == 0 {
		return err
	}
	return fmt.Errorf("%s was changed in the project before commit %.12s was written there, so it is left as it is: "+
		"look at git diff, and take the commit's changes over", decide.Names(s.r.fromProjects(s.other)), s.new)
}

// asSeen reports whether a file is as it was in the survey.
func (s *survey) asSeen(name string) bool {
	was := s.seen[name]
	now, err := s.lstat(name)
	if err != nil || now.IsDir() { // put fails if files are in the folder
		return was == nil || was.IsDir()
	}
	if was == nil || was.IsDir() {
		return false
	}
	return os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()) && was.Size() == now.Size()
}

// put gives the project one file, or takes one away.
func (s *survey) put(c change) error {
	at := s.path(c.name)
	if !c.gone() {
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			return err
		}
		if info, err := os.Lstat(at); err == nil && info.IsDir() {
			if err := removeFolders(at); err != nil {
				return err
			}
		}
		return os.Rename(filepath.Join(s.r.aside(), filepath.FromSlash(c.name)), at)
	}
	if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for up := path.Dir(c.name); up != "." && up != s.r.prefix; up = path.Dir(up) {
		if os.Remove(s.path(up)) != nil {
			break // other files are in it
		}
	}
	return nil
}

// removeFolders removes a folder that has nothing but folders.
func removeFolders(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeFolders(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return os.Remove(dir)
}
