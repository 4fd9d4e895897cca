package newloop

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Write writes the files of the loop.
func (m *Maker) Write() error {
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return err
	}
	where := m.Env.Where()
	where.LoopDir = m.Dir
	at, err := loopdir.Find(where)
	if err != nil {
		return err
	}
	l, err := loop.Open(m.Env, at)
	if err != nil {
		return err
	}
	defer l.Close()
	return l.Store.Locked(loop.LockWait, func() error {
		if err := m.writeLocked(l); err != nil {
			return err
		}
		return at.MakeCurrent()
	})
}

func (m *Maker) writeLocked(l *loop.Loop) error {
	// Read before the first write, so that a refusal leaves nothing behind.
	before, err := l.Store.State()
	if err != nil && !m.Force {
		return err
	}
	what := "no list, " + say.Checks(len(m.Checks))
	if all := len(m.found.Items); m.List != config.ListNone {
		what = fmt.Sprintf("%s, %d of them open", plain.Count(all, "feature"), all-m.found.Passed())
	}
	fmt.Fprintf(m.Out, "loop %q: %s; at most %s\n", m.Name, what, plain.Count(m.Limits.MaxIterations, "iteration"))
	for _, note := range say.ListNotes(m.found.List, say.ShownNotes) {
		fmt.Fprintf(m.Out, "  %s\n", note)
	}
	if file, tag := features.SplitTag(m.List); tag == "" && len(m.found.Tags) > 1 {
		fmt.Fprintf(m.Out, "  it has the tags %s, and this is #master; another one: %s %s#TAG\n",
			plain.Line(strings.Join(m.found.Tags, ", "), 300), m.ByList, plain.Line(file, 300))
	}
	if before.Schema != 0 && !m.Force && !loopdir.Exists(filepath.Join(m.Dir, loopdir.ConfigFile)) {
		fmt.Fprintf(m.Out, "  kept     the record of the earlier loop: %s at iteration %d; to start from scratch: "+
			"ralph-stop-hook init %s --force\n", before.Status, before.Iteration, plain.Arg(m.Name))
	}
	for _, f := range m.files {
		if err := m.writeFile(l, f); err != nil {
			return err
		}
	}
	if before.Schema == 0 || m.Force {
		return m.begin(l)
	}
	if !before.Status.GoesOn() {
		m.LastStatus = before.Status
	}
	return nil
}

func (m *Maker) writeFile(l *loop.Loop, f loopFile) error {
	path := m.Show(filepath.Join(m.Dir, f.name))
	switch {
	case f.name == loopdir.ConfigFile && m.keepsLoop:
		return m.keepTrusted(l, f, path)
	case f.stays:
		fmt.Fprintf(m.Out, "  kept     %s\n", path)
		return nil
	}
	if f.name == loopdir.PromptFile && m.counts != "" {
		f.text += "\n" + strings.TrimPrefix(m.counts, "\n")
	}
	// Trusted first: if init is cut off in between, the next init writes both again.
	if f.name == loopdir.ConfigFile {
		if err := m.trust(l, []byte(f.text)); err != nil {
			return err
		}
	}
	if f.name == loopdir.ProgressFile || f.name == loopdir.ConfigFile || f.name == loopdir.PromptFile {
		if err := m.backUp(l, f); err != nil {
			return err
		}
	}
	if err := l.Store.WriteFile(f.name, []byte(f.text)); err != nil {
		return err
	}
	fmt.Fprintf(m.Out, "  wrote    %s\n", path)
	return nil
}

// keepTrusted leaves ralph.json as it is or, if it is gone, as it was trusted.
func (m *Maker) keepTrusted(l *loop.Loop, f loopFile, path string) error {
	record, err := l.Store.Trust()
	if err != nil {
		return fmt.Errorf("%w; look at the loop's files, then run: %s", err, l.Call("trust"))
	}
	if !f.stays {
		err = l.Store.WriteFile(f.name, []byte(f.text))
	}
	if err != nil {
		return err
	}
	if f.stays {
		fmt.Fprintf(m.Out, "  kept     %s\n", path)
	} else {
		fmt.Fprintf(m.Out, "  wrote    %s, which was gone, as it was trusted\n", path)
	}
	if record != nil && !record.Revoked {
		m.lookAtBaseline(l, *record)
	}
	return nil
}

// backUp copies a file that --force writes over, unless it says what init writes.
func (m *Maker) backUp(l *loop.Loop, f loopFile) error {
	old, err := loopdir.ReadAny(filepath.Join(m.Dir, f.name), maxBackUp)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case f.name == loopdir.ProgressFile && string(progress.Edit(old, progress.Parse([]byte(f.text)))) == f.text,
		string(old) == f.text:
		return nil
	}
	name := f.name + ".bak"
	if err := l.Store.WriteFile(name, old); err != nil {
		return err
	}
	fmt.Fprintf(m.Out, "  kept     what it was as %s\n", m.Show(filepath.Join(m.Dir, name)))
	return nil
}

// maxBackUp is the largest file that init --force copies before it writes over it, in bytes.
const maxBackUp = 16 << 20

// trust records that a person trusts the ralph.json that init writes.
func (m *Maker) trust(l *loop.Loop, text []byte) error {
	// What a person trusted is a person's to replace, even if the file itself is gone.
	if trust, err := l.Store.Trust(); trust != nil || err != nil {
		if err := m.PersonOnly(); err != nil {
			return err
		}
	}
	record, err := l.NewTrust(text, m.found, false)
	if err != nil {
		return err
	}
	if err := l.SetTrust(record); err != nil && l.Store.Protected {
		return err // an unprotected loop has no command to trust
	}
	m.lookAtBaseline(l, record)
	return nil
}

// lookAtBaseline notes what a person should know of the copy for the checks.
func (m *Maker) lookAtBaseline(l *loop.Loop, record config.Trust) {
	c, err := config.Parse([]byte(record.Text))
	if err != nil {
		return
	}
	for _, change := range l.Omissions() {
		m.warnings = append(m.warnings, "not in the copy for the checks: "+change.Path+": "+change.Why)
	}
	for _, text := range l.IdleProtect(c, record) {
		m.warnings = append(m.warnings, fmt.Sprintf(verb.Idle, text))
	}
	for _, program := range l.MissingPrograms(c) {
		m.warnings = append(m.warnings, verb.NotYet(l, program))
	}
	if inside := l.PathInside(record.SearchPath); inside != "" && len(c.Commands()) > 0 {
		m.warnings = append(m.warnings, inside)
	}
	m.counts = say.Counts(c)
}

func (m *Maker) begin(l *loop.Loop) error {
	text, err := l.Store.Progress()
	if err != nil {
		return err
	}
	if m.Force {
		l.Store.Done(l.Store.Requests())
		if err := l.Store.ClearLogs(); err != nil {
			return err
		}
		if err := l.Store.SetStartFlags(loopdir.StartFlags{}); err != nil {
			return err
		}
	}
	begin := decide.Snapshot{
		Folder: decide.Folder{Header: progress.Parse(text), LogIteration: l.Store.LogIteration()},
	}
	state := begin.Record()
	next, _ := m.found.Next()
	state.Loop = l.At.Dir
	state.List = l.At.ListPath(m.List, "")
	state.Feature = next.ID
	state.Bind = decide.BindPrompt
	state.Client = m.Env.Client
	return l.Store.SaveState(state)
}

// TryChecks runs the checks of a new loop once. If that takes long, those of the whole loop run at its end only.
func (m *Maker) TryChecks() error {
	if m.keepsLoop || len(m.Checks) == 0 {
		return nil
	}
	return m.OnLoop(func(_ io.Writer, l *loop.Loop) error {
		isSlow := verb.DryRun(m.Out, l)
		if !isSlow || !slices.ContainsFunc(m.Checks, func(check string) bool { return !perFeature(check) }) {
			return nil
		}
		m.isSlow = true
		text, err := m.config()
		if err != nil {
			return err
		}
		fmt.Fprintf(m.Out, "  so ralph.json has the checks run when every feature is claimed (\"when\": \"end\"); if the "+
			"first time was slow, edit that, and run: %s\n", l.Call("trust"))
		return l.Store.Locked(loop.LockWait, func() error {
			err := m.trust(l, text)
			if err == nil {
				err = l.Store.WriteFile(loopdir.ConfigFile, text)
			}
			return err
		})
	})(m.Out, []string{m.Name})
}
