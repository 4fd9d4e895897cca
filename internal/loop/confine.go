package loop

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// ConfinedTo says in words where confined commands can write.
func ConfinedTo(c config.Config) string {
	return strings.Join(append([]string{"the project", "a temporary folder"}, c.Writable...), ", ")
}

// confine has a command run confined, with temp as its temporary folder.
func (p *Picture) confine(run *proc.Cmd, temp string) error {
	real, err := filepath.EvalSymlinks(temp)
	if err != nil {
		return err
	}
	folders, _ := json.Marshal(slices.Concat([]string{p.Loop.At.Project, real}, p.Config.Folders)) // cannot fail
	run.Argv = slices.Concat([]string{proc.ConfineJob.Argv0(p.Loop.Env.Self), string(folders), run.Shell}, run.Argv)
	run.Shell, run.Env = "", append(run.Env, "TMPDIR="+real)
	return nil
}

// hint says what to do where a check may have failed because it is confined.
func (p *Picture) hint(c config.Command, output []byte) string {
	refused := func(word string) bool { return bytes.Contains(bytes.ToLower(output), []byte(word)) }
	if !p.Config.Confine || !c.Runs() || !slices.ContainsFunc(refusals, refused) {
		return ""
	}
	return "\nThis check is confined: it writes only to the project, to $TMPDIR, and to the folders that a person " +
		`names in ralph.json, such as "writable": ["~/.cache/go-build"]; it has no Unix sockets.`
}

var refusals = []string{"permission denied", "eacces", "eperm", "operation not permitted", "permissionerror"}
