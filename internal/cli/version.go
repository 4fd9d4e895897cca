package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version returns the verb that shows a program's version. version is a release's, "" for a build
// of another kind: then the version of `go install` is shown, or what Go makes of the commit.
func Version(program, version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		RunE: Run(func(w io.Writer, _ []string) error {
			fmt.Fprintf(w, "%s %s %s/%s %s\n",
				program, VersionText(version), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return nil
		}),
	}
}

// VersionText returns the version that the linker has set, else that of the build.
func VersionText(version string) string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		version = info.Main.Version
	}
	return cmp.Or(version, "(devel)")
}
