package loopdir

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
)

// RepoRoot returns the root of the repository that dir is in, or "".
func RepoRoot(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// MainRoot returns the root of the main tree of the repository that dir is in, or "".
func MainRoot(dir string) string {
	root := RepoRoot(dir)
	if git, err := os.Lstat(filepath.Join(root, ".git")); err == nil && git.Mode().IsRegular() {
		return cmp.Or(mainTree(root), root)
	}
	return root
}

// GitFolder returns the git folder of the work tree at dir. That is its .git, or .git is a file "gitdir: PATH".
func GitFolder(dir string) string {
	data, err := ReadFile(dir, ".git", maxPathBytes)
	path, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	switch {
	case err != nil || !ok:
		return filepath.Join(dir, ".git")
	case !filepath.IsAbs(path):
		path = filepath.Join(dir, path)
	}
	return filepath.FromSlash(path)
}

// mainTree returns the main tree of the worktree at dir, or "". The git folder of a worktree is
// MAIN/.git/worktrees/NAME.
func mainTree(dir string) string {
	path := GitFolder(dir)
	worktrees := filepath.Dir(path)
	if filepath.Base(worktrees) != "worktrees" || filepath.Base(filepath.Dir(worktrees)) != ".git" {
		return ""
	}
	// The main tree names its worktrees, too. It names no folder that an archive brought.
	data, err := ReadFile(path, "gitdir", maxPathBytes)
	back := strings.TrimSpace(string(data))
	if !filepath.IsAbs(back) {
		back = filepath.Join(path, back)
	}
	if err != nil || !SameFile(filepath.FromSlash(back), filepath.Join(dir, ".git")) {
		return ""
	}
	return filepath.Dir(filepath.Dir(worktrees))
}

// SameFile reports whether two paths lead to the same existing file.
func SameFile(a, b string) bool {
	x, _ := os.Stat(a)
	y, _ := os.Stat(b)
	return os.SameFile(x, y) // false if either is nil
}
