package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// follow hears of all changes of records. It begins anew whenever somebody calls leader.rewatch: after a reconnect a
// watch can hear nothing for 20 s.
func (c *Coordinator) follow() {
	t := teller{log: c.opts.Log}
	for c.ctx.Err() == nil {
		ctx, cancel := context.WithCancel(c.ctx)
		c.mu.Lock()
		c.leader.rewatch = cancel
		c.mu.Unlock()
		if err := c.watch(ctx); ctx.Err() == nil {
			t.tell(err)
		}
		cancel()
		_ = pause(c.ctx, min(retryTime, c.opts.Lease/16))
	}
}

func (c *Coordinator) watch(ctx context.Context) error {
	w, err := c.conn.kv.WatchFiltered(ctx, []string{"c.*", leaderKey})
	if err != nil {
		return fmt.Errorf("cannot watch the records: %w", plainly(err))
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, more := <-w.Updates():
			if !more {
				return errors.New("the watch of the records has ended")
			}
			if entry != nil { // nil: all that was there has been told
				c.hear(entry)
			}
		}
	}
}

// hear notes one change.
func (c *Coordinator) hear(entry jetstream.KeyValueEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry.Key() == leaderKey {
		c.leader.heard = entry.Revision()
		return
	}
	feature, err := unkey(strings.TrimPrefix(entry.Key(), "c."))
	if k := c.jobs[feature]; err == nil && k != nil {
		r := parse(entry.Value())
		c.look(k, r, entry.Revision())
		c.handOut(k, r)
	}
}

// judge looks at each feature: what the server does not know yet, which claims are dead, and which hints may be lost.
// If it fails, the server is away, and the next round goes on.
func (c *Coordinator) judge() error {
	c.mu.Lock()
	live := c.leader.live
	var unsettled, still []*job
	var seen []sight
	for _, k := range c.jobs {
		if k.trouble != "" {
			defer c.opts.Log(k.trouble) // when nothing is locked
			k.trouble = ""
		}
		since, waits := k.seen.moved, k.seen.State == stateSubmitted && k.handed == k.attempt
		if since.Before(live) {
			since = live
		}
		switch {
		case k.version != k.settled:
			unsettled = append(unsettled, k)
		case k.want == stateOpen && !waits && time.Since(since) >= c.opts.Lease:
			still, seen = append(still, k), append(seen, k.seen)
			k.seen.moved = time.Now() // it is looked at again after a lease
		}
	}
	c.mu.Unlock()
	for _, k := range unsettled {
		if err := c.settle(c.ctx, k); err != nil {
			return err
		}
	}
	for i, k := range still {
		if err := c.revive(k, seen[i]); err != nil {
			return err
		}
	}
	return nil
}

// revive acts on a record that has not moved for a lease. A claim is dead: the next attempt opens, if the record is
// still at the revision that was judged. Of an open feature the hint may be lost. Else the record is none of ours.
func (c *Coordinator) revive(k *job, s sight) error {
	if s.State != stateClaimed || s.Attempt != k.attempt {
		return c.settle(c.ctx, k)
	}
	k.turn.Lock()
	defer k.turn.Unlock()
	c.mu.Lock()
	w := k.wish
	c.mu.Unlock()
	if w.want != stateOpen || w.attempt != s.Attempt {
		return nil
	}
	w.attempt++
	ctx, cancel := context.WithTimeout(c.ctx, c.conn.answer) // one try, which does not wait long
	defer cancel()
	now := record{State: stateOpen, Attempt: w.attempt}
	rev, err := c.conn.write(ctx, k.Feature, now, s.rev)
	if errors.Is(err, errMoved) {
		return c.catchUp(ctx, k) // it lives, or the watch has missed something
	}
	if err != nil {
		return err
	}
	c.opts.Log(fmt.Sprintf("%s on %s has not answered for %s; %s is offered again", s.worker(), s.Machine,
		c.opts.Lease, k.Feature))
	c.mu.Lock()
	k.attempt = max(k.attempt, w.attempt)
	c.mu.Unlock()
	return c.settled(ctx, k, w, now, rev)
}

// catchUp reads a record that is another one than the watch has told: a watch may miss a change when servers are
// killed. The revision may be lower: servers that were killed may have lost the last writes. The caller holds k.turn.
func (c *Coordinator) catchUp(ctx context.Context, k *job) error {
	is, rev, found, err := c.conn.read(ctx, k.Feature)
	if err != nil || !found {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if rev < k.seen.rev {
		k.seen = sight{}
	}
	c.look(k, is, rev)
	c.handOut(k, is)
	return nil
}

// sweep deletes, once in a lease, what was submitted or begun for claims that are over. A holder must be unknown twice:
// what the watch tells is a little older than what the server has.
func (c *Coordinator) sweep() {
	if time.Since(c.leader.swept) < c.opts.Lease {
		return
	}
	c.leader.swept = time.Now()
	all, err := c.conn.holders(c.ctx)
	if err != nil {
		return
	}
	c.mu.Lock()
	for _, k := range c.jobs {
		if k.seen.held() {
			delete(all, k.seen.Holder)
		}
		if k.fresh || k.version != k.settled {
			all = nil // who holds it is not known yet
		}
	}
	c.mu.Unlock()
	for holder := range all {
		if c.leader.stray[holder] && validHolder(holder) {
			_ = c.conn.drop(c.ctx, c.conn.works(), c.conn.work(holder)) // the next sweep tries again
		}
	}
	c.leader.stray = all
}
