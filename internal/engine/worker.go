package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Worker takes jobs. Several goroutines may use it at a time, one for each lane.
type Worker struct {
	opts Options
	conn *conn
	at   atomic.Pointer[jetstream.Consumer] // the queue's consumer, found before
	ctx  context.Context                    // ends with Close
	end  context.CancelCauseFunc
	name string // of this process: the worker's name and a nonce
}

// Join connects a worker. It returns an error if the server refuses it.
func Join(ctx context.Context, o Options) (*Worker, error) {
	if !strings.HasPrefix(o.Creds, credentialMark) && o.Loop == "" {
		return nil, errors.New("a worker needs the credential that 'ralph-runner engine token' prints on the run's " +
			"machine, also for servers that you run: a key or a file of NATS names no loop, and is for the run alone")
	}
	o, more, err := o.withCreds()
	if err != nil {
		return nil, err
	}
	o, err = o.checked()
	if err != nil {
		return nil, err
	}
	if err := CheckURL(o.URL); err != nil {
		return nil, err
	}
	conn, err := connect(ctx, o, more...)
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, fmt.Errorf("the engine at %s does not let this worker in: the credential is that of another run, or it "+
			"was revoked or replaced; make a new one with 'engine token' on the run's machine", o.URL)
	}
	if err != nil {
		return nil, err
	}
	if err := conn.start(ctx, conn.bind); err != nil {
		conn.nc.Close()
		return nil, err
	}
	conn.hurry(o.Lease)
	w := &Worker{opts: o, conn: conn, name: o.Worker + "." + nonce()}
	w.ctx, w.end = context.WithCancelCause(context.WithoutCancel(ctx))
	return w, nil
}

// Name returns the worker's name.
func (w *Worker) Name() string { return w.opts.Worker }

// Close ends the connection. Who has a claim should drop it before: else nobody gets the feature until a lease is over.
func (w *Worker) Close() {
	w.end(nats.ErrConnectionClosed)
	w.conn.nc.Close()
}

// Pauses of a worker.
const (
	takeTime  = 5 * time.Second        // how long one request for a hint waits on the server
	lag       = 300 * time.Millisecond // how long a hint waits that is ahead of its record
	left      = time.Second            // how long a hint waits that is left to others
	retryTime = 100 * time.Millisecond // how long a worker waits after a failure
)

// Take waits for a feature that is free, and claims it. It waits on while the server is away, and returns an error if
// ctx ends or the server does not let the worker in any more.
func (w *Worker) Take(ctx context.Context) (*Claim, error) {
	for {
		claim, err := w.tryTake(ctx)
		switch {
		case claim != nil:
			return claim, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case w.conn.nc.IsClosed():
			err := cmp.Or(w.conn.nc.LastError(), nats.ErrConnectionClosed)
			return nil, fmt.Errorf("the engine has ended the connection: %w", err)
		case err != nil:
			if err := pause(ctx, retryTime); err != nil {
				return nil, err
			}
		}
	}
}

// tryTake waits for one hint. It returns neither a claim nor an error if there was none, or none that counts.
func (w *Worker) tryTake(ctx context.Context) (*Claim, error) {
	queue, err := w.queue(ctx)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, takeTime)
	defer cancel()
	batch, err := queue.Fetch(1, jetstream.FetchContext(within))
	if err != nil {
		return nil, err
	}
	for msg := range batch.Messages() {
		return w.claim(ctx, msg)
	}
	if err := batch.Error(); err != nil && within.Err() == nil && !errors.Is(err, nats.ErrTimeout) {
		w.at.Store(nil)
		return nil, err
	}
	return nil, nil
}

// queue returns the queue's consumer. It is asked for at the start and after an error.
func (w *Worker) queue(ctx context.Context) (jetstream.Consumer, error) {
	if known := w.at.Load(); known != nil {
		return *known, nil
	}
	queue, err := w.conn.js.Consumer(ctx, w.conn.queue(), consumer)
	if err == nil {
		w.at.Store(&queue)
	}
	return queue, err
}

// claim follows a hint. The record alone says whether the feature is free.
func (w *Worker) claim(ctx context.Context, msg jetstream.Msg) (*Claim, error) {
	feature, attempt, err := w.conn.ofHint(msg.Subject())
	var h hint
	if err == nil {
		err = json.Unmarshal(msg.Data(), &h)
	}
	if err != nil {
		return nil, errors.Join(err, msg.Term())
	}
	if slices.Contains(h.Not, w.name) {
		return nil, msg.NakWithDelay(left)
	}
	mine := record{
		State: stateClaimed, Attempt: attempt, Machine: w.opts.Machine, Holder: w.name + "-" + nonce(),
	}
	for try := 0; ; try++ {
		is, rev, found, err := w.conn.read(ctx, feature)
		switch {
		case err != nil, !found, is.Attempt < attempt, try > 3:
			return nil, errors.Join(err, msg.NakWithDelay(lag))
		case is.same(mine): // the answer to the write before was lost
		case is.State != stateOpen || is.Attempt > attempt:
			return nil, msg.Ack()
		default:
			rev, err = w.conn.write(ctx, feature, mine, rev)
			if err != nil {
				continue // it moved, or the answer was lost
			}
		}
		if err := msg.Ack(); err != nil {
			w.opts.Log(plainly(err).Error()) // the hint comes again, and then nobody follows it
		}
		return w.begin(feature, h, mine, rev), nil
	}
}
