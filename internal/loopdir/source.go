package loopdir

import (
	"bytes"
	"errors"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// Source returns the list that a tracker sent last, or nil if it was not asked yet.
func (s *Store) Source() ([]byte, error) { return s.private(sourceFile, features.MaxBytes) }

// SetSource stores the list that a tracker has sent. The caller holds the lock.
func (s *Store) SetSource(text []byte) error {
	if before, err := s.Source(); err == nil && bytes.Equal(before, text) || s.state == nil {
		return err
	}
	return Replace(s.state, sourceFile, text, 0o600)
}

// ForgetSource removes the stored list, so that the tracker is asked as for the first time.
func (s *Store) ForgetSource() {
	if s.state != nil {
		_ = s.state.Remove(sourceFile) // usually the file does not exist
	}
}

// ErrUnasked means that a tracker has not been asked for its list.
var ErrUnasked = errors.New("the tracker has not been asked for its list yet; the next stop asks it")

// SourceList returns the list that a tracker sent last. Its Err is ErrUnasked if the
// tracker was not asked yet.
func (s *Store) SourceList(now time.Time) decide.List {
	text, err := s.Source()
	if err == nil && text == nil {
		err = ErrUnasked
	}
	if err != nil {
		return decide.List{Err: err}
	}
	list, err := features.Reading{Now: now}.Parse(text)
	return decide.List{List: list, Err: err}
}
