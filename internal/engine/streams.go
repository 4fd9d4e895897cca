package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// kept is how long a server keeps what nobody writes anew: a loop of which no run comes is forgotten.
const kept = 30 * 24 * time.Hour

// setUp makes what the loop needs on the server, unless it is there. A coordinator calls it at its start, and whenever
// the server may have lost its data.
func (c *conn) setUp(ctx context.Context) error {
	return c.makeStream(ctx, jetstream.StreamConfig{
		Name: c.stream(), Subjects: []string{c.subject("o.*"), c.subject("lead"), c.subject("base.>")}, MaxBytes: MaxBases,
	})
}

// admit makes the stream of a worker. What one worker writes fills no other stream.
func (c *conn) admit(ctx context.Context, worker string) error {
	return c.makeStream(ctx, jetstream.StreamConfig{
		Name: c.from(worker), Subjects: []string{c.subject("from.") + worker + ".>"}, MaxBytes: maxWorker,
		MaxMsgSize: maxSaid, MaxMsgs: maxMessages,
	})
}

// makeStream makes a stream that keeps the last message of each subject, on a cluster three times.
func (c *conn) makeStream(ctx context.Context, s jetstream.StreamConfig) error {
	s.MaxMsgsPerSubject = 1
	s.Discard = jetstream.DiscardNew
	s.MaxAge = kept
	s.Duplicates = 100 * time.Millisecond // nobody here sends ids, which the server would keep in memory
	s.AllowDirect = true
	s.Replicas = 1
	if c.nc.ConnectedClusterName() != "" {
		s.Replicas = 3
	}
	if _, err := c.js.CreateOrUpdateStream(ctx, s); err != nil {
		return fmt.Errorf("cannot make the engine's stream %s: %w", s.Name, plainly(err))
	}
	return nil
}

// purge deletes the messages of some subjects.
func (c *conn) purge(ctx context.Context, stream, subjects string) error {
	s, err := c.js.Stream(ctx, stream)
	if err == nil {
		err = s.Purge(ctx, jetstream.WithPurgeSubject(subjects))
	}
	return plainly(err)
}

// clear deletes what another run has left on the server. Orders of that run have other IDs, so a worker that comes back
// from it is refused.
func (c *conn) clear(ctx context.Context, workers []worker) error {
	streams := []string{c.stream()}
	for _, w := range workers {
		streams = append(streams, c.from(w.Name))
	}
	for _, name := range streams {
		s, err := c.js.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) { // of a worker that was revoked
			continue
		}
		if err == nil {
			err = s.Purge(ctx)
		}
		if err != nil {
			return fmt.Errorf("cannot delete what the run before has left in %s: %w", name, plainly(err))
		}
	}
	return nil
}
