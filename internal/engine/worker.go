package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Worker takes jobs. Several goroutines may use it at a time, one for each lane.
type Worker struct {
	opts    Options
	conn    *conn
	at      atomic.Pointer[jetstream.Consumer] // the queue's consumer, found before
	ctx     context.Context                    // ends with Close, or when the server refuses this worker
	end     context.CancelCauseFunc
	process string // the worker's name and a nonce
}

// Join connects a worker. It returns an error if the server refuses it.
func Join(ctx context.Context, o Options) (*Worker, error) {
	if text, err := os.ReadFile(o.Creds); err == nil && bytes.HasPrefix(text, []byte(credentialMark)) {
		o.Creds = string(text)
	}
	if !strings.HasPrefix(o.Creds, credentialMark) && o.Loop == "" {
		return nil, errors.New("a worker needs the credential that 'ralph-runner engine token' prints on the run's " +
			"machine, also for servers that you run: a key or a file of NATS names no loop, and is for the run alone")
	}
	o, more, err := o.withCreds()
	if err != nil {
		return nil, err
	}
	o = o.filled()
	switch {
	case !validName(o.Loop):
		return nil, errName("loop", o.Loop)
	case !validName(o.Worker):
		return nil, errName("worker", o.Worker)
	case CheckURL(o.URL) != nil:
		return nil, CheckURL(o.URL)
	}
	w := &Worker{opts: o, process: o.Worker + "." + nonce()}
	w.ctx, w.end = context.WithCancelCause(context.WithoutCancel(ctx))
	w.conn, err = connect(ctx, o, append(more, nats.ErrorHandler(w.refused))...)
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, fmt.Errorf("the engine at %s does not let this worker in: the credential is that of another run, or it "+
			"was revoked or replaced; make a new one with 'engine token' on the run's machine", o.URL)
	}
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })()
	err = w.conn.start(within, func(ctx context.Context) error {
		_, err := w.queue(ctx)
		if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrConsumerNotFound) {
			err = fmt.Errorf("%w: the loop %s at %s; start its run first", errNobody, o.Loop, w.conn.nc.ConnectedUrl())
		}
		return err
	})
	if err != nil {
		w.conn.nc.Close()
		return nil, cmp.Or(context.Cause(w.ctx), err)
	}
	return w, nil
}

// errNobody means that no run has been there yet.
var errNobody = errors.New("nobody has coordinated")

// refused hears what the server says of what this worker may not do. A worker does nothing that a credential of its
// loop and its name does not allow, so the credential is another one's.
func (w *Worker) refused(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		err = fmt.Errorf("the credential's key is not that of the worker %s of the loop %s: type the line that "+
			"'ralph-runner engine token' has printed, as it is", w.opts.Worker, w.opts.Loop)
		w.end(err)
	}
	w.opts.Log(err.Error())
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
		case w.ctx.Err() != nil:
			return nil, context.Cause(w.ctx)
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

// claim follows a hint. The order alone says whether the feature is free.
func (w *Worker) claim(ctx context.Context, msg jetstream.Msg) (*Claim, error) {
	feature, hint, err := w.conn.ofHint(msg.Subject())
	if err != nil {
		return nil, errors.Join(err, msg.Term())
	}
	is, found, err := w.conn.readOrder(ctx, feature)
	switch {
	case err != nil, !found, is.Attempt < hint.Attempt:
		return nil, errors.Join(err, msg.NakWithDelay(lag))
	case is.ID != hint.ID || is.State != stateOpen || is.Holder != "":
		return nil, msg.Ack()
	case slices.Contains(is.Not, w.process):
		return nil, msg.NakWithDelay(left)
	}
	c := &Claim{
		Feature: feature, Attempt: is.Attempt, Body: is.Body, worker: w, order: is,
		holder: w.process + "-" + nonce(),
		said:   word{State: stateClaimed, Feature: feature, Order: is.ID, Machine: w.opts.Machine},
	}
	c.ctx, c.end = context.WithCancelCause(w.ctx)
	if err := c.say(ctx, func(*word) {}); err != nil {
		c.end(err)
		return nil, errors.Join(err, msg.NakWithDelay(lag))
	}
	if err := msg.Ack(); err != nil {
		w.opts.Log(plainly(err).Error()) // the hint comes again, and then nobody follows it
	}
	go c.beat()
	return c, nil
}

// Connected reports whether there is a connection to the engine.
func (w *Worker) Connected() bool { return w.conn.nc.IsConnected() }
