package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
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

// putBlob stores bytes below a subject. retry is asked after each failure, and says whether to try again.
func (c *conn) putBlob(ctx context.Context, under string, r io.Reader, retry func(error) error) (blob, error) {
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
		if err := c.putMessage(ctx, under+strconv.Itoa(b.Chunks), data, retry); err != nil {
			return b, err
		}
	}
}

// putMessage stores one message of a blob.
func (c *conn) putMessage(ctx context.Context, subject string, data []byte, retry func(error) error) error {
	for {
		within, cancel := context.WithTimeout(ctx, c.answer)
		_, err := c.js.Publish(within, subject, data)
		cancel()
		if err == nil {
			return nil
		}
		if err := retry(plainly(err)); err != nil {
			return fmt.Errorf("cannot store %d bytes: %w", len(data), err)
		}
	}
}

// getBlob writes the bytes to w, at most max. It trusts neither what b says nor what is on the server.
// retry is asked after each failure, and says whether to try again.
func (c *conn) getBlob(ctx context.Context, stream, under string, b blob, w io.Writer, max int64,
	retry func(context.Context, error) error,
) error {
	if b.Size > max {
		return fmt.Errorf("%w: it has %d bytes, and may have %d", ErrTooLarge, b.Size, max)
	}
	sum, left := sha256.New(), max
	for n := range b.Chunks {
		data, err := c.getMessage(ctx, stream, under+strconv.Itoa(n))
		for err != nil {
			if err := retry(ctx, err); err != nil {
				return err
			}
			data, err = c.getMessage(ctx, stream, under+strconv.Itoa(n))
		}
		left -= int64(len(data))
		if left < 0 || len(data) == 0 {
			return fmt.Errorf("%w: it has more bytes than it says", ErrTooLarge)
		}
		sum.Write(data)
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	if hex.EncodeToString(sum.Sum(nil)) != b.Sum {
		return ErrOther
	}
	return nil
}

// getMessage returns the last message of a subject. Unlike a method of jetstream, it needs no right but that to read
// this subject.
func (c *conn) getMessage(ctx context.Context, stream, subject string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	msg, err := c.nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET."+stream+"."+subject, nil)
	switch {
	case err != nil:
		return nil, plainly(err)
	case msg.Header.Get("Status") != "":
		return nil, fmt.Errorf("%w: %s", ErrMissing, msg.Header.Get("Description"))
	}
	return msg.Data, nil
}

// HasBase reports whether something is stored under a name, and all of it. A server that lost its data while it was
// stored may have a part. While the server is away it asks on, until ctx ends.
func (c *Coordinator) HasBase(ctx context.Context, name string) (bool, error) {
	again := c.conn.again(cannotStore)
	for {
		has, err := c.conn.hasBase(ctx, name)
		if err == nil || again(ctx, err) != nil {
			return has, err
		}
	}
}

// hasBase is one try of HasBase.
func (c *conn) hasBase(ctx context.Context, name string) (bool, error) {
	text, err := c.getMessage(ctx, c.bases(), c.base(name)+"info")
	if errors.Is(err, ErrMissing) {
		return false, nil
	}
	var b blob
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return false, err
	}
	stored, err := c.subjects(ctx, c.bases(), c.base(name))
	return len(stored) > b.Chunks, err
}

const cannotStore = "what a session begins with cannot be stored"

// PutBase stores what workers begin with, under a name that says what it is, in the place of what has the name: parts
// of two would look whole. While the server is away it tries on, until ctx ends.
func (c *Coordinator) PutBase(ctx context.Context, name string, r io.Reader) error {
	under := c.conn.base(name)
	again := c.conn.again(cannotStore)
	retry := func(err error) error { return again(ctx, err) }
	for err := c.DropBase(ctx, name); err != nil; err = c.DropBase(ctx, name) {
		if err := retry(err); err != nil {
			return err
		}
	}
	b, err := c.conn.putBlob(ctx, under, r, retry)
	if err != nil {
		return err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return c.conn.putMessage(ctx, under+"info", text, retry) // the last one: without it there is no base
}

// DropBase deletes a base.
func (c *Coordinator) DropBase(ctx context.Context, name string) error {
	return c.conn.drop(ctx, c.conn.bases(), c.conn.base(name))
}

// Base writes one of the job's bases to w.
func (c *Claim) Base(ctx context.Context, name string, w io.Writer) error {
	conn := c.worker.conn
	text, err := conn.getMessage(ctx, conn.bases(), conn.base(name)+"info")
	if err != nil {
		return err
	}
	var b blob
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	once := func(_ context.Context, err error) error { return err } // the feature is given back, and offered again
	return conn.getBlob(ctx, conn.bases(), conn.base(name), b, w, MaxWork, once)
}

// drop deletes the messages below a subject.
func (c *conn) drop(ctx context.Context, stream, under string) error {
	s, err := c.js.Stream(ctx, stream)
	if err != nil {
		return plainly(err)
	}
	return plainly(s.Purge(ctx, jetstream.WithPurgeSubject(under+">")))
}

// holders returns who has bytes among the works.
func (c *conn) holders(ctx context.Context) (map[string]bool, error) {
	stored, err := c.subjects(ctx, c.works(), c.subject("done"))
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for subject := range stored {
		rest := strings.TrimPrefix(subject, c.subject("done"))
		if end := strings.LastIndexByte(rest, '.'); end > 0 {
			all[rest[:end]] = true
		}
	}
	return all, nil
}

// subjects returns the subjects of a stream below one of them, each with its number of messages.
func (c *conn) subjects(ctx context.Context, stream, under string) (map[string]uint64, error) {
	s, err := c.js.Stream(ctx, stream)
	if err != nil {
		return nil, plainly(err)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(under+">"))
	if err != nil {
		return nil, plainly(err)
	}
	return info.State.Subjects, nil
}
