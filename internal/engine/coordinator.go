package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// Coordinator offers the features of one loop to workers, and gets their work. There is one for a loop at a time: it is
// the process that holds the loop's lock.
type Coordinator struct {
	opts   Options
	conn   *conn
	lock   *os.File // of the folder
	server *server  // nil: a person runs it
	ctx    context.Context
	end    context.CancelCauseFunc
	gone   sync.WaitGroup

	again atomic.Bool // there was a reconnect
	heart heart

	mu      sync.Mutex // guards what follows
	jobs    map[string]*job
	dirty   map[*job]bool // the server does not know yet what they are
	workers map[string]*speaker
	free    []*job        // that are open and nobody has, the oldest first, and some that are so no more
	rung    chan struct{} // there is something to hear, or to hand out
	over    []string      // claims of which the server can forget all
	news    []string      // what people are to be told
}

// job is what this coordinator wants of a feature, and what it knows.
type job struct {
	order
	feature string
	turn    sync.Mutex      // orders what is written for the feature; nothing else is locked after Coordinator.mu
	rev     uint64          // of the order on the server; 0: there is none
	left    bool            // of an earlier process of the run, and nobody here waits for it
	said    word            // what the holder has said last, without what may be large
	seq     uint64          // its revision
	moved   time.Time       // when this revision, or the order, was seen first
	since   time.Time       // when the holder and its state were seen first
	fails   map[string]int  // how often each worker's process has given it back in this session
	not     []string        // processes of workers that leave it to others
	done    chan Submission // the work of the attempt, once
}

// speaker is a worker who may say something.
type speaker struct {
	key    string
	seq    uint64 // of what was heard last
	rings  bool   // there is more
	asks   []asker
	given  time.Time // when it was given a feature last
	rests  time.Time // until then it gets nothing
	vain   int       // how many of its sessions in a row came to nothing
	last   *job      // that feature
	odd    int       // how often it has done what an honest one does rarely
	lies   int       // how often what it handed in made no sense
	banned bool      // nobody listens
}

// asker is a claim for which a worker wants a feature.
type asker struct {
	question
	msg *nats.Msg // is answered
	at  time.Time
}

// Submission is work that a worker has done. Nothing of it is proven but who has handed it in.
type Submission struct {
	Feature string
	Attempt int
	Worker  string
	Machine string
	Since   time.Time // when this process saw first that the worker had it
	Report  []byte
	conn    *conn
	holder  string
	work    *blob
}

// Holder says who has a feature.
type Holder struct {
	Feature string    `json:"feature"` // its id
	Attempt int       `json:"attempt"` // how often it was given to a worker
	Worker  string    `json:"worker"`  // the name of its key
	Machine string    `json:"machine"` // on which it runs, as it says
	State   string    `json:"state"`   // "claimed" or "submitted"
	Since   time.Time `json:"since"`   // when this process saw it first
}

// unlock unlocks c.mu, and tells people what is new.
func (c *Coordinator) unlock() {
	news := c.news
	c.news = nil
	c.mu.Unlock()
	for _, text := range news {
		c.opts.Log(text)
	}
}

func (c *Coordinator) say(format string, args ...any) {
	c.news = append(c.news, fmt.Sprintf(format, args...))
}

// Attempt returns at which attempt a feature is; 0: it is not offered. It is raised whenever the feature is offered
// again.
func (c *Coordinator) Attempt(feature string) int {
	c.mu.Lock()
	defer c.unlock()
	if k := c.jobs[feature]; k != nil && k.State == stateOpen {
		return k.Attempt
	}
	return 0
}

// Done returns where the work on a feature that is offered comes: once for each attempt.
func (c *Coordinator) Done(feature string) <-chan Submission {
	c.mu.Lock()
	defer c.unlock()
	if k := c.jobs[feature]; k != nil {
		return k.done
	}
	return nil
}

// Err returns why the coordinator has ended, or nil if it works.
func (c *Coordinator) Err() error { return context.Cause(c.ctx) }

// Left reports whether a worker has a feature, or has done it, that an earlier process of this run has offered.
func (c *Coordinator) Left(feature string) bool {
	c.mu.Lock()
	defer c.unlock()
	return c.jobs[feature].isLeft()
}

// isLeft is Left for the feature's job. k may be nil.
func (k *job) isLeft() bool { return k != nil && k.left && k.State == stateOpen }

// Resume returns the body of the job that is Left. It stays with that worker.
func (c *Coordinator) Resume(feature string) (body []byte, has bool) {
	c.mu.Lock()
	defer c.unlock()
	k := c.jobs[feature]
	if !k.isLeft() {
		return nil, false
	}
	k.left = false
	return k.Body, true
}

// Offer lets workers take a job. A feature that is offered already stays as it is. After End it is the next attempt.
// The error is that of the first try: the offer stands, and the coordinator tries on.
func (c *Coordinator) Offer(ctx context.Context, j Job) error {
	switch {
	case j.Feature == "" || len(j.Feature) > 256:
		return fmt.Errorf("a feature's name must have 1 to 256 bytes, and has %d", len(j.Feature))
	case len(j.Body) > MaxBody:
		return fmt.Errorf("the job of %s has %d bytes, and may have %d", j.Feature, len(j.Body), MaxBody)
	}
	c.mu.Lock()
	k := c.jobs[j.Feature]
	if k == nil {
		k = &job{feature: j.Feature, done: make(chan Submission, 1)}
		c.jobs[j.Feature] = k
	}
	if k.State != stateOpen || k.left {
		k.left = false
		k.fails = nil
		k.Body = j.Body
		k.not = nil
		c.reopen(k)
	}
	c.unlock()
	return c.settle(ctx, k)
}

// reopen opens the next attempt of a job. The caller holds c.mu.
func (c *Coordinator) reopen(k *job) {
	c.close(k, stateOpen)
	k.Attempt++
	k.ID = nonce()
	k.Lease = c.opts.Lease
	k.Holder = ""
	k.said = word{}
	k.seq = 0
	select {
	case <-k.done: // nobody has taken it
	default:
	}
	c.free = append(c.free, k)
	c.wake()
}

// wake makes the coordinator hear and hand out at once.
func (c *Coordinator) wake() {
	select {
	case c.rung <- struct{}{}:
	default:
	}
}

// close ends an attempt. The caller holds c.mu.
func (c *Coordinator) close(k *job, state string) {
	k.State = state
	k.moved = time.Now()
	if k.Holder != "" {
		c.over = append(c.over, k.Holder)
	}
	c.dirty[k] = true
}

// End says that nobody shall work on a feature any more, or that its work is merged. The error is that of the first
// try, as for Offer.
func (c *Coordinator) End(ctx context.Context, feature string, merged bool) error {
	c.mu.Lock()
	k := c.jobs[feature]
	if k == nil || k.State != stateOpen {
		c.unlock()
		return nil
	}
	c.close(k, map[bool]string{true: stateMerged, false: stateOver}[merged])
	k.Body = nil
	k.not = nil
	c.unlock()
	return c.settle(ctx, k)
}

// A worker whose sessions come to nothing rests: after so many in a row, and twice as long after each more. The time of
// the session counts, so an agent that works for long, if in vain, need not rest.
const (
	maxVain   = 3
	firstRest = time.Minute
	mostRest  = 30 * time.Minute
)

// Judge says of a session that a worker has handed in whether anything came of it, and how long it took. A worker of
// which nothing comes, again and again, would use up the run's iterations, so it rests.
func (c *Coordinator) Judge(worker, machine string, useful bool, took time.Duration) {
	c.mu.Lock()
	defer c.unlock()
	w := c.workers[worker]
	if w == nil {
		return
	}
	w.vain++
	if useful {
		w.vain = 0
	}
	rest := min(firstRest<<min(max(0, w.vain-maxVain), 10), mostRest) - took
	if w.vain >= maxVain && rest > 0 {
		w.rests = time.Now().Add(rest)
		c.say("nothing came of %d sessions in a row of %s on %s, so it gets nothing for %s; look at that machine", w.vain,
			worker, machine, rest.Round(time.Second))
	}
}

// maxLies is how often a worker may hand in what makes no sense.
const maxLies = 3

// Refuse says that what the holder of an attempt has done makes no sense. The next attempt opens. A worker that does so
// again and again gets nothing more until a person makes it a new credential.
func (c *Coordinator) Refuse(ctx context.Context, feature string, attempt int, why string) error {
	c.mu.Lock()
	k := c.jobs[feature]
	if k == nil || k.State != stateOpen || k.Attempt != attempt || k.Holder == "" {
		c.unlock()
		return nil
	}
	name := workerOf(k.Holder)
	c.say("%s on %s has %s in a way that makes no sense, which counts for nothing: %s", name, k.said.Machine, k.said.State,
		why)
	c.reopen(k)
	if w := c.workers[name]; w != nil {
		w.lies++
		if w.lies == maxLies {
			c.ban(name, w, why)
		}
	}
	c.unlock()
	return c.settle(ctx, k)
}

// ban listens to a worker no more; revoke takes its key. The caller holds c.mu.
func (c *Coordinator) ban(name string, w *speaker, why string) {
	w.banned = true
	c.say("%s is shut out: %s; look at its machine, then make it a new credential with 'engine token %s'", name, why,
		name)
	c.over = append(c.over, name)
	for _, k := range c.jobs {
		if k.State == stateOpen && workerOf(k.Holder) == name {
			c.reopen(k)
		}
	}
}

// Holder returns who has begun a feature; no State: nobody. The server tells it of a claim soon after the worker.
func (c *Coordinator) Holder(feature string) (h Holder) {
	c.mu.Lock()
	defer c.unlock()
	if k := c.jobs[feature]; k != nil && k.State == stateOpen && k.Holder != "" && k.seq > 0 {
		h = Holder{feature, k.Attempt, workerOf(k.Holder), k.said.Machine, k.said.State, k.since}
	}
	return h
}

// Close ends the coordinator and its server. What is on the server stays there.
func (c *Coordinator) Close() error {
	c.end(errors.New("the coordinator was closed"))
	c.gone.Wait()
	c.conn.nc.Close()
	if c.server != nil {
		c.server.stop()
	}
	return c.lock.Close()
}
