package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Worker takes jobs. Several goroutines may use it at a time, one for each lane.
type Worker struct {
	opts Options
	name string
	nc   *nats.Conn
	ctx  context.Context // ends with Close, or when the server refuses this worker
	end  context.CancelCauseFunc

	mu     sync.Mutex
	online context.Context // ends with the connection: what was asked over it is not answered any more
	cut    context.CancelFunc
}

// Join connects a worker. It returns an error if the server refuses it.
func Join(ctx context.Context, o Options) (*Worker, error) {
	if text, err := os.ReadFile(o.Creds); err == nil {
		o.Creds = string(text)
	}
	c, err := ParseCredential(o.Creds)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	o.URL, o.Loop = cmp.Or(o.URL, c.URL), c.Loop
	switch {
	case !validName(c.Loop):
		return nil, errName("loop", c.Loop)
	case !validName(c.Worker):
		return nil, errName("worker", c.Worker)
	case CheckURL(o.URL) != nil:
		return nil, CheckURL(o.URL)
	}
	more, err := c.options()
	if err != nil {
		return nil, err
	}
	w := &Worker{opts: o, name: c.Worker}
	w.ctx, w.end = context.WithCancelCause(context.WithoutCancel(ctx))
	w.online, w.cut = context.WithCancel(w.ctx)
	more = append(more, nats.DisconnectErrHandler(w.disconnected), nats.ErrorHandler(w.refused),
		nats.ClosedHandler(w.closed))
	w.nc, err = o.connect(ctx, w.name, more...)
	if err != nil {
		return nil, o.refusal(err)
	}
	return w, nil
}

// refusal says in words why a server does not let a worker in.
func (o Options) refusal(err error) error {
	if errors.Is(err, nats.ErrAuthorization) {
		return fmt.Errorf("the engine at %s does not let this worker in: the credential is that of another run, or it "+
			"was revoked or replaced; make a new one with 'engine token' on the run's machine", o.URL)
	}
	return err
}

// refused hears what the server says of what this worker may not do. A worker does nothing that a credential of its
// loop and its name does not allow, so the credential is another one's.
func (w *Worker) refused(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		err = fmt.Errorf("the credential's key is not that of the worker %s of the loop %s: type the line that "+
			"'ralph-runner engine token' has printed, as it is", w.name, w.opts.Loop)
		w.end(err)
	}
	w.opts.Log(err.Error())
}

// disconnected has all be asked again.
func (w *Worker) disconnected(nc *nats.Conn, _ error) {
	if !nc.IsClosed() {
		w.opts.Log("the connection is lost; connecting again")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut()
	w.online, w.cut = context.WithCancel(w.ctx)
}

// closed ends the worker when its connection is over for good, as when the server refuses its credential.
func (w *Worker) closed(nc *nats.Conn) {
	err := cmp.Or(nc.LastError(), nats.ErrConnectionClosed)
	w.end(w.opts.refusal(fmt.Errorf("the engine has ended the connection: %w", err)))
}

// Err returns why the server does not let the worker in any more, or nil.
func (w *Worker) Err() error {
	if w.nc.IsClosed() {
		w.closed(w.nc)
	}
	return context.Cause(w.ctx)
}

// Name returns the worker's name.
func (w *Worker) Name() string { return w.name }

// Connected reports whether there is a connection to the engine.
func (w *Worker) Connected() bool { return w.nc.IsConnected() }

// Close ends the connection. Who has a claim should drop it before: else nobody gets the job until a lease is over.
func (w *Worker) Close() {
	w.end(nats.ErrConnectionClosed)
	w.nc.Close()
}

// ask asks until there is an answer, each time for a while. That the run or the server is away does not end it: they
// may come back.
func (w *Worker) ask(ctx context.Context, verb string, q message, while time.Duration) (a message, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	for {
		w.mu.Lock()
		online := w.online
		w.mu.Unlock()
		within, cancel := context.WithTimeout(ctx, while)
		stop := context.AfterFunc(online, cancel)
		m, err := w.nc.RequestWithContext(within, subject(w.opts.Loop, w.name, verb), text)
		stop()
		cancel()
		if err == nil {
			a = message{}
			err = json.Unmarshal(m.Data, &a)
		}
		switch {
		case ctx.Err() != nil:
			return a, context.Cause(ctx)
		case w.Err() != nil:
			return a, w.Err()
		case err != nil, a.Later:
		case a.ClaimLost:
			return a, ErrClaimLost
		case a.Err != "":
			return a, errors.New(a.Err)
		default:
			return a, nil
		}
		_ = pause(ctx, retryTime)
	}
}

// Task is a job that a worker has. It beats by itself until it is over.
type Task struct {
	Job
	Attempt int

	worker *Worker
	id     string
	ctx    context.Context
	end    context.CancelCauseFunc
}

// Context ends when the job is lost or over. context.Cause tells why.
func (t *Task) Context() context.Context { return t.ctx }

// Take waits for a job that is free. It waits on while the run is away, and returns an error if ctx ends or the server
// does not let the worker in any more.
func (w *Worker) Take(ctx context.Context) (*Task, error) {
	t := &Task{worker: w, id: w.name + "." + nonce()}
	for {
		a, err := w.ask(ctx, "take", message{Claim: t.id, Machine: w.opts.Machine}, answerTime)
		switch {
		case ctx.Err() != nil:
			w.leave(t.id)
			return nil, context.Cause(ctx)
		case w.Err() != nil:
			return nil, w.Err()
		case err != nil:
			_ = pause(ctx, retryTime)
		case a.Job != nil:
			t.Feature, t.Body, t.Attempt = a.Job.Feature, a.Job.Body, a.Job.Attempt
			t.ctx, t.end = context.WithCancelCause(w.ctx)
			go t.beat(max(a.Job.Lease, time.Second) / beatsPerLease)
			return t, nil
		}
	}
}

// leave takes a question for a job back. If that is lost, nobody gets the job for a lease that may come.
func (w *Worker) leave(id string) {
	text, err := json.Marshal(message{Claim: id, Why: "the worker ends"})
	if err == nil {
		_ = w.nc.PublishRequest(subject(w.opts.Loop, w.name, "drop"), inbox(w.opts.Loop, w.name)+".none", text)
		_ = w.nc.FlushTimeout(time.Second)
	}
}

// beatsPerLease is how often a worker shows in a lease that it lives.
const beatsPerLease = 4

// beat shows that the worker lives. It does not wait long for an answer that was lost.
func (t *Task) beat(every time.Duration) {
	for pause(t.ctx, every) == nil {
		if _, err := t.worker.ask(t.ctx, "beat", message{Claim: t.id}, every); errors.Is(err, ErrClaimLost) {
			t.end(err)
		}
	}
}

// errDone ends the context of a task that the worker has ended.
var errDone = errors.New("the worker has ended the claim")

// ask asks about the task. It returns ErrClaimLost if the task is lost.
func (t *Task) ask(ctx context.Context, verb string, q message) (message, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })()
	q.Claim = t.id
	a, err := t.worker.ask(ctx, verb, q, answerTime)
	if errors.Is(err, ErrClaimLost) {
		t.end(err)
	}
	return a, err
}

// Get writes a file that the job begins with to w, at most max bytes of it.
func (t *Task) Get(ctx context.Context, file string, w io.Writer, max int64) error {
	for at := int64(0); ; {
		a, err := t.ask(ctx, "get", message{File: file, At: at})
		if err != nil {
			return err
		}
		if a.Size > max {
			return fmt.Errorf("what the session begins with has %d bytes, and may have %d", a.Size, max)
		}
		if _, err := w.Write(a.Data); err != nil {
			return err
		}
		at += int64(len(a.Data))
		if at >= a.Size || len(a.Data) == 0 {
			return nil
		}
	}
}

// Submit hands in a report and the file at path; "": there is none. It returns nil when the run has both, and
// ErrClaimLost if the task is lost. It tries on while the run is away. The report may have MaxBody bytes.
func (t *Task) Submit(ctx context.Context, report []byte, path string) error {
	if len(report) > MaxBody {
		return fmt.Errorf("the report of %s has %d bytes, and may have %d", t.Feature, len(report), MaxBody)
	}
	for {
		last, err := t.put(ctx, path)
		if err == nil {
			last.Report = report
			last, err = t.ask(ctx, "done", last)
		}
		switch {
		case err != nil:
			return err
		case !last.Resend:
			t.end(errDone)
			return nil
		}
	}
}

// put sends the file, and returns what to say of it.
func (t *Task) put(ctx context.Context, path string) (is message, err error) {
	if path == "" {
		return is, nil
	}
	is.Size, is.Sum, err = sumOf(path)
	if err != nil || is.Size == 0 {
		return message{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return is, err
	}
	defer f.Close()
	for at := int64(0); at < is.Size && err == nil; at += part {
		var data []byte
		data, _, err = readPart(f, at)
		if err == nil {
			_, err = t.ask(ctx, "put", message{At: at, Data: data})
		}
	}
	return is, err
}

// Drop gives the job back. The run offers it again.
func (t *Task) Drop(ctx context.Context, why string) error {
	_, err := t.ask(ctx, "drop", message{Why: fmt.Sprintf("%.2000s", why)})
	t.end(errDone)
	return err
}
