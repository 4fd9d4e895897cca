package jobs

import (
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// A worker of whose claims nothing comes rests: after so many in a row, and twice as long after each more. The time of
// the claim counts, so a worker that is at it for long, if in vain, need not rest.
const (
	maxVain   = 3
	firstRest = time.Minute
	mostRest  = 30 * time.Minute
)

// rest is what keeps a worker from using up the run's iterations and its time.
type rest struct {
	vain  int       // how many of its claims in a row came to nothing
	until time.Time // until then it gets nothing
}

func (r *rest) rests() bool { return time.Now().Before(r.until) }

// add notes a claim of which nothing came. It returns how long the worker rests.
func (r *rest) add(took time.Duration) time.Duration {
	r.vain++
	if r.vain < maxVain {
		return 0
	}
	pause := min(firstRest<<min(r.vain-maxVain, 10), mostRest) - took
	if pause > 0 {
		r.until = time.Now().Add(pause)
	}
	return max(0, pause)
}

// Judge says of work that a worker has handed in whether it was merged, and how long the session took.
func (h *Hub) Judge(worker, machine string, merged bool, took time.Duration) {
	h.mu.Lock()
	defer h.unlock()
	w := h.workers[worker]
	switch {
	case w == nil:
	case merged:
		w.vain = 0
	default:
		h.letRest(w, machine, took)
	}
}

// vain is Judge for a claim that ends without work that makes sense. The caller holds h.mu.
func (h *Hub) vain(c *claim) {
	if w := h.workers[c.Worker()]; w != nil {
		h.letRest(w, c.Machine, time.Since(c.Since))
	}
}

func (h *Hub) letRest(w *peer, machine string, took time.Duration) {
	if pause := w.add(took); pause > 0 {
		h.say("nothing came of %d features in a row of %s on %s, so it gets nothing for %s; look at that machine", w.vain,
			w.Name, machine, pause.Round(time.Second))
	}
}

// watch looks which workers are silent, and who may come, until the hub ends.
func (h *Hub) watch() {
	every := min(time.Second, h.opts.Lease/8)
	var seen time.Time // when the file of keys was written last
	for last := time.Now(); pause(h.ctx, every) == nil; last = time.Now() {
		h.mu.Lock()
		h.judge(last)
		h.unmute()
		h.assign() // somebody may have rested
		h.unlock()
		at := writeTime(h.opts.Dir)
		if at.Equal(seen) {
			continue
		}
		is, err := read(h.opts.Dir)
		if err == nil {
			err = h.admit(is)
		}
		if err != nil {
			h.opts.Log(err.Error())
			continue
		}
		seen = at
	}
}

// judge takes jobs from workers that are silent for a lease. It counts no time in which nobody could be heard: before
// there was a connection, and while this process was suspended since the last time. The caller holds h.mu.
func (h *Hub) judge(last time.Time) {
	if time.Since(last) > h.opts.Lease/2 || !h.nc.IsConnected() {
		h.live = time.Now()
	}
	for _, c := range h.claims {
		since := c.lastSeen
		if since.Before(h.live) {
			since = h.live
		}
		if c.saved && !c.hasWork && time.Since(since) > h.opts.Lease {
			h.say("%s on %s has not answered for %s; %s is offered again", c.Worker(), c.Machine,
				time.Since(c.lastSeen).Round(time.Second), c.Feature)
			h.vain(c)
			h.lose(c.offer)
		}
	}
}

// admit lets in the workers who may come now, and listens to them and to nobody else.
func (h *Hub) admit(is about) error {
	h.mu.Lock()
	defer h.unlock()
	changed := false
	for name, w := range h.workers {
		if !slices.Contains(is.Workers, w.worker) {
			_ = w.sub.Unsubscribe()
			delete(h.workers, name)
			h.asks = slices.DeleteFunc(h.asks, func(a *ask) bool { return a.worker == w })
			changed = true
		}
	}
	for _, one := range is.Workers {
		if h.workers[one.Name] != nil {
			continue
		}
		w := &peer{worker: one}
		if err := h.listen(w); err != nil {
			return err
		}
		h.workers[one.Name] = w
		changed = true
	}
	if h.server == nil || !changed {
		return nil
	}
	return h.server.admit(is)
}

// listen subscribes to the questions of one worker. The caller holds h.mu.
func (h *Hub) listen(w *peer) (err error) {
	w.sub, err = h.nc.Subscribe(subject(h.opts.Loop, w.Name, "*"), w.hears(h))
	if err == nil {
		err = w.sub.SetPendingLimits(maxWaiting, maxWaitingBytes)
	}
	return err
}

// muteTime is how long nobody listens to a worker that asks faster than it is answered. It is less than UsualLease, so
// a worker that was away, and asks much at once, keeps what it has.
const muteTime = 10 * time.Second

// connectionError hears what goes wrong with the connection. A worker that asks faster than it is answered is muted:
// what all workers send waits in one queue for this process, and others would wait behind it for longer than
// answerTime. The server throws away what nobody listens to.
func (h *Hub) connectionError(_ *nats.Conn, sub *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrSlowConsumer) {
		h.opts.Log(err.Error())
		return
	}
	h.mu.Lock()
	defer h.unlock()
	for _, w := range h.workers {
		if w.sub != sub || sub == nil {
			continue
		}
		_ = sub.Unsubscribe()
		w.sub = nil
		w.mutedUntil = time.Now().Add(muteTime)
		h.say("%s asks faster than it is answered, so nobody listens to it for %s; look at its machine", w.Name, muteTime)
	}
}

// unmute listens again to workers that were muted. The caller holds h.mu.
func (h *Hub) unmute() {
	for _, w := range h.workers {
		if w.sub != nil || time.Now().Before(w.mutedUntil) {
			continue
		}
		err := h.listen(w)
		if err != nil {
			h.say("cannot listen to %s: %v", w.Name, err)
			w.mutedUntil = time.Now().Add(muteTime)
		}
	}
}
