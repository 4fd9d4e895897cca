package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// maxLine bounds what the host's status line gets.
const maxLine = 100

// showLine shows how the session's loop stands, or the current one, in a line.
// The host calls it all the time: it looks at no files of the project but the
// list, and whatever goes wrong it prints nothing.
func showLine(w io.Writer, args []string) {
	defer func() { _ = recover() }()
	h := &hook{loopDir: os.Getenv("RALPH_LOOP_DIR")}
	h.event, _ = readEvent() // by hand there is none
	l, err := loopdir.Find(h.where())
	if len(args) > 0 {
		l, err = where().Named(args[0])
	}
	if l == nil || err != nil {
		return
	}
	s, err := l.Open()
	if err != nil {
		return
	}
	defer s.Close()
	if got, err := loadNow(s); err == nil {
		if line := wordsLine(got, h.event.SessionID); line != "" {
			most, err := strconv.Atoi(os.Getenv("COLUMNS"))
			if err != nil || most < 10 || most > maxLine {
				most = maxLine
			}
			fmt.Fprintln(w, plain.Line(line, most))
		}
	}
}

// wordsLine is empty where a loop is over, and was not this session's.
func wordsLine(l *loaded, session string) string {
	s := l.snap.Record()
	own := session == "" || session == s.Session
	line := fmt.Sprintf("ralph %s %d/%d", plain.Line(l.Name, 30), l.snap.List.Passed(), len(l.snap.List.Items))
	if s.Status != decide.InProgress {
		if !own && !s.Status.GoesOn() {
			return ""
		}
		return line + " · " + string(s.Status)
	}
	line += fmt.Sprintf(" · iteration %d/%d", s.Iteration, s.Limit(l.snap.Limits))
	next, open := l.snap.List.Next()
	switch r := s.Running; {
	case l.snap.CancelFile:
		return line + " · cancelled"
	case s.Session == "":
		return line + " · no session yet"
	case stale(l.snap):
		return line + " · its client is gone"
	case !own:
		return line + " · in another session"
	case r != nil && proc.Alive(r.PID, r.Start):
		return line + " · runs " + r.What
	case s.WaitingFor != "":
		return line + " · waits for " + s.WaitingFor
	case l.snap.List.Err != nil:
		return line + " · the list is broken"
	case open:
		return line + " · " + plain.Line(next.ID, 40)
	}
	return line
}
