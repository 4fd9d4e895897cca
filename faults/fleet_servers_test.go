//go:build faults && linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"
)

// serverFault is something that happens to the servers of a cluster. The cluster is whole before it, and is whole again
// some time after it.
type serverFault struct {
	name string
	make func(ctx context.Context, c *cluster) error
}

var killed = []serverFault{
	{"a server is killed", func(ctx context.Context, c *cluster) error { return c.away(ctx, c.any()...) }},
	{"the leader is killed", func(ctx context.Context, c *cluster) error { return c.away(ctx, c.leading()...) }},
	{"a server loses its data", func(_ context.Context, c *cluster) error { return c.lose(c.any()...) }},
	{"all servers are killed", func(ctx context.Context, c *cluster) error { return c.away(ctx, c.servers...) }},
	{"all servers lose their data", func(_ context.Context, c *cluster) error { return c.lose(c.servers...) }},
	{"all servers lose their data, and nobody works", func(ctx context.Context, c *cluster) error {
		return c.loseAlone(ctx)
	}},
}

var filled = []serverFault{
	{"the disk of a server is full", func(ctx context.Context, c *cluster) error { return c.fill(ctx, c.any()...) }},
	{"the leader's disk is full", func(ctx context.Context, c *cluster) error { return c.fill(ctx, c.leading()...) }},
	{"all disks are full", func(ctx context.Context, c *cluster) error { return c.fill(ctx, c.servers...) }},
}

var cutOff = []serverFault{
	{"a server is cut off", func(ctx context.Context, c *cluster) error { return c.cut(ctx, c.any()...) }},
	{"the leader is cut off", func(ctx context.Context, c *cluster) error { return c.cut(ctx, c.leading()...) }},
	{"all servers are cut off", func(ctx context.Context, c *cluster) error { return c.cut(ctx, c.servers...) }},
}

// any returns one of the servers.
func (c *cluster) any() []*node { return c.servers[rand.IntN(3):][:1] }

// leading returns the server that leads.
func (c *cluster) leading() []*node { return []*node{c.leader()} }

// away kills servers, and starts them again after some leases.
func (c *cluster) away(ctx context.Context, these ...*node) (err error) {
	for _, n := range these {
		n.kill()
	}
	pause(ctx, 2*lease)
	for _, n := range these {
		err = errors.Join(err, c.start(n))
	}
	return err
}

// lose kills servers, and starts them again without their data.
func (c *cluster) lose(these ...*node) (err error) {
	for _, n := range these {
		n.kill()
		err = errors.Join(err, os.RemoveAll(n.store()))
	}
	for _, n := range these {
		err = errors.Join(err, c.start(n))
	}
	return err
}

// loseAlone has all servers lose their data while the workers are stopped: then the servers alone have what a session
// begins with.
func (c *cluster) loseAlone(ctx context.Context) error {
	for _, m := range c.of.machines {
		m.signal(syscall.SIGSTOP)
	}
	pause(ctx, 3*lease)
	err := c.lose(c.servers...)
	for _, m := range c.of.machines {
		m.signal(syscall.SIGCONT)
	}
	return err
}

// fill fills the disks of servers, and does some leases later what docs/fleet.md asks of a person: it makes room, and
// restarts them.
func (c *cluster) fill(ctx context.Context, these ...*node) (err error) {
	for _, n := range these {
		err = errors.Join(err, fill(n.onDisk("filler"), 0))
	}
	pause(ctx, 4*lease)
	for _, n := range these {
		if n.healthy() == nil {
			err = errors.Join(err, fmt.Errorf("the disk of %s is full, and it is healthy", n.name))
		}
		err = errors.Join(err, os.Remove(n.onDisk("filler")))
		n.kill()
	}
	for _, n := range these {
		err = errors.Join(err, c.start(n))
	}
	return err
}

// cut cuts the network of servers for some leases, and heals it.
func (c *cluster) cut(ctx context.Context, these ...*node) (err error) {
	for _, n := range these {
		err = errors.Join(err, c.net.cut(n.number, true))
	}
	pause(ctx, 2*lease+rand.N(8*lease))
	for _, n := range these {
		err = errors.Join(err, c.net.cut(n.number, false))
	}
	return err
}

// TestFleetCluster kills the servers of a cluster, which is three processes, while a run and its workers use it.
func TestFleetCluster(t *testing.T) {
	fullRun(t)
	h := newHarness(t, "servers killed, or without their data")
	clusterFaults(h, "runner", killed, false, nil)
	clusterStopped(h, "runner")
	h.control("fences nobody", func(c *harness) { clusterStopped(c, c.broken) })
	h.control("never sets its servers up again", func(c *harness) { clusterFaults(c, c.broken, killed[4:], false, nil) })
}

// TestFleetDisks fills the disks of a cluster's servers, and frees them.
func TestFleetDisks(t *testing.T) {
	fullRun(t)
	h := newHarness(t, "servers with a full disk")
	small := func(_ *cluster, n *node) error { return n.smallDisk(h) }
	clusterFaults(h, "runner", filled, true, small)
	h.control("gives up while its servers are away", func(h *harness) {
		clusterFaults(h, h.broken, filled[2:], true, func(_ *cluster, n *node) error { return n.smallDisk(h) })
	})
}

// TestFleetServersCut cuts the network of a cluster's servers, and heals it.
func TestFleetServersCut(t *testing.T) {
	fullRun(t)
	h := newHarness(t, "servers without a network")
	clusterFaults(h, "runner", cutOff, true, func(c *cluster, n *node) error { return c.apart(h, n) })
	h.control("gives up while its servers are away", func(h *harness) {
		clusterFaults(h, h.broken, cutOff[2:], true, func(c *cluster, n *node) error { return c.apart(h, n) })
	})
}

// clusterFaults has a run use a cluster, and breaks its servers. fenced is as for holds.
func clusterFaults(h *harness, name string, faults []serverFault, fenced bool, at func(*cluster, *node) error) {
	features := 180
	if h.broken != "" {
		features = 20
	}
	f, err := newFleet(h, name, features, 3, time.Second)
	if err != nil {
		h.Fatal(err)
	}
	if h.broken != "" {
		f.still = 40 * time.Second
	}
	c, err := newCluster(h, f, at)
	if err != nil {
		h.Fatal(err)
	}
	made := 0
	fleetTrial(h, f, "a cluster of three", fenced, func() int { return made }, func(ctx context.Context) {
		for at := f.merges() + 1; at < features-6; at = f.merges() + 1 {
			if !until(ctx, func() bool { return f.merges() >= at && c.whole() == nil }) {
				return
			}
			fault := faults[made%len(faults)]
			f.note("%s", fault.name)
			begin := time.Now()
			if err := fault.make(ctx, c); err != nil {
				h.Error(err)
			}
			made++
			f.note("that is over")
			over := time.Now()
			at = f.merges() + 2
			if until(ctx, func() bool { return f.merges() >= at }) {
				h.Logf("%s for %.1f s: two features are merged %.1f s later", fault.name, over.Sub(begin).Seconds(),
					time.Since(over).Seconds())
			}
		}
	})
	if h.broken == "" && made < len(faults) {
		h.Errorf("%d faults of %d were made before the end", made, len(faults))
	}
}

// clusterStopped stops workers past their lease, whose claims a cluster has.
func clusterStopped(h *harness, name string) {
	f, err := newFleet(h, name, 24, 3, time.Second)
	if err != nil {
		h.Fatal(err)
	}
	if _, err := newCluster(h, f, nil); err != nil {
		h.Fatal(err)
	}
	stops := 0
	fleetTrial(h, f, "a cluster of three", true, func() int { return stops }, func(ctx context.Context) {
		for ; stops < 4; stops++ {
			m := f.machines[stops%3]
			if !until(ctx, m.inSession) || !pause(ctx, rand.N(500*time.Millisecond)) {
				return
			}
			f.note("stops %s", m.name)
			m.signal(syscall.SIGSTOP)
			pause(ctx, 5*lease/2)
			m.signal(syscall.SIGCONT)
		}
	})
}
