package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/settings"
)

// entryScopes are the places of an entry of ours, narrowest first. The host
// runs the entries of all of them, and one answers: the narrowest, since what
// somebody has said of this project, such as another program or --on-complete,
// is meant to win over what they have for all, and a plugin, which nobody edits,
// gives way to every entry that somebody has written.
var entryScopes = []string{"local", "project", "user", "plugin"}

// settingsFiles are the files that the host reads as the settings of a scope:
// for local ones also that of the main tree's root, wherever in the repository
// or its worktrees it was started. A plugin has none.
func settingsFiles(scope, project string) (files []string) {
	const local = "settings.local.json"
	switch scope {
	case "local":
		files = append(files, filepath.Join(project, ".claude", local))
		if main := loopdir.MainRoot(project); main != "" && main != project {
			files = append(files, filepath.Join(main, ".claude", local))
		}
	case "project":
		files = append(files, filepath.Join(project, ".claude", "settings.json"))
	case "user":
		user := os.Getenv("CLAUDE_CONFIG_DIR")
		if home, err := os.UserHomeDir(); err == nil && user == "" {
			user = filepath.Join(home, ".claude")
		}
		files = append(files, filepath.Join(user, "settings.json"))
	}
	return files
}

// checkEntry refuses an --entry that names no scope.
func (h *hook) checkEntry() error {
	if h.entry == "" || slices.Contains(entryScopes, h.entry) {
		return nil
	}
	last := len(entryScopes) - 1
	return fmt.Errorf("--entry %q; want %s or %s", h.entry, strings.Join(entryScopes[:last], ", "), entryScopes[last])
}

// outranked tells whether a narrower entry answers this event. The files are
// what counts and not what a rival process does: equal input is no sign of it.
// An entry that does not say where it stands, as older ones do not, gives way to
// none.
func (h *hook) outranked() bool {
	project := cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), h.event.Cwd)
	// In the home folder the project's settings are the person's.
	own := func(file string) bool {
		return slices.ContainsFunc(settingsFiles(h.entry, project), func(f string) bool { return sameFile(f, file) })
	}
	for _, scope := range entryScopes[:max(0, slices.Index(entryScopes, h.entry))] {
		for _, file := range settingsFiles(scope, project) {
			counts := func(e *settings.Hook) bool {
				said := e.Flag("--entry") // one that was copied from elsewhere gives way, perhaps to us
				return (said == "" || said == scope) && runs(e)
			}
			if slices.ContainsFunc(hookEntries(file, h.event.Name), counts) && !own(file) {
				return true
			}
		}
	}
	return false
}

// runs tells whether the host finds an entry's program. A shared settings file
// may name one that this machine does not have. Of a line for a shell that is known
// only where it begins with a path that means nothing else to a shell.
func runs(e *settings.Hook) bool {
	name := strings.ReplaceAll(e.Command, "${CLAUDE_PROJECT_DIR}", os.Getenv("CLAUDE_PROJECT_DIR"))
	if !e.Exec {
		name = cmp.Or(append(e.Args, "")...)
		if !filepath.IsAbs(name) || strings.ContainsFunc(name, func(r rune) bool { return r != filepath.Separator && special(r) }) {
			return true
		}
	}
	_, err := exec.LookPath(name)
	return err == nil
}

// hookEntries returns our entries for an event in a settings file. One that
// cannot be read has none that the host would see.
func hookEntries(path, event string) []*settings.Hook {
	text, err := readFile(path, settings.MaxBytes)
	if err != nil {
		return nil
	}
	file, err := settings.Read(text)
	if err != nil {
		return nil
	}
	return file.Ours(event)
}
