//go:build faults && linux

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// network is a bridge of this machine, and network namespaces with a cable to it each.
type network struct {
	name   string
	subnet string
}

var networks atomic.Int64

// newNetwork makes a network. Without the right to make one, the test is skipped.
func newNetwork(t testing.TB) *network {
	number := networks.Add(1)
	n := &network{
		name:   fmt.Sprintf("rf%d-%d", os.Getpid()%100000, number),
		subnet: fmt.Sprintf("10.%d.%d", 64+os.Getpid()%128, number),
	}
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", n.name).Run() })
	for _, args := range [][]string{
		{"link", "add", n.name, "type", "bridge"},
		{"addr", "add", n.address(0) + "/24", "dev", n.name},
		{"link", "set", n.name, "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Skipf("needs the right to make network namespaces: ip %q: %v: %s", args, err, out)
		}
	}
	return n
}

// address returns that of a machine; 0: of the bridge, where the run is.
func (n *network) address(machine int) string { return fmt.Sprintf("%s.%d", n.subnet, machine+1) }

func (n *network) of(machine int) string    { return fmt.Sprintf("%s-%d", n.name, machine) }
func (n *network) cable(machine int) string { return fmt.Sprintf("%s.%d", n.name, machine) }

// add makes a machine's namespace, and its cable.
func (n *network) add(t testing.TB, machine int) error {
	ns, cable, end := n.of(machine), n.cable(machine), n.cable(machine)+"x"
	t.Cleanup(func() {
		_ = exec.Command("ip", "link", "del", cable).Run()
		_ = exec.Command("ip", "netns", "del", ns).Run()
	})
	for _, args := range [][]string{
		{"netns", "add", ns},
		{"link", "add", cable, "type", "veth", "peer", "name", end},
		{"link", "set", end, "netns", ns},
		{"link", "set", cable, "master", n.name, "up"},
		{"-n", ns, "addr", "add", n.address(machine) + "/24", "dev", end},
		{"-n", ns, "link", "set", end, "up"},
		{"-n", ns, "link", "set", "lo", "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %q: %w: %s", args, err, out)
		}
	}
	return nil
}

// cut cuts a machine's cable, or mends it. What is sent meanwhile is lost, and nobody is told.
func (n *network) cut(machine int, away bool) error {
	state := "up"
	if away {
		state = "down"
	}
	return exec.Command("ip", "link", "set", n.cable(machine), state).Run()
}

// apart puts the machines of a fleet into a network. Its engine, if it is embedded, listens there.
func (f *fleet) apart(t testing.TB, n *network) error {
	for i, m := range f.machines {
		if err := n.add(t, i+1); err != nil {
			return err
		}
		m.via = []string{"ip", "netns", "exec", n.of(i + 1)}
	}
	port, err := freePort()
	f.engine[len(f.engine)-1] = net.JoinHostPort(n.address(0), strconv.Itoa(port))
	return err
}

// TestFleetNetwork cuts the network of machines, one at a time and all at once, and heals it.
func TestFleetNetwork(t *testing.T) {
	fullRun(t)
	h := newHarness(t, "the workers' network cut past their lease")
	networkCut(h, "runner")
	h.control("fences nobody", func(c *harness) { networkCut(c, c.broken) })
}

func networkCut(h *harness, name string) {
	n := newNetwork(h)
	features, _ := fleetSize(h, 60)
	f, err := newFleet(h, name, 2*features, 3, time.Second)
	if err == nil {
		err = f.apart(h, n)
	}
	if err != nil {
		h.Fatal(err)
	}
	cuts := 0
	fleetTrial(h, f, "networks that are cut", func() int { return cuts }, func(ctx context.Context) {
		for round := range features / 4 {
			machines := []int{1 + round%3}
			if round%4 == 2 {
				machines = []int{1, 2, 3}
			}
			first := f.machines[machines[0]-1]
			if !until(ctx, first.inSession) || !pause(ctx, rand.N(500*time.Millisecond)) {
				return
			}
			f.note("cuts %v", machines)
			for _, i := range machines {
				cuts++
				if err := n.cut(i, true); err != nil {
					h.Error(err)
				}
			}
			pause(ctx, 5*lease/2)
			f.note("heals %v", machines)
			for _, i := range machines {
				if err := n.cut(i, false); err != nil {
					h.Error(err)
				}
			}
			pause(ctx, 2*time.Second)
		}
	})
}

// TestFleetPort cuts the connections of workers to the engine, so that they know it, one at a time and all at once.
func TestFleetPort(t *testing.T) {
	fullRun(t)
	h := newHarness(t, "the engine's port cut past the lease")
	portCut(h, "runner")
	h.control("fences nobody", func(c *harness) { portCut(c, c.broken) })
}

func portCut(h *harness, name string) {
	features, machines := fleetSize(h, 60)
	f, err := newFleet(h, name, 2*features, machines, time.Second)
	if err != nil {
		h.Fatal(err)
	}
	proxies, err := f.throughProxies(h)
	if err != nil {
		h.Fatal(err)
	}
	cuts := 0
	fleetTrial(h, f, "ports that are cut", func() int { return cuts }, func(ctx context.Context) {
		for round := range features / 4 {
			these := proxies[round%machines : round%machines+1]
			if round%4 == 2 {
				these = proxies
			}
			m := f.machines[round%machines]
			if !until(ctx, m.inSession) || !pause(ctx, rand.N(500*time.Millisecond)) {
				return
			}
			f.note("cuts %d ports", len(these))
			for _, p := range these {
				cuts++
				p.cut(true)
			}
			pause(ctx, 5*lease/2)
			f.note("opens them")
			for _, p := range these {
				p.cut(false)
			}
			pause(ctx, 2*time.Second)
		}
	})
}

// TestFleetTwice sends each question of a worker twice. The run does once what it asks.
func TestFleetTwice(t *testing.T) {
	fullRun(t)
	h := newHarness(t, "each request of a worker arrives twice")
	comesTwice(h, "runner")
	h.control("believes checks that fail", func(c *harness) { comesTwice(c, c.broken) })
}

func comesTwice(h *harness, name string) {
	features, machines := fleetSize(h, 200)
	f, err := newFleet(h, name, features, machines, 200*time.Millisecond)
	if err != nil {
		h.Fatal(err)
	}
	proxies, err := f.throughProxies(h)
	if err != nil {
		h.Fatal(err)
	}
	for _, p := range proxies {
		p.twice = true
	}
	count := func() int {
		n, err := repeated(proxies)
		h.result("messages that come twice", err)
		return n
	}
	fleetTrial(h, f, "messages that come twice", count)
}
