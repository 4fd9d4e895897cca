// Package engine carries jobs to workers on other machines, and their work back. It is built on NATS JetStream, with a
// server in this program or with one that a person runs. It knows nothing of loops, agents or git: a job and a report
// are bytes, and the work is a stream of bytes.
//
// The coordinator alone says who has what, in one order for each feature: at which attempt it is, and which claim has
// it. A worker asks for a feature, and is answered when the server has the order that names its claim. It asks with the
// same claim until it is answered, so a question or an answer that is lost, late or there twice does no harm.
// Then it writes below a subject of its own, into a stream of its own, which has a size: that it lives, and what it has
// done. If it is silent for a lease, the coordinator opens the next attempt, and what the late one says is about no
// order.
//
// Each worker has an account on the server, with imports of what it may do. So the server proves who speaks, and sends
// its own answers to nobody else.
package engine

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Embedded is the URL for a server in this program.
const Embedded = "embedded"

// UsualLease is how long a claim lives without a sign of its worker, if Options do not say it.
const UsualLease = time.Minute

// Options say where the engine is, and who joins it.
type Options struct {
	URL   string        // Embedded, "nats://HOST:PORT" or "tls://HOST:PORT"; a worker's credential of ours has one
	Loop  string        // a coordinator's loop, as people call it; a worker's credential has the name on servers
	Run   string        // a coordinator deletes what another run has left; a resumed one is the same
	Creds string        // a credential of ours, or a file with an nkey's seed or with NATS credentials; "": none
	Lease time.Duration // 0: UsualLease; a worker takes it from the job

	Dir    string // the coordinator's folder: its lock, the keys of workers and the embedded server's data
	Listen string // where the embedded server listens, HOST:PORT; "": on loopback, at a free port

	Worker  string            // a worker's name; a credential of ours has one
	Machine string            // this machine: a worker's, for people; a coordinator's, in its address; "": its host name
	Log     func(text string) // is told what people may want to know; nil: nobody is
}

// Job is what a worker shall do.
type Job struct {
	Feature string
	Body    []byte // at most MaxBody bytes
}

// MaxBody is the largest body of a job, and the largest report, in bytes. The server limits a message to 1 MiB.
const MaxBody = 512 << 10

// How many bytes the server stores at one time.
const (
	MaxBases  = 4 << 30   // of orders, and of what workers begin with
	maxWorker = 1 << 30   // of one worker: what it says, and what it hands in
	maxSaid   = 900 << 10 // of one message of a worker
)

// maxMessages is how many messages of one worker the server stores. It keeps the subject of each in memory.
const maxMessages = 20_000

// Errors that callers tell apart.
var (
	// ErrFenced means that a claim is lost: another worker has the feature, or nobody shall work on it.
	ErrFenced = errors.New("the claim is lost: the feature was given to another worker, or withdrawn")
	// ErrTooLarge means that a bundle has more bytes than the caller allows.
	ErrTooLarge = errors.New("the bundle is too large")
	// ErrMissing means that bytes which should be on the server are not there, or are not the ones that were sent.
	ErrMissing = errors.New("the bundle is not complete on the server")
	// ErrOther is an ErrMissing. All bytes are there, and are not the ones that were sent.
	ErrOther = fmt.Errorf("%w: its SHA-256 is another one", ErrMissing)
	// ErrLed means that another process coordinates this loop.
	ErrLed = errors.New("another process coordinates this loop")
)

// The states of an order.
const (
	stateOpen   = "open"   // a worker has it, or gets it when it asks
	stateOver   = "over"   // nobody shall work on it
	stateMerged = "merged" // it is done
)

// order is what the coordinator says of a feature. Nobody else writes it.
type order struct {
	State   string        `json:"s"`
	Attempt int           `json:"a"`
	ID      string        `json:"i"`           // of this attempt
	Holder  string        `json:"h,omitempty"` // the claim that has it; "": none
	Body    []byte        `json:"b,omitempty"`
	Lease   time.Duration `json:"l,omitempty"`
}

// The states of a claim.
const (
	stateClaimed   = "claimed"   // a worker is at it
	stateSubmitted = "submitted" // the work is there
	stateDropped   = "dropped"   // the worker has put it back
)

// question is what a worker asks with.
type question struct {
	Claim   string `json:"c"` // its name if there is a feature for it: the worker's process, a dash, and its own
	Machine string `json:"m,omitempty"`
	Leaves  bool   `json:"l,omitempty"` // it does not wait any more
}

// word is what a worker says of a claim of its own. Nothing of it is to be trusted but who says it.
type word struct {
	State   string `json:"s"`
	Feature string `json:"f"`
	Order   string `json:"i"` // the ID of the order
	Machine string `json:"m,omitempty"`
	Beats   int    `json:"n,omitempty"` // raised with each word: the worker lives
	Report  []byte `json:"r,omitempty"`
	Work    *blob  `json:"o,omitempty"`
	Why     string `json:"w,omitempty"` // why it was dropped
	Rests   bool   `json:"z,omitempty"` // dropped, and the worker is not to blame
}

// workerOf returns the worker of a claim: its name, a dot, its process, a dash, and what is the claim's own.
func workerOf(holder string) string {
	name, _, _ := strings.Cut(holder, ".")
	return name
}

// processOf returns a claim without what is its own: the worker's name, and its process.
func processOf(holder string) string { return holder[:max(0, strings.LastIndexByte(holder, '-'))] }

// names are the names of what belongs to one loop on the server.
type names string

func (l names) stream() string              { return "RALPH_" + string(l) }
func (l names) from(worker string) string   { return "RALPH_" + string(l) + "_FROM_" + worker }
func (l names) subject(k string) string     { return "ralph." + string(l) + "." + k }
func (l names) order(feature string) string { return l.subject("o.") + key(feature) }
func (l names) ask(worker string) string    { return l.subject("ask.") + worker }
func (l names) bell(worker string) string   { return l.subject("bell.") + worker }
func (l names) inbox(worker string) string  { return "_INBOX." + string(l) + "." + worker }

// claim returns the subjects of what a claim says and hands in.
func (l names) claim(holder string) string { return l.subject("from.") + holder + "." }

// base returns the subjects of a base.
func (l names) base(name string) string { return l.subject("base.") + key(name) + "." }

// safe reports whether a name can stand in a subject as it is.
func safe(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return name != "" && strings.Trim(name, letters) == ""
}

// key returns a name in the form in which a subject can have it.
func key(name string) string {
	if safe(name) {
		return name
	}
	return "=" + base64.RawURLEncoding.EncodeToString([]byte(name))
}

// unkey is the inverse of key.
func unkey(k string) (string, error) {
	coded, is := strings.CutPrefix(k, "=")
	if !is {
		return k, nil
	}
	name, err := base64.RawURLEncoding.DecodeString(coded)
	return string(name), err
}

// validName is the form of the names of loops and workers.
func validName(name string) bool { return safe(name) && len(name) <= 64 }

func errName(what, name string) error {
	return fmt.Errorf("%q cannot be the name of a %s: use up to 64 letters, digits, \"_\" and \"-\"", plain.Line(name, 80),
		what)
}

func (o Options) filled() Options {
	if o.Lease == 0 {
		o.Lease = UsualLease
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Machine == "" {
		o.Machine, _ = os.Hostname()
	}
	return o
}
