package main

// version is a release's version, set by the linker: -ldflags "-X main.version=1.2.3".
// Without it the version of `go install` is shown, or what Go makes of the commit.
var version string
