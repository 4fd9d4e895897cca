// Package tree looks at a work tree. The fingerprint of a tree changes when somebody works
// in it. The hash of its contents identifies the files that a check was run on.
package tree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// Bounds of what is looked at. A fingerprint covers the first maxFiles files. A tree of more
// files, or of more than maxBytes in them, has no hash of its contents; a check on it is
// then run again each time. So does one with links to more than maxLinked files elsewhere.
const (
	timeout   = 10 * time.Second
	maxList   = 64 << 20 // bytes in git's list of files
	maxFiles  = 200_000
	maxLinked = 10_000
	maxBytes  = 4 << 30
	maxRules  = 256 << 10 // bytes in .gitignore files
)

// Tree is a work tree.
type Tree struct {
	Env    []string // the environment that git runs in
	Dir    string   // the project's root, absolute
	Top    string   // the root of the repository that Dir is in, or "" if there is none
	Except string   // the absolute path of a file or folder to leave out, or ""
	List   string   // a second path to leave out; it may be below Except
	Runs   string   // a third one, with what programs write while the agent works

	// Rules are the texts of the .gitignore files that count, by the folder that each is in,
	// as a slash-separated path from Dir. If it is nil, those on the disk count.
	Rules map[string]string
}

// root returns the folder to which the paths of walk are relative.
func (t Tree) root() string { return cmp.Or(t.Top, t.Dir) }

// Fingerprint returns the fingerprint of the tree. It covers git's HEAD and index, and the
// path, size and time of each file of the tree. For a tree that takes too long it returns a
// fixed text: the tree then counts as unchanged, so that trouble ends a loop and does not
// extend it.
func (t Tree) Fingerprint(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sum := sha256.New()
	head, both := []byte(nil), sync.WaitGroup{}
	if t.Top != "" {
		both.Go(func() {
			defer func() { _ = recover() }() // a panic here would end the process with status 2
			// Git prints nothing if there is no commit yet.
			head, _ = t.git(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
		})
	}
	files, err := t.walk(ctx)
	both.Wait()
	if err != nil {
		return "no folder"
	}
	defer files.root.Close()
	sum.Write(head)
	for _, entry := range files.index {
		fmt.Fprintf(sum, "%q\n", entry)
	}
	for _, f := range files.list {
		if !f.info.IsDir() {
			fmt.Fprintf(sum, "%q %d %d\n", f.name, f.info.Size(), f.info.ModTime().UnixNano())
		}
	}
	if ctx.Err() != nil {
		return "too slow"
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Files returns the paths of the tree's files below Dir, relative to it.
func (t Tree) Files(ctx context.Context) (names []string, err error) {
	files, err := t.walk(ctx)
	if err != nil {
		return nil, err
	}
	defer files.root.Close()
	for _, f := range files.list {
		name, err := filepath.Rel(t.Dir, filepath.Join(t.root(), f.name))
		if err == nil && filepath.IsLocal(name) && !f.info.IsDir() {
			names = append(names, name)
		}
	}
	return names, files.err
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
