package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Outside returns a PATH without the folders that lie in dir, also by links, and without those
// that are not absolute. These are the second result. Who writes dir could put a program of any
// name there.
func Outside(path, dir string) (kept string, left []string) {
	var folders []string
	dir = realPath(dir)
	for _, folder := range filepath.SplitList(path) {
		rel, err := filepath.Rel(dir, realPath(folder))
		if !filepath.IsAbs(folder) || err == nil && filepath.IsLocal(rel) {
			left = append(left, filepath.Clean(folder))
		} else {
			folders = append(folders, folder)
		}
	}
	return strings.Join(folders, string(filepath.ListSeparator)), left
}

// EnvOutside returns an environment whose PATH has no folder in dir; see Outside.
func EnvOutside(env []string, dir string) []string {
	path, _ := Outside(Value(env, "PATH"), dir)
	return append(slices.Clone(env), "PATH="+path)
}

// Moved returns an environment in which variables that name a folder, or what is in it, name the same in another
// folder. Those that IsPlace names stay as they are.
func Moved(env []string, from, to string) (moved []string) {
	froms := []string{filepath.Clean(from), realPath(from)}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if IsPlace(name) {
			moved = append(moved, variable)
			continue
		}
		paths := strings.Split(value, string(filepath.ListSeparator))
		for i, path := range paths {
			for _, from := range froms {
				rest, isBelow := strings.CutPrefix(path, from)
				if isBelow && (rest == "" || os.IsPathSeparator(rest[0])) {
					paths[i] = to + rest
					break
				}
			}
		}
		moved = append(moved, name+"="+strings.Join(paths, string(filepath.ListSeparator)))
	}
	return moved
}

// realPath returns a path without links, as far as it exists.
func realPath(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); err != nil && parent != path {
		return filepath.Join(realPath(parent), filepath.Base(path))
	}
	return filepath.Clean(real)
}
