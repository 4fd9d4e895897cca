package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Files is the folder Folder, open for a run. Trouble with it stops no run. If it cannot be opened, nothing is written.
type Files struct {
	Trouble         error    // why nothing is written; nil: there is no trouble
	EarlierSessions int      // of processes before this one, which may have written some of the lines
	root            *os.Root // nil: nothing is written
	id              string   // of the run
	lines           [][]byte // for iterations.jsonl, which could not be written yet
}

// OpenFiles makes and opens the folder of a run. It follows no link out of the project.
func OpenFiles(project, id string) (*Files, error) {
	top, err := os.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	f := &Files{id: id}
	f.Trouble = top.MkdirAll(Folder, 0o755)
	if f.Trouble == nil {
		f.root, f.Trouble = loopdir.OpenFolder(top, Folder)
	}
	if f.Trouble != nil {
		return f, nil
	}
	loopdir.Sweep(f.root, "") // what a run that was killed has left
	if _, err := f.root.Lstat(".gitignore"); err != nil {
		_ = f.Text(".gitignore", "*\n")
	}
	return f, nil
}

// SweepFiles removes the temporary files that a run which was killed has left in the folder, if there is one.
func SweepFiles(project string) {
	top, err := os.OpenRoot(project)
	if err != nil {
		return
	}
	defer top.Close()
	root, err := loopdir.OpenFolder(top, Folder)
	if err != nil {
		return
	}
	defer root.Close()
	loopdir.Sweep(root, "")
}

// Close closes the folder.
func (f *Files) Close() {
	if f != nil && f.root != nil {
		f.root.Close()
	}
}

// Text writes a file.
func (f *Files) Text(name, text string) error {
	if f.root == nil {
		return nil
	}
	f.makeRoom(name)
	return loopdir.Replace(f.root, name, []byte(text), 0o644)
}

// makeRoom removes what an agent has put in the place of a file, such as a pipe or a link: nobody should wait for that,
// or read another file.
func (f *Files) makeRoom(name string) {
	if info, err := f.root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		_ = f.root.RemoveAll(name)
	}
}

// Copy writes a file that copies a part of the run's record. A disk that is full stops no run.
func (f *Files) Copy(name string, data []byte) {
	if f.root != nil {
		f.makeRoom(name)
		_ = loopdir.ReplaceCopy(f.root, name, data)
	}
}

// JSON is Copy for a value.
func (f *Files) JSON(name string, value any) {
	if data, err := jsontext.Indent(value); err == nil {
		f.Copy(name, data)
	}
}

// Log opens the log of a session, which gets all that the agent prints.
func (f *Files) Log(session int) io.WriteCloser {
	dir := filepath.Join("logs", f.id)
	if f.root == nil || f.root.MkdirAll(dir, 0o755) != nil {
		return nothing{}
	}
	root, err := loopdir.OpenFolder(f.root, dir)
	if err != nil {
		return nothing{}
	}
	return &sessionLog{root: root, name: fmt.Sprintf("%d.log", session)}
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }
func (nothing) Close() error                { return nil }

// maxLog is how many bytes a session's log may have. Then it becomes N.log.1, and a new one begins.
const maxLog = 16 << 20

// MaxLogs is how many bytes all that is kept of a session's output may have.
const MaxLogs = 2 * maxLog

// sessionLog is a log that keeps its last maxLog bytes, and up to as many before them.
type sessionLog struct {
	root *os.Root
	name string
	file *os.File
	size int64
}

func (l *sessionLog) Write(p []byte) (int, error) {
	if l.file != nil && l.size+int64(len(p)) > maxLog {
		l.file.Close()
		l.file = nil
		_ = l.root.Rename(l.name, l.name+".1")
	}
	if l.file == nil {
		_ = l.root.Remove(l.name) // somebody may have put a link there
		f, err := l.root.OpenFile(l.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return len(p), nil
		}
		l.file, l.size = f, 0
	}
	n, _ := l.file.Write(p)
	l.size += int64(n)
	return len(p), nil
}

func (l *sessionLog) Close() error {
	if l.file != nil {
		l.file.Close()
	}
	return l.root.Close()
}

// Session adds the line of a session that has ended, unless it is there. results are those of the loop's checks after
// it; none if the session did not count, or if the step was taken by a process that was killed since.
func (f *Files) Session(r *Run, c *Current, results []decide.Receipt, counted bool) {
	if f.root == nil || c == nil || !c.HasEnded() || c.Number <= f.EarlierSessions && f.has(r.ID, c.Number) {
		return
	}
	l := c.Session
	l.Counted = counted
	l.Agent = cmp.Or(l.Agent, r.Options.Agent)
	l.Signals, l.Checks = append([]string{}, l.Signals...), []Check{}
	if c.Part != nil {
		l.Checks = append(l.Checks, c.Part.Checks...)
	}
	for _, r := range results {
		l.Checks = append(l.Checks, Check{Name: r.Name, Feature: r.Feature, Passed: r.Passed})
	}
	if data, err := json.Marshal(l); err == nil {
		f.lines = append(f.lines, append(data, '\n'))
		_ = f.CatchUp()
	}
}

// CatchUp writes the lines that are not written yet. On a full disk they wait for the next time.
func (f *Files) CatchUp() error {
	for len(f.lines) > 0 {
		if err := loopdir.AppendLog(f.root, Iterations, f.lines[0]); err != nil {
			return err
		}
		f.lines = f.lines[1:]
	}
	return nil
}

// has reports whether one of the last lines is that of a session: a process that was killed may have written it.
func (f *Files) has(id string, session int) bool {
	text := append([]byte("\n"), loopdir.LogTail(f.root, Iterations, 1<<20)...)
	return bytes.Contains(text, fmt.Appendf(nil, "\n{\"runId\":%q,\"session\":%d,", id, session))
}

// Writes reports whether files can be written.
func (f *Files) Writes() bool { return f != nil && f.root != nil }

// WriteFile writes a file of a run for people, and returns its path.
func WriteFile(project, name string, text []byte) (path string, err error) {
	f, err := OpenFiles(project, "")
	if err != nil {
		return "", err
	}
	defer f.Close()
	if f.Trouble != nil {
		return "", f.Trouble
	}
	return filepath.Join(project, Folder, name), loopdir.Replace(f.root, name, text, 0o644)
}
