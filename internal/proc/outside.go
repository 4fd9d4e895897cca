package proc

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// PathOutside returns a PATH without the folders that lie in dir, also by links, and without those
// that are not absolute. These are the second result. Who writes dir could put a program of any
// name there.
func PathOutside(path, dir string) (kept string, left []string) {
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

// EnvOutside returns an environment whose PATH has no folder in dir; see PathOutside.
func EnvOutside(env []string, dir string) []string {
	path, _ := PathOutside(Value(env, "PATH"), dir)
	return append(slices.Clone(env), "PATH="+path)
}

// MoveEnv returns an environment in which variables that name a folder, or what is in it, name the same in another
// folder, also within a text such as -I/folder/lib. Those that IsPlace names stay as they are.
func MoveEnv(env []string, from, to string) (moved []string) {
	froms := []string{regexp.QuoteMeta(filepath.Clean(from)), regexp.QuoteMeta(realPath(from))}
	// A path begins at the beginning, behind a flag, or where no other path goes on; and it ends likewise.
	path := regexp.MustCompile(`(^|[^\w./-]|(?:^|[^\w./-])-\w)(?:` + strings.Join(froms, "|") + `)($|[^\w.-])`)
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if !IsPlace(name) {
			again := path.ReplaceAllString(value, "${1}"+strings.ReplaceAll(to, "$", "$$")+"${2}")
			value = path.ReplaceAllString(again, "${1}"+strings.ReplaceAll(to, "$", "$$")+"${2}") // two beside one another
		}
		moved = append(moved, name+"="+value)
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
