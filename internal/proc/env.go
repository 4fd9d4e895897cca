package proc

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Value returns a variable of an environment, "" if it is not set.
func Value(env []string, name string) (value string) {
	for _, kv := range env {
		if key, v, _ := strings.Cut(kv, "="); SameName(key, name) {
			value = v // the last one counts, as for os/exec
		}
	}
	return value
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

// Git returns a git command at dir, in an environment without git's own variables,
// by which another repository or program could be put in. It runs no monitor and no
// ssh, fetches nothing and takes no lock. It takes no folder for a repository that a
// clone brought: such a folder's configuration could name programs. Git runs filters
// that the configuration names when it reads files, so only commands that read none
// are for us.
func Git(env []string, dir string, args ...string) Cmd {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "LD_") || strings.HasPrefix(kv, "DYLD_")
	})
	argv := []string{
		"git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.sshCommand=false",
		"-c", "protocol.allow=never", "-c", "safe.bareRepository=explicit",
	}
	return Cmd{
		Argv: append(argv, args...), Dir: dir, Env: append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1"),
		Timeout: gitTimeout, Output: 1000,
	}
}

const gitTimeout = 10 * time.Second

// Decides tells whether an environment variable decides what a program loads or
// runs beside what its command says.
func Decides(name string) bool {
	return slices.ContainsFunc(deciding, func(d string) bool {
		prefix, any := strings.CutSuffix(d, "*")
		return name == d || any && strings.HasPrefix(name, prefix)
	})
}

// deciding are such variables of loaders, shells, languages, build tools and test
// runners, and where the user's own configuration of them is.
var deciding = []string{
	"HOME", "XDG_CONFIG_*", "XDG_DATA_*", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ZDOTDIR",
	"LD_*", "DYLD_*", "GIT_*", "BASH_ENV", "BASH_FUNC_*", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH", "PYTHON*", "PYTEST_*", "PERL5*", "PERLLIB",
	"RUBY*", "NODE_OPTIONS", "NODE_PATH", "npm_config_*", "NPM_CONFIG_*", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS",
	"GO*", "CGO_*", "CC", "CXX", "MAKEFLAGS", "MFLAGS", "MAKEFILES", "RUSTC*", "RUSTFLAGS", "CARGO_*", "PHPRC", "PHP_*", "LUA_*", "DENO_*", "BUN_*",
	"TEST_*", "GTEST_*", "CTEST_*", "SPEC_OPTS", "RSPEC_*", "MOCHA_*", "JEST_*", "VITEST_*", "TS_NODE_*", "NODE_ENV", "TOX_*", "BATS_*",
}
