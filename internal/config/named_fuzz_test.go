package config

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
)

// FuzzNamed reads any text as a shell line. It must come to an end, soon, and name no file
// with a NUL.
func FuzzNamed(f *testing.F) {
	for _, line := range []string{
		"sh -c \"$(cat a)\" <<E\nx\nE\n", "for t in {a,b}; do sh $t; done", "`sh v.sh`", "$((1+1)) ${a:-b} $'x\\'y'",
		"<(a) &>b 2>&1",
		"a \\", "\"", "'", "${", "$(", "((((", "case a in b) c;; esac", "x=$(pwd)/a; sh $x$x$x",
		"sh -c 'sh -c \"sh a\"'", "<<", "<<<",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		begin := time.Now()
		named := Command{Shell: line}.Named()
		if took := time.Since(begin); len(line) < 2000 && took > 2*time.Second {
			t.Errorf("%v", took)
		}
		for _, file := range named.Files {
			if strings.Contains(file.Path, unknown) && !strings.Contains(line, unknown) {
				t.Errorf("%q names %q", line, file.Path)
			}
		}
	})
}

// TestNamedLong has lines as long as ralph.json may be; a short run has a quarter of each.
func TestNamedLong(t *testing.T) {
	long := MaxBytes
	if testing.Short() {
		long /= 4
	}
	for _, unit := range []string{"a ", "(", "$(", "`a`", "{a,b}", "\"a b\"", "a=b$a;", "'a", "sh -c 'a b' ", "<<E\n",
		"a:b=", "${a", "x\\ "} {
		t.Run(unit, func(t *testing.T) {
			named := func(n int) Named { return Command{Shell: strings.Repeat(unit, n)}.Named() }
			hostile.Linear(t, long/len(unit)/16, func(n int) func() error {
				return func() error { named(n); return nil }
			})
			if deep := unit == "(" || unit == "$("; deep && len(named(MaxBytes/len(unit)).Open) == 0 {
				t.Error("nobody is told that this is not read to its end")
			}
		})
	}
}
