package record

import (
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hostileIDs are ids of features, each another one.
var hostileIDs = []string{
	"login", "Login", "LOGIN", "../x", "..", "-rf", "--force", "a b", "a/b", "a\\b", "a..b", "a.lock", "@{1}", "a~1", "a^",
	"a:b", "a?", "a*", "a[b", "\x00", "\n", "🎉", "🎊", "é", "", "loop", "lane-1", "Lane-1",
	"lane-", "HEAD", "NUL", "aux", "Com1", "con.", "--upload-pack=id", ".", "/", "$(id)", ";id",
	strings.Repeat("x", 300), strings.Repeat("x", 299) + "y",
	strings.Repeat("-", 300),
}

// TestBranchFor gives each feature a branch of its own, with a name that git takes and a shell needs not quote.
func TestBranchFor(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	r := Run{ID: "abc123"}
	plain := regexp.MustCompile(`^ralph/abc123/[A-Za-z0-9_][A-Za-z0-9_-]{0,80}$`)
	taken := map[string]string{"ralph/abc123/lane-1": "a lane"}
	git := func(name string) bool { return exec.Command("git", "check-ref-format", "--branch", name).Run() == nil }
	for _, id := range hostileIDs {
		name := r.BranchFor(id)
		if !plain.MatchString(name) || !git(name) {
			t.Errorf("%q gets the branch %q", id, name)
		}
		if last := strings.ToLower(path.Base(name)); slices.Contains([]string{"con", "nul", "aux", "com1"}, last) {
			t.Errorf("%q gets the branch %q, which Windows cannot store", id, name)
		}
		if other, is := taken[strings.ToLower(name)]; is {
			t.Errorf("%q and %q get the branch %q", id, other, name)
		}
		taken[strings.ToLower(name)] = id
		r.Leave(Left{Feature: id, Branch: name})
		if again := r.BranchFor(id); again != name {
			t.Errorf("%q gets %q, and then %q", id, name, again)
		}
	}
	if got := r.BranchFor("US-001"); got != "ralph/abc123/US-001" {
		t.Errorf("a usual id gets %q", got)
	}
	r.Leave(Left{Feature: "login", Branch: "other"})
	if len(r.Left) != len(hostileIDs) || r.LeftBranches()["login"] != "other" {
		t.Errorf("%d branches are left: %v", len(r.Left), r.LeftBranches())
	}
	if git("ralph/../x") || git("-rf") {
		t.Error("control: git takes every name")
	}
}
