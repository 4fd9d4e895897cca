package tree

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// maxUntracked bounds what git may say of the files in a folder, in bytes.
const maxUntracked = 1 << 20

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
	out := &proc.Head{Limit: maxUntracked}
	git.Stdout = out
	if r := proc.Run(context.Background(), git); r.Err != nil || len(out.Bytes()) >= maxUntracked {
		return false, false
	}
	untracked := map[string]bool{}
	for _, file := range strings.Split(strings.TrimSuffix(string(out.Bytes()), "\x00"), "\x00") {
		name, is := strings.CutPrefix(file, "? ")
		if !is && file != "" {
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
