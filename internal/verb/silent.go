package verb

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// silence is how long a session at work may give no sign of life before people hear of it. An agent prints nothing
// while a command of it runs, and Claude Code ends a command after ten minutes, unless somebody has raised that.
const silence = 10 * time.Minute

// Sign is the last sign of life of a session that works on a loop now.
type Sign struct {
	Lane     int       `json:"lane"` // 0: no lanes
	Log      string    `json:"log"`  // the path of its output or conversation
	LastSign time.Time `json:"lastSign"`

	path   string
	ofRun  bool // what it prints is kept, so it has printed nothing if there is no log
	silent bool // it was at the last look
}

// String names the session, says how long it has been silent, and where to look.
func (s Sign) String() string {
	who := "session"
	if s.Lane > 0 {
		who = fmt.Sprintf("lane %d", s.Lane)
	}
	return who + " " + s.silence() + ", log: " + s.Log
}

func (s Sign) silence() string {
	last := time.Since(s.LastSign)
	if last < 2*time.Hour {
		return fmt.Sprintf("silent %d min", int(last.Minutes()))
	}
	return fmt.Sprintf("silent %d h", int(last.Hours()))
}

// look looks for the last sign of life.
func (s Sign) look(now time.Time) Sign {
	info, err := os.Lstat(s.path)
	if err == nil && info.ModTime().After(s.LastSign) {
		s.LastSign = info.ModTime().UTC()
	}
	s.silent = now.Sub(s.LastSign) >= silence && (err == nil || s.ofRun)
	return s
}

// signs returns the signs of life of the sessions that work on a loop now. others reports whether somebody else is at
// work: a session that cannot be heard, or what is done after one. r may be nil.
func (r *ran) signs(p *loop.Picture) (all []Sign, others bool) {
	state := p.Snapshot.Record()
	add := func(lane int, log string, since time.Time) {
		if _, err := os.Lstat(filepath.Dir(log)); !filepath.IsAbs(log) || err != nil {
			others = true
			return
		}
		one := Sign{Lane: lane, Log: plain.Line(log, 4096), LastSign: since, path: log, ofRun: r.runs()}
		all = append(all, one.look(p.Snapshot.Now))
	}
	switch {
	case !r.runs():
		add(0, state.Transcript, state.Seen)
		return all, others
	case r.Options.Engine != "": // the log is at the worker, whom the engine hears
		return nil, true
	}
	for _, one := range append([]ranLane{{Current: r.Current}}, r.Lanes...) {
		if c := one.Current; c.runs() {
			log := loopdir.SessionLog(r.ID, c.Session)
			add(one.Number, filepath.Join(p.Loop.At.Project, loopdir.RunFolder, log), c.StartedAt)
		}
		others = others || one.Current.Outcome != ""
	}
	return all, others
}

// listen notes which sessions are silent, and since when the loop is stuck: since then, nobody works.
func (v *Status) listen(signs []Sign, others bool) {
	v.signs, v.Silent, v.stuck = signs, nil, time.Time{}
	for _, one := range signs {
		if one.silent {
			v.Silent = append(v.Silent, one)
		}
	}
	if len(v.Silent) == len(signs) && !others {
		v.stuck, _ = v.LookForSign()
	}
}

// LookForSign looks again when the last session gave a sign of life, and reports whether one has fallen silent, or is
// no longer, since the loop was read.
func (v *Status) LookForSign() (last time.Time, other bool) {
	for _, was := range v.signs {
		one := was.look(time.Now())
		other = other || one.silent != was.silent
		if one.LastSign.After(last) {
			last = one.LastSign
		}
	}
	return last, other
}

// SilentIn says how long the session of a lane has been silent; "": it is not. Without lanes, the lane is 0.
func (v *Status) SilentIn(lane int) string {
	for _, one := range v.Silent {
		if one.Lane == lane {
			return one.silence()
		}
	}
	return ""
}
