package proof

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Looks and fills go by the indexes: a file that is as it was is not read again. A command runs as the user and may run
// an agent's code, so it could make them say that a file is what it is not.

// writtenIndexes has the stamps of the indexes that this process has written, by path: lanes run commands at one time.
var writtenIndexes sync.Map

// Watch returns a function to call when a command has ended. It removes the indexes that were changed meanwhile, so
// that what they are about is read or made again.
func (p Place) Watch() (end func() error) {
	before := p.indexes()
	return func() (all error) {
		info, err := os.Stat(p.Store)
		if err == nil && info.Mode()&0o700 != 0o700 { // the command has closed it
			all = os.Chmod(p.Store, info.Mode().Perm()|0o700)
		}
		now := p.indexes()
		for name := range now {
			_, was := before[name]
			if !was {
				before[name] = ""
			}
		}
		for name, stamp := range before {
			own, _ := writtenIndexes.Load(filepath.Join(p.Store, name))
			if now[name] == stamp || now[name] == own {
				continue
			}
			for _, file := range indexFiles(name) {
				all = errors.Join(all, os.RemoveAll(filepath.Join(p.Store, file)))
			}
		}
		return all
	}
}

// indexFiles returns an index and what is removed with it: a copy without its copyOfFile is made again. It returns
// nothing for another file of the store.
func indexFiles(name string) []string {
	for _, file := range []string{copyFile, copyOfFile, preparedFile} {
		of, is := strings.CutSuffix(name, file)
		if is {
			return []string{name, of + copyOfFile}
		}
	}
	if strings.HasSuffix(name, seenFile) || strings.HasSuffix(name, lastFile) {
		return []string{name}
	}
	return nil
}

// indexes returns the stamps of all indexes in the store, by name.
func (p Place) indexes() map[string]string {
	stamps := map[string]string{}
	entries, _ := os.ReadDir(p.Store)
	for _, entry := range entries {
		if indexFiles(entry.Name()) != nil {
			stamps[entry.Name()] = p.stampOf(entry.Name())
		}
	}
	return stamps
}

// stampOf returns the stamp of an index, "" if there is none.
func (p Place) stampOf(name string) string {
	path := filepath.Join(p.Store, name)
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	var text []byte
	if !tree.HasChangeTime(info) {
		text, _ = os.ReadFile(path)
	}
	return stampOfIndex(info, text)
}

// stampOfIndex returns a text that changes with an index. Where programs can set all times of a file, it has what the
// index says.
func stampOfIndex(info fs.FileInfo, text []byte) string {
	stamp := tree.StampOf(info)
	if tree.HasChangeTime(info) {
		return stamp
	}
	return stamp + digest(text)
}
