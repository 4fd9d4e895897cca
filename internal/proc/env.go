package proc

import (
	"os"
	"slices"
	"strings"
)

// GitEnv is the environment for a git of our own: none of git's own variables,
// by which another repository or another program could be put in, and nothing
// that a loader would load.
func GitEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "LD_") || strings.HasPrefix(kv, "DYLD_")
	})
}

// Decides tells whether an environment variable decides what a program loads or
// runs beside what its command says.
func Decides(name string) bool {
	return slices.ContainsFunc(deciding, func(d string) bool {
		prefix, any := strings.CutSuffix(d, "*")
		return name == d || any && strings.HasPrefix(name, prefix)
	})
}

// deciding are such variables of loaders, shells, languages and build tools.
var deciding = []string{
	"LD_*", "DYLD_*", "GIT_*", "BASH_ENV", "BASH_FUNC_*", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH", "PYTHON*", "PYTEST_*", "PERL5*", "PERLLIB",
	"RUBY*", "NODE_OPTIONS", "NODE_PATH", "npm_config_*", "NPM_CONFIG_*", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS",
	"GO*", "CGO_*", "CC", "CXX", "MAKEFLAGS", "MFLAGS", "MAKEFILES", "RUSTC*", "RUSTFLAGS", "CARGO_*", "PHPRC", "PHP_*", "LUA_*", "DENO_*", "BUN_*",
}
