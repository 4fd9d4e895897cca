package proc

import (
	"os"
	"slices"
	"strings"
	"time"
)

// Git is a git of our own at dir. It gets none of git's variables, by which
// another repository or program could be put in, runs no monitor and no ssh,
// fetches nothing and takes no lock. A folder that a clone brought is no repository
// to it: its configuration could name programs. A clean filter it would run where it
// has to read a file, so no such command is for us.
func Git(dir string, args ...string) Cmd {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "LD_") || strings.HasPrefix(kv, "DYLD_")
	})
	return Cmd{
		Argv: append([]string{"git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.sshCommand=false", "-c", "protocol.allow=never", "-c", "safe.bareRepository=explicit"}, args...),
		Dir:  dir, Env: append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1"), Timeout: gitTimeout, Output: 1000,
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
