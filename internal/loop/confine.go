package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// writable returns the folders that "writable" names, with links resolved. It makes those
// that are missing.
func (l *Loop) writable(c config.Config) (folders []string, err error) {
	for _, name := range c.Writable {
		path := filepath.FromSlash(name)
		if below, home := strings.CutPrefix(name, "~/"); home {
			if path = filepath.Join(l.Env.Home, filepath.FromSlash(below)); l.Env.Home == "" {
				return nil, fmt.Errorf(`"writable" names %s, and there is no home folder`, plain.Line(name, 200))
			}
		}
		if err := os.MkdirAll(path, 0o755); err != nil && !errors.Is(err, os.ErrExist) && !isFile(path) {
			return nil, fmt.Errorf(`"writable": %w`, err)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, fmt.Errorf(`"writable": %w`, err)
		}
		folders = append(folders, path)
	}
	return folders, l.keptOut(folders)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// keptOut refuses folders that hold the record.
func (l *Loop) keptOut(folders []string) error {
	for _, folder := range folders {
		if !loopdir.Protects(l.Env.StateDir, folder) {
			return fmt.Errorf(`"writable" names %s, which holds the record in %s; name less, or set RALPH_STATE_DIR to `+
				"another folder", plain.Line(folder, 200), plain.Line(l.Env.StateDir, 200))
		}
	}
	return nil
}

// ConfinedTo says in words where confined commands can write.
func ConfinedTo(c config.Config) string {
	return strings.Join(append([]string{"the project", "a temporary folder"}, c.Writable...), ", ")
}

// confined has a command run confined. done removes its temporary folder.
func (p *Picture) confined(run *proc.Cmd) (done func(), err error) {
	temp, err := os.MkdirTemp(proc.Value(run.Env, "TMPDIR"), "ralph-stop-hook-")
	if err != nil {
		return nil, err
	}
	done = func() { _ = os.RemoveAll(temp) }
	real, err := filepath.EvalSymlinks(temp)
	if err != nil {
		done()
		return nil, err
	}
	folders, _ := json.Marshal(slices.Concat([]string{p.Loop.At.Project, real}, p.Config.Folders)) // cannot fail
	run.Argv = slices.Concat([]string{proc.ConfineJob.Argv0(p.Loop.Env.Self), string(folders), run.Shell}, run.Argv)
	run.Shell, run.Env = "", append(run.Env, "TMPDIR="+real)
	return done, nil
}

// hint says what to do where a check may have failed because it is confined.
func (p *Picture) hint(c config.Command, output []byte) string {
	refused := func(word string) bool { return bytes.Contains(bytes.ToLower(output), []byte(word)) }
	if !p.Config.Confine || !c.Runs() || !slices.ContainsFunc(refusals, refused) {
		return ""
	}
	return "\nThis check is confined: it writes only to the project, to $TMPDIR, and to the folders that a person names in " +
		`ralph.json, such as "writable": ["~/.cache/go-build"]; it has no Unix sockets.`
}

var refusals = []string{"permission denied", "eacces", "eperm", "operation not permitted", "permissionerror"}
