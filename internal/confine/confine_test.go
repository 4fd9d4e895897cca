package confine

import (
	"slices"
	"strings"
	"testing"
)

// TestSeatbelt holds paths out of the profile's text, so that none has to be quoted.
func TestSeatbelt(t *testing.T) {
	hostile := `/tmp/a") (allow file-write* (subpath "/`
	args := seatbelt([]string{"/p", hostile}, []string{"/bin/sh", "-c", "exit"})
	profile := args[slices.Index(args, "-p")+1]
	if strings.Contains(profile, "tmp") || strings.Count(profile, "(") != strings.Count(profile, ")") {
		t.Errorf("the profile is %s", profile)
	}
	for _, want := range []string{
		"(version 1) (allow default) (deny file-write*) (allow file-write*",
		`(subpath (param "FOLDERA")) (subpath (param "FOLDERB"))`, `(literal "/dev/null")`,
	} {
		if !strings.Contains(profile, want) {
			t.Errorf("the profile %s lacks %s", profile, want)
		}
	}
	want := []string{"sandbox-exec", "-D", "FOLDERA=/p", "-D", "FOLDERB=" + hostile, "-p", profile, "/bin/sh", "-c",
		"exit"}
	if !slices.Equal(args, want) {
		t.Errorf("%q, want %q", args, want)
	}
}
