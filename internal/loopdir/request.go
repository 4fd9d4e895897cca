package loopdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// Only a stop and a prompt wait for the lock of a loop while its checks run. Whoever else wants something of the loop
// leaves a request, a file in the state folder. The process that has the lock does what is asked, or else the next one
// that gets it.

// Request is what somebody wants of a loop while another process has its lock.
type Request struct {
	Verb string `json:"-"`             // one of those below; the file's name has it
	Text string `json:"text,omitzero"` // of RequestNote
	Now  bool   `json:"now,omitzero"`  // of RequestPause: a run stops its agent at once
	// of RequestMore: the limits that the loop has then; 0: as before
	Iterations int           `json:"iterations,omitzero"`
	Deadline   time.Duration `json:"deadline,omitzero"` // stored in ns

	At   time.Time      `json:"at,omitzero"`   // of RequestEvent: when it came
	Name string         `json:"name,omitzero"` // of RequestEvent: the client's own name for it
	Of   *decide.Report `json:"of,omitzero"`   // of RequestEvent
	Tail *decide.Tail   `json:"tail,omitzero"` // of RequestEvent: the end of its transcript; nil: not known

	file string
}

// What can be asked.
const (
	RequestCancel = "cancel"
	RequestPause  = "pause"
	RequestNote   = "note"
	RequestMore   = "more"  // resume gives the loop more
	RequestEvent  = "event" // the client has said something of its session
)

const (
	requestFolder = "requests"
	maxRequest    = 64 << 10 // bytes of a file
	maxRequests   = 100      // files that are read
)

// Ask leaves a request. It needs no lock, so it works while a hook runs and when the record is damaged. A cancel fits
// on a full disk: it is an empty file.
func (s *Store) Ask(r Request) error {
	if err := s.openState(true); err != nil {
		return err
	}
	if err := s.state.Mkdir(requestFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	folder, err := s.state.OpenRoot(requestFolder)
	if err != nil {
		return err
	}
	defer folder.Close()
	Sweep(folder, "")                                                              // of who was killed while they asked
	file := fmt.Sprintf("%019d-%d-%s", time.Now().UnixNano(), os.Getpid(), r.Verb) // done in this order
	if r.Verb != RequestCancel {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return Replace(folder, file, text, 0o600)
	}
	f, err := folder.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|nonblock, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// Requests returns what was asked and is not done, in the order in which it was asked. What makes no sense has no verb.
func (s *Store) Requests() (all []Request) {
	if s.state == nil {
		return nil
	}
	folder, err := s.state.OpenFile(requestFolder, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(maxRequests)
	slices.Sort(names)
	for _, name := range names {
		if Temporary(name, "") {
			continue // somebody asks it now
		}
		r := Request{Verb: name[strings.LastIndexByte(name, '-')+1:], file: name}
		if r.Verb != RequestCancel {
			text, err := s.private(requestFolder+"/"+name, maxRequest)
			if err != nil || json.Unmarshal(text, &r) != nil {
				r = Request{file: name}
			}
		}
		all = append(all, r)
	}
	return all
}

// HasRequest reports whether something was asked and is not done.
func (s *Store) HasRequest(verb string) bool {
	return slices.ContainsFunc(s.Requests(), func(r Request) bool { return r.Verb == verb })
}

// Stops reports whether a person wants to pause or cancel the loop.
func (r Request) Stops() bool { return r.Verb == RequestCancel || r.Verb == RequestPause }

// HasStopRequest reports whether a person has asked to pause or cancel the loop.
func (s *Store) HasStopRequest() bool { return slices.ContainsFunc(s.Requests(), Request.Stops) }

// Done takes requests away.
func (s *Store) Done(all []Request) {
	for _, r := range all {
		_ = s.state.RemoveAll(requestFolder + "/" + r.file) // if it stays, it is done twice
	}
}
