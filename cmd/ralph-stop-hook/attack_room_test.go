package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// inRoom has the checks of an attacked project run in a room, where only what is built is the agent's work.
func inRoom(env *testscript.Env) error {
	outside := regexp.MustCompile(`(?m)(^|[ "'=])\.\./`) // the room has another folder above it
	project := filepath.Join(env.WorkDir, "project")
	return filepath.WalkDir(project, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := outside.ReplaceAllString(string(data), "${1}"+env.WorkDir+"/")
		if path == filepath.Join(project, "ralph.json") {
			text = strings.Replace(text, "{", `{"room": true, "work": ["built/**"], `, 1)
		}
		return os.WriteFile(path, []byte(text), 0o644)
	})
}

// played is a script whose own expectations are not looked at: they are about how a loop without a room ends.
type played struct{ *testing.T }

func (p played) FailNow() { p.SkipNow() }

func (p played) Fatal(args ...any) { p.Log(args...); p.SkipNow() }

func (p played) Verbose() bool { return testing.Verbose() }

func (p played) Run(name string, play func(testscript.T)) {
	p.T.Run(name, func(t *testing.T) { play(played{t}) })
}

// attackInRoom plays the attacks of a folder against checks that run in a room, where the final check passes.
func attackInRoom(t *testing.T, folder string) map[string]attacked {
	p := params(folder)
	p.ContinueOnError = true
	return attack(t, folder, p, true, inRoom)
}
