package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Version returns the verb that shows a program's version. version is a release's, "" for a build
// of another kind: then the version of `go install` is shown, or what Go makes of the commit.
func Version(program, version string) *Command {
	return &Command{
		Name:  "version",
		Short: "Show the version",
		Run: func(w io.Writer, _ []string) error {
			v := version
			if info, ok := debug.ReadBuildInfo(); ok && v == "" {
				v = info.Main.Version
			}
			fmt.Fprintf(w, "%s %s %s/%s %s\n",
				program, cmp.Or(v, "(devel)"), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return nil
		},
	}
}
