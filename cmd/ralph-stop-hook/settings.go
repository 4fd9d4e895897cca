package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/settings"
)

// settingsFile is the settings file that gets the hook.
type settingsFile struct {
	path      string // empty: none
	entry     settings.Entry
	old, text []byte // as it is, and as it is to become
}

// settingsFile chooses the file: the one that has the hook already; else the
// project's with the bare name, if PATH finds this very program, so that the
// file can be shared; else the person's own with the absolute path.
func (i *initialiser) settingsFile() (f settingsFile, err error) {
	var onPath bool
	if f.entry, onPath, err = newEntry(); err != nil {
		return f, err
	}
	if i.scope == "none" {
		return f, nil
	}
	if !slices.Contains([]string{"project", "local", "user"}, i.scope) {
		return f, &usageError{fmt.Errorf("--settings %q; want project, local, user or none", i.scope)}
	}
	// In the home folder the project's settings are the person's.
	if project, user := settingsFiles("project", i.project)[0], settingsFiles("user", "")[0]; i.scope == "project" && (project == user || sameFile(project, user)) {
		i.scope = "user"
	}
	if i.given("settings") {
		err = i.refuseBeside()
	} else {
		if !onPath {
			i.scope = "local"
		}
		for _, scope := range []string{i.scope, "project", "local", "user"} {
			if slices.ContainsFunc(settingsFiles(scope, i.project), hasHook) {
				i.scope = scope
				break
			}
		}
	}
	if err != nil {
		return f, err
	}
	f.entry.Args = slices.Insert(f.entry.Args, 1, "--entry", i.scope)
	// In a worktree the host reads the main tree's local settings too: a second entry
	// beside the one there would be a second answer to a stop.
	files := settingsFiles(i.scope, i.project)
	f.path = real(files[max(0, slices.IndexFunc(files, hasHook))])
	return f, nil
}

// newEntry is the entry of this program, by its bare name where PATH finds it.
func newEntry() (e settings.Entry, onPath bool, err error) {
	self, err := os.Executable()
	seconds := int(defaultTimeout.Seconds())
	e = settings.Entry{Type: "command", Command: self, Args: []string{"hook", "--timeout", fmt.Sprintf("%ds", seconds)}, Timeout: seconds}
	if found, err := exec.LookPath("ralph-stop-hook"); err == nil && sameFile(found, self) {
		e.Command, onPath = "ralph-stop-hook", true
	}
	return e, onPath, err
}

// hookEvents are the host's events that the entry is for.
var hookEvents = []string{decide.Stop, decide.StopFailure, decide.PromptSubmit, decide.SessionStart, decide.SessionEnd}

// real follows a link, as dotfile managers make them: its target is edited.
func real(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// hasHook tells whether a settings file has an entry of ours.
func hasHook(path string) bool { return len(hookEntries(path, decide.Stop)) > 0 }

// refuseBeside refuses a second entry beside one that would give way to none.
func (i *initialiser) refuseBeside() error {
	for _, scope := range entryScopes[slices.Index(entryScopes, i.scope)+1:] {
		for _, file := range settingsFiles(scope, i.project) {
			for _, e := range hookEntries(file, decide.Stop) {
				if e.Flag("--entry") == "" {
					return fmt.Errorf("the hook is in %s already, as an older entry that would run beside a second one; bring that up to date first: ralph-stop-hook init %s --settings %s", file, quoteArg(i.name), scope)
				}
			}
		}
	}
	return nil
}

// readFile reads a regular file of at most limit bytes. A FIFO would be waited
// for.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s is larger than %d KB; make it smaller", path, limit>>10)
	}
	return os.ReadFile(path)
}

func sameFile(a, b string) bool {
	x, _ := os.Stat(a)
	y, _ := os.Stat(b)
	return os.SameFile(x, y) // which one that is missing is not
}

// merge settles what the file is to become.
func (f *settingsFile) merge() (err error) {
	if f.path == "" {
		return nil
	}
	if f.old, err = readFile(f.path, settings.MaxBytes); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, dangling := os.Lstat(f.path); err != nil && dangling == nil {
		return fmt.Errorf("%s is a link to nothing; remove it", f.path)
	}
	f.text = f.old
	for _, event := range hookEvents {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			f.text, _, err = settings.Merge(f.text, event, f.entry)
		}
	}
	if err == nil {
		_, err = settings.Read(f.text) // or the client would leave it out
	}
	if err != nil {
		err = fmt.Errorf("%s: %w; mend it, or run init with --settings none and add the hook yourself", f.path, err)
	}
	return err
}

func (f *settingsFile) changed() bool { return !bytes.Equal(f.text, f.old) }

// preview shows the lines that the edit adds.
func (f *settingsFile) preview() string {
	had := map[string]int{}
	for _, line := range strings.Split(string(f.old), "\n") {
		had[line]++
	}
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimRight(string(f.text), "\n"), "\n") {
		if had[line]--; had[line] < 0 {
			b.WriteString("    + " + plain.Text(line, 500) + "\n")
		}
	}
	return b.String()
}

func (f *settingsFile) write() error {
	if f.path == "" {
		return nil
	}
	dir, name := filepath.Split(f.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if !f.changed() {
		loopdir.Sweep(root, name)
		return nil
	}
	return loopdir.Replace(root, name, f.text, 0o644)
}

func (f *settingsFile) report(i *initialiser, would string) {
	switch {
	case f.path == "":
		fmt.Fprintf(i.out, "  no settings were touched; the hook is: %s %s\n", quoteArg(f.entry.Command), strings.Join(f.entry.Args, " "))
		return
	case !f.changed():
		fmt.Fprintf(i.out, "  kept     %s: the hook is installed\n", i.show(f.path))
	case would != "":
		fmt.Fprintf(i.out, "  would add the hook to %s\n", i.show(f.path))
	default:
		fmt.Fprintf(i.out, "  hook in  %s\n", i.show(f.path))
	}
}

// preflight refuses a loop that the settings, with the hook in them, keep from
// working, and points out files that the client leaves out.
func (f *settingsFile) preflight(i *initialiser) error {
	p := newPatient(i.project)
	here := func(s *scope) bool { return f.path != "" && real(s.path) == f.path }
	if at := slices.IndexFunc(p.scopes, here); at >= 0 {
		p.scopes[at].read(f.text)
	}
	for _, row := range vital {
		for _, found := range row.look(p) {
			if found.Level == "error" {
				return fmt.Errorf("%s; %s", found.Text, found.Fix)
			}
		}
	}
	for _, found := range lookSettings(p) {
		if found.Level == "error" {
			fmt.Fprintf(i.out, "  warning: %s\n", plain.Line(found.Text, 500))
		}
	}
	return nil
}
