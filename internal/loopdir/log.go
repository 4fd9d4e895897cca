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

// logLine is how many bytes at the end of stops.jsonl are searched for the last line.
// A line is always shorter.
const logLine = 4096

// maxLog is the largest size of a log, in bytes. A log that would exceed it is renamed to
// NAME.1, and a new one begins.
const maxLog = 1 << 20

// AppendLog adds one line to a log in a folder, in one write. It refuses a link and a special
// file. It does not flush, because nothing depends on a log.
func AppendLog(root *os.Root, name string, line []byte) error {
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
	// A log with a second name (hard link) may be somebody else's file.
	if !oneName(info) {
		return &fs.PathError{Op: "use", Path: filepath.Join(root.Name(), name), Err: ErrNotRegular}
	}
	_, err = f.Write(line)
	return err
}

// LogTail returns the last n bytes of a log in a folder, or nil if it cannot be read. It does not wait for the writer
// of a FIFO.
func LogTail(root *os.Root, name string, n int64) []byte {
	f, info, err := openFile(root, name, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := tailOf(f, info, n)
	return data
}

// LogIteration returns the iteration in the last line of stops.jsonl, or 0 if there is
// none.
func (s *Store) LogIteration() int {
	lines := bytes.TrimRight(LogTail(s.loop, StopLog, logLine), "\n")
	last := lines[bytes.LastIndexByte(lines, '\n')+1:]
	if n := gjson.GetBytes(last, "iteration").Int(); gjson.ValidBytes(last) && n > 0 && n <= maxIteration {
		return int(n)
	}
	return 0
}

// maxIteration is the largest number in stops.jsonl that counts as an iteration. An
// agent can write that file.
const maxIteration = 1e9

// Log adds a line for people to hook.log. If entry is not nil, Log adds it as a line for
// programs to stops.jsonl. It ignores errors: trouble with a log never stops a loop.
func (s *Store) Log(line string, entry any) {
	if s.loop == nil {
		return
	}
	_ = AppendLog(s.loop, HookLog, []byte(line+"\n"))
	if entry != nil {
		if data, err := jsontext.Line(entry); err == nil {
			_ = AppendLog(s.loop, StopLog, data)
		}
	}
}

// LogChecks adds a line to checks.jsonl, and what people read of it to checks.log.
func (s *Store) LogChecks(line []byte, text string) {
	if s.loop == nil {
		return
	}
	if end := LogTail(s.loop, CheckLines, 1); len(end) > 0 && end[0] != '\n' { // left by a process that was killed
		line = append([]byte("\n"), line...)
	}
	_ = AppendLog(s.loop, CheckLines, line)
	_ = AppendLog(s.loop, ChecksLog, []byte(text))
}

// LogTail returns the last n bytes of hook.log.
func (s *Store) LogTail(n int64) []byte { return LogTail(s.loop, HookLog, n) }

// ClearLogs renames the logs of an earlier run to NAME.old, which OpenLog does not read.
func (s *Store) ClearLogs() error {
	for _, name := range []string{HookLog, HookLog + ".1", StopLog, StopLog + ".1"} {
		if err := s.loop.Rename(name, name+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Log follows a log as it grows.
type Log struct {
	root *os.Root
	name string
	last fs.FileInfo // of the file that was read last; nil: none was
	at   int64       // the offset up to which it was read
}

// OpenLog returns the last lines of a log and a Log that returns the lines after them. The
// lines may come from NAME.1, too.
func (s *Store) OpenLog(name string, lines int) ([]byte, *Log) {
	l := &Log{root: s.loop, name: name}
	text := append(LogTail(l.root, name+".1", maxLog), l.More()...)
	all := bytes.SplitAfter(text, []byte("\n")) // the last element is empty
	return bytes.Join(all[max(0, len(all)-1-lines):], nil), l
}

// More returns the text that was added since the last call. If the log was renamed to
// NAME.1 meanwhile, More reads the rest of it first and then the new log. If that happens twice, lines are missed: no
// log stays open, since on Windows nobody could rename it.
func (l *Log) More() (text []byte) {
	now, info, missing := openFile(l.root, l.name, os.O_RDONLY) // first, as it may be renamed meanwhile
	if missing == nil {
		defer now.Close()
	}
	goesOn := os.SameFile(l.last, info)
	if !goesOn {
		was, old, err := openFile(l.root, l.name+".1", os.O_RDONLY)
		if err == nil {
			if os.SameFile(l.last, old) {
				text = l.read(was, old.Size())
			}
			was.Close()
		}
	}
	if missing != nil {
		return text
	}
	if !goesOn || info.Size() < l.at {
		l.at = 0 // a new file, or one that was truncated in place
	}
	l.last = info
	return append(text, l.read(now, info.Size())...)
}

// read reads on in a log of that size.
func (l *Log) read(log *os.File, size int64) []byte {
	more := make([]byte, min(max(0, size-l.at), maxLog))
	n, _ := log.ReadAt(more, l.at)
	l.at += int64(n)
	return more[:n]
}
