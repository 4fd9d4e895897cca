package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version is a release's, set at linking: -ldflags "-X main.version=1.2.3". Without
// it go install's is shown, or what Go makes of the commit.
var version string

func versionCommand() *command {
	return &command{
		name:  "version",
		short: "Show the version",
		run: func(w io.Writer, _ []string) error {
			v := version
			if info, ok := debug.ReadBuildInfo(); ok && v == "" {
				v = info.Main.Version
			}
			fmt.Fprintf(w, "ralph-stop-hook %s %s/%s %s\n", cmp.Or(v, "(devel)"), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return nil
		},
	}
}
