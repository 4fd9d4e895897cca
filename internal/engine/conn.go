package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// conn is a connection to the server, for one loop.
type conn struct {
	names
	nc *nats.Conn
	js jetstream.JetStream
	kv jetstream.KeyValue

	answer time.Duration // how long the server may take for one answer
	log    func(string)
}

// answerTime is how long the server may take for one answer, if the lease is not shorter. NATS takes 5 s, too. An
// answer that a restart of the server has swallowed is waited for as long.
const answerTime = 5 * time.Second

// dial connects. While there is no connection, writes fail at once: a write that waits in a buffer would go out when
// nobody expects it any more.
func dial(o Options, url string, more ...nats.Option) (*conn, error) {
	options := append([]nats.Option{
		nats.Name("ralph " + o.Worker), nats.CustomInboxPrefix(inbox(o.Worker)),
		nats.ReconnectBufSize(-1), nats.MaxReconnects(-1), nats.ReconnectWait(min(time.Second, o.Lease/8)),
		nats.ReconnectJitter(o.Lease/100, o.Lease/100), nats.PingInterval(answerTime), nats.MaxPingsOutstanding(2),
		nats.Timeout(answerTime),
		nats.DisconnectErrHandler(func(c *nats.Conn, _ error) {
			if !c.IsClosed() {
				o.Log("the connection is lost; connecting again")
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { o.Log("connected again") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Log(err.Error()) }),
	}, more...)
	nc, err := nats.Connect(url, options...)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the engine at %s: %w", url, err)
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(answerTime))
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &conn{names: names(o.Loop), nc: nc, js: js, answer: answerTime, log: o.Log}, nil
}

// connect is dial for a program at its start: a server that does not listen yet may do so soon.
func connect(ctx context.Context, o Options, more ...nats.Option) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for told := false; ; told = true {
		c, err := dial(o, o.URL, more...)
		if !isRefused(err) {
			return c, err
		}
		if !told {
			o.Log(fmt.Sprintf("nothing listens at %s; trying again for a minute", o.URL))
		}
		if pause(ctx, retryTime) != nil {
			return nil, err
		}
	}
}

// isRefused tells whether err says that nothing listens. NATS puts an error of its own in the place of that of Unix,
// and hands on that of Windows.
func isRefused(err error) bool {
	call := &os.SyscallError{}
	return errors.Is(err, nats.ErrNoServers) || errors.As(err, &call) && call.Syscall == "connectex"
}

// hurry lets an answer take half a lease at most, but not less than 2 s.
func (c *conn) hurry(lease time.Duration) { c.answer = min(answerTime, max(lease/2, 2*time.Second)) }

func inbox(worker string) string { return "_INBOX_" + worker }

// bind finds the bucket of records.
func (c *conn) bind(ctx context.Context) (err error) {
	c.kv, err = c.js.KeyValue(ctx, c.bucket())
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		err = fmt.Errorf("nobody has coordinated the loop %s at %s: start its run first", string(c.names),
			c.nc.ConnectedUrl())
	}
	return err
}

// setUp makes what the loop needs on the server, unless it is there. A coordinator calls it at its start, and whenever
// the server may have lost its data.
func (c *conn) setUp(ctx context.Context) error {
	replicas := 1
	if c.nc.ConnectedClusterName() != "" {
		replicas = 3
	}
	queue := jetstream.StreamConfig{
		Name: c.queue(), Subjects: []string{c.subject("w") + ">"}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	}
	// This is a bucket of keys but for roll-ups, with which a worker could delete it.
	records := jetstream.StreamConfig{
		Name: c.records(), Subjects: []string{"$KV." + c.bucket() + ".>"}, Discard: jetstream.DiscardNew, DenyDelete: true,
	}
	bases := jetstream.StreamConfig{Name: c.bases(), Subjects: []string{c.subject("base") + ">"}}
	works := jetstream.StreamConfig{Name: c.works(), Subjects: []string{c.subject("done") + ">"}}
	for _, s := range []*jetstream.StreamConfig{&bases, &works} {
		s.MaxBytes, s.Discard = MaxWork, jetstream.DiscardNew
	}
	for _, s := range []jetstream.StreamConfig{queue, bases, works, records} {
		s.MaxMsgsPerSubject = 1
		s.AllowDirect = s.Name != c.queue()
		s.Replicas = replicas
		if _, err := c.js.CreateOrUpdateStream(ctx, s); err != nil {
			return fmt.Errorf("cannot make the engine's stream %s: %w", s.Name, plainly(err))
		}
	}
	_, err := c.js.CreateOrUpdateConsumer(ctx, c.queue(), jetstream.ConsumerConfig{
		Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: 20 * time.Second, MaxDeliver: -1,
		MaxAckPending: 10_000,
	})
	if err == nil {
		err = c.bind(ctx)
	}
	return err
}

// read returns a feature's record and its revision. There is none if found is false.
func (c *conn) read(ctx context.Context, feature string) (r record, rev uint64, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	entry, err := c.kv.Get(ctx, "c."+key(feature))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return r, 0, false, nil
	}
	if err != nil {
		return r, 0, false, plainly(err)
	}
	return parse(entry.Value()), entry.Revision(), true, nil
}

// parse reads a record. One that cannot be read has no state.
func parse(text []byte) (r record) {
	if json.Unmarshal(text, &r) != nil || r.Attempt < 0 || r.Attempt > maxAttempt {
		return record{}
	}
	return r
}

// errMoved means that somebody else has written the record.
var errMoved = errors.New("somebody else has changed the record")

// write changes a feature's record if it is still at the revision; 0: if there is none.
func (c *conn) write(ctx context.Context, feature string, r record, rev uint64) (uint64, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return 0, err
	}
	return c.put(ctx, "c."+key(feature), text, rev)
}

// put changes the value of a key if it is still at the revision; 0: if there is none.
func (c *conn) put(ctx context.Context, key string, text []byte, rev uint64) (now uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	if rev == 0 {
		now, err = c.kv.Create(ctx, key, text)
	} else {
		now, err = c.kv.Update(ctx, key, text, rev)
	}
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		err = errMoved
	}
	return now, plainly(err)
}

// offer queues a hint. One that is in the queue already stays there.
func (c *conn) offer(ctx context.Context, j Job, attempt int, lease time.Duration, not ...string) error {
	text, err := json.Marshal(hint{Body: j.Body, Bases: j.Bases, Lease: lease, Not: not})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	_, err = c.js.Publish(ctx, c.hint(j.Feature, attempt), text)
	var refused *jetstream.APIError
	if errors.As(err, &refused) && refused.ErrorCode == 10077 { // the most messages of a subject: it is queued already
		return nil
	}
	return plainly(err)
}

// errNoConnection is what NATS calls an exceeded buffer. People hear that the connection is lost when that happens.
var errNoConnection = errors.New("there is no connection to the engine")

// plainly returns an error in words for people.
func plainly(err error) error {
	switch {
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return errNoConnection
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout),
		errors.Is(err, context.DeadlineExceeded): // that of one answer
		return errors.New("the engine does not answer")
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return errors.New("the engine has lost its data") // the coordinator makes the stream again
	}
	return err
}

// teller tells people of what fails again and again: once, until it fails otherwise, or does not. That there is no
// connection they know.
type teller struct {
	log  func(string)
	last string
}

func (t *teller) tell(err error) {
	text := ""
	if err != nil && !errors.Is(err, errNoConnection) {
		text = err.Error()
	}
	if text != "" && text != t.last {
		t.log(text)
	}
	t.last = text
}

// away reports whether an error may be over soon: the server is away, or the servers of a cluster choose a leader.
func away(err error) bool {
	var said *jetstream.APIError
	if errors.As(err, &said) {
		return said.Code == 503 && !strings.Contains(said.Description, "maximum bytes")
	}
	for _, lasts := range []error{ErrMissing, ErrLed, jetstream.ErrBucketNotFound, nats.ErrConnectionClosed} {
		if errors.Is(err, lasts) {
			return false
		}
	}
	return true
}

// again returns what decides whether something that failed is tried again: while the server is away, until ctx ends.
// Servers that start again, or choose a leader, take their time. People are told once, what says of what.
func (c *conn) again(what string) func(context.Context, error) error {
	told := false
	return func(ctx context.Context, err error) error {
		if !away(err) || ctx.Err() != nil {
			return err
		}
		if !told {
			c.log(fmt.Sprintf("%s, and is tried again: %v", what, err))
			told = true
		}
		if pause(ctx, retryTime) != nil {
			return err
		}
		return nil
	}
}

// startTime is how long the server may be away when a program joins or coordinates a loop.
const startTime = time.Minute

// start does what a program needs at its start. The servers may just then choose a leader.
func (c *conn) start(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	again := c.again("the start with the engine fails")
	for {
		within, cancel := context.WithTimeout(ctx, 2*answerTime)
		err := plainly(do(within))
		cancel()
		if err == nil || again(ctx, err) != nil {
			return err
		}
	}
}

// pause waits, or returns an error if the context ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
