// Package gittest keeps the configuration of the machine and of its user away from git in tests: a filter, a hook, a
// signature or a rule of theirs would change what git does.
package gittest

import "os"

// Vars are for the environment of git that a test runs itself.
var Vars = [][2]string{
	{"GIT_CONFIG_NOSYSTEM", "1"}, {"GIT_ATTR_NOSYSTEM", "1"}, {"GIT_CONFIG_GLOBAL", os.DevNull},
}

// Environ returns the environment of the test, with Vars.
func Environ() []string {
	env := os.Environ()
	for _, kv := range Vars {
		env = append(env, kv[0]+"="+kv[1])
	}
	return env
}

// Isolate sets Vars for the test and what it starts, and takes the user's home away, which is the only way to their
// configuration that the product leaves to git. A process of a test has the environment that the test gave it.
func Isolate() {
	if os.Getenv("GIT_ATTR_NOSYSTEM") != "" {
		return
	}
	home := [][2]string{{"HOME", os.DevNull}, {"USERPROFILE", os.DevNull}, {"XDG_CONFIG_HOME", ""}}
	for _, kv := range append(home, Vars...) {
		os.Setenv(kv[0], kv[1])
	}
}
