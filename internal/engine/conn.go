package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/time/rate"
)

// conn is a connection to the server, for one loop.
type conn struct {
	names
	nc *nats.Conn
	js jetstream.JetStream

	answer time.Duration // how long the server may take for one answer
	parts  *rate.Limiter // of bundles
	log    func(string)
}

// answerTime is how long the server may take for one answer, if the lease is not shorter. NATS takes 5 s, too. An
// answer that a restart of the server has swallowed is waited for as long.
const answerTime = 5 * time.Second

// dial connects. While there is no connection, writes fail at once: a write that waits in a buffer would go out when
// nobody expects it any more.
func dial(o Options, url string, more ...nats.Option) (*conn, error) {
	l := names(o.Loop)
	name := o.Worker
	if name == "" {
		name = "run-" + nonce()
	}
	options := append([]nats.Option{
		nats.Name("ralph " + name), nats.CustomInboxPrefix(l.inbox(name)),
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
	// An answer may take half a lease at most, but not less than 2 s.
	answer := min(answerTime, max(o.Lease/2, 2*time.Second))
	parts := rate.NewLimiter(partsPerSecond, 1)
	if o.Worker == "" {
		parts.SetLimit(rate.Inf) // nobody shuts out the run
	}
	return &conn{names: l, nc: nc, js: js, answer: answer, parts: parts, log: o.Log}, nil
}

// keyTime is how long a server may take to hear of a new key.
const keyTime = 3 * time.Second

// connect is dial for a program at its start: a server that lets nobody in yet may do so soon.
func connect(ctx context.Context, o Options, more ...nats.Option) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	begin, told := time.Now(), false
	for {
		c, err := dial(o, o.URL, more...)
		if err == nil {
			return c, nil
		}
		why := passing(err, o.URL)
		switch {
		case why == "" && time.Since(begin) > keyTime:
			return nil, err
		case why == "", told, isCut(err) && time.Since(begin) < quietTime: // it may not have heard of this key yet
		default:
			told = true
			o.Log(why + "; trying again for a minute")
		}
		if pause(ctx, retryTime) != nil {
			return nil, err
		}
	}
}

// passing says in words why the server at an address did not let a program in, if that can pass by itself. NATS has an
// error of its own for a connection that Unix refuses, and hands on that of Windows.
func passing(err error, url string) string {
	var refused *os.SyscallError
	switch {
	case errors.Is(err, nats.ErrNoServers), errors.As(err, &refused) && refused.Syscall == "connectex":
		return "nothing listens at " + url
	case errors.Is(err, nats.ErrMaxConnectionsExceeded), isCut(err):
		return "the engine at " + url + " ends each connection, perhaps because it has too many"
	}
	return ""
}

// isCut reports whether a connection was cut. The reason that the server gave may be lost with it.
func isCut(err error) bool {
	var network *net.OpError
	return errors.Is(err, io.EOF) || errors.As(err, &network) && (network.Op == "read" || network.Op == "write")
}

// message is what a subject of a stream has.
type message struct {
	subject string
	data    []byte
	seq     uint64    // its revision; 0: there is none
	at      time.Time // when it was written
}

// get returns the last message of a subject. Unlike a method of jetstream, it needs no right but that to read this
// subject.
func (c *conn) get(ctx context.Context, subject string) (message, error) {
	return c.direct(ctx, c.stream()+"."+subject, nil)
}

// direct reads a message of a stream.
func (c *conn) direct(ctx context.Context, what string, asked []byte) (message, error) {
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	msg, err := c.nc.RequestWithContext(ctx, api+"DIRECT.GET."+what, asked)
	switch {
	case err != nil:
		return message{}, plainly(err)
	case msg.Header.Get("Status") == "404":
		return message{}, nil
	case msg.Header.Get("Status") != "":
		return message{}, errors.New(msg.Header.Get("Description"))
	}
	seq, err := strconv.ParseUint(msg.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return message{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, msg.Header.Get("Nats-Time-Stamp"))
	return message{msg.Header.Get("Nats-Subject"), msg.Data, seq, at}, err
}

// said reads what a worker has written. A direct get would answer with the headers of the worker's message before those
// of the server.
func (c *conn) said(ctx context.Context, worker string, asked asked) (message, error) {
	text, err := json.Marshal(asked)
	if err != nil {
		return message{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	msg, err := c.nc.RequestWithContext(ctx, api+"STREAM.MSG.GET."+c.from(worker), text)
	if err != nil {
		return message{}, plainly(err)
	}
	var is struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
	}
	err = json.Unmarshal(msg.Data, &is)
	switch {
	case err != nil:
		return message{}, err
	case is.Error != nil && is.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return message{}, nil
	case is.Error != nil:
		return message{}, plainly(is.Error)
	}
	return message{is.Message.Subject, is.Message.Data, is.Message.Seq, is.Message.Time}, nil
}

// asked names a message of a stream: the last one of a subject, or the first one at a revision or behind it.
type asked struct {
	Last string `json:"last_by_subj,omitempty"`
	Seq  uint64 `json:"seq,omitempty"`
	Next string `json:"next_by_subj,omitempty"`
}

// errMoved means that somebody else has written what we write.
var errMoved = errors.New("somebody else has changed it")

// put writes a subject, and returns its revision. expect may say at which revision it must be.
func (c *conn) put(ctx context.Context, subject string, data []byte, expect ...jetstream.PublishOpt) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	ack, err := c.js.Publish(ctx, subject, data, expect...)
	if moved := new(jetstream.APIError); errors.As(err, &moved) &&
		(moved.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
			moved.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		return 0, errMoved
	}
	if err != nil {
		return 0, plainly(err)
	}
	return ack.Sequence, nil
}

// putAs writes a value if its subject is still at a revision; 0: if nobody has written it.
func (c *conn) putAs(ctx context.Context, subject string, value any, rev uint64) (uint64, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return 0, err
	}
	now, err := c.put(ctx, subject, text, jetstream.WithExpectLastSequencePerSubject(rev))
	if !errors.Is(err, errMoved) {
		return now, err
	}
	is, failed := c.get(ctx, subject)
	if failed == nil && string(is.data) == string(text) { // the answer was lost
		return is.seq, nil
	}
	return is.seq, errors.Join(err, failed)
}

// errNoConnection is what NATS calls an exceeded buffer. People hear that the connection is lost when that happens.
var errNoConnection = errors.New("there is no connection to the engine")

// plainly returns an error in words for people.
func plainly(err error) error {
	switch {
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return errNoConnection
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse),
		errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded): // that of one answer
		return errors.New("the engine does not answer")
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return errLost // the coordinator makes the stream again
	}
	return err
}

// errLost means that the server has lost its data.
var errLost = errors.New("the engine has lost its data")

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
	for _, lasts := range []error{ErrMissing, ErrFenced, ErrLed, errNobody, errDone, nats.ErrConnectionClosed} {
		if errors.Is(err, lasts) {
			return false
		}
	}
	return true
}

// persist does something, and tries again while the server is away, until ctx ends. Servers that start again, or choose
// a leader, take their time. People are told once, what says of what.
func (c *conn) persist(ctx context.Context, what string, do func(context.Context) error) error {
	t := teller{log: func(text string) { c.log(fmt.Sprintf("%s, and is tried again: %s", what, text)) }}
	for {
		err := plainly(do(ctx))
		if err == nil || !away(err) || ctx.Err() != nil {
			return err
		}
		t.tell(err)
		if pause(ctx, retryTime) != nil {
			return err
		}
	}
}

// startTime is how long the server may be away when a program joins or coordinates a loop.
const startTime = time.Minute

// start does what a program needs at its start. The servers may just then choose a leader.
func (c *conn) start(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return c.persist(ctx, "the start with the engine fails", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*answerTime)
		defer cancel()
		return do(ctx)
	})
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
