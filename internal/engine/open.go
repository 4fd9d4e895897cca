package engine

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/engine/pin"
)

// Open makes this process the coordinator of a loop. With Embedded it starts a server, too. The error is ErrLed if
// another process has the folder or coordinates the loop.
func Open(ctx context.Context, o Options) (*Coordinator, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	h, err := openHome(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &Coordinator{
		opts: o, home: h, out: make(chan Submission), wake: make(chan struct{}, 1), jobs: map[string]*job{},
	}
	c.ctx, c.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := c.open(ctx); err != nil {
		c.end(err)
		c.gone.Wait()
		if c.conn != nil {
			c.conn.nc.Close()
		}
		if c.server != nil {
			c.server.stop()
		}
		return nil, errors.Join(err, h.Close())
	}
	c.conn.hurry(o.Lease)
	c.gone.Go(c.run)
	c.gone.Go(c.follow)
	c.gone.Go(c.deliver)
	return c, nil
}

// open starts the server, connects, and makes what is missing.
func (c *Coordinator) open(ctx context.Context) error {
	var is about
	if err := load(c.home.dir, aboutFile, &is); err != nil {
		return err
	}
	is.ID, is.Loop = cmp.Or(is.ID, nonce()), c.opts.Loop
	enter := c.external
	if c.opts.URL == Embedded {
		enter = c.embedded
	}
	if err := enter(ctx, &is); err != nil {
		return err
	}
	if err := c.conn.start(ctx, c.conn.setUp); err != nil {
		return err
	}
	c.leader.who = leaderRecord{Home: is.ID, Machine: c.opts.Machine, Nonce: nonce()}
	c.leader.rewatch = func() {}
	c.leader.beats.log = c.opts.Log
	c.leader.judges.log = c.opts.Log
	if err := c.lead(ctx); err != nil {
		return err
	}
	if is.Run != c.opts.Run {
		if err := c.conn.clear(ctx); err != nil {
			return err
		}
	}
	is.Run = c.opts.Run
	return save(c.home.dir, aboutFile, is)
}

// embedded starts the server, and connects to it in this process.
func (c *Coordinator) embedded(_ context.Context, is *about) error {
	seed, public, err := newSeed()
	if err != nil {
		return err
	}
	s, err := serve(c.home, names(c.opts.Loop), public, c.opts.Listen, is.Listen, c.opts.Log)
	if err != nil {
		return err
	}
	c.server = s
	c.gone.Go(func() { s.watch(c.ctx, min(time.Second, c.opts.Lease/4)) })
	is.Seed = seed
	is.Listen = s.address()
	is.Pin = ""
	is.Creds = ""
	is.Own = false
	is.URL, is.Local = "nats://"+reachable(is.Listen), "nats://"+local(is.Listen)
	if s.opts.TLSConfig != nil {
		is.Pin = pin.Of(s.opts.TLSConfig.Certificates[0].Certificate[0])
		is.URL, is.Local = "tls://"+reachable(is.Listen), "tls://"+local(is.Listen)
	}
	c.opts.URL = is.URL
	options, err := Credential{Seed: seed}.options()
	if err != nil {
		return err
	}
	c.conn, err = dial(c.opts, "", append(options, nats.InProcessServer(s), c.reconnected())...)
	return err
}

// external connects to a server that a person runs.
func (c *Coordinator) external(ctx context.Context, is *about) (err error) {
	o, options, err := c.opts.withCreds()
	if err != nil {
		return err
	}
	is.URL = o.URL
	is.Local = o.URL
	is.Creds = o.Creds
	is.Seed = ""
	is.Pin = ""
	is.Own = true
	options, err = c.enter(is, options)
	if err != nil {
		return err
	}
	c.conn, err = connect(ctx, o, append(options, c.reconnected())...)
	return stranger(err)
}

func (c *Coordinator) reconnected() nats.Option {
	return nats.ReconnectHandler(func(*nats.Conn) {
		c.opts.Log("connected again")
		c.again.Store(true)
	})
}

// Address returns what a worker types.
func (c *Coordinator) Address() string { return c.opts.URL }

// reachable returns an address with a name of this machine where it stands for all of its names.
func reachable(address string) string {
	name, err := os.Hostname()
	if err != nil {
		return address
	}
	return instead(address, name)
}

// local returns an address that this machine can connect to.
func local(address string) string { return instead(address, "127.0.0.1") }

// instead puts a host in the place of one that stands for all names of the machine.
func instead(address, host string) string {
	all, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(all); err != nil || all != "" && (ip == nil || !ip.IsUnspecified()) {
		return address
	}
	return net.JoinHostPort(host, port)
}
