package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
)

// version is a release's version, set by the linker: -ldflags "-X main.version=1.2.3".
// Without it the version of `go install` is shown, or what Go makes of the commit.
var version string

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Short: "Show the version",
		Run: func(w io.Writer, _ []string) error {
			v := version
			if info, ok := debug.ReadBuildInfo(); ok && v == "" {
				v = info.Main.Version
			}
			fmt.Fprintf(w, "ralph-stop-hook %s %s/%s %s\n",
				cmp.Or(v, "(devel)"), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return nil
		},
	}
}
