package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// Times of a connection.
const (
	answerTime = 5 * time.Second        // how long one answer may take
	retryTime  = 300 * time.Millisecond // how long to wait after a failure
	keyTime    = 3 * time.Second        // how long a server may take to hear of a new key
	startTime  = time.Minute            // how long a server may be away when a program starts
)

// dial connects. While there is no connection, writes fail at once: a question that waits in a buffer would go out when
// nobody waits for its answer any more.
func (o Options) dial(name string, more ...nats.Option) (*nats.Conn, error) {
	options := append([]nats.Option{
		nats.Name("ralph " + name), nats.CustomInboxPrefix(inbox(o.Loop, name)),
		nats.ReconnectBufSize(-1), nats.MaxReconnects(-1), nats.ReconnectWait(retryTime),
		nats.PingInterval(answerTime), nats.MaxPingsOutstanding(2), nats.Timeout(answerTime),
		nats.ReconnectHandler(func(*nats.Conn) { o.Log("connected again") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Log(err.Error()) }),
	}, more...)
	nc, err := nats.Connect(o.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the engine at %s: %w", o.URL, err)
	}
	return nc, nil
}

// connect is dial for a program at its start. It waits for a server where nothing listens, and a little for one that
// lets nobody in, since it may not have heard of a new key yet.
func (o Options) connect(ctx context.Context, name string, more ...nats.Option) (*nats.Conn, error) {
	for begin, told := time.Now(), false; ; {
		nc, err := o.dial(name, more...)
		wait := keyTime
		if errors.Is(err, nats.ErrNoServers) {
			wait = startTime
			if !told {
				o.Log(fmt.Sprintf("nothing listens at %s; trying again for a minute", o.URL))
			}
			told = true
		}
		if err == nil || time.Since(begin) > wait || pause(ctx, retryTime) != nil {
			return nc, err
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
