package proc

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
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
// not absolute is passed over: nobody who writes the working folder chooses programs.
func LookPath(name, path string) (string, error) {
	if filepath.Base(name) != name {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return name, &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Git returns a git command that runs in dir. The command must be one that reads no files
// of the work tree: when git reads them, it runs the filters that the repository's
// configuration names.
//
// Of the environment git gets only what IsPlace names. The command runs no file monitor and
// no ssh, fetches nothing, traces nothing and takes no optional lock. It ignores a bare repository
// that it finds on its way: a clone may have brought it, and its configuration could name programs.
func Git(env []string, dir string, args ...string) Cmd {
	env = Without(env, func(name string) bool { return !IsPlace(name) })
	env = append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_TRACE2=0", "GIT_TRACE2_PERF=0", "GIT_TRACE2_EVENT=0") // these win over the configuration
	argv := []string{
		"git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.sshCommand=false",
		"-c", "protocol.allow=never", "-c", "safe.bareRepository=explicit",
	}
	return Cmd{Argv: append(argv, args...), Dir: dir, Env: env, Timeout: gitTimeout, Output: 1000, Whole: true}
}

const gitTimeout = 10 * time.Second
