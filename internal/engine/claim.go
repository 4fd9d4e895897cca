package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Claim is one feature that a worker has. It beats by itself until Submit, Drop, Close of the worker, or until it is
// lost.
type Claim struct {
	Feature string
	Attempt int
	Body    []byte

	worker *Worker
	order  order
	holder string
	ctx    context.Context
	end    context.CancelCauseFunc

	mu   sync.Mutex // guards what follows, and orders what is said
	said word
	// gone is since when there is no order; zero: there is one.
	gone time.Time
}

// nonce returns a text that nobody else has.
func nonce() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails; see crypto/rand
	return hex.EncodeToString(b)
}

// errDone ends the context of a claim that the worker has ended.
var errDone = errors.New("the worker has ended the claim")

// Context ends when the claim is lost or over. context.Cause tells why.
func (c *Claim) Context() context.Context { return c.ctx }

// beatsPerLease is how often a claim is renewed.
const beatsPerLease = 4

// beat shows the coordinator that this worker lives. While the server is away it goes on trying: the coordinator does
// not count that time.
func (c *Claim) beat() {
	t := teller{log: func(text string) {
		c.worker.opts.Log(fmt.Sprintf("the claim of %s could not be renewed: %s", c.Feature, text))
	}}
	lease := max(c.order.Lease, 10*time.Millisecond)
	for wait := min(time.Second, lease/beatsPerLease); pause(c.ctx, wait) == nil; wait = lease / beatsPerLease {
		if err := c.say(c.ctx, func(*word) {}); c.ctx.Err() == nil {
			t.tell(err)
		}
	}
}

// say writes what the worker says. It ends the claim and returns ErrFenced if the feature is not ours any more.
func (c *Claim) say(ctx context.Context, change func(*word)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	if err := c.ours(ctx); err != nil {
		return err
	}
	want := c.said
	want.Beats++
	change(&want)
	text, err := json.Marshal(want)
	if err == nil {
		_, err = c.worker.conn.put(ctx, c.worker.conn.claim(c.holder)+"say", text)
	}
	if err != nil {
		return err
	}
	c.said = want
	return c.worker.conn.nc.Publish(c.worker.conn.bell(c.worker.opts.Worker), nil)
}

// forgotten is after how many leases without an order a claim is lost. Until then, a coordinator whose server has lost
// its data may make it again.
const forgotten = 10

// ours asks the server whether the order is still the one that we have claimed. A replica that lags may have an older
// one.
func (c *Claim) ours(ctx context.Context) error {
	is, found, err := c.worker.conn.readOrder(ctx, c.Feature)
	if err != nil {
		return err
	}
	lost := is.ID != c.order.ID || is.State != stateOpen || is.Holder != "" && is.Holder != c.holder
	if found {
		c.gone = time.Time{}
	} else {
		if c.gone.IsZero() {
			c.gone = time.Now()
		}
		lost = time.Since(c.gone) > forgotten*c.order.Lease
	}
	if lost && (!found || is.Attempt >= c.Attempt) {
		c.end(ErrFenced)
		return ErrFenced
	}
	return nil
}

// readOrder returns the order of a feature. There is none if found is false.
func (c *conn) readOrder(ctx context.Context, feature string) (o order, found bool, err error) {
	is, err := c.get(ctx, c.order(feature))
	if err != nil || is.seq == 0 {
		return o, false, err
	}
	return o, true, json.Unmarshal(is.data, &o)
}

// Submit stores the work, and then says so with the report. It returns ErrFenced if the claim is lost, and tries on
// while the server is away, until ctx or the claim's context ends. The report may have MaxBody bytes.
func (c *Claim) Submit(ctx context.Context, report []byte, bundle io.Reader) error {
	if len(report) > MaxBody {
		return fmt.Errorf("the report of %s has %d bytes, and may have %d", c.Feature, len(report), MaxBody)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })()
	conn := c.worker.conn
	work, err := conn.putBlob(ctx, conn.claim(c.holder), "the work on "+c.Feature, bundle)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	return c.finish(ctx, func(w *word) {
		w.State = stateSubmitted
		w.Report = report
		w.Work = &work
	})
}

// Drop puts the feature back. The coordinator offers it again as the next attempt. A worker that does so again and
// again does not get the feature any more. rests says that it is not to blame: its agent's provider limits it, or the
// server lacks what the session begins with.
func (c *Claim) Drop(ctx context.Context, why string, rests bool) error {
	return c.finish(ctx, func(w *word) {
		w.State = stateDropped
		w.Why = fmt.Sprintf("%.2000s", why)
		w.Rests = rests
	})
}

// finish says the last word of a claim, and ends it.
func (c *Claim) finish(ctx context.Context, change func(*word)) error {
	err := c.worker.conn.persist(ctx, "the end of "+c.Feature+" cannot be told", func(ctx context.Context) error {
		return c.say(ctx, change)
	})
	switch {
	case err == nil:
		c.end(errDone)
	case ctx.Err() != nil && !errors.Is(err, ErrFenced):
		return context.Cause(ctx)
	}
	return err
}
