package run

import (
	"fmt"
	"time"
)

// patience bounds the waits for providers. A session that does not count costs no iteration, and an agent might make
// its sessions look like that.
type patience struct {
	iteration map[int]waits // of the iteration that is worked, by lane
	run       int           // waits of the whole run
}

type waits struct {
	times int
	took  time.Duration
}

const (
	maxWaits    = 10  // in one iteration
	maxRunWaits = 100 // in one run, until a person resumes it
)

// wait adds a wait until a time. It returns zero if the run waits no longer, and why.
func (p *patience) wait(lane int, until time.Time, most time.Duration, why string) (time.Time, string) {
	w := p.iteration[lane]
	w.times++
	w.took += max(0, time.Until(until))
	p.run++
	switch {
	case w.took > most:
		return time.Time{}, why
	case w.times > maxWaits:
		return time.Time{}, fmt.Sprintf("%s; %d sessions of this iteration ended like this", why, w.times)
	case p.run > maxRunWaits:
		return time.Time{}, fmt.Sprintf("%s; %d sessions of this run ended like this", why, p.run)
	}
	if p.iteration == nil {
		p.iteration = map[int]waits{}
	}
	p.iteration[lane] = w
	return until, why
}
