package proc

import (
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Value returns the value of a variable in an environment, or "" if it is not set.
func Value(env []string, name string) (value string) {
	for _, kv := range env {
		if key, v, _ := strings.Cut(kv, "="); SameName(key, name) {
			value = v // the last one counts, as for os/exec
		}
	}
	return value
}

// Without returns an environment without the variables whose names are to be dropped.
func Without(env []string, drop func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return drop(name)
	})
}

// SameName reports whether two names are those of one variable: on Windows their
// letter case does not matter.
func SameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// LookPath finds a program in the folders of a PATH. As in os/exec, a folder that is
// not absolute is passed over: nobody who writes the working folder chooses programs. The error is exec.ErrNotFound
// if no folder has the program, or those that may are closed to this user. Windows tells no other error.
func LookPath(name, path string) (string, error) {
	if filepath.Base(name) != name {
		return exec.LookPath(name)
	}
	missing := exec.ErrNotFound
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		found, err := exec.LookPath(filepath.Join(dir, name))
		if err == nil {
			return found, nil
		}
		absent := func(why error) bool { return errors.Is(err, why) }
		if !slices.ContainsFunc(notThere, absent) {
			missing = errors.Unwrap(err)
		}
	}
	return name, &exec.Error{Name: name, Err: missing}
}

// notThere are the errors which say that a folder of a PATH does not have a program.
var notThere = []error{exec.ErrNotFound, fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.EISDIR}
