package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestIgnore compares the files that walk finds with those that git lists.
func TestIgnore(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	p := project{t: t, dir: t.TempDir(), git: true}
	p.run("init", "-q")
	for _, name := range []string{
		"a/b/d.o", "a/b/c/d.o", "a/c.o", "b/d.o", "b/x", "c/a/x", "d.o/x", "x", "#x", "sp/x", "xaybz", "a/axb",
		"éé", // git's ? is one byte
	} {
		p.write(name, "")
	}
	for _, rules := range []string{
		"", "a", "a/", "/a", "/a/", "a/b", "/a/b/", "*.o", "!a\n*", "*\n!a", "*\n!*/\n!*.o", "a/*\n!a/b",
		"a/**", "**/b",
		"**/b/", "a/**/d.o", "b/d.o", "*/d.o", "**", "***", "a**", "?", "[ab]", "[!a]", "[^a]", "[a-b]/", `\#x`,
		"#x", "!x", "a \nb", `sp\ `, "sp ", "a\r\nb", "\ufeffa", "a//b", "/", "//", "!", "*.[oc]", "b/**/", "a/b/**",
		"/*\n!/a\n/a/*\n!/a/b", "[", `a\`, "a/**b", "**/a/**",
		"é*", "a?b", "/**/d.o", "/**", "./a", "../a", "a/.", "x*y*z",
		"a[!x]b", "a[!x]*", "{a,b}", `\{a`,
	} {
		for _, deeper := range []string{"", "!d.o\n*"} {
			ignore(t, p, rules, deeper)
		}
	}
	for _, deeper := range []string{"*", "!*", "*\n!.gitignore", "/d.o", "d.o/"} {
		ignore(t, p, "*.o\n!x", deeper)
	}
}

func ignore(t *testing.T, p project, rules, deeper string) {
	t.Helper()
	p.write(".gitignore", rules)
	p.write("a/b/.gitignore", deeper)
	tree := Tree{Env: os.Environ(), Dir: p.dir, Top: p.dir}
	got, err := tree.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "-C", p.dir, "ls-files", "-z", "-o", "--exclude-per-directory=.gitignore").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	want = slices.DeleteFunc(want, func(name string) bool { return name == "" })
	for i := range got {
		got[i] = filepath.ToSlash(got[i])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("rules %q, in a/b %q: %q, git: %q", rules, deeper, got, want)
	}
}
