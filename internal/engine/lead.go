package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// leader is who coordinates the loop, in the key of that name. The coordinator writes it again and again: that shows
// others that it lives, and shows itself that the server answers, that its watch hears, and that no data was lost.
type leader struct {
	who  leaderRecord
	rev  uint64    // of the last beat
	old  uint64    // of the beat before
	last time.Time // of the last tick
	live time.Time // since when the server has answered all beats; zero: it does not
	// heard is the revision of the last beat that the watch has told; guarded by Coordinator.mu.
	heard   uint64
	hears   time.Time          // when the watch was last known to hear
	rewatch context.CancelFunc // begins the watch anew; guarded by Coordinator.mu
	swept   time.Time          // when what is left over was looked for last
	stray   map[string]bool    // the holders that were unknown then

	beats, judges teller
}

type leaderRecord struct {
	Home    string `json:"home"`    // of which folder
	Machine string `json:"machine"` // for people
	Nonce   string `json:"nonce"`
	Beats   int    `json:"n"`
}

const leaderKey = "leader"

// readLeader returns the record of the leader; no Nonce: there is none.
func (c *conn) readLeader(ctx context.Context) (r leaderRecord, rev uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	entry, err := c.kv.Get(ctx, leaderKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return r, 0, nil
	}
	if err != nil {
		return r, 0, plainly(err)
	}
	return r, entry.Revision(), json.Unmarshal(entry.Value(), &r)
}

// lead makes this process the leader. Another one of the same folder is gone, since we hold the folder's lock. One of
// another folder is dead if it does not beat for a whole lease.
func (c *Coordinator) lead(ctx context.Context) error {
	is, rev, err := c.conn.readLeader(ctx)
	if err != nil {
		return err
	}
	if is.Nonce != "" && is.Home != c.leader.who.Home {
		c.opts.Log(fmt.Sprintf("waiting %s to see whether %s still coordinates this loop", c.opts.Lease, is.Machine))
		if err := pause(ctx, c.opts.Lease); err != nil {
			return err
		}
	}
	return c.writeLeader(ctx, rev)
}

func (c *Coordinator) writeLeader(ctx context.Context, rev uint64) error {
	text, err := json.Marshal(c.leader.who)
	if err != nil {
		return err
	}
	now, err := c.conn.put(ctx, leaderKey, text, rev)
	if errors.Is(err, errMoved) {
		is, at, failed := c.conn.readLeader(ctx)
		switch {
		case failed != nil:
			return failed
		case is.Nonce == "":
			return errLost
		case is.Nonce != c.leader.who.Nonce:
			return fmt.Errorf("%w, on %s: end it, or wait until it ends", ErrLed, is.Machine)
		}
		now, err = at, nil // the answer was lost
	}
	if err == nil {
		c.leader.old, c.leader.rev = c.leader.rev, now
	}
	return err
}

// errLost means that the server has lost its data: our own record is not there.
var errLost = errors.New("the engine has lost its data")

// run beats, judges and repairs until the coordinator ends.
func (c *Coordinator) run() {
	t := time.NewTicker(max(c.opts.Lease/8, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-t.C:
			c.tick()
		}
	}
}

// tick is one round of run. A round that comes late, as after a suspension, begins a new time of life: nobody is
// judged by the time before it.
func (c *Coordinator) tick() {
	l, lease := &c.leader, c.opts.Lease
	late := time.Since(l.last) > lease/2
	l.last = time.Now()
	err := c.beat()
	l.beats.tell(err)
	if err != nil {
		l.live = time.Time{}
		if errors.Is(err, ErrLed) {
			c.end(err)
		}
		return
	}
	if late || l.live.IsZero() || !c.hears() {
		l.live = time.Now()
	}
	l.judges.tell(c.judge())
	c.sweep()
}

// beat shows that this coordinator lives, and makes the server right if it has lost something.
func (c *Coordinator) beat() error {
	ctx, cancel := context.WithTimeout(c.ctx, 2*c.conn.answer)
	defer cancel()
	if c.again.Swap(false) {
		if err := c.restore(ctx, false); err != nil {
			c.again.Store(true)
			return err
		}
	}
	c.leader.who.Beats++
	err := c.writeLeader(ctx, c.leader.rev)
	switch {
	case err == nil, errors.Is(err, ErrLed):
		return err
	case errors.Is(err, errLost):
		c.opts.Log("the server has lost its data; setting it up again")
		return c.restore(ctx, true)
	}
	c.again.Store(true)
	return err
}

// restore makes all on the server again that may be missing. Features that are open are looked at anew.
func (c *Coordinator) restore(ctx context.Context, lost bool) error {
	if err := c.conn.setUp(ctx); err != nil {
		return err
	}
	if lost {
		c.leader.rev = 0
		if err := c.writeLeader(ctx, 0); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.jobs {
		k.version++
		if lost {
			k.seen = sight{}
		}
	}
	c.leader.heard, c.leader.live = 0, time.Time{}
	c.leader.rewatch()
	return nil
}

// hears reports whether the watch tells what is written. One that has told nothing for half a lease begins anew.
func (c *Coordinator) hears() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.leader
	if l.heard != 0 && l.heard >= l.old {
		l.hears = time.Now()
		return true
	}
	if time.Since(l.hears) > c.opts.Lease/2 {
		l.hears = time.Now()
		l.rewatch()
	}
	return false
}
