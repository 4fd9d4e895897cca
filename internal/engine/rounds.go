package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// heart shows that a coordinator lives, and that the server takes what it writes. Of two coordinators the newer one
// writes, and the older one ends.
type heart struct {
	who     leader
	rev     uint64    // of the last beat
	last    time.Time // of the last round
	live    time.Time // since when the server has taken all beats; zero: it does not
	ill     int       // rounds in a row that failed
	lost    bool      // the server has lost its data, and not all of it is there again
	keys    []string  // of the workers whom our server lets in
	beats   teller
	answers teller
}

type leader struct {
	Nonce   string `json:"nonce"`
	Machine string `json:"machine"` // for people
	Beats   int    `json:"n"`
}

// run beats, hears and judges until the coordinator ends.
func (c *Coordinator) run() {
	t := time.NewTicker(min(2*time.Second, max(c.opts.Lease/8, time.Millisecond)))
	defer t.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.rung:
			more, err := c.hearAll(c.ctx)
			if err == nil { // if it fails, the next round says why
				_ = c.handOut(c.ctx)
			}
			if more {
				c.wake()
			}
		case <-t.C:
			c.tick()
		}
	}
}

// tick is one round of run. A round that comes late, as after a suspension, begins a new time of life: nobody is
// judged by the time before it.
func (c *Coordinator) tick() {
	h := &c.heart
	late := time.Since(h.last) > c.opts.Lease/2
	h.last = time.Now()
	if c.server != nil {
		if c.server.guard(h.ill > 1) {
			h.ill = 0
		}
	}
	err := c.beat()
	h.beats.tell(err)
	switch {
	case errors.Is(err, ErrLed):
		c.end(err)
		return
	case err != nil:
		h.live = time.Time{}
	default:
		if late || h.live.IsZero() {
			h.live = time.Now()
		}
		err = c.round()
		h.answers.tell(err)
	}
	switch {
	case err == nil:
		h.ill = 0
	case c.conn.nc.IsConnected():
		h.ill++
	}
}

// round listens to all workers, those too that are new, and looks at each job.
func (c *Coordinator) round() error {
	if err := c.admitAll(c.ctx, false); err != nil {
		return err
	}
	c.mu.Lock()
	for _, w := range c.workers {
		w.rings = !w.banned // the bell may have been lost
	}
	c.unlock()
	more, err := c.hearAll(c.ctx)
	if err != nil {
		return err
	}
	if more {
		c.wake()
	}
	if err := c.judge(); err != nil {
		return err
	}
	return c.handOut(c.ctx)
}

// beat shows that this coordinator lives, and makes the server right if it has lost something.
func (c *Coordinator) beat() error {
	if c.again.Swap(false) {
		err := c.restore()
		if err != nil {
			c.again.Store(true)
			return err
		}
	}
	ctx, cancel := context.WithTimeout(c.ctx, 2*c.conn.answer)
	defer cancel()
	err := c.lead(ctx)
	switch {
	case errors.Is(err, errLost):
		c.opts.Log("the server has lost its data; setting it up again")
		c.heart.lost = true
		err = c.restore()
		if err != nil {
			c.again.Store(true)
		}
		return err
	case err != nil && !errors.Is(err, ErrLed):
		c.again.Store(true)
	}
	return err
}

// lead writes one beat.
func (c *Coordinator) lead(ctx context.Context) error {
	h := &c.heart
	h.who.Beats++
	now, err := c.conn.putAs(ctx, c.conn.subject("lead"), h.who, h.rev)
	if errors.Is(err, errMoved) {
		now, err = c.leads(ctx) // the answer was lost, or we do not lead any more
	}
	if err == nil {
		h.rev = now
	}
	return err
}

// leads returns an error unless this process is the coordinator, and the revision of what says so.
func (c *Coordinator) leads(ctx context.Context) (rev uint64, err error) {
	at, err := c.conn.get(ctx, c.conn.subject("lead"))
	if err != nil {
		return 0, err
	}
	if at.seq == 0 {
		return 0, errLost
	}
	var is leader
	err = json.Unmarshal(at.data, &is)
	if err == nil && is.Nonce != c.heart.who.Nonce {
		err = fmt.Errorf("%w, on %s: end it, or wait until it ends", ErrLed, is.Machine)
	}
	return at.seq, err
}

// takeLead makes this process the coordinator. Another one of this folder is gone, since we hold the folder's lock, and
// one of another folder ends at its next beat.
func (c *Coordinator) takeLead(ctx context.Context) error {
	is, err := c.conn.get(ctx, c.conn.subject("lead"))
	if err != nil {
		return err
	}
	c.heart.rev = is.seq
	return c.lead(ctx)
}

// restore makes all on the server again that may be missing. If it fails, the next beat does it again.
func (c *Coordinator) restore() error {
	c.mu.Lock()
	answers := 2 + len(c.workers) // for setUp, the lead, and a stream for each worker
	c.unlock()
	ctx, cancel := context.WithTimeout(c.ctx, time.Duration(answers)*c.conn.answer)
	defer cancel()
	if err := c.conn.setUp(ctx); err != nil {
		return err
	}
	lost := c.heart.lost
	if lost {
		if err := c.takeLead(ctx); err != nil {
			return err
		}
	}
	c.mu.Lock()
	for _, k := range c.jobs {
		if lost {
			k.rev = 0
		}
		if lost || k.State == stateOpen {
			c.dirty[k] = true
		}
	}
	for _, w := range c.workers {
		w.seq = 0
	}
	c.heart.live = time.Time{}
	c.unlock()
	err := c.admitAll(ctx, true)
	if err == nil {
		c.heart.lost = false
	}
	return err
}

// admitAll makes what the workers need who have a key: at once, or for those whose keys are new.
func (c *Coordinator) admitAll(ctx context.Context, anew bool) error {
	is, err := c.revoke()
	if err != nil {
		return err
	}
	var keys []string
	for _, one := range is.Workers {
		if one.Key == "" {
			continue
		}
		c.mu.Lock()
		w := c.workers[one.Name]
		known := w != nil && w.key == one.Key
		c.unlock()
		keys = append(keys, one.Key)
		if known && !anew {
			continue
		}
		if err := c.conn.admit(ctx, one.Name); err != nil {
			return err
		}
		if !known {
			c.mu.Lock()
			c.workers[one.Name] = &speaker{key: one.Key, rings: true}
			c.unlock()
		}
	}
	if c.server == nil || slices.Equal(keys, c.heart.keys) {
		return nil
	}
	if err := c.server.admit(is); err != nil {
		return err
	}
	c.heart.keys = keys
	return nil
}

// ring notes that a worker has said something. The bell has no more than its name.
func (c *Coordinator) ring(bell *nats.Msg) {
	if bell.Reply != "" {
		defer bell.Respond(nil)
	}
	c.mu.Lock()
	defer c.unlock()
	w := c.workers[strings.TrimPrefix(bell.Subject, c.conn.bell(""))]
	if w == nil || w.banned {
		return
	}
	w.rings = true
	c.wake()
}

// maxQuestion is the most bytes of a question. A claim is a part of subjects, which NATS limits to 4 KiB.
const maxQuestion = 1 << 10

// mostAsks bounds the claims for which one worker may ask at a time.
const mostAsks = 256

// asked notes that a worker asks for a feature. What it asks again is the same question. What is not noted is answered
// with nothing: until there is an answer, the server remembers where it goes.
func (c *Coordinator) asked(msg *nats.Msg) {
	name := strings.TrimPrefix(msg.Subject, c.conn.ask(""))
	for _, m := range c.ask(name, msg) {
		_ = m.Respond(nil)
	}
}

// ask notes a question of a worker, and returns those to which nobody will reply.
func (c *Coordinator) ask(name string, msg *nats.Msg) (left []*nats.Msg) {
	var q question
	if len(msg.Data) > maxQuestion || json.Unmarshal(msg.Data, &q) != nil {
		return []*nats.Msg{msg}
	}
	c.mu.Lock()
	defer c.unlock()
	w := c.workers[name]
	own, isOwn := strings.CutPrefix(q.Claim, name+".")
	if w == nil || w.banned || !isOwn || !validName(own) {
		return []*nats.Msg{msg}
	}
	w.asks = slices.DeleteFunc(w.asks, func(a asker) bool {
		old := a.Claim == q.Claim || time.Since(a.at) > takeTime
		if old {
			left = append(left, a.msg)
		}
		return old
	})
	if q.Leaves {
		c.odd(name, w, 1, "it has asked for work and left again and again")
	}
	if q.Leaves || len(w.asks) >= mostAsks {
		left = append(left, msg)
	} else {
		w.asks = append(w.asks, asker{q, msg, time.Now()})
	}
	if k := w.last; q.Leaves && k != nil && k.State == stateOpen && k.Holder == q.Claim && k.seq == 0 {
		c.giveUp(k)
	}
	c.wake()
	return left
}

// answer is what a worker gets that has asked.
type answer struct {
	job *job
	to  *nats.Msg
}

// handOut gives what is free to those who ask, and answers them when the server says whose it is. If that fails, they
// ask again.
func (c *Coordinator) handOut(ctx context.Context) error {
	c.mu.Lock()
	answers := c.assign()
	c.unlock()
	for _, a := range answers {
		if err := c.settle(ctx, a.job); err != nil {
			return err
		}
		_ = a.to.Respond([]byte(a.job.feature)) // if it is lost, the worker asks again
	}
	return nil
}

// assign chooses who gets what. Of those who ask, the one comes first that was given something longest ago, so nobody
// can keep all from the others. The caller holds c.mu.
func (c *Coordinator) assign() (answers []answer) {
	for name, w := range c.workers {
		if k := w.last; k != nil && k.State == stateOpen && workerOf(k.Holder) == name {
			again := func(a asker) bool { return a.Claim == k.Holder }
			if i := slices.IndexFunc(w.asks, again); i >= 0 {
				answers = append(answers, answer{k, w.asks[i].msg})
				w.asks = slices.Delete(w.asks, i, i+1)
			}
		}
	}
	var still []*job
	for _, k := range c.free {
		if k.State != stateOpen || k.Holder != "" {
			continue
		}
		w, at := c.nextAsker(k)
		if w == nil {
			still = append(still, k)
			continue
		}
		a := w.asks[at]
		w.asks = slices.Delete(w.asks, at, at+1)
		w.given = time.Now()
		w.last = k
		k.Holder = a.Claim
		k.said = word{State: stateClaimed, Machine: cmp.Or(plain.Line(a.Machine, 80), noMachine)}
		k.moved = w.given
		k.since = w.given
		c.dirty[k] = true
		answers = append(answers, answer{k, a.msg})
	}
	c.free = still
	return answers
}

// nextAsker returns the worker that is to get a feature, and which of its questions; nil: nobody is.
func (c *Coordinator) nextAsker(k *job) (first *speaker, at int) {
	for name, w := range c.workers {
		if !w.mayGet(name) || first != nil && !w.given.Before(first.given) {
			continue
		}
		fits := func(a asker) bool { return time.Since(a.at) < takeTime && !slices.Contains(k.not, processOf(a.Claim)) }
		if i := slices.IndexFunc(w.asks, fits); i >= 0 {
			first = w
			at = i
		}
	}
	return first, at
}

// mayGet reports whether a worker may get one more feature. One that has not said a word of the last one may not, so
// who only asks has one feature at most, and for beginTime.
func (w *speaker) mayGet(name string) bool {
	silent := w.last != nil && w.last.State == stateOpen && workerOf(w.last.Holder) == name && w.last.seq == 0
	return len(w.asks) > 0 && !w.banned && !silent && time.Now().After(w.rests)
}

// mostWords is how many words of one worker are heard in a row.
const mostWords = 100

// hearAll hears all who have said something, in turn, and makes the server say what came of it. It reports whether
// somebody has more to say: between two calls others get what they wait for.
func (c *Coordinator) hearAll(ctx context.Context) (more bool, err error) {
	rings := func(w *speaker) bool { return w.rings }
	for _, name := range c.heard(rings) {
		if err := c.hear(ctx, name); err != nil {
			return false, err
		}
	}
	return len(c.heard(rings)) > 0, c.settleAll(ctx)
}

// hear hears what a worker has said since the last time.
func (c *Coordinator) hear(ctx context.Context, name string) error {
	c.mu.Lock()
	w := c.workers[name]
	w.rings = false
	seq := w.seq
	c.unlock()
	for range mostWords {
		m, err := c.conn.said(ctx, name, asked{Seq: seq + 1, Next: c.conn.subject("from.") + name + ".*.say"})
		if err != nil || m.seq == 0 {
			return err
		}
		seq = m.seq
		c.mu.Lock()
		w.seq = seq
		c.note(w, name, m)
		banned := w.banned
		c.unlock()
		if banned {
			return nil
		}
	}
	c.mu.Lock()
	w.rings = true // the others are heard before
	c.unlock()
	return nil
}

// noMachine stands for the name of a machine that its worker does not tell.
const noMachine = "a machine without a name"

// maxOdd is how often a worker may speak of what it does not have. Who comes late does so a few times.
const maxOdd = 500

// note notes one word of a worker. The caller holds c.mu.
func (c *Coordinator) note(w *speaker, name string, m message) {
	claim := strings.TrimPrefix(strings.TrimSuffix(m.subject, ".say"), c.conn.subject("from."))
	var said word
	err := json.Unmarshal(m.data, &said)
	k := c.jobs[said.Feature]
	if err != nil || k == nil || k.State != stateOpen || k.ID != said.Order || k.Holder != claim {
		c.over = append(c.over, claim)
		c.odd(name, w, 1, fmt.Sprintf("it has written %d times of what it does not have", maxOdd))
		return
	}
	if m.seq == k.seq || said.Beats < k.said.Beats { // an old one may come twice
		return
	}
	if k.said.State == stateSubmitted { // that was its last word
		return
	}
	k.moved = time.Now()
	since := cmp.Or(k.since, k.moved)
	if said.State != k.said.State {
		k.since = k.moved
	}
	if k.seq == 0 {
		c.wake() // it may get one more
	}
	k.seq, k.said = m.seq, said
	k.said.Report = nil
	k.said.Machine = cmp.Or(plain.Line(said.Machine, 80), noMachine)
	switch said.State {
	case stateClaimed:
	case stateSubmitted:
		k.done <- Submission{
			said.Feature, k.Attempt, name, k.said.Machine, since, said.Report, c.conn, claim, said.Work,
		}
	case stateDropped:
		c.dropped(k, claim, said)
	default:
		c.say("%s on %s says that %s is %.40q, which makes no sense", name, k.said.Machine, k.feature, said.State)
		c.reopen(k)
		c.odd(name, w, maxOdd/10, "it has said what makes no sense again and again")
	}
}

// odd counts against a worker what an honest one does rarely, and shuts it out when that is too much. The caller holds
// c.mu.
func (c *Coordinator) odd(name string, w *speaker, by int, why string) {
	w.odd += by
	if w.odd >= maxOdd && !w.banned {
		c.ban(name, w, why)
	}
}

// maxDrops is how often a worker may give a feature back in one session.
const maxDrops = 3

// dropped opens the next attempt of what a worker gives back. One that does so again and again cannot work it, and
// would keep it from others: it leaves the feature to them. The caller holds c.mu.
func (c *Coordinator) dropped(k *job, claim string, said word) {
	process := processOf(claim)
	name := workerOf(claim)
	if !said.Rests {
		if k.fails == nil {
			k.fails = map[string]int{}
		}
		k.fails[process]++
		if k.fails[process] == 1 {
			c.say("%s on %s gives %s back: %.300s", name, k.said.Machine, k.feature, said.Why)
		}
		if w := c.workers[name]; w != nil {
			defer c.odd(name, w, 1, "it has given work back again and again")
		}
	}
	if k.fails[process] == maxDrops {
		k.not = append(k.not, process)
		c.say("%s on %s has given back %s %d times, and does not get it again; mend that there, and start that worker "+
			"again: %.300s", name, k.said.Machine, k.feature, maxDrops, said.Why)
	}
	c.giveUp(k)
}

// giveUp takes a feature from its worker. If nobody waits for it, nobody else gets it. The caller holds c.mu.
func (c *Coordinator) giveUp(k *job) {
	if k.left {
		c.close(k, stateOver)
		return
	}
	c.reopen(k)
}

// settleAll makes the server say all that has changed, and forget what is over.
func (c *Coordinator) settleAll(ctx context.Context) error {
	c.mu.Lock()
	var all []*job
	for k := range c.dirty {
		all = append(all, k)
	}
	c.unlock()
	for _, k := range all {
		if err := c.settle(ctx, k); err != nil {
			return err
		}
	}
	c.forget(ctx)
	return nil
}

// forget makes the server forget what is over. What it cannot forget now comes last in the next round.
func (c *Coordinator) forget(ctx context.Context) {
	for {
		c.mu.Lock()
		over := c.over
		c.unlock()
		if len(over) == 0 {
			return
		}
		claim := over[0]
		var err error
		if strings.Contains(claim, ".") {
			err = c.conn.purge(ctx, c.conn.from(workerOf(claim)), c.conn.claim(claim)+">")
		} else {
			err = c.conn.js.DeleteStream(ctx, c.conn.from(claim)) // so that nothing is stored
		}
		noStream := errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, errLost)
		failed := err != nil && !noStream
		c.mu.Lock()
		c.over = c.over[1:] // others only add to it
		if failed {
			c.over = append(c.over, claim)
		}
		c.unlock()
		if failed {
			return
		}
	}
}

// settle makes the server say what is wanted of a feature.
func (c *Coordinator) settle(ctx context.Context, k *job) (err error) {
	k.turn.Lock()
	defer k.turn.Unlock()
	c.mu.Lock()
	is, rev, changed := k.order, k.rev, c.dirty[k]
	delete(c.dirty, k)
	c.unlock()
	if !changed {
		return nil
	}
	now, err := c.conn.putAs(ctx, c.conn.order(k.feature), is, rev)
	if errors.Is(err, errMoved) {
		// Servers that were killed may have lost the last writes. Or there is another coordinator.
		_, err = c.leads(ctx)
		if err == nil {
			now, err = c.conn.putAs(ctx, c.conn.order(k.feature), is, now)
		}
	}
	c.mu.Lock()
	defer c.unlock()
	if now > 0 {
		k.rev = now
	}
	if err != nil {
		c.dirty[k] = true
		return fmt.Errorf("cannot change the order of %s: %w", k.feature, err)
	}
	return nil
}

// beginTime is how long a worker may say nothing of a feature that it was given, if two leases are not shorter: as long
// as two answers may take.
const beginTime = 2 * answerTime

// judge looks which claims are dead. If it fails, the server is away, and the next round goes on.
func (c *Coordinator) judge() error {
	c.mu.Lock()
	var still []*job
	for _, k := range c.jobs {
		since := k.moved
		if since.Before(c.heart.live) {
			since = c.heart.live
		}
		lease := c.opts.Lease
		if k.seq == 0 {
			lease = min(2*lease, beginTime)
		}
		held := k.State == stateOpen && k.Holder != "" && k.said.State != stateSubmitted
		if held && time.Since(since) >= lease {
			still = append(still, k)
		}
	}
	c.unlock()
	for _, k := range still {
		if err := c.revive(k); err != nil {
			return err
		}
	}
	return c.settleAll(c.ctx)
}

// revive acts on a claim that has been silent for a lease. It may have spoken without being heard, as when servers were
// killed that lost the last writes. Else it is dead, and the next attempt opens.
func (c *Coordinator) revive(k *job) error {
	c.mu.Lock()
	holder, seq := k.Holder, k.seq
	name := workerOf(holder)
	c.unlock()
	is, err := c.conn.said(c.ctx, name, asked{Last: c.conn.claim(holder) + "say"})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.unlock()
	w := c.workers[name]
	switch {
	case k.Holder != holder || k.seq != seq || k.State != stateOpen:
	case is.seq != seq && is.seq > 0 && w != nil && !w.banned:
		c.note(w, name, is)
		w.seq = min(w.seq, is.seq)
	default:
		c.say("%s on %s has not answered for %s; %s is offered again", name, k.said.Machine,
			time.Since(k.moved).Round(time.Second), k.feature)
		never := k.seq == 0
		c.giveUp(k)
		if never && w != nil {
			c.odd(name, w, maxOdd/10, "it has asked for work again and again, and never begun it")
		}
	}
	return nil
}
