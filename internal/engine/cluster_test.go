package engine

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// cluster is three servers that a person runs, each with a folder of its own.
type cluster struct {
	opts    []*natsserver.Options
	servers []*natsserver.Server
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{servers: make([]*natsserver.Server, 3)}
	var routes []*url.URL
	for i := range c.servers {
		o := &natsserver.Options{
			ServerName: fmt.Sprint("s", i), Host: "127.0.0.1", Port: freePort(t), NoSigs: true, NoLog: true, JetStream: true,
			StoreDir: t.TempDir(), SyncAlways: true,
			Cluster: natsserver.ClusterOpts{Name: "three", Host: "127.0.0.1", Port: freePort(t)},
		}
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprint("127.0.0.1:", o.Cluster.Port)})
		c.opts = append(c.opts, o)
	}
	for i, o := range c.opts {
		o.Routes = routes
		c.start(t, i)
	}
	t.Cleanup(func() {
		for _, s := range c.servers {
			s.Shutdown()
			s.WaitForShutdown()
		}
	})
	waitUntil(t, func() bool { return c.leader() >= 0 })
	return c
}

func (c *cluster) start(t testing.TB, i int) {
	t.Helper()
	s, err := natsserver.NewServer(c.opts[i].Clone())
	check(t, err)
	s.Start()
	c.servers[i] = s
	waitUntil(t, func() bool { return s.ReadyForConnections(time.Second) })
}

// leader returns which server leads, or -1.
func (c *cluster) leader() int {
	for i, s := range c.servers {
		if s.Running() && s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == 3 {
			return i
		}
	}
	return -1
}

func (c *cluster) urls() string {
	var all []string
	for _, o := range c.opts {
		all = append(all, fmt.Sprint("nats://127.0.0.1:", o.Port))
	}
	return strings.Join(all, ",")
}

// Of three servers one is ended again and again, the leader too. Each feature is merged once.
func TestCluster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("three servers take a while to agree")
	}
	three := newCluster(t)
	o := Options{URL: three.urls(), Loop: "tests", Lease: 2 * short, Dir: t.TempDir(), Log: logs(t)}
	c, err := Open(t.Context(), o)
	check(t, err)
	defer func() { check(t, c.Close()) }()
	const features = 40
	h := newHarness(t, features, c)
	h.faults = true
	var workers []*Worker
	for i := range 4 {
		k, err := Token(c.opts.Dir, "tests", o.URL, fmt.Sprint("w", i)) // for its stream; the servers let all in
		check(t, err)
		own := Options{URL: o.URL, Loop: k.Loop, Worker: k.Worker, Lease: o.Lease, Log: o.Log}
		w, err := Join(t.Context(), own)
		check(t, err)
		defer w.Close()
		workers = append(workers, w)
	}
	ended := 0
	h.run(workers, func(merged int) {
		if merged%10 != 5 {
			return
		}
		i := max(0, three.leader())
		three.servers[i].Shutdown()
		three.servers[i].WaitForShutdown()
		ended++
		three.start(t, i)
		waitUntil(t, func() bool { return three.leader() >= 0 })
	})
	t.Log(h.counts())
	if len(h.merged) != features || len(h.twice)+len(h.early) > 0 || ended == 0 {
		t.Errorf("features are lost, merged twice, or too early; %d servers were ended", ended)
	}
}
