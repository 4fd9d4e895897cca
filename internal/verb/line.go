package verb

import (
	"fmt"
	"io"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// maxLine bounds the length of the status line.
const maxLine = 100

// showLine shows in one line how the session's loop stands, or the current one. The host calls it
// all the time, so it reads no file of the project but the list. If anything goes wrong, it prints
// nothing.
func (s *statusCall) showLine(w io.Writer, args []string) {
	defer func() { _ = recover() }()
	where := s.Env.Where()
	if s.Host != nil {
		s.Host(&where)
	}
	at, err := loopdir.Find(where)
	if len(args) > 0 {
		at, err = s.Env.Where().Named(args[0])
	}
	if at == nil || err != nil {
		return
	}
	l, err := loop.Open(s.Env, at)
	if err != nil {
		return
	}
	defer l.Close()
	p, err := l.Look()
	if err != nil {
		return
	}
	if line := statusLine(p, where.Session); line != "" {
		most, err := strconv.Atoi(s.Env.Get("COLUMNS"))
		if err != nil || most < 10 || most > maxLine {
			most = maxLine
		}
		fmt.Fprintln(w, plain.Line(line, most))
	}
}

// statusLine is "" for a loop that is over and was not this session's.
func statusLine(p *loop.Picture, session string) string {
	s := p.Snapshot.Record()
	own := session == "" || session == s.Session
	list := p.Snapshot.List
	line := "ralph " + plain.Line(p.Loop.At.Name, 30)
	if !p.Snapshot.NoList {
		line += fmt.Sprintf(" %d/%d", list.Passed(), len(list.Items))
	}
	if s.Status != decide.InProgress {
		if !own && !s.Status.GoesOn() {
			return ""
		}
		return line + " · " + string(s.Status)
	}
	line += fmt.Sprintf(" · iteration %d/%d", s.Iteration, s.Limit(p.Snapshot.Limits))
	next, open := list.Next()
	switch r := s.Running; {
	case p.Snapshot.CancelFile:
		return line + " · cancelled"
	case s.Session == "":
		return line + " · no session yet"
	case p.Stale():
		return line + " · its client is gone"
	case s.Waits:
		return line + " · no session yet"
	case s.Run() != "":
		return line + runPart(p)
	case !own:
		return line + " · in another session"
	case r != nil && proc.Alive(r.PID, r.Start):
		return line + " · runs " + r.What
	case s.WaitingFor != "":
		return line + " · waits for " + s.WaitingFor
	case list.Err != nil:
		return line + " · the list is broken"
	case open:
		return line + " · " + plain.Line(next.ID, 40)
	}
	return line
}

// runPart says what the run does that works the loop: its agent, the feature, and the cost, if that is known. It reads
// the run's own record, of which package run has the type.
func runPart(p *loop.Picture) string {
	data, err := p.Loop.Store.Run()
	if err == nil {
		data, err = jsontext.Check(data) // before gjson reads it: nesting could overflow the stack
	}
	if err != nil {
		return " · in a run"
	}
	r := gjson.GetManyBytes(data, "options.agent", "current.feature", "waiting.until", "spent.costKnown", "spent.costUsd")
	part := " · run of " + plain.Line(r[0].String(), 30)
	switch until := r[2].Time(); {
	case !until.IsZero():
		part += " · waits until " + say.Clock(until)
	case r[1].String() != "":
		part += " · " + plain.Line(r[1].String(), 40)
	}
	if r[3].Bool() {
		part += fmt.Sprintf(" · $%.3f", r[4].Float())
	}
	return part
}
