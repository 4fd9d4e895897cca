package tree

import (
	"fmt"
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
	if got, more := Commits(t.Context(), os.Environ(), p.dir, "", begin, time.Now()); got != nil || more != 0 {
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
	p.run("commit", "-q", "-am", "Second\n\nRalph-Feature: login\nRalph-Feature: log out")
	got, more := Commits(t.Context(), os.Environ(), p.dir, "", begin, time.Now())
	if len(got) != 2 || more != 0 {
		t.Fatalf("the commits are %+v, and %d more", got, more)
	}
	if got[0].Subject != "First <b>" || got[1].Subject != "Second" || got[0].Features != nil ||
		strings.Join(got[1].Features, "|") != "login|log out" || len(got[1].Hash) < 40 ||
		got[1].At.Before(begin) {
		t.Errorf("the commits are %+v", got)
	}
	if diff := got[1].Diff; !strings.Contains(diff, "a.txt | 2 +-") || !strings.Contains(diff, "\n+two") {
		t.Errorf("the diff is %q", diff)
	}
	if _, err := os.Stat(pwned); err == nil {
		t.Error("git ran a program of the repository's configuration")
	}
	if got, _ := Commits(t.Context(), os.Environ(), p.dir, "", begin.Add(-time.Hour), begin); got != nil {
		t.Errorf("commits of another time: %+v", got)
	}
}

// TestManyCommits counts the commits that are left out.
func TestManyCommits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	p := project{t, t.TempDir(), true}
	p.run("init", "-q", "-b", "main")
	var text strings.Builder
	for i := range maxCommits + 7 {
		fmt.Fprintf(&text, "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 1\nx\n", 1_700_000_000+i)
	}
	git := exec.Command("git", "fast-import", "--quiet")
	git.Dir, git.Stdin = p.dir, strings.NewReader(text.String())
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	from := time.Unix(1_700_000_003, 0)
	all, more := Commits(t.Context(), os.Environ(), p.dir, "", from, time.Now())
	if len(all) != maxCommits || more != 4 || all[0].At.Unix() != 1_700_000_007 {
		t.Errorf("%d commits from %d on, and %d more", len(all), all[0].At.Unix(), more)
	}
}
