//go:build mutations

package mutations

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMutations breaks each promise, and wants its test to fail.
func TestMutations(t *testing.T) {
	sound := build{dir: t.TempDir()}
	for _, document := range slices.Sorted(maps.Keys(table)) {
		for _, r := range table[document] {
			t.Run(filepath.Base(document)+": "+r.promise, func(t *testing.T) {
				said, err := r.try(sound, t.TempDir())
				t.Logf("%s\n%s", r.test.run, said)
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

var errSurvived = errors.New("the promise is broken, and its test passes")

// try runs the test of a row: as the product is, it has to pass, and to fail with the change.
func (r row) try(sound build, dir string) (said string, err error) {
	text, err := r.changed()
	if err != nil {
		return "", err
	}
	said, err = sound.run(r.test)
	if err != nil || !strings.Contains(said, "--- PASS: ") || strings.Contains(said, "--- SKIP: ") {
		return said, fmt.Errorf("without the change, the test does not pass: %w", err)
	}
	file, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	instead := map[string]map[string]string{"Replace": {filepath.Join(root, r.file): file}}
	list, err := json.Marshal(instead)
	err = errors.Join(err, os.WriteFile(file, []byte(text), 0o644), os.WriteFile(overlay, list, 0o644))
	if err != nil {
		return "", err
	}
	said, err = build{dir, "-overlay=" + overlay}.run(r.test)
	switch {
	case err == nil:
		return said, errSurvived
	case !strings.Contains(said, "--- FAIL: "):
		return said, fmt.Errorf("with the change, the test does not run: %w", err)
	}
	return said, nil
}

// build has the programs of tests, as they are built with a flag.
type build struct{ dir, flag string }

// run runs a test, and builds its program unless that is there. What the test itself builds gets the flag, too.
func (b build) run(t test) (said string, err error) {
	env := append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+os.Getenv("GOFLAGS")+" "+b.flag)
	program := filepath.Join(b.dir, filepath.Base(t.pkg)+".test")
	if _, err := os.Stat(program); err != nil {
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", program, t.pkg)
		cmd.Dir, cmd.Env = root, env
		if out, err := cmd.CombinedOutput(); err != nil {
			return string(out), err
		}
	}
	cmd := exec.Command(program, "-test.v", "-test.timeout=5m", "-test.run="+t.run)
	cmd.Dir, cmd.Env = filepath.Join(root, t.pkg), env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestControl tries a change that no test sees, and rows that are wrong.
func TestControl(t *testing.T) {
	comment := row{
		test: unit("plain", "^TestLine$"),
		file: "internal/plain/plain.go", old: "// Line returns s as one line", new: "// Line returns s in one line",
	}
	gone, unbuilt, untested := comment, comment, comment
	gone.old = "// Line returns nothing"
	unbuilt.new = "Line returns s in one line"
	untested.test.run = "^TestNothing$"
	for want, r := range map[string]row{
		errSurvived.Error():                          comment,
		"0 times, want once":                         gone,
		"with the change, the test does not run":     unbuilt,
		"without the change, the test does not pass": untested,
	} {
		said, err := r.try(build{dir: t.TempDir()}, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q\n%s", err, want, said)
		}
	}
}
