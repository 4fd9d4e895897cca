// Package tree takes the fingerprint of a work tree: a text that changes when
// the work does.
package tree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

const (
	timeout   = 10 * time.Second
	maxStatus = 16 << 20 // bytes of git's status that are read for untracked files
	maxFiles  = 20_000   // files whose size and time are looked at
)

// Fingerprint returns the fingerprint of the work tree at dir, which is in the
// repository at top (empty: in none): git's HEAD, the differences from it, and
// path, size and time of untracked files; without git, path, size and time of
// every file. The folder except, absolute, is left out. A tree that is too slow
// or too large to look at counts as one that does not change, so that trouble
// ends a loop rather than extends it.
func Fingerprint(ctx context.Context, dir, top, except string) string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sum, err := "", error(nil)
	if top != "" {
		sum, err = git(ctx, dir, top, except)
	}
	if (top == "" || err != nil) && ctx.Err() == nil {
		sum = walk(ctx, dir, except)
	}
	if ctx.Err() != nil {
		return "too slow"
	}
	return sum
}

// git needs two processes, which run side by side: status knows HEAD, what is
// staged by its hashes, and the untracked paths; diff the rest.
func git(ctx context.Context, dir, top, except string) (string, error) {
	paths := []string{"--", ":(top)"}
	if rel, err := filepath.Rel(dir, except); err == nil && filepath.IsLocal(rel) {
		paths = append(paths, ":(exclude,literal)"+filepath.ToSlash(rel))
	}
	run := func(stdout io.Writer, args ...string) error {
		c := proc.Git(dir, append(args, paths...)...)
		c.Stdout = stdout
		return proc.Run(ctx, c).Err
	}
	diff, diffErr := sha256.New(), error(nil)
	var second sync.WaitGroup
	second.Go(func() {
		defer func() {
			if p := recover(); p != nil { // here, it would end the process with status 2
				diffErr = fmt.Errorf("internal error: %v", p)
			}
		}()
		diffErr = run(diff, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--submodule=short")
	})
	sum, status := sha256.New(), &proc.Head{Limit: maxStatus}
	err := run(io.MultiWriter(sum, status), "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames")
	second.Wait()
	if err = errors.Join(err, diffErr); err != nil {
		return "", err
	}
	files := 0
	for entry := range bytes.SplitSeq(status.Bytes(), []byte{0}) {
		if path, ok := bytes.CutPrefix(entry, []byte("? ")); ok && files < maxFiles {
			files++
			name := string(path)
			info, err := os.Lstat(filepath.Join(top, name))
			add(sum, name, info, err)
		}
	}
	return hex.EncodeToString(diff.Sum(sum.Sum(nil))[:40]), nil
}

// walk is the fingerprint without git.
func walk(ctx context.Context, dir, except string) string {
	sum, files := sha256.New(), 0
	// The walk's own error only says that it was stopped early.
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // unreadable: counts as not changing
		}
		if entry.IsDir() {
			if path == except || entry.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		if files++; files > maxFiles || ctx.Err() != nil {
			return fs.SkipAll
		}
		info, err := entry.Info()
		add(sum, strings.TrimPrefix(path, dir), info, err)
		return nil
	})
	return "walk:" + hex.EncodeToString(sum.Sum(nil))
}

// add takes one file into the fingerprint.
func add(sum hash.Hash, name string, info fs.FileInfo, err error) {
	if err != nil {
		fmt.Fprintf(sum, "%q gone\n", name)
		return
	}
	fmt.Fprintf(sum, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
}
