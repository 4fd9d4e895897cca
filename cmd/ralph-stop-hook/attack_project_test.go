package main

import (
	"os/exec"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// played is a script whose own expectations are not looked at: they are about how a loop with a copy goes on.
type played struct{ *testing.T }

func (p played) FailNow() { p.SkipNow() }

func (p played) Fatal(args ...any) { p.Log(args...); p.SkipNow() }

func (p played) Verbose() bool { return testing.Verbose() }

func (p played) Run(name string, play func(testscript.T)) {
	p.T.Run(name, func(t *testing.T) { play(played{t}) })
}

// TestAttacksInProject is the control for the copy: with checks that run in the project, attacks get through that are
// refused otherwise.
func TestAttacksInProject(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("the attacks are written for Linux, and take a while")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	t.Parallel()
	p := params("attack")
	p.ContinueOnError = true
	inProject := func(env *testscript.Env) error {
		env.Values[inProjectKey{}] = true
		return nil
	}
	through := 0
	for name, a := range attack(t, "attack", p, true, inProject) {
		if len(a.problems) > 0 {
			through++
			t.Logf("%s: %s", name, a.problems)
		}
	}
	const want = 10
	if through < want {
		t.Errorf("%d attacks get through, want %d or more", through, want)
	}
}
