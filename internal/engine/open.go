package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Open makes this process the coordinator of a loop. With Embedded it starts a server, too. The error is ErrLed if
// another process has the folder or coordinates the loop.
func Open(ctx context.Context, o Options) (*Coordinator, error) {
	o = o.filled()
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &Coordinator{
		opts: o, lock: lock, jobs: map[string]*job{}, dirty: map[*job]bool{}, workers: map[string]*speaker{},
		rung: make(chan struct{}, 1),
	}
	c.ctx, c.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := c.open(ctx); err != nil {
		c.end(err)
		if c.conn != nil {
			c.conn.nc.Close()
		}
		if c.server != nil {
			c.server.stop()
		}
		return nil, errors.Join(err, lock.Close())
	}
	c.gone.Go(c.run)
	if c.server != nil {
		c.gone.Go(c.watchFloods)
	}
	return c, nil
}

// lockFolder keeps other coordinators out of a folder. Two servers on one folder would both write, and lose half of it.
func lockFolder(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := loopdir.LockFile(filepath.Join(dir, "lock"), loopdir.KilledTime)
	if errors.Is(err, loopdir.ErrLocked) {
		err = fmt.Errorf("%w: it has the folder %s", ErrLed, dir)
	}
	return lock, err
}

// open starts the server, connects, makes what is missing, and takes up what an earlier process of the run has left.
func (c *Coordinator) open(ctx context.Context) error {
	enter := c.external
	if c.opts.URL == Embedded {
		enter = c.embedded
	}
	is, err := change(c.opts.Dir, func(a *about) error { return a.named(c.opts.Loop) })
	if err != nil {
		return err
	}
	c.opts.Loop = is.Name
	isNew := is.Run != c.opts.Run
	if err := enter(ctx, &is); err != nil {
		return err
	}
	c.heart.who = leader{Nonce: nonce(), Machine: c.opts.Machine}
	c.heart.beats.log = c.opts.Log
	c.heart.answers.log = c.opts.Log
	err = c.conn.start(ctx, func(ctx context.Context) error {
		err := c.conn.setUp(ctx)
		if err == nil {
			err = c.takeLead(ctx)
		}
		if err == nil {
			err = c.admitAll(ctx, true)
		}
		if err != nil || !isNew {
			return err
		}
		err = c.conn.clear(ctx, is.Workers)
		if err == nil {
			err = c.takeLead(ctx)
		}
		return err
	})
	if err == nil && !isNew {
		err = c.takeUp(ctx)
	}
	if err == nil {
		_, err = c.conn.nc.Subscribe(c.conn.bell("*"), c.ring)
	}
	if err == nil {
		_, err = c.conn.nc.Subscribe(c.conn.ask("*"), c.asked)
	}
	if err != nil {
		return err
	}
	_, err = change(c.opts.Dir, func(a *about) error {
		is.Workers = a.Workers // there may be new ones
		is.Run = c.opts.Run
		*a = is
		return nil
	})
	return err
}

// takeUp reads the orders of an earlier process of the run. What a worker has, or has done, stays with it. What nobody
// has is withdrawn: it may begin with a commit that is not the last one any more.
func (c *Coordinator) takeUp(ctx context.Context) error {
	err := c.conn.orders(ctx, func(feature string, o order, m message) {
		k := &job{
			order: o, feature: feature, rev: m.seq, left: o.State == stateOpen, moved: time.Now(),
			done: make(chan Submission, 1),
		}
		c.jobs[feature] = k
	})
	for more := true; more && err == nil; {
		more, err = c.hearAll(ctx)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	for _, k := range c.jobs {
		if k.left && k.Holder == "" {
			k.left = false
			c.close(k, stateOver)
		}
	}
	c.unlock()
	return c.settleAll(ctx)
}

// orders reads all orders.
func (c *conn) orders(ctx context.Context, each func(feature string, o order, m message)) error {
	seq := uint64(0)
	for {
		text, err := json.Marshal(asked{Seq: seq + 1, Next: c.subject("o.*")})
		if err != nil {
			return err
		}
		m, err := c.direct(ctx, c.stream(), text)
		if err != nil || m.seq == 0 {
			return err
		}
		seq = m.seq
		var o order
		feature, err := unkey(strings.TrimPrefix(m.subject, c.subject("o.")))
		if err == nil {
			err = json.Unmarshal(m.data, &o)
		}
		if err != nil {
			return fmt.Errorf("cannot read an order on the engine: %w", err)
		}
		each(feature, o, m)
	}
}

// embedded starts the server, and connects to it in this process.
func (c *Coordinator) embedded(ctx context.Context, is *about) (err error) {
	c.server, err = serve(ctx, c.opts.Dir, c.opts.Listen, *is, c.opts.Log)
	if err != nil {
		return err
	}
	is.Listen = c.server.address()
	is.Pin = ""
	is.Creds = ""
	is.Own = false
	scheme := "nats://"
	if tls := c.server.opts.TLSConfig; tls != nil {
		is.Pin = pinOf(tls.Certificates[0].Certificate[0])
		scheme = "tls://"
	}
	is.URL = scheme + instead(is.Listen, cmp.Or(c.opts.Machine, "127.0.0.1"))
	is.Local = scheme + instead(is.Listen, "127.0.0.1")
	c.opts.URL = is.URL
	options, err := Credential{Seed: is.Seed}.options()
	if err != nil {
		return err
	}
	c.conn, err = dial(c.opts, "", append(options, nats.InProcessServer(c.server), c.reconnected())...)
	return err
}

// external connects to a server that a person runs: with what the person has said, or with the key of the loop's runs,
// if the person has put that into the server's configuration.
func (c *Coordinator) external(ctx context.Context, is *about) error {
	o, options, err := c.opts.withCreds()
	if err != nil {
		return err
	}
	if o.Creds == "" && is.Own && is.URL == o.URL && len(is.Workers) > 0 {
		options, err = Credential{Seed: is.Seed}.options()
		if err != nil {
			return err
		}
	}
	is.URL, is.Local = o.URL, o.URL
	is.Creds = o.Creds
	is.Pin = ""
	is.Own = true
	c.conn, err = connect(ctx, o, append(options, c.reconnected())...)
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrNkeysNotSupported) {
		err = fmt.Errorf("%w; put what 'ralph-runner engine token' printed into the server's configuration, and "+
			"reload it", err)
	}
	return err
}

func (c *Coordinator) reconnected() nats.Option {
	return nats.ReconnectHandler(func(*nats.Conn) {
		c.opts.Log("connected again")
		c.again.Store(true)
	})
}

// Address returns what a worker types.
func (c *Coordinator) Address() string { return c.opts.URL }

// instead puts a host in the place of one that stands for all names of the machine.
func instead(address, host string) string {
	all, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(all); err != nil || all != "" && (ip == nil || !ip.IsUnspecified()) {
		return address
	}
	return net.JoinHostPort(host, port)
}
