package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"
)

// Left is what the runs of a loop have left on servers that a person runs. No run of the loop can begin until it is
// closed.
type Left struct {
	URL     string
	Streams []Stream
	conn    *conn
	home    *home
}

// Stream is one of a loop's streams.
type Stream struct {
	Name     string
	Messages uint64
	Bytes    uint64
}

// OpenLeft looks for what is left of the loop whose engine has the folder o.Dir. o.URL says on which servers; "": those
// of the last run. It refuses while a run has the engine.
func OpenLeft(ctx context.Context, o Options) (l *Left, err error) {
	var is about
	var mine own
	if err := errors.Join(load(o.Dir, aboutFile, &is), load(o.Dir, ownFile, &mine)); err != nil {
		return nil, err
	}
	o.URL, o.Loop = cmp.Or(o.URL, OwnURL(o.Dir)), mine.Name
	switch {
	case o.Loop == "":
		return nil, ErrNoEngine
	case o.URL == "":
		return nil, fmt.Errorf("the server of this loop is a part of its runs, and keeps its data in %s; to look at "+
			"servers that you run, name them with --engine URL", filepath.Join(o.Dir, storeDir))
	case CheckURL(o.URL) != nil:
		return nil, CheckURL(o.URL)
	case o.Creds == "" && is.URL == o.URL:
		o.Creds = is.Creds
	}
	h, err := openHome(o.Dir)
	if errors.Is(err, ErrLed) {
		err = errors.New("a run of this loop is on, and uses what is there; end it first")
	}
	if err != nil {
		return nil, err
	}
	c := &Coordinator{home: h}
	c.opts, err = o.checked()
	if err == nil {
		err = c.external(ctx, &is)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	l = &Left{URL: o.URL, conn: c.conn, home: h}
	l.Streams, err = c.conn.streams(ctx)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// streams returns those of the loop's streams that there are.
func (c *conn) streams(ctx context.Context) (all []Stream, err error) {
	for _, name := range []string{c.records(), c.queue(), c.bases(), c.works()} {
		s, err := c.js.Stream(ctx, name)
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			continue
		case err != nil:
			return nil, fmt.Errorf("cannot look at the stream %s: %w", name, plainly(err))
		}
		is := s.CachedInfo().State
		all = append(all, Stream{name, is.Msgs, is.Bytes})
	}
	return all, nil
}

// Remove deletes the streams.
func (l *Left) Remove(ctx context.Context) error {
	for _, s := range l.Streams {
		if err := l.conn.js.DeleteStream(ctx, s.Name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("cannot delete the stream %s: %w", s.Name, plainly(err))
		}
	}
	return nil
}

// Close ends the connection, and lets runs begin again.
func (l *Left) Close() error {
	l.conn.nc.Close()
	return l.home.Close()
}
