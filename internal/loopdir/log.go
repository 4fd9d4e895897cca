package loopdir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// logLine is how much of the end of iterations.jsonl is searched for its last
// line, which is shorter.
const logLine = 4096

// maxLog is where a log is put aside as NAME.1 and begun anew.
const maxLog = 1 << 20

// appendLog adds one line in one write. Logs are for looking at: they are
// neither flushed nor waited for.
func appendLog(root *os.Root, name string, line []byte) error {
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size()+int64(len(line)) > maxLog {
		if err := root.Rename(name, name+".1"); err != nil {
			return err
		}
	}
	f, info, err := openFile(root, name, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	// A second name would be a foreign file that is written to.
	if !oneName(info) {
		return &fs.PathError{Op: "use", Path: filepath.Join(root.Name(), name), Err: ErrNotRegular}
	}
	_, err = f.Write(line)
	return err
}

// logTail returns the last n bytes of a log.
func logTail(root *os.Root, name string, n int64) []byte {
	f, info, err := openFile(root, name, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	data := make([]byte, min(n, info.Size()))
	read, _ := f.ReadAt(data, info.Size()-int64(len(data)))
	return data[:read]
}

// Tail returns the last n bytes of a file of the host's, nothing where it
// cannot be read: however long the file is, no more of it is looked at.
func Tail(path string, n int64) []byte {
	root, err := openRoot(filepath.Dir(path))
	if err != nil {
		return nil
	}
	defer root.Close()
	return logTail(root, filepath.Base(path), n)
}

// LogIteration returns the iteration in the last line of iterations.jsonl, or 0.
func (s *Store) LogIteration() int {
	lines := bytes.TrimRight(logTail(s.loop, IterationLog, logLine), "\n")
	last := lines[bytes.LastIndexByte(lines, '\n')+1:]
	if n := gjson.GetBytes(last, "iteration").Int(); gjson.ValidBytes(last) && n > 0 && n <= maxIteration {
		return int(n)
	}
	return 0
}

// maxIteration is where a number in iterations.jsonl, which an agent can
// write, is no longer taken for an iteration.
const maxIteration = 1e9

// Log adds a line for people to hook.log and, where entry is not nil, one for
// machines to iterations.jsonl. Trouble with a log never stops a loop.
func (s *Store) Log(line string, entry jsontext.Object) {
	if s.loop == nil {
		return
	}
	_ = appendLog(s.loop, HookLog, []byte(line+"\n"))
	if entry != nil {
		if data, err := entry.Line(); err == nil {
			_ = appendLog(s.loop, IterationLog, append(data, '\n'))
		}
	}
}

// LogChecks adds what a check said to checks.log.
func (s *Store) LogChecks(text string) {
	if s.loop != nil {
		_ = appendLog(s.loop, ChecksLog, []byte(text))
	}
}

// LogTail returns the last n bytes of hook.log.
func (s *Store) LogTail(n int64) []byte { return logTail(s.loop, HookLog, n) }

// ClearLogs puts the logs of an earlier run where OpenLog does not look.
func (s *Store) ClearLogs() error {
	for _, name := range []string{HookLog, HookLog + ".1", IterationLog, IterationLog + ".1"} {
		if err := s.loop.Rename(name, name+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Log is a log that is followed.
type Log struct {
	root *os.Root
	name string
	file *os.File // nil while there is none
	at   int64
}

// OpenLog returns the last lines of a log, also from before its rotation, and
// the log for what comes after them.
func (s *Store) OpenLog(name string, lines int) ([]byte, *Log) {
	l := &Log{root: s.loop, name: name}
	text := append(logTail(l.root, name+".1", maxLog), l.More()...)
	all := bytes.SplitAfter(text, []byte("\n")) // the last one is empty
	return bytes.Join(all[max(0, len(all)-1-lines):], nil), l
}

// More returns what was added since the last call. Of a log that was put aside
// meanwhile it reads the rest, and then the new one.
func (l *Log) More() (text []byte) {
	for l.root != nil {
		if l.file == nil {
			if l.file, _, _ = openFile(l.root, l.name, os.O_RDONLY); l.file == nil {
				return text
			}
			l.at = 0
		}
		now, missing := l.root.Lstat(l.name)
		was, err := l.file.Stat()
		if err == nil && was.Size() < l.at {
			l.at = 0 // it was truncated in place
		}
		if err == nil && was.Size() > l.at {
			more := make([]byte, min(was.Size()-l.at, maxLog))
			n, _ := l.file.ReadAt(more, l.at)
			text, l.at = append(text, more[:n]...), l.at+int64(n)
		}
		if err == nil && missing == nil && os.SameFile(was, now) || missing != nil {
			return text
		}
		l.Close()
	}
	return text
}

// Close closes it.
func (l *Log) Close() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
