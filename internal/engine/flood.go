package engine

import (
	"fmt"
	"slices"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// The run shuts out a worker that sends more messages than an honest one needs, whatever they are, or sends and gets
// more bytes: each costs the run time or memory. Only the server in this program counts them.
const (
	// How many parts of a bundle one process stores or fetches in a second: 12.5 MB.
	partsPerSecond = 25

	// How many messages all processes of a worker may send in a second: twice what they need for parts. They may send
	// and get as many bytes as that many parts have.
	mostPerSecond = 2 * maxConnections * partsPerSecond

	// How many bytes the server keeps for a connection that does not read them.
	maxUnread = 32 << 20

	// How many connections the server has at most, also of those who have no credential. Each takes a file of the run's.
	maxClients = 1000
)

// floodLooks is how often in a second the run looks what each worker has sent.
const floodLooks = 4

// traffic is what an account had sent and got at some time.
type traffic struct {
	at    time.Time
	sent  int64 // messages
	bytes int64 // of those that it has sent or got
}

// watchFloods shuts out who sends too much within a second, or gets too much. It does not wait for the rounds, which a
// flood slows down.
func (c *Coordinator) watchFloods() {
	most := mostPerSecond + mostAsks*beatsPerLease/c.opts.Lease.Seconds()
	last := map[string][]traffic{} // of each worker, those of the last second
	for pause(c.ctx, time.Second/floodLooks) == nil {
		flooded := false
		for _, name := range c.heard(func(*speaker) bool { return true }) {
			is := c.server.trafficOf(c.conn.from(name))
			all := append(last[name], is)
			all = all[max(0, len(all)-1-floodLooks):]
			last[name] = all
			took := max(1, is.at.Sub(all[0].at).Seconds()) // more than a second if this process was kept from it
			sent := float64(is.sent-all[0].sent) / took
			bytes := float64(is.bytes-all[0].bytes) / took
			if sent <= most && bytes <= most*chunk {
				continue
			}
			flooded = true
			c.mu.Lock()
			if w := c.workers[name]; !w.banned {
				c.ban(name, w, fmt.Sprintf("it has sent %.0f messages in a second, and %.0f MB went to and fro",
					sent, bytes/1e6))
			}
			c.unlock()
		}
		if !flooded {
			continue
		}
		left, err := c.revoke()
		if err == nil {
			err = c.server.admit(left)
		}
		if err != nil { // the next round does it
			c.opts.Log(err.Error())
		}
	}
}

// heard returns the workers of whom is holds, and who are not shut out.
func (c *Coordinator) heard(is func(*speaker) bool) (names []string) {
	c.mu.Lock()
	defer c.unlock()
	for name, w := range c.workers {
		if !w.banned && is(w) {
			names = append(names, name)
		}
	}
	return names
}

// revoke takes the keys of those who are banned, so that no later process of the run lets them in. It returns who is
// left.
func (c *Coordinator) revoke() (about, error) {
	is, err := read(c.opts.Dir)
	if err != nil || !slices.ContainsFunc(is.Workers, c.isBanned) {
		return is, err
	}
	return change(c.opts.Dir, func(a *about) error {
		for i := range a.Workers {
			if c.isBanned(a.Workers[i]) {
				a.Workers[i].Key = ""
			}
		}
		return nil
	})
}

// isBanned reports whether a worker is banned that has this key: with another one it begins anew.
func (c *Coordinator) isBanned(one worker) bool {
	c.mu.Lock()
	defer c.unlock()
	w := c.workers[one.Name]
	return w != nil && w.banned && w.key == one.Key
}

// trafficOf returns what an account has sent and got since the server knows it.
func (s *server) trafficOf(account string) traffic {
	is := traffic{at: time.Now()}
	s.mu.Lock()
	now := s.now
	s.mu.Unlock()
	if now == nil {
		return is
	}
	all, err := now.AccountStatz(&natsserver.AccountStatzOptions{Accounts: []string{account}, IncludeUnused: true})
	if err == nil && len(all.Accounts) > 0 {
		is.sent = all.Accounts[0].Received.Msgs
		is.bytes = all.Accounts[0].Received.Bytes + all.Accounts[0].Sent.Bytes
	}
	return is
}
