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
// The environment has no GIT_* variables, which could name another repository or program,
// and no variables of the loader. The command runs no file monitor and no ssh, fetches
// nothing and takes no optional lock. It ignores a bare repository that it finds on its way: a
// clone may have brought it, and its configuration could name programs.
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

// Decides reports whether an environment variable can make a program load or run something
// that its command line does not name.
func Decides(name string) bool {
	return slices.ContainsFunc(deciding, func(d string) bool {
		prefix, wildcard := strings.CutSuffix(d, "*")
		return name == d || wildcard && strings.HasPrefix(name, prefix)
	})
}

// deciding lists these variables: those of loaders, shells, languages, build tools and test
// runners, and those that say where the user's configuration is. A name that ends in "*"
// is a prefix.
var deciding = []string{
	"HOME", "XDG_CONFIG_*", "XDG_DATA_*", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ZDOTDIR",
	"LD_*", "DYLD_*", "GIT_*",
	"BASH_ENV", "BASH_FUNC_*", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH",
	"PYTHON*", "PYTEST_*", "PERL5*", "PERLLIB", "RUBY*",
	"NODE_OPTIONS", "NODE_PATH", "npm_config_*", "NPM_CONFIG_*", "DENO_*", "BUN_*",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS",
	"GO*", "CGO_*", "CC", "CXX", "MAKEFLAGS", "MFLAGS", "MAKEFILES", "RUSTC*", "RUSTFLAGS", "CARGO_*",
	"PHPRC", "PHP_*", "LUA_*",
	"TEST_*", "GTEST_*", "CTEST_*", "SPEC_OPTS", "RSPEC_*", "MOCHA_*", "JEST_*", "VITEST_*", "TS_NODE_*", "NODE_ENV",
	"TOX_*", "BATS_*",
}
