package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Worker takes jobs. Several goroutines may use it at a time, one for each lane.
type Worker struct {
	opts    Options
	conn    *conn
	ctx     context.Context // ends with Close, or when the server refuses this worker
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
	w.conn, err = connect(ctx, o, append(more, nats.ErrorHandler(w.refused), nats.ClosedHandler(w.closed))...)
	if err != nil {
		return nil, o.refusal(err)
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })()
	begin := time.Now()
	err = w.conn.start(within, func(ctx context.Context) error {
		for {
			_, err := w.conn.nc.RequestWithContext(ctx, api+"DIRECT.GET."+w.conn.stream()+"."+w.conn.order("any"), nil)
			if !errors.Is(err, nats.ErrNoResponders) {
				return err
			}
			if time.Since(begin) > keyTime { // a server makes the imports of a new account a little after it
				return fmt.Errorf("%w: the loop %s at %s; start its run first", errNobody, o.Loop, w.conn.nc.ConnectedUrl())
			}
			if err := pause(ctx, retryTime); err != nil {
				return err
			}
		}
	})
	if err != nil {
		w.conn.nc.Close()
		return nil, cmp.Or(context.Cause(w.ctx), err)
	}
	return w, nil
}

// refusal says in words why a server does not let a worker in.
func (o Options) refusal(err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("the engine at %s does not let this worker in: the credential is that of another run, or it "+
			"was revoked or replaced; make a new one with 'engine token' on the run's machine", o.URL)
	case errors.Is(err, nats.ErrMaxAccountConnectionsExceeded):
		return fmt.Errorf("%d processes use the credential of %s already; end one, or make another credential with "+
			"'engine token' on the run's machine", maxConnections, o.Worker)
	}
	return err
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

// closed ends the worker when its connection is over for good, as when the server refuses its credential.
func (w *Worker) closed(nc *nats.Conn) {
	err := cmp.Or(nc.LastError(), nats.ErrConnectionClosed)
	w.end(w.opts.refusal(fmt.Errorf("the engine has ended the connection: %w", err)))
}

// Err returns why the server does not let the worker in any more, or nil.
func (w *Worker) Err() error {
	if w.conn.nc.IsClosed() {
		w.closed(w.conn.nc)
	}
	return context.Cause(w.ctx)
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
	takeTime  = 5 * time.Second        // how long one question waits for a feature
	quietTime = time.Second            // how long a worker waits where no coordinator hears it
	retryTime = 100 * time.Millisecond // how long a worker waits after a failure
)

// Take waits for a feature that is free. It waits on while the server is away, and returns an error if ctx ends or the
// server does not let the worker in any more.
func (w *Worker) Take(ctx context.Context) (*Claim, error) {
	holder := w.process + "-" + nonce()
	for {
		claim, err := w.ask(ctx, holder)
		switch {
		case claim != nil:
			return claim, nil
		case ctx.Err() != nil:
			w.leave(holder)
			return nil, context.Cause(ctx)
		case w.Err() != nil:
			return nil, w.Err()
		}
		wait := time.Duration(0)
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			wait = quietTime
		case err != nil:
			wait = retryTime
		}
		_ = pause(ctx, wait)
	}
}

// leave takes a question back. If that is lost, nobody gets the feature for beginTime that may come.
func (w *Worker) leave(holder string) {
	text, err := json.Marshal(question{Claim: holder, Leaves: true})
	if err == nil {
		_ = w.conn.nc.Publish(w.conn.ask(w.opts.Worker), text)
		_ = w.conn.nc.FlushTimeout(time.Second)
	}
}

// ask asks once for a feature. It returns neither a claim nor an error if there was none.
func (w *Worker) ask(ctx context.Context, holder string) (*Claim, error) {
	text, err := json.Marshal(question{Claim: holder, Machine: w.opts.Machine})
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, takeTime)
	defer cancel()
	answer, err := w.conn.nc.RequestWithContext(within, w.conn.ask(w.opts.Worker), text)
	if within.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	feature := string(answer.Data)
	if feature == "" { // it is not heard
		return nil, pause(ctx, retryTime)
	}
	is, found, err := w.conn.readOrder(ctx, feature)
	if err != nil || !found || is.State != stateOpen || is.Holder != holder { // a replica lags, or it was withdrawn
		return nil, errors.Join(err, pause(ctx, retryTime))
	}
	c := &Claim{
		Feature: feature, Attempt: is.Attempt, Body: is.Body, worker: w, order: is, holder: holder,
		said: word{State: stateClaimed, Feature: feature, Order: is.ID, Machine: w.opts.Machine},
	}
	c.ctx, c.end = context.WithCancelCause(w.ctx)
	if err := c.say(ctx, func(*word) {}); err != nil {
		c.end(err)
		return nil, err
	}
	go c.beat()
	return c, nil
}

// Connected reports whether there is a connection to the engine.
func (w *Worker) Connected() bool { return w.conn.nc.IsConnected() }
