// Package jobs carries jobs to workers on other machines, and their work back, as questions and answers over NATS. The
// server is in this program, or one that a person runs, and stores nothing. It proves who speaks: a worker may write
// below a subject of its own alone, and hears its own answers alone. The package knows nothing of loops, agents or git:
// a job and a report are bytes, and the work is a file.
//
// The hub is in the run. It alone says who has which job, and has the run save that before the worker hears of it. A
// worker repeats each question until it is answered, and keeps what it has made until the run has that, whole and
// saved. So a worker, a run or a server that is killed, or a network that is cut, costs time alone. A question can be
// asked again at any time, because it names a claim, whose id the worker makes.
//
// There are six questions: take a job, beat (the worker lives), get a part of a file that the job begins with, put a
// part of the work, done with it, and drop the job.
package jobs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Embedded is the URL for a server in this program.
const Embedded = "embedded"

// UsualLease is how long a worker may be silent, if Options do not say it.
const UsualLease = time.Minute

// Options say where the engine is, and who joins it.
type Options struct {
	URL     string            // Embedded, "nats://HOST:PORT" or "tls://HOST:PORT"; a worker's credential has one
	Machine string            // this machine, for people; "": its host name
	Log     func(text string) // is told what people may want to know; nil: nobody is

	// Of a run:
	Loop        string        // as people call it
	Dir         string        // for its lock, the keys of workers, files that jobs begin with, and work that arrives
	Listen      string        // where the embedded server listens, HOST:PORT; "": on loopback, at a free port
	Lease       time.Duration // how long a worker may be silent; 0: UsualLease
	Claims      []Claim       // that an earlier process of the run has saved
	AcceptedIDs []string      // the ids of those whose work the run has

	// Of a worker: its credential, or a file that has it.
	Creds string
}

// Job is what a worker shall do.
type Job struct {
	Feature string
	Body    []byte // at most MaxBody bytes
}

// Claim says which worker has a job.
type Claim struct {
	Feature string
	ID      string // the worker's name, a dot, and a text that the worker made for this claim
	Attempt int    // how often the job was given to a worker
	Machine string // of the worker, as it says
	Since   time.Time
}

// Worker returns who has the claim.
func (c Claim) Worker() string {
	name, _, _ := strings.Cut(c.ID, ".")
	return name
}

// Submission is work that a worker has done. Nothing of it is proven but who has handed it in.
type Submission struct {
	Claim
	Report []byte
	Work   string // the path of a file; "": there is none
}

// MaxBody is the largest body of a job, and the largest report, in bytes. The server limits a message to 1 MiB, where
// three bytes take four.
const MaxBody = 512 << 10

// How many bytes files may have.
const (
	MaxFile = 4 << 30   // what a job begins with
	MaxWork = 200 << 20 // what a worker hands in
	part    = 384 << 10 // what one message has of it
)

// MaxClaims is how many jobs one worker may have at a time, so that it cannot keep all from others.
const MaxClaims = 8

// Errors that callers tell apart.
var (
	// ErrClaimLost means that a claim is lost: another worker has the job, or nobody shall work on it.
	ErrClaimLost = errors.New("the claim is lost: the feature was given to another worker, or withdrawn")
	// ErrLocked means that another process gives out the jobs of this loop.
	ErrLocked = errors.New("another process gives out the work of this loop")
)

// message is each question and each answer.
type message struct {
	Claim     string      `json:"c,omitempty"`
	Machine   string      `json:"m,omitempty"` // take
	File      string      `json:"f,omitempty"` // get: its name
	At        int64       `json:"o,omitempty"` // get and put: where in the file
	Data      []byte      `json:"b,omitempty"`
	Size      int64       `json:"z,omitempty"` // of the whole file
	Sum       string      `json:"d,omitempty"` // done: the SHA-256 of the work; "": there is none
	Report    []byte      `json:"r,omitempty"` // done
	Why       string      `json:"w,omitempty"` // drop
	Job       *assignment `json:"j,omitempty"` // the answer to take; nil: there is none yet
	ClaimLost bool        `json:"l,omitempty"` // the claim is lost
	Resend    bool        `json:"a,omitempty"` // the answer to done: the work did not arrive whole
	Later     bool        `json:"y,omitempty"` // there is no answer yet
	Err       string      `json:"e,omitempty"` // why there is no answer
}

// assignment is a job as a worker gets it.
type assignment struct {
	Feature string        `json:"f"`
	Attempt int           `json:"a"`
	Body    []byte        `json:"b"`
	Lease   time.Duration `json:"l"`
}

// The subjects of a loop. Those of a worker end with a verb.
func subject(loop, worker, verb string) string { return "ralph." + loop + "." + worker + "." + verb }
func inbox(loop, name string) string           { return "_INBOX." + loop + "." + name }

// The run's inbox has a name that no worker can have.
const runName = "=run"

// nonce returns a text that nobody else has.
func nonce() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails; see crypto/rand
	return hex.EncodeToString(b)
}

// validName is the form of the names of loops and workers, and of a worker's part of a claim's id. They are parts of
// subjects and of names of files.
func validName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters) == ""
}

func errName(what, name string) error {
	return fmt.Errorf("%q cannot be the name of a %s: use up to 64 letters, digits, \"_\" and \"-\"", plain.Line(name, 80),
		what)
}

func (o Options) withDefaults() Options {
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
