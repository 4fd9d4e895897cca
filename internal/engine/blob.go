package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// blob describes bytes that lie on the server in messages of one subject each. NATS has an object store for this. But
// who may read one object there can read all, and who may write can write everybody's.
type blob struct {
	Chunks int    `json:"k"`
	Size   int64  `json:"z"`
	Sum    string `json:"d"` // SHA-256
}

// chunk is how many bytes one message has. The server takes up to 1 MiB.
const chunk = 512 << 10

// mostSmall is how many parts may be smaller than a chunk: each takes as long to read.
const mostSmall = 16

// putBlob stores bytes below a subject. While the server is away it tries on, until ctx ends.
func (c *conn) putBlob(ctx context.Context, under, what string, r io.Reader) (blob, error) {
	var b blob
	sum := sha256.New()
	for ; ; b.Chunks++ {
		data, err := io.ReadAll(io.LimitReader(r, chunk))
		if err != nil {
			return b, err
		}
		if len(data) == 0 {
			b.Sum = hex.EncodeToString(sum.Sum(nil))
			return b, nil
		}
		sum.Write(data)
		b.Size += int64(len(data))
		err = c.parts.Wait(ctx)
		if err == nil {
			err = c.keep(ctx, under+strconv.Itoa(b.Chunks), what, data)
		}
		if err != nil {
			return b, err
		}
	}
}

// keep stores one message, and tries on while the server is away.
func (c *conn) keep(ctx context.Context, subject, what string, data []byte) error {
	err := c.persist(ctx, what+" cannot be stored", func(ctx context.Context) error {
		_, err := c.put(ctx, subject, data)
		return err
	})
	if err != nil {
		err = fmt.Errorf("cannot store %d bytes: %w", len(data), err)
	}
	return err
}

// getBlob writes the bytes to w, at most max. get reads one part. It trusts neither what b says nor what is on the
// server. While the server is away it tries on, until ctx ends.
func (c *conn) getBlob(ctx context.Context, what string, b blob, w io.Writer, max int64,
	get func(ctx context.Context, n string) (message, error)) error {
	switch {
	case b.Size > max:
		return fmt.Errorf("%w: it has %d bytes, and may have %d", ErrTooLarge, b.Size, max)
	case int64(b.Chunks) > max/chunk+mostSmall:
		return fmt.Errorf("%w: it has %d parts", ErrTooLarge, b.Chunks)
	}
	sum, left := sha256.New(), b.Size
	for n := range b.Chunks {
		if err := c.parts.Wait(ctx); err != nil {
			return err
		}
		var part message
		err := c.persist(ctx, what+" cannot be read", func(ctx context.Context) (err error) {
			part, err = get(ctx, strconv.Itoa(n))
			return err
		})
		if err == nil && part.seq == 0 {
			err = ErrMissing
		}
		if err != nil {
			return err
		}
		left -= int64(len(part.data))
		if left < 0 || len(part.data) == 0 {
			return fmt.Errorf("%w: it has more bytes than it says", ErrTooLarge)
		}
		sum.Write(part.data)
		if _, err := w.Write(part.data); err != nil {
			return err
		}
	}
	if left != 0 || hex.EncodeToString(sum.Sum(nil)) != b.Sum {
		return ErrOther
	}
	return nil
}

// Bundle writes the work to w. The error is ErrTooLarge if it has more than max bytes, and ErrMissing if not all of it
// is there. While the server is away it tries on.
func (s Submission) Bundle(ctx context.Context, w io.Writer, max int64) error {
	if s.work == nil {
		return fmt.Errorf("%w: the worker has named none", ErrMissing)
	}
	c := s.conn
	return c.getBlob(ctx, "the work on "+s.Feature, *s.work, w, max, func(ctx context.Context, n string) (message, error) {
		return c.said(ctx, s.Worker, asked{Last: c.claim(s.holder) + n})
	})
}

const aBase = "what a session begins with"

// HasBase reports whether something is stored under a name. If a server has lost a part of it, the worker that misses
// it gives its feature back. While the server is away it asks on, until ctx ends.
func (c *Coordinator) HasBase(ctx context.Context, name string) (has bool, err error) {
	err = c.conn.persist(ctx, aBase+" cannot be stored", func(ctx context.Context) (err error) {
		_, has, err = c.conn.info(ctx, name)
		return err
	})
	return has, err
}

// info reads what is said of a base.
func (c *conn) info(ctx context.Context, name string) (b blob, found bool, err error) {
	is, err := c.get(ctx, c.base(name)+"info")
	if err == nil && is.seq > 0 {
		err = json.Unmarshal(is.data, &b)
	}
	return b, is.seq > 0, err
}

// PutBase stores what workers begin with, under a name that says what it is, in the place of what has the name: parts
// of two would look whole. While the server is away it tries on, until ctx ends.
func (c *Coordinator) PutBase(ctx context.Context, name string, r io.Reader) error {
	under := c.conn.base(name)
	err := c.conn.persist(ctx, aBase+" cannot be stored", func(ctx context.Context) error { return c.DropBase(ctx, name) })
	if err != nil {
		return err
	}
	b, err := c.conn.putBlob(ctx, under, aBase, r)
	if err != nil {
		return err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return c.conn.keep(ctx, under+"info", aBase, text) // the last one: without it there is no base
}

// DropBase deletes a base.
func (c *Coordinator) DropBase(ctx context.Context, name string) error {
	return c.conn.purge(ctx, c.conn.stream(), c.conn.base(name)+">")
}

// Base writes one of the job's bases to w, at most max bytes. While the server is away it tries on, until ctx ends. The
// error is ErrMissing if the server has lost it: then the feature is given back, and offered again.
func (c *Claim) Base(ctx context.Context, name string, w io.Writer, max int64) error {
	conn := c.worker.conn
	var b blob
	err := conn.persist(ctx, aBase+" cannot be read", func(ctx context.Context) error {
		is, found, err := conn.info(ctx, name)
		if err == nil && !found {
			err = ErrMissing
		}
		b = is
		return err
	})
	if err != nil {
		return err
	}
	return conn.getBlob(ctx, aBase, b, w, max, func(ctx context.Context, n string) (message, error) {
		return conn.get(ctx, conn.base(name)+n)
	})
}
