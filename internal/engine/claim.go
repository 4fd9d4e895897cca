package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Claim is one feature in a worker's hands. It beats by itself until Submit, Drop, Close of the worker, or until it is
// lost.
type Claim struct {
	Feature string
	Attempt int
	Body    []byte
	Bases   []string

	worker *Worker
	holder string // as in the record
	ctx    context.Context
	end    context.CancelCauseFunc
	lease  time.Duration

	mu  sync.Mutex // guards what follows, and orders writes
	rec record
	rev uint64
	// gone is since when there is no record; zero: there is one.
	gone time.Time
}

// nonce returns a text that no other claim has.
func nonce() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails; see crypto/rand
	return hex.EncodeToString(b)
}

// errDone ends the context of a claim that the worker has ended.
var errDone = errors.New("the worker has ended the claim")

// begin makes a claim of a record that we have just written.
func (w *Worker) begin(feature string, h hint, rec record, rev uint64) *Claim {
	c := &Claim{
		Feature: feature, Attempt: rec.Attempt, Body: h.Body, Bases: h.Bases, worker: w, holder: rec.Holder,
		rec: rec, rev: rev,
		lease: max(h.Lease, 10*time.Millisecond),
	}
	c.ctx, c.end = context.WithCancelCause(w.ctx)
	go c.beat()
	return c
}

// Context ends when the claim is lost or over. context.Cause tells why.
func (c *Claim) Context() context.Context { return c.ctx }

// beat shows the coordinator that this worker lives. While the server is away it goes on trying: the coordinator does
// not count that time.
func (c *Claim) beat() {
	t := teller{log: func(text string) {
		c.worker.opts.Log(fmt.Sprintf("the claim of %s could not be renewed: %s", c.Feature, text))
	}}
	for pause(c.ctx, c.lease/4) == nil {
		if err := c.update(c.ctx, func(r *record) { r.Beats++ }); c.ctx.Err() == nil {
			t.tell(err)
		}
	}
}

// update changes the record by revision. It ends the claim and returns ErrFenced if the record is no longer ours.
func (c *Claim) update(ctx context.Context, change func(*record)) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	want := c.rec
	change(&want)
	const lagging, tries = 3, 6
	for try := 1; ; try++ {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		rev, err := c.worker.conn.write(ctx, c.Feature, want, c.rev)
		if err == nil {
			c.rec, c.rev = want, rev
			return nil
		}
		is, rev, found, failed := c.worker.conn.read(ctx, c.Feature)
		if missing := failed == nil && !found; !missing {
			c.gone = time.Time{}
		} else if c.gone.IsZero() {
			c.gone = time.Now()
		}
		switch {
		case !c.gone.IsZero() && time.Since(c.gone) > forgotten*c.lease:
			c.end(ErrFenced)
			return ErrFenced
		case failed != nil || !found || !errors.Is(err, errMoved):
			return errors.Join(err, failed) // the server is away, or has lost its data
		case is.same(want): // the answer was lost
			c.rec, c.rev = want, rev
			return nil
		case try < lagging && rev < c.rev: // a replica that lags answers; or the server has lost its data
			if err := pause(ctx, retryTime); err != nil {
				return err
			}
		case try < tries && c.ours(is):
			c.rev = rev
		default:
			c.end(ErrFenced)
			return ErrFenced
		}
	}
}

// forgotten is after how many leases without a record a claim is lost. Until then, a coordinator whose server has lost
// its data may make it again.
const forgotten = 10

// ours reports whether we may write over a record: we wrote it, or it was made anew for the attempt that we have, after
// the server had lost its data.
func (c *Claim) ours(is record) bool {
	return is.Attempt == c.Attempt &&
		(is.Holder == c.holder && is.State == c.rec.State || is.State == stateOpen)
}

// Submit stores the work, and then writes the report into the record. It returns ErrFenced if the claim is lost, and
// tries on while the server is away, until ctx or the claim's context ends. The report may have MaxBody bytes.
func (c *Claim) Submit(ctx context.Context, report []byte, bundle io.Reader) error {
	if len(report) > MaxBody {
		return fmt.Errorf("the report of %s has %d bytes, and may have %d", c.Feature, len(report), MaxBody)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })()
	t := teller{log: func(text string) {
		c.worker.opts.Log(fmt.Sprintf("the work on %s could not be stored, and is sent again: %s", c.Feature, text))
	}}
	again := func(err error) error {
		t.tell(err)
		return pause(ctx, max(retryTime, c.lease/100))
	}
	conn := c.worker.conn
	work, err := conn.putBlob(ctx, conn.work(c.holder), bundle, again)
	if err != nil {
		return err
	}
	return c.finish(ctx, func(r *record) {
		r.State = stateSubmitted
		r.Report = report
		r.Work = &work
	})
}

// SubmitBytes is Submit for work that is in memory.
func (c *Claim) SubmitBytes(ctx context.Context, report, bundle []byte) error {
	return c.Submit(ctx, report, bytes.NewReader(bundle))
}

// Drop puts the feature back. The coordinator offers it again as the next attempt. A worker that does so again and
// again does not get the feature any more. rests says that it is not to blame: its agent's provider limits it, or the
// server lacks what the session begins with.
func (c *Claim) Drop(ctx context.Context, why string, rests bool) error {
	return c.finish(ctx, func(r *record) {
		r.State = stateDropped
		r.Why = fmt.Sprintf("%.2000s", why)
		r.Rests = rests
	})
}

// finish writes the last record of a claim, and ends it.
func (c *Claim) finish(ctx context.Context, change func(*record)) error {
	for {
		err := c.update(ctx, change)
		switch {
		case err == nil:
			c.end(errDone)
			return nil
		case errors.Is(err, ErrFenced):
			return ErrFenced
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case c.worker.conn.nc.IsClosed():
			return err
		}
		if err := pause(ctx, retryTime); err != nil {
			return err
		}
	}
}
