package verb

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// maxLine bounds the length of the status line.
const maxLine = 100

// showLine shows in one line how the session's loop stands, or the current one. The host calls it all the time, so it
// looks as Quick does. If anything goes wrong, it prints nothing.
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
	v := Quick(p)
	line := "ralph " + plain.Line(v.Name, 30)
	if !v.NoList {
		line += fmt.Sprintf(" %d/%d", v.Features.Passed, v.Features.Total)
	}
	over := s.Status != decide.InProgress && !v.Works()
	switch {
	case over && !own && !s.Status.GoesOn():
		return ""
	case over && v.Wrong() != "":
		return line + " · " + v.Word() + ": " + plain.Line(v.Wrong(), 40)
	case over:
		return line + " · " + v.Word()
	}
	line += fmt.Sprintf(" · iteration %d/%d", v.Iteration, v.MaxIterations)
	if v.Word() != words[Working] {
		line += " · " + v.Word()
	}
	next, open := p.Snapshot.Next()
	switch r := p.Checking(); {
	case p.Snapshot.RequestedStatus() != decide.InProgress:
		return line + " · " + strings.ToLower(string(p.Snapshot.RequestedStatus()))
	case v.Phase == NotStarted:
		return line
	case s.Session == "":
		return line + " · no session yet"
	case p.Stale():
		return line + " · its client is gone"
	case s.Waits:
		return line + " · no session yet"
	case !s.Idle.IsZero(), p.Snapshot.CutOff != nil:
		return line
	case s.Run() != "":
		return line + runPart(&v, p)
	case !own:
		return line + " · in another session"
	case r != nil:
		return line + " · runs " + r.What
	case s.WaitingFor != "":
		return line + " · waits for " + s.WaitingFor
	case p.Snapshot.List.Err != nil:
		return line + " · the list is broken"
	case open:
		return line + " · " + plain.Line(next.ID, 40)
	}
	return line
}

// runPart says what the run does that works on the loop: its agent, the feature, and the cost, if that is known.
func runPart(v *Status, p *loop.Picture) string {
	run := lastRun(p)
	if run == nil {
		return " · in a run"
	}
	part := " · run of " + plain.Line(run.Options.Agent, 30)
	switch {
	case v.Waits != nil:
		part += " · until " + say.Clock(v.Waits.Until)
	case v.Phase == Stuck:
		part += " · " + v.Silent[0].silence()
	case run.Current.Feature != "":
		part += " · " + plain.Line(run.Current.Feature, 40)
	}
	if cost := run.Spent.Cost(); cost != "" {
		part += " · " + cost
	}
	return part
}
