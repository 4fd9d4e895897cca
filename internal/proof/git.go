package proof

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// The copy borrows its repository: it has a folder .git of its own, with the branch, the index and the refs of the
// project, and takes the objects from the project. So what a check does with git changes nothing there. The project's
// configuration and hooks have no say.

const (
	gitFolder = ".git"
	maxRef    = 4 << 10   // bytes of HEAD and of other small files
	maxIndex  = 256 << 20 // bytes of the index, and of the packed refs
)

// gitConfig is that of the copy.
const gitConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
[gc]
	auto = 0
`

// sha256Config is gitConfig for a repository whose objects have such names.
var sha256Config = strings.Replace(gitConfig, "repositoryformatversion = 0", "repositoryformatversion = 1", 1) +
	"[extensions]\n\tobjectFormat = sha256\n"

// borrowGit gives the copy a repository, if the project is in one.
func (f *filler) borrowGit() error {
	to := filepath.Join(f.Copy, gitFolder)
	if err := loopdir.RemoveAll(to); err != nil {
		return err
	}
	own, common, err := gitFolders(f.project)
	if err != nil || own == "" {
		return err
	}
	for _, dir := range []string{"objects/info", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(to, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	config := gitConfig
	text, _ := loopdir.ReadFile(common, "config", maxIndex)
	if bytes.Contains(bytes.ToLower(text), []byte("objectformat = sha256")) {
		config = sha256Config
	}
	objects := filepath.ToSlash(filepath.Join(common, "objects")) + "\n"
	err = errors.Join(
		os.WriteFile(filepath.Join(to, "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(to, "objects", "info", "alternates"), []byte(objects), 0o600))
	for _, file := range []struct {
		from, name string
		limit      int64
	}{
		{own, "HEAD", maxRef}, {own, "index", maxIndex}, {common, "packed-refs", maxIndex}, {common, "shallow", maxIndex},
		{common, "info/exclude", maxIndex},
	} {
		err = errors.Join(err, copyGitFile(file.from, to, file.name, file.limit))
	}
	shared, _ := fs.Glob(os.DirFS(own), "sharedindex.*") // the other part of a split index
	for _, name := range shared {
		err = errors.Join(err, copyGitFile(own, to, name, maxIndex))
	}
	return errors.Join(err, copyRefs(filepath.Join(common, "refs"), filepath.Join(to, "refs")))
}

// gitFolders returns the folder of a work tree's repository, and the one that it shares with other work trees; "":
// there is no repository.
func gitFolders(top string) (own, common string, err error) {
	own = filepath.Join(top, gitFolder)
	info, err := os.Lstat(own)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	if !info.IsDir() { // of a worktree or a submodule
		text, err := loopdir.ReadFile(top, gitFolder, maxRef)
		dir, is := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if err != nil || !is {
			return "", "", err
		}
		own = absolute(top, dir)
	}
	common = own
	text, err := loopdir.ReadFile(own, "commondir", maxRef)
	if err == nil {
		common = absolute(own, strings.TrimSpace(string(text)))
	}
	return own, common, nil
}

func absolute(from, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(from, name)
}

func copyGitFile(from, to, name string, limit int64) error {
	name = filepath.FromSlash(name)
	text, err := loopdir.ReadFile(from, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, name), text, 0o600)
}

// copyRefs copies the files of refs. Git never writes anything else there, so anything else is left out.
func copyRefs(from, to string) error {
	return filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone by now
		}
		name, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case entry.Type().IsRegular():
			return copyGitFile(from, to, filepath.ToSlash(name), maxRef)
		}
		return nil
	})
}
