package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Tests kill a run at a system call by its number. With one thread, the order of the calls is the same in every run.
func init() {
	if os.Getenv("TEST_ONE_THREAD") != "" {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if proc.JobOf(os.Args[0]) != "" {
		main() // testscript.Main takes the job out of argv[0]
	}
	testscript.Main(m, map[string]func(){
		"ralph-runner": main,
		"fake":         func() { os.Exit(fake(os.Args[1:])) },
		"coordinate":   coordinate,
		"liar":         liar,
	})
}

// TestScripts runs the program with scripted agents. The hook comes from this checkout.
func TestScripts(t *testing.T) {
	t.Parallel()
	hook := build(t, "../ralph-stop-hook")
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			for _, kv := range append([][2]string{
				{"HOME", home}, {"USERPROFILE", home}, {"APPDATA", filepath.Join(home, ".config")},
				{"LOCALAPPDATA", filepath.Join(home, "state")}, {"XDG_STATE_HOME", filepath.Join(home, "state")},
				{"LOOPS", filepath.Join(".claude", "data", "ralph-loops")},
				{"PATH", filepath.Dir(hook) + string(os.PathListSeparator) + env.Getenv("PATH")},
			}, gittest.Vars...) {
				env.Setenv(kv[0], kv[1])
			}
			return errors.Join(os.MkdirAll(home, 0o755), place(home))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exitsCommand,
			"json":  jsonCommand,
			"count": countCommand, "nobody": nobodyCommand,
			"await": awaitCommand,
			"alive": aliveCommand, "mcp": mcpCommand,
		},
	})
}

// place puts a script's configuration of a user, home/.config, where the system looks for it.
func place(home string) error {
	if runtime.GOOS != "darwin" {
		return nil
	}
	library := filepath.Join(home, "Library")
	err := os.Mkdir(library, 0o755)
	if err == nil {
		err = os.Rename(filepath.Join(home, ".config"), filepath.Join(library, "Application Support"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
