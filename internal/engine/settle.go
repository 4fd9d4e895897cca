package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// plan says what a feature's record must become, and whether it must change. found is false if there is none.
func (w wish) plan(is record, found bool) (record, bool) {
	now := record{State: w.want, Attempt: w.attempt, Why: w.why}
	switch {
	case w.want == stateWithdrawn && !found:
		return now, false
	case w.want == stateWithdrawn && w.fresh: // at whatever attempt an earlier coordinator was
		now.Attempt = max(w.attempt, is.Attempt)
		return now, is.State != w.want
	case w.want != stateOpen:
		return now, is.State != w.want || is.Attempt != w.attempt
	case !found && w.handed == w.attempt: // its work is with the caller; the server has lost its data
		return record{State: stateSubmitted, Attempt: w.attempt}, true
	case !found, is.State == "", is.Attempt < w.attempt, is.Attempt > w.attempt && !w.fresh:
		return now, true
	case is.held(), is.State == stateOpen: // at this attempt, or at one that an earlier coordinator opened
		return is, false
	}
	now.Attempt = is.Attempt + 1
	return now, true
}

// settle makes the server say what is wanted of a feature.
func (c *Coordinator) settle(ctx context.Context, k *job) error {
	k.turn.Lock()
	defer k.turn.Unlock()
	for try := 1; ; try++ {
		c.mu.Lock()
		w := k.wish
		seen := k.seen
		over := c.jobs[k.Feature] != k
		c.mu.Unlock()
		if over { // another call has settled it, and the feature may have been offered anew
			return nil
		}
		// What was seen last is right for most changes. If it is not, the write is refused.
		is, rev, found := seen.record, seen.rev, seen.rev > 0
		now, change := w.plan(is, found)
		if !change || try > 1 {
			var err error
			is, rev, found, err = c.conn.read(ctx, k.Feature)
			if err != nil {
				return fmt.Errorf("cannot read the record of %s: %w", k.Feature, err)
			}
			now, change = w.plan(is, found)
		}
		var err error
		if change {
			rev, err = c.conn.write(ctx, k.Feature, now, rev)
		}
		switch {
		case errors.Is(err, errMoved) && try < 5:
		case err != nil:
			return fmt.Errorf("cannot change the record of %s: %w", k.Feature, err)
		default:
			return c.settled(ctx, k, w, now, rev)
		}
	}
}

// settled does what goes with a record that is right, and notes that it is.
func (c *Coordinator) settled(ctx context.Context, k *job, w wish, now record, rev uint64) (err error) {
	switch now.State {
	case stateOpen:
		err = c.conn.offer(ctx, w.Job, now.Attempt, c.opts.Lease, w.not...)
	case stateMerged:
		err = c.conn.mark(ctx, w)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look(k, now, rev)
	k.fresh, k.attempt = false, max(k.attempt, now.Attempt)
	if k.version != w.version {
		return nil // somebody wants something else by now, and settles it
	}
	k.settled = w.version
	c.handOut(k, now)
	if k.want == stateMerged || k.want == stateWithdrawn {
		delete(c.jobs, k.Feature)
	}
	return nil
}

// mark says for people that a feature is merged. Workers may not write this key.
func (c *conn) mark(ctx context.Context, w wish) error {
	text, err := json.Marshal(map[string]any{"commit": w.commit, "a": w.attempt})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	_, err = c.kv.Put(ctx, "m."+key(w.Feature), text)
	return err
}

// look notes how a record stands. The caller holds c.mu.
func (c *Coordinator) look(k *job, r record, rev uint64) {
	was := k.seen
	if rev <= was.rev {
		return
	}
	now := time.Now()
	r.Report, r.Work = nil, nil // they may be large; handOut has them
	k.seen = sight{record: r, rev: rev, moved: now, since: now}
	if was.State == r.State && was.Holder == r.Holder && was.Attempt == r.Attempt {
		k.seen.since = was.since
	}
	if r.State == stateDropped && k.want == stateOpen {
		k.version++ // the next attempt is to be opened
		k.dropped(r)
	}
}

// maxDrops is how often a worker may give a feature back in one session.
const maxDrops = 3

// dropped counts what a worker gives back. One that does so again and again cannot work it, and would keep it from
// others: it leaves the feature to them. The caller holds the lock of the coordinator.
func (k *job) dropped(r record) {
	if r.Rests {
		return
	}
	if k.drops == nil {
		k.drops = map[string]int{}
	}
	k.drops[r.process()]++
	if k.drops[r.process()] == maxDrops {
		k.not = append(k.not, r.process())
		k.trouble = fmt.Sprintf("%s on %s has given back %s %d times, and does not get it again; mend that there, and "+
			"start that worker again: %s", r.worker(), r.Machine, k.Feature, maxDrops, r.Why)
	}
}

// handOut makes a submission ready for the caller, once. The caller holds c.mu.
func (c *Coordinator) handOut(k *job, r record) {
	fits := k.want == stateOpen && k.attempt == r.Attempt
	if r.State != stateSubmitted || k.handed == r.Attempt || k.fresh || !fits {
		return
	}
	k.handed = r.Attempt
	c.ready = append(c.ready, submitted{k.Feature, r})
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// submitted is a record that is to be handed out.
type submitted struct {
	feature string
	record
}

// deliver hands out what is ready. It ends with the coordinator.
func (c *Coordinator) deliver() {
	defer close(c.out)
	for {
		c.mu.Lock()
		all := c.ready
		c.ready = nil
		c.mu.Unlock()
		for _, one := range all {
			select {
			case c.out <- c.submission(one):
			case <-c.ctx.Done():
				return
			}
		}
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *Coordinator) submission(one submitted) Submission {
	s := Submission{
		Feature: one.feature, Attempt: one.Attempt, Worker: one.worker(), Machine: one.Machine, Report: one.Report,
		conn: c.conn,
	}
	if one.Work != nil && validHolder(one.Holder) {
		s.holder = one.Holder
		s.work = *one.Work
		s.Size = one.Work.Size
	}
	return s
}
