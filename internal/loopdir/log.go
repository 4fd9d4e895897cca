package loopdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"
)

// logLine is how much of the end of iterations.jsonl is searched for its last
// line, which is shorter.
const logLine = 4096

// maxLog is where a log is put aside as NAME.1 and begun anew.
const maxLog = 1 << 20

// appendLog adds one line in one write. Logs are for looking at: they are
// neither flushed nor waited for.
func appendLog(root *os.Root, name string, line []byte) error {
	info, err := root.Lstat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return &fs.PathError{Op: "use", Path: filepath.Join(root.Name(), name), Err: ErrNotRegular}
	case err == nil && info.Size()+int64(len(line)) > maxLog:
		if err := root.Rename(name, name+".1"); err != nil {
			return err
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	// A second name would be a foreign file that is written to.
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || !oneName(info) {
		return &fs.PathError{Op: "use", Path: filepath.Join(root.Name(), name), Err: ErrNotRegular}
	}
	_, err = f.Write(line)
	return err
}

// logTail returns the last n bytes of a log.
func logTail(root *os.Root, name string, n int64) []byte {
	if regular(root, name) != nil {
		return nil
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	return tailOf(f, n)
}

// tailOf returns the last n bytes of an open file, as far as it is a regular one.
func tailOf(f *os.File, n int64) []byte {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data := make([]byte, min(n, info.Size()))
	read, _ := f.ReadAt(data, info.Size()-int64(len(data)))
	return data[:read]
}

// Tail returns the last n bytes of a file of the host's, nothing where it
// cannot be read: however long the file is, no more of it is looked at.
func Tail(path string, n int64) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	return tailOf(f, n)
}

// LogIteration returns the iteration in the last line of iterations.jsonl, or 0.
func (s *Store) LogIteration() int {
	if s.loop == nil {
		return 0
	}
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
func (s *Store) Log(line string, entry any) {
	if s.loop == nil {
		return
	}
	_ = appendLog(s.loop, HookLog, []byte(line+"\n"))
	if entry != nil {
		if data, err := json.Marshal(entry); err == nil {
			_ = appendLog(s.loop, IterationLog, append(data, '\n'))
		}
	}
}

// LogTail returns the last n bytes of hook.log.
func (s *Store) LogTail(n int64) []byte {
	if s.loop == nil {
		return nil
	}
	return logTail(s.loop, HookLog, n)
}

// ClearLogs puts the logs of an earlier run aside.
func (s *Store) ClearLogs() error {
	for _, name := range []string{HookLog, IterationLog} {
		if err := s.loop.Rename(name, name+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
