package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCommits reads the commits of a time. The repository names programs, which are not run.
func TestCommits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	p := project{t, t.TempDir(), true}
	begin := time.Now().Add(-time.Minute)
	if got := Commits(t.Context(), os.Environ(), p.dir, begin, time.Now()); got != nil {
		t.Errorf("without a repository there are commits: %+v", got)
	}
	pwned := filepath.Join(p.dir, "pwned")
	p.run("init", "-q")
	for _, one := range []string{"diff.external", "diff.own.textconv", "gpg.program", "core.pager"} {
		p.run("config", one, "touch "+pwned)
	}
	p.run("config", "log.showSignature", "true")
	p.write(".gitattributes", "* diff=own\n")
	p.write("a.txt", "one\n")
	p.run("add", "-A")
	p.run("commit", "-q", "-m", "First \x1b[31m<b>")
	p.write("a.txt", "two\x1b[0m\n")
	p.run("commit", "-q", "-am", "Second\n\nRalph-Feature: login")
	got := Commits(t.Context(), os.Environ(), p.dir, begin, time.Now())
	if len(got) != 2 {
		t.Fatalf("the commits are %+v", got)
	}
	if got[0].Subject != "First <b>" || got[1].Subject != "Second" || got[0].Feature != "" ||
		got[1].Feature != "login" || len(got[1].Hash) < 40 ||
		got[1].At.Before(begin) {
		t.Errorf("the commits are %+v", got)
	}
	if diff := got[1].Diff; !strings.Contains(diff, "a.txt | 2 +-") || !strings.Contains(diff, "\n+two") {
		t.Errorf("the diff is %q", diff)
	}
	if _, err := os.Stat(pwned); err == nil {
		t.Error("git ran a program of the repository's configuration")
	}
	if got := Commits(t.Context(), os.Environ(), p.dir, begin.Add(-time.Hour), begin); got != nil {
		t.Errorf("commits of another time: %+v", got)
	}
}
