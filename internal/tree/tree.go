// Package tree looks at a work tree. The fingerprint of a tree changes when somebody works in it.
package tree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Bounds of what is looked at. A fingerprint covers the first maxFiles files.
const (
	timeout  = 10 * time.Second
	maxFiles = 200_000
	maxBytes = 4 << 30   // of a file
	maxRules = 256 << 10 // bytes in .gitignore files
)

// Tree is a work tree.
type Tree struct {
	Env    []string // the environment that git runs in
	Dir    string   // the project's root, absolute
	Top    string   // the root of the repository that Dir is in, or "" if there is none
	Except string   // the absolute path of a file or folder to leave out, or ""
	List   string   // a second path to leave out; it may be below Except
	Runs   string   // a third one, with what programs write while the agent works

	// Hide reports whether a file or folder, by its path from Top on, counts as one that a rule ignores. It may be nil.
	Hide func(path string) bool

	// Rules are the texts of the .gitignore files that count, by the folder that each is in,
	// as a slash-separated path from Dir. If it is nil, those on the disk count.
	Rules map[string]string
}

// root returns the folder to which the paths of walk are relative.
func (t Tree) root() string { return cmp.Or(t.Top, t.Dir) }

// Fingerprint returns the fingerprint of the tree. It covers the tree of git's HEAD, git's index, and the path, kind
// and bytes of each file of the tree: to write the same again is no change. seen is an earlier look at all that but
// HEAD; nil: Fingerprint looks now. was is the index of an earlier fingerprint, so that only files are read that have
// changed since then; index is the one to be kept for the next, nil if was still holds. If that takes too long it
// returns a fixed text: the tree then counts as unchanged, so that trouble ends a loop and does not extend it.
//
// It also returns the files that were written at or after since, as Modified does, but for those that say the same as
// in was: nil if since is zero or Top is empty, or if it takes too long.
func (t Tree) Fingerprint(ctx context.Context, since time.Time, seen *Entries, was []byte) (
	print string, written []string, index []byte) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sum := sha256.New()
	head, both := []byte(nil), sync.WaitGroup{}
	if t.Top != "" {
		both.Go(func() {
			defer func() { _ = recover() }() // a panic here would end the process with status 2
			// Git prints nothing if there is no commit yet.
			name := proc.Git(t.Env, t.Top, "rev-parse", "--quiet", "--verify", "HEAD^{tree}")
			head, _ = proc.GitOutput(ctx, name, "rev-parse")
		})
	}
	var files *files
	var err error
	if seen != nil {
		files = seen.files
	} else {
		files, err = t.walk(ctx)
	}
	if err != nil {
		both.Wait()
		return "no folder", nil, nil
	}
	defer files.root.Close()
	says, other, index := t.look(ctx, files.list, was)
	both.Wait()
	if ctx.Err() != nil {
		return "too slow", nil, nil
	}
	sum.Write(head)
	sum.Write(files.index)
	sum.Write([]byte(says))
	switch {
	case t.Top == "" || since.IsZero():
	case len(other) == 0:
		written = []string{}
	default:
		written = t.writtenSince(files, since, other)
	}
	return hex.EncodeToString(sum.Sum(nil)), written, index
}

// Files returns the paths of the tree's files below Dir, relative to it.
func (t Tree) Files(ctx context.Context) (names []string, err error) {
	files, err := t.walk(ctx)
	if err != nil {
		return nil, err
	}
	defer files.root.Close()
	for _, f := range files.list {
		if name, is := t.below(f); is {
			names = append(names, name)
		}
	}
	return names, errors.Join(files.err, files.noIndex)
}

// below returns a file's path below Dir, and false for one that is elsewhere.
func (t Tree) below(e Entry) (name string, is bool) {
	name, err := filepath.Rel(t.Dir, filepath.Join(t.root(), e.Path))
	return name, err == nil && filepath.IsLocal(name)
}

// IgnoreRules returns the texts of the .gitignore files, as Rules has them.
func (t Tree) IgnoreRules(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	t.Rules = nil
	files, err := t.walk(ctx)
	if err != nil {
		return map[string]string{}
	}
	files.root.Close()
	return files.rules
}
