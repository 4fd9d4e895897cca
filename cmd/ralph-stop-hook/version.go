package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build; otherwise the module's own version is shown.
var version string

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  maxArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := version
			if info, ok := debug.ReadBuildInfo(); ok && v == "" {
				v = info.Main.Version
			}
			fmt.Fprintf(cmd.OutOrStdout(), "ralph-stop-hook %s %s/%s %s\n", cmp.Or(v, "(devel)"), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return nil
		},
	}
}
