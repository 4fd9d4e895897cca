package jobs

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// What waits of one worker's questions, and how many of them wait for their answer. More is lost, and asked again.
const (
	maxWaiting      = 200
	maxWaitingBytes = 16 << 20
	maxOpen         = 2 * MaxClaims
)

// waitTime is how long the hub waits with an answer that may be a better one soon. It is less than answerTime.
const waitTime = 4 * time.Second

var (
	errNonsense = errors.New("the question makes no sense")
	errNoFile   = errors.New("what the session begins with is not there")
	errLater    = errors.New("the run has not done that yet, or cannot write to its disk now")
)

// hears returns what answers a worker's questions. An answer goes to an inbox of the worker's own alone: the server
// does not look to which one the question says.
func (w *peer) hears(h *Hub) nats.MsgHandler {
	return func(m *nats.Msg) {
		var q message
		if !strings.HasPrefix(m.Reply, inbox(h.opts.Loop, w.Name)+".") {
			return
		}
		err := json.Unmarshal(m.Data, &q)
		name, own, _ := strings.Cut(q.Claim, ".")
		if err != nil || name != w.Name || !validName(own) {
			answer(m, message{}, errNonsense)
			return
		}
		switch verb := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]; verb {
		case "take":
			h.later(w, m, func() (message, error) { return h.take(w, q) })
		case "done":
			h.later(w, m, func() (message, error) { return h.takeWork(q) })
		case "beat", "get", "put", "drop":
			a, err := h.now(verb, q)
			answer(m, a, err)
		default:
			answer(m, message{}, errNonsense)
		}
	}
}

func answer(m *nats.Msg, a message, err error) {
	switch {
	case errors.Is(err, ErrClaimLost):
		a.ClaimLost = true
	case errors.Is(err, errLater):
		a.Later = true
	case err != nil:
		a.Err = err.Error()
	}
	text, _ := json.Marshal(a)
	_ = m.Respond(text) // if it is lost, the worker asks again
}

// later answers a question that may have to wait, if not too many of the worker's do.
func (h *Hub) later(w *peer, m *nats.Msg, do func() (message, error)) {
	h.mu.Lock()
	defer h.unlock()
	if w.open >= maxOpen {
		return
	}
	w.open++
	go func() {
		a, err := do()
		answer(m, a, err)
		h.mu.Lock()
		defer h.unlock()
		w.open--
	}()
}

// take gives a worker the job that it has by this claim, or one that is free, for which it waits a while.
func (h *Hub) take(w *peer, q message) (a message, err error) {
	h.mu.Lock()
	c := h.claims[q.Claim]
	if _, kept := h.acceptedIDs[q.Claim]; kept || h.workers[w.Name] != w { // an old question that comes late
		h.unlock()
		return a, ErrClaimLost
	}
	if c != nil && c.offer.old && !c.hasWork { // it is not known what the worker was to be told, and it has not started
		h.lose(c.offer)
		c = nil
	}
	if c == nil {
		mine := &ask{q, w, make(chan *claim, 1)}
		h.forget(q.Claim) // an older question with the same claim
		h.asks = append(h.asks, mine)
		h.assign()
		h.unlock()
		select {
		case c = <-mine.reply:
		case <-time.After(waitTime):
		case <-h.ctx.Done():
		}
		h.mu.Lock()
		h.asks = slices.DeleteFunc(h.asks, func(a *ask) bool { return a == mine })
		if c == nil {
			c = h.claims[q.Claim]
		}
	}
	h.unlock()
	if c == nil {
		return a, nil
	}
	if err := c.offer.tell(); err != nil {
		return a, errLater
	}
	h.mu.Lock()
	defer h.unlock()
	if h.claims[q.Claim] == c {
		a.Job = &assignment{c.Feature, c.Attempt, c.offer.Body, h.opts.Lease}
	}
	return a, nil
}

// takeWork takes up work that has arrived. The answer is the run's: it has the work, or does not want it.
func (h *Hub) takeWork(q message) (a message, err error) {
	h.mu.Lock()
	c := h.claims[q.Claim]
	heard := c != nil && c.hasWork
	h.unlock()
	if c != nil && !heard {
		a.Resend, err = h.arrive(c, q)
		if err != nil || a.Resend {
			return a, err
		}
	}
	if c != nil {
		select {
		case <-c.end:
		case <-time.After(waitTime):
			return a, errLater
		case <-h.ctx.Done():
			return a, errLater
		}
	}
	h.mu.Lock()
	defer h.unlock()
	if _, kept := h.acceptedIDs[q.Claim]; !kept {
		err = ErrClaimLost
	}
	return a, err
}

// arrive hands work to the run. again says that it is not whole.
func (h *Hub) arrive(c *claim, q message) (again bool, err error) {
	s := Submission{Claim: c.Claim, Report: q.Report}
	switch {
	case len(q.Report) > MaxBody:
		return false, errNonsense
	case q.Sum != "":
		s.Work = h.work(c)
		size, sum, err := sumOf(s.Work)
		if err != nil || size != q.Size || sum != q.Sum {
			return true, nil
		}
	}
	h.mu.Lock()
	defer h.unlock()
	if h.claims[c.ID] == c && !c.hasWork {
		c.hasWork = true
		c.offer.Done <- s
	}
	return false, nil
}

// now answers a question that need not wait.
func (h *Hub) now(verb string, q message) (a message, err error) {
	h.mu.Lock()
	c := h.claims[q.Claim]
	if c != nil {
		c.lastSeen = time.Now()
	}
	_, kept := h.acceptedIDs[q.Claim]
	switch {
	case verb == "drop":
		h.drop(c, q)
	case c == nil && !kept:
		err = ErrClaimLost
	case kept, c.hasWork: // an answer was lost, or is on its way
		verb = "beat"
	}
	h.unlock()
	switch {
	case err != nil:
	case verb == "get":
		a.Data, a.Size, err = h.get(q)
	case verb == "put":
		err = h.put(c, q)
	}
	return a, err
}

// drop takes back what a worker gives back: the job, or the question for one. c may be nil. The caller holds h.mu.
func (h *Hub) drop(c *claim, q message) {
	h.forget(q.Claim)
	if c == nil || c.hasWork {
		return
	}
	h.say("%s on %s gives %s back: %s", c.Worker(), c.Machine, c.Feature, plain.Line(q.Why, 300))
	h.vain(c)
	h.lose(c.offer)
}

// get reads a part of a file that jobs begin with.
func (h *Hub) get(q message) (data []byte, size int64, err error) {
	f, err := os.OpenInRoot(h.Path(""), q.File)
	if err == nil {
		defer f.Close()
		data, size, err = readPart(f, q.At)
	}
	if err != nil {
		err = errNoFile
	}
	return data, size, err
}

// put stores a part of the work on a claim.
func (h *Hub) put(c *claim, q message) error {
	if q.At < 0 || q.At > MaxWork-int64(len(q.Data)) {
		return errNonsense
	}
	err := writePart(h.work(c), q.At, q.Data)
	h.mu.Lock()
	defer h.unlock()
	switch {
	case h.claims[c.ID] != c: // it was lost meanwhile
		_ = os.Remove(h.work(c))
		return ErrClaimLost
	case err != nil:
		return errLater
	}
	return nil
}

// forget takes back a question for a job. The caller holds h.mu.
func (h *Hub) forget(id string) {
	h.asks = slices.DeleteFunc(h.asks, func(a *ask) bool { return a.Claim == id })
}
