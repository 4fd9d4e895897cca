// Package engine carries jobs to workers on other machines, and their work back. It is built on NATS JetStream, with a
// server in this program or with one that a person runs. It knows nothing of loops, agents or git: a job and a report
// are bytes, and the work is a stream of bytes.
//
// The truth about claims is one record for each feature, in a bucket of keys. Everybody writes a record only if it is
// still at the revision that they saw. So a worker that comes back late is refused: the revision is the fencing token.
// A queue gives workers hints which feature is free. A hint that is lost, late or there twice does no harm.
package engine

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
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
	Loop  string        // which loop: letters, digits, "_" and "-", at most 64; a credential of ours has it
	Run   string        // a coordinator deletes what another run has left; a resumed one is the same
	Creds string        // a credential of ours, or a file with an nkey's seed or with NATS credentials; "": none
	Lease time.Duration // 0: UsualLease; a worker takes it from the job

	Dir    string // the coordinator's folder: its lock, the keys of workers and the embedded server's data
	Listen string // where the embedded server listens, HOST:PORT; "": on loopback, at a free port

	Worker  string            // a worker's name; a credential of ours has one; "": the machine's name and the process
	Machine string            // a worker's machine, for people; "": its host name
	Log     func(text string) // is told what people may want to know; nil: nobody is
}

// Job is what a worker shall do.
type Job struct {
	Feature string
	Attempt int      // the lowest number that the next attempt may have; 0: any
	Body    []byte   // at most MaxBody bytes; workers get the body of the first offer of an attempt
	Bases   []string // names of what PutBase has stored; a worker fetches those that it does not have
}

// MaxBody is the largest body of a job, and the largest report, in bytes. The server limits a message to 1 MiB.
const MaxBody = 512 << 10

// MaxWork is how many bytes of work and of bases the server stores at one time, each.
const MaxWork = 4 << 30

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

// The states of a record.
const (
	stateOpen      = "open"      // the first worker that claims it gets it
	stateClaimed   = "claimed"   // a worker is at it
	stateSubmitted = "submitted" // the work waits for the coordinator
	stateDropped   = "dropped"   // the worker has put it back
	stateReturned  = "returned"  // the coordinator has given it back; the next offer opens it again
	stateWithdrawn = "withdrawn" // nobody shall work on it
	stateMerged    = "merged"    // it is done
)

// record is what the engine knows of one feature. Workers write it, so nothing of it is to be trusted.
type record struct {
	State   string `json:"s"`
	Attempt int    `json:"a"`
	Holder  string `json:"h,omitempty"` // worker, dot, process, dash, nonce
	Machine string `json:"m,omitempty"`
	Beats   int    `json:"n,omitempty"` // raised again and again while the worker lives
	Report  []byte `json:"r,omitempty"`
	Work    *blob  `json:"o,omitempty"`
	Why     string `json:"w,omitempty"` // why it was dropped or returned
	Rests   bool   `json:"z,omitempty"` // dropped, and the worker is not to blame
}

// worker returns the holder's name.
func (r record) worker() string {
	name, _, _ := strings.Cut(r.Holder, ".")
	return name
}

// process returns the holder without what is the claim's own: the worker's name, and its process.
func (r record) process() string { return r.Holder[:max(0, strings.LastIndexByte(r.Holder, '-'))] }

// validHolder reports whether a record's holder can stand in a subject.
func validHolder(h string) bool {
	worker, nonce, _ := strings.Cut(h, ".")
	return validName(worker) && validName(nonce)
}

// held reports whether a worker has the feature, or has done it.
func (r record) held() bool { return r.State == stateClaimed || r.State == stateSubmitted }

// same reports whether two records say the same.
func (r record) same(other record) bool {
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(other)
	return string(a) == string(b)
}

// maxAttempt bounds the attempts that a record may name. Whoever writes a higher number lies.
const maxAttempt = 1 << 20

// hint is the payload of a message in the queue.
type hint struct {
	Body  []byte        `json:"body"`
	Bases []string      `json:"bases,omitempty"`
	Lease time.Duration `json:"lease"`
	Not   []string      `json:"not,omitempty"` // processes of workers that leave it to others
}

// names are the names of what belongs to one loop on the server.
type names string

func (l names) bucket() string          { return "ralph_" + string(l) }
func (l names) records() string         { return "KV_" + l.bucket() }
func (l names) queue() string           { return "RALPH_" + string(l) + "_W" }
func (l names) bases() string           { return "RALPH_" + string(l) + "_BASE" }
func (l names) works() string           { return "RALPH_" + string(l) + "_DONE" }
func (l names) subject(k string) string { return "ralph." + string(l) + "." + k + "." }

// consumer is the one consumer of the queue.
const consumer = "workers"

// hint returns the subject of a hint, one for each attempt.
func (l names) hint(feature string, attempt int) string {
	return l.subject("w") + key(feature) + "." + strconv.Itoa(attempt)
}

// ofHint returns what a hint's subject says.
func (l names) ofHint(subject string) (feature string, attempt int, err error) {
	name, number, _ := strings.Cut(strings.TrimPrefix(subject, l.subject("w")), ".")
	feature, err = unkey(name)
	if err == nil {
		attempt, err = strconv.Atoi(number)
	}
	return feature, attempt, err
}

// work returns the subjects of what a holder submits.
func (l names) work(holder string) string { return l.subject("done") + holder + "." }

// base returns the subjects of a base.
func (l names) base(name string) string { return l.subject("base") + key(name) + "." }

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

func (o Options) checked() (Options, error) {
	if o.Lease == 0 {
		o.Lease = UsualLease
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	host, _ := os.Hostname()
	if o.Machine == "" {
		o.Machine = host
	}
	if o.Worker == "" {
		name := regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(host, "-")
		o.Worker = fmt.Sprintf("%.40s-%d", name, os.Getpid())
	}
	for what, name := range map[string]string{"loop": o.Loop, "worker": o.Worker} {
		if !validName(name) {
			return o, errName(what, name)
		}
	}
	return o, nil
}

// checked refuses a job that no message can carry.
func (j Job) checked() error {
	switch {
	case j.Feature == "" || len(j.Feature) > 256:
		return fmt.Errorf("a feature's name must have 1 to 256 bytes, and has %d", len(j.Feature))
	case len(j.Body) > MaxBody:
		return fmt.Errorf("the job of %s has %d bytes, and may have %d", j.Feature, len(j.Body), MaxBody)
	}
	return nil
}
