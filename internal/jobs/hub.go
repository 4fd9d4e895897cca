package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Hub gives jobs to workers, and takes their work. There is one for a loop: the process that has the folder's lock.
type Hub struct {
	opts       Options
	lock       *os.File // of the folder
	nc         *nats.Conn
	server     *server // nil: a person runs it
	ctx        context.Context
	end        context.CancelFunc
	background sync.WaitGroup

	mu          sync.Mutex // guards what follows, and is locked after Offer.turn
	offers      map[string]*Offer
	claims      map[string]*claim   // by id
	acceptedIDs map[string]struct{} // the ids of claims that are over, and whose work the run has
	free        []*Offer            // that workers may take, the oldest first
	asks        []*ask              // for jobs, the oldest first
	workers     map[string]*peer
	live        time.Time // since when workers can be heard
	news        []string  // what people are to be told
}

// Offer is a job that workers may take, or have taken.
type Offer struct {
	Job
	Done chan Submission // the work: once for each claim

	hub       *Hub
	old       bool               // it goes on with a claim of an earlier process, and nobody else may take it
	save      func(*Claim) error // has the run save who has the job; nil: the run has not said whether it goes on with it
	turn      sync.Mutex         // orders what is saved
	withdrawn bool               // it is withdrawn

	attempt int
	claim   *claim // nil: nobody has it
}

// claim is a Claim that counts.
type claim struct {
	Claim
	offer    *Offer
	saved    bool          // the run has saved it
	lastSeen time.Time     // when its worker was heard last
	hasWork  bool          // the work is there
	end      chan struct{} // is closed when the claim is over
}

// ask is a question for a job.
type ask struct {
	message
	worker *peer
	reply  chan *claim // gets one claim at most
}

// peer is a worker that may come.
type peer struct {
	worker
	sub        *nats.Subscription // nil: it is muted
	mutedUntil time.Time
	open       int // how many of its questions wait for an answer
	rest
}

// Open opens the engine of a run. With Embedded it starts a server. The error is ErrLocked if another process has the
// folder.
func Open(ctx context.Context, o Options) (*Hub, error) {
	o = o.withDefaults()
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	h := &Hub{
		opts: o, lock: lock, offers: map[string]*Offer{}, claims: map[string]*claim{}, acceptedIDs: map[string]struct{}{},
		workers: map[string]*peer{},
	}
	h.ctx, h.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.live = time.Now()
	h.background.Go(h.watch)
	return h, nil
}

// lockFolder keeps other hubs out of a folder.
func lockFolder(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := loopdir.LockFile(filepath.Join(dir, "lock"), loopdir.KilledTime)
	if errors.Is(err, loopdir.ErrLocked) {
		err = fmt.Errorf("%w: it has the folder %s", ErrLocked, dir)
	}
	return lock, err
}

// open prepares the folder, connects, and listens to the workers.
func (h *Hub) open(ctx context.Context) (err error) {
	if err := h.clear(); err != nil {
		return err
	}
	for _, c := range h.opts.Claims {
		o := &Offer{Job: Job{Feature: c.Feature}, Done: make(chan Submission, 1), hub: h, old: true, attempt: c.Attempt}
		h.offers[c.Feature] = o
		h.give(o, c).saved = true
	}
	for _, id := range h.opts.AcceptedIDs {
		h.acceptedIDs[id] = struct{}{}
	}
	is, err := change(h.opts.Dir, func(a *about) error { return a.setName(h.opts.Loop) })
	if err != nil {
		return err
	}
	h.opts.Loop = is.Name
	enter := h.external
	if h.opts.URL == Embedded {
		enter = h.startServer
	}
	if err := enter(ctx, &is); err != nil {
		return err
	}
	is, err = change(h.opts.Dir, func(a *about) error {
		is.Workers = a.Workers // there may be new ones
		*a = is
		return nil
	})
	if err == nil {
		err = h.admit(is)
	}
	return err
}

// filesDir is the folder of what jobs begin with. The names of work that arrives begin with workMark.
const (
	filesDir = "files"
	workMark = "work-"
)

// clear removes what was left of work that did not arrive whole, which its worker has, and what jobs of another run
// began with.
func (h *Hub) clear() error {
	entries, err := os.ReadDir(h.opts.Dir)
	if loopdir.Absent(err) {
		err = nil
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), workMark) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(h.opts.Dir, entry.Name())))
		}
	}
	if len(h.opts.Claims) == 0 {
		err = errors.Join(err, os.RemoveAll(h.Path("")))
	}
	return errors.Join(err, os.MkdirAll(h.Path(""), 0o700))
}

// Path returns where a file is that jobs begin with. A job names it in its body.
func (h *Hub) Path(file string) string { return filepath.Join(h.opts.Dir, filesDir, file) }

// Address returns what a worker types.
func (h *Hub) Address() string { return h.opts.URL }

// Close ends the hub and its server. Workers keep what they have.
func (h *Hub) Close() error {
	h.end()
	h.background.Wait()
	if h.nc != nil {
		h.nc.Close()
	}
	if h.server != nil && h.server.Server != nil {
		h.server.stop()
	}
	return h.lock.Close()
}

// unlock unlocks h.mu, and tells people what is new.
func (h *Hub) unlock() {
	news := h.news
	h.news = nil
	h.mu.Unlock()
	for _, text := range news {
		h.opts.Log(text)
	}
}

func (h *Hub) say(format string, args ...any) { h.news = append(h.news, fmt.Sprintf(format, args...)) }

// Offer lets workers take a job, as the next attempt. Whoever has it loses it. save is called with each new claim, and
// no worker hears of a claim before it returns nil. It is called with nil when nobody has the job any more.
func (h *Hub) Offer(j Job, save func(*Claim) error) (*Offer, error) {
	switch {
	case j.Feature == "" || len(j.Feature) > 256:
		return nil, fmt.Errorf("a feature's name must have 1 to 256 bytes, and has %d", len(j.Feature))
	case len(j.Body) > MaxBody:
		return nil, fmt.Errorf("the job of %s has %d bytes, and may have %d", j.Feature, len(j.Body), MaxBody)
	}
	o := &Offer{Job: j, Done: make(chan Submission, 1), hub: h, save: save}
	h.mu.Lock()
	old := h.offers[j.Feature]
	h.unlock()
	if old != nil {
		old.End(false)
		o.attempt = old.attempt
	}
	h.mu.Lock()
	defer h.unlock()
	h.offers[j.Feature] = o
	h.free = append(h.free, o)
	h.assign()
	return o, nil
}

// Resume returns the offer of a claim that an earlier process of the run has saved; nil: the claim is lost. Nobody else
// gets the job.
func (h *Hub) Resume(feature string, save func(*Claim) error) *Offer {
	h.mu.Lock()
	defer h.unlock()
	o := h.offers[feature]
	if o == nil || o.claim == nil || !o.old {
		return nil
	}
	o.save = save
	return o
}

// Leave withdraws a job, unless the run has said that it goes on with it.
func (h *Hub) Leave(feature string) {
	h.mu.Lock()
	o := h.offers[feature]
	h.unlock()
	if o != nil && o.save == nil {
		o.End(false)
	}
}

// End withdraws a job. kept says that the run has saved what its worker has done. When it has returned, save is not
// called any more.
func (o *Offer) End(kept bool) {
	o.turn.Lock()
	defer o.turn.Unlock()
	o.hub.mu.Lock()
	defer o.hub.unlock()
	if o.claim != nil && kept {
		o.hub.acceptedIDs[o.claim.ID] = struct{}{}
	}
	o.withdrawn = true
	o.hub.release(o)
	o.hub.free = slices.DeleteFunc(o.hub.free, func(one *Offer) bool { return one == o })
	if o.hub.offers[o.Feature] == o {
		delete(o.hub.offers, o.Feature)
	}
}

// Claim returns who has the job; nil: nobody has.
func (o *Offer) Claim() *Claim {
	o.hub.mu.Lock()
	defer o.hub.unlock()
	if o.claim == nil || !o.claim.saved {
		return nil
	}
	c := o.claim.Claim
	return &c
}

// Refuse says that what a worker has done, or has not done for long, makes no sense. The job is offered again.
func (o *Offer) Refuse(c Claim, why string) {
	o.hub.mu.Lock()
	defer o.hub.unlock()
	if o.claim == nil || o.claim.ID != c.ID {
		return
	}
	state := "claimed"
	if o.claim.hasWork {
		state = "submitted"
	}
	o.hub.say("%s on %s has %s in a way that makes no sense, which counts for nothing: %s", c.Worker(), c.Machine, state,
		why)
	o.hub.vain(o.claim)
	o.hub.lose(o)
}

// give makes a claim. The caller holds h.mu.
func (h *Hub) give(o *Offer, is Claim) *claim {
	c := &claim{Claim: is, offer: o, lastSeen: time.Now(), end: make(chan struct{})}
	o.claim = c
	h.claims[c.ID] = c
	return c
}

// release takes a job from its worker. The caller holds h.mu.
func (h *Hub) release(o *Offer) {
	c := o.claim
	if c == nil {
		return
	}
	o.claim = nil
	delete(h.claims, c.ID)
	close(c.end)
	_ = os.Remove(h.work(c))
	select {
	case <-o.Done: // nobody has taken it
	default:
	}
}

// lose is release for a job that another worker may take. The caller holds h.mu.
func (h *Hub) lose(o *Offer) {
	h.release(o)
	if !o.old {
		h.free = append(h.free, o)
		h.assign()
	}
	go func() { _ = o.tell() }()
}

// work returns the path of what has arrived for a claim.
func (h *Hub) work(c *claim) string { return filepath.Join(h.opts.Dir, workMark+c.ID) }

// tell has the run save who has the job now. A claim that cannot be saved is lost.
func (o *Offer) tell() error {
	o.turn.Lock()
	defer o.turn.Unlock()
	h := o.hub
	h.mu.Lock()
	c, save := o.claim, o.save
	nothing := o.withdrawn || save == nil || c != nil && c.saved
	h.unlock()
	if nothing {
		return nil
	}
	if c == nil {
		return save(nil)
	}
	is := c.Claim
	err := save(&is)
	h.mu.Lock()
	defer h.unlock()
	switch {
	case err == nil:
		c.saved = true
		c.lastSeen = time.Now()
	case o.claim == c:
		h.release(o)
		h.free = append(h.free, o)
	}
	return err
}

// assign gives what is free to those who ask, first come, first served. The caller holds h.mu.
func (h *Hub) assign() {
	for _, a := range slices.Clone(h.asks) {
		if len(h.free) == 0 {
			return
		}
		if a.worker.rests() || h.has(a.worker.Name) >= MaxClaims {
			continue
		}
		o := h.free[0]
		h.free = h.free[1:]
		h.forget(a.Claim)
		o.attempt++
		a.reply <- h.give(o, Claim{
			Feature: o.Feature, ID: a.Claim, Attempt: o.attempt, Since: time.Now(),
			Machine: cmp.Or(plain.Line(a.Machine, 80), "a machine without a name"),
		})
	}
}

// has returns how many jobs a worker has. The caller holds h.mu.
func (h *Hub) has(worker string) (n int) {
	for _, c := range h.claims {
		if c.Worker() == worker {
			n++
		}
	}
	return n
}
