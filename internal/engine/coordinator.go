package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Coordinator offers the features of one loop to workers, and gets their work. There is one for a loop at a time: it is
// the process that holds the loop's lock.
type Coordinator struct {
	opts   Options
	conn   *conn
	home   *home
	server *server // nil: a person runs it
	leader leader
	out    chan Submission
	wake   chan struct{} // a submission waits
	ctx    context.Context
	end    context.CancelCauseFunc
	gone   sync.WaitGroup

	again atomic.Bool // there was a reconnect

	mu    sync.Mutex // guards what follows
	jobs  map[string]*job
	ready []submitted
}

// job is what this coordinator wants of a feature, and what it knows.
type job struct {
	wish
	turn    sync.Mutex // orders what is written for the feature; nothing else is locked after Coordinator.mu
	settled int        // the version that the server has
	seen    sight
	drops   map[string]int // how often each worker's process has given it back in this session
	trouble string         // what people are to be told; "": nothing
}

// wish is what must be true of a feature.
type wish struct {
	Job
	want    string // the state: open, returned, withdrawn or merged
	attempt int
	why     string
	commit  string
	not     []string // the processes of workers that do not get it again
	handed  int      // the attempt whose submission was handed out
	fresh   bool     // nobody has looked at the server yet
	version int      // raised at each change
}

// sight is a record as the coordinator has seen it.
type sight struct {
	record
	rev   uint64
	moved time.Time // when this revision was seen first
	since time.Time // when this state and holder were seen first
}

// Submission is work that a worker has done. Nothing of it is proven.
type Submission struct {
	Feature string
	Attempt int
	Worker  string // with credentials of ours: who stored the bytes of the bundle
	Machine string
	Report  []byte
	Size    int64 // of the bundle, in bytes, as the worker says
	conn    *conn
	holder  string
	work    blob
}

// Bundle writes the work to w. The error is ErrTooLarge if it has more than max bytes, and ErrMissing if not all of it
// is there.
func (s Submission) Bundle(ctx context.Context, w io.Writer, max int64) error {
	if s.holder == "" {
		return fmt.Errorf("%w: the worker has named none", ErrMissing)
	}
	return s.conn.getBlob(ctx, s.conn.works(), s.conn.work(s.holder), s.work, w, max,
		s.conn.again("the work on "+s.Feature+" cannot be read"))
}

// Holder says who has a feature.
type Holder struct {
	Feature string    `json:"feature"`
	Attempt int       `json:"attempt"`
	Worker  string    `json:"worker"`
	Machine string    `json:"machine"`
	State   string    `json:"state"` // "claimed" or "submitted"
	Since   time.Time `json:"since"` // when this process saw it first
}

// Attempt returns at which attempt a feature is; 0: it is not offered. It is raised whenever the feature is offered
// again.
func (c *Coordinator) Attempt(feature string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.jobs[feature]; k != nil && k.want == stateOpen {
		return k.attempt
	}
	return 0
}

// Submissions hands out work, each attempt once. It is closed when the coordinator ends; Err says why.
func (c *Coordinator) Submissions() <-chan Submission { return c.out }

// Err returns why the coordinator has ended, or nil if it works.
func (c *Coordinator) Err() error { return context.Cause(c.ctx) }

// Offer lets workers take a job. A feature that is offered already stays as it is, unless the job asks for a higher
// attempt: then the worker that has it loses it. Each call after GiveBack, Withdraw and Accept opens the next attempt.
// The error is that of the first try: the offer stands, and the coordinator tries on.
func (c *Coordinator) Offer(ctx context.Context, j Job) error {
	if err := j.checked(); err != nil {
		return err
	}
	c.mu.Lock()
	k := c.jobs[j.Feature]
	switch {
	case k == nil:
		k = &job{wish: wish{attempt: 1, fresh: true}}
		c.jobs[j.Feature] = k
	case k.want != stateOpen:
		k.attempt++
		k.drops, k.not = nil, nil
	}
	k.Job = j
	k.want = stateOpen
	k.why = ""
	k.attempt = max(k.attempt, j.Attempt)
	k.version++
	c.mu.Unlock()
	return c.settle(ctx, k)
}

// Withdraw takes a job back, also one that an earlier coordinator has offered. Who works on it loses it.
func (c *Coordinator) Withdraw(ctx context.Context, feature string) error {
	c.mu.Lock()
	if c.jobs[feature] == nil {
		c.jobs[feature] = &job{wish: wish{Job: Job{Feature: feature}, attempt: 1, fresh: true}}
	}
	c.mu.Unlock()
	return c.decide(ctx, feature, 0, func(k *job) { k.want = stateWithdrawn })
}

// Accept says that the work of an attempt is merged. The error is that of the first try, as for Offer.
func (c *Coordinator) Accept(ctx context.Context, feature string, attempt int, commit string) error {
	return c.decide(ctx, feature, attempt, func(k *job) { k.want, k.commit = stateMerged, commit })
}

// GiveBack says that the work of an attempt will not be merged, and why. The next Offer opens the next attempt.
func (c *Coordinator) GiveBack(ctx context.Context, feature string, attempt int, why string) error {
	return c.decide(ctx, feature, attempt, func(k *job) { k.want, k.why = stateReturned, fmt.Sprintf("%.2000s", why) })
}

// decide changes what is wanted of a feature. The attempt must be the one that is open; 0: any.
func (c *Coordinator) decide(ctx context.Context, feature string, attempt int, change func(*job)) error {
	c.mu.Lock()
	k := c.jobs[feature]
	switch {
	case k == nil:
		c.mu.Unlock()
		return fmt.Errorf("%s was not offered", feature)
	case attempt != 0 && k.attempt != attempt:
		c.mu.Unlock()
		return fmt.Errorf("attempt %d of %s is over: it is at attempt %d", attempt, feature, k.attempt)
	}
	change(k)
	k.version++
	c.mu.Unlock()
	return c.settle(ctx, k)
}

// Waiting returns how many jobs are offered that no worker has. Offer only what can be taken soon.
func (c *Coordinator) Waiting() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.jobs {
		if k.want == stateOpen && !k.seen.held() {
			n++
		}
	}
	return n
}

// Holders returns who has what, in the order of the features. The server tells it of a claim soon after the worker.
func (c *Coordinator) Holders() (all []Holder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for feature, k := range c.jobs {
		if s := k.seen; k.want == stateOpen && s.held() {
			all = append(all, Holder{feature, s.Attempt, s.worker(), s.Machine, s.State, s.since})
		}
	}
	slices.SortFunc(all, func(a, b Holder) int { return strings.Compare(a.Feature, b.Feature) })
	return all
}

// Close ends the coordinator and its server. What is on the server stays there.
func (c *Coordinator) Close() error {
	c.end(errors.New("the coordinator was closed"))
	c.gone.Wait()
	c.conn.nc.Close()
	if c.server != nil {
		c.server.stop()
	}
	return c.home.Close()
}
