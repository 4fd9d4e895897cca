package record

import (
	"slices"
	"testing"
)

// TestToMerge names a branch only for a feature on which somebody has worked.
func TestToMerge(t *testing.T) {
	r := Run{Lanes: []Lane{{Number: 1, Workspace: Workspace{Branch: "b/3", Feature: "c"}}}, Workspaces: []Workspace{
		{Branch: "b/1", Dir: "/lanes/1", Feature: "a", Open: true, WaitReason: "it does not fit"},
		{Branch: "b/2", Feature: "b", Dir: "/lanes/2", WaitReason: "its folder cannot be prepared"},
	}}
	got := r.ToMerge()
	want := []string{"a waits on the branch b/1: it does not fit", "b waits: its folder cannot be prepared"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	left := r.WaitingBranches()
	if len(left) != 2 || left["a"] != "b/1 (in /lanes/1)" || left["b"] != "/lanes/2" {
		t.Errorf("left: %q", left)
	}
}
