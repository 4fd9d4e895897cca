package tree

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Untracked reports whether git tracks no file in the folder dir, and names each file that is
// there as untracked. So a file that git knows by another spelling counts as tracked. known is
// false if git does not say.
func Untracked(env []string, dir string) (none, known bool) {
	// The folder is read first: what another process makes there while git looks proves nothing.
	files, err := os.ReadDir(dir)
	if err != nil {
		return false, false
	}
	git := proc.Git(env, dir, "ls-files", "-z", "-t", "--cached", "--others", "--", ".")
	out, err := proc.GitOutput(context.Background(), git, "ls-files")
	if err != nil {
		return false, false
	}
	untracked := map[string]bool{}
	for _, file := range proc.GitTexts(out) {
		name, is := strings.CutPrefix(file, "? ")
		if !is {
			return false, true
		}
		untracked[name] = true
	}
	for _, f := range files {
		if f.IsDir() || untracked[f.Name()] {
			continue
		}
		_, gone := os.Lstat(filepath.Join(dir, f.Name()))
		if gone == nil {
			return false, true
		}
	}
	return true, true
}
