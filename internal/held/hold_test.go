package held

import (
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

// TestOutput has rows of files that git ignores. A build output is not held where a check names it.
func TestOutput(t *testing.T) {
	project := write(t, map[string]string{
		"build/app!": "#!/bin/sh", "web/dist/x.sh": "", "bin/app!": "a\x00b", "bin/v.sh": "", "tool!": "a\x00b",
		".tools/build/v.sh": "", "node_modules/x/dist/v.sh": "", "dist/seen.sh": "", "local.sh": "", ".npmrc": "",
	})
	git := func(args ...string) int {
		switch key := args[len(args)-1]; {
		case key == "dist/seen.sh" || key == "dist/": // git tracks it
		case key == "bin/" || key == "web/": // but some in it
		case args[0] == "check-ignore" && (strings.Contains(key, "/") || key == "tool" || key == "local.sh" ||
			key == ".npmrc" || strings.HasPrefix(key, "later")):
			return 0
		}
		return 1
	}
	for line, want := range map[string]string{
		"./build/app":                         "",
		"sh build/new.sh":                     "",
		"sh web/dist/x.sh":                    "",
		"./bin/app":                           "",
		"sh bin/v.sh":                         "bin/v.sh",
		"./tool":                              "",
		"./later":                             "",
		"sh later.sh":                         "later.sh",
		"sh local.sh":                         "local.sh",
		"sh .tools/build/v.sh":                ".tools/build/v.sh",
		"sh node_modules/x/dist/v.sh":         "node_modules/x/dist/v.sh",
		"./node_modules/.bin/jest":            "node_modules/.bin/jest",
		"sh dist/seen.sh":                     "dist/seen.sh",
		"sh build/new.sh && sh build/kept.sh": "build/kept.sh",
	} {
		kept, err := config.ParsePattern("**/kept.sh")
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range []bool{true, false} {
			h := New(project, "", config.Config{Protect: []config.Pattern{kept}})
			h.Git = git
			h.Command(config.Command{Shell: line}, check)
			var keys []string
			for key := range h.Sums {
				keys = append(keys, key)
			}
			got := strings.Join(keys, " ")
			if check && got != want {
				t.Errorf("%s: held %q, want %q; not held: %q", line, got, want, h.Open)
			}
			if !check && got == "" {
				t.Errorf("%s: nothing is held for a notifier", line)
			}
		}
	}
}
