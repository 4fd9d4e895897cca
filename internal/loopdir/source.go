package loopdir

import (
	"bytes"
	"errors"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// Source returns what a tracker has last said of its items, nil where it has not
// been asked yet.
func (s *Store) Source() ([]byte, error) { return s.private(sourceFile, features.MaxBytes) }

// SetSource keeps what a tracker has said. Trackers are asked without the lock, so
// another process may be at the same.
func (s *Store) SetSource(text []byte) error {
	if before, err := s.Source(); err == nil && bytes.Equal(before, text) || s.state == nil {
		return err
	}
	return Replace(s.state, sourceFile, text, 0o600)
}

// ForgetSource lets the tracker be asked as if for the first time.
func (s *Store) ForgetSource() {
	if s.state != nil {
		_ = s.state.Remove(sourceFile) // mostly there is none
	}
}

// ErrUnasked says that a tracker has not been asked for its list.
var ErrUnasked = errors.New("the tracker has not been asked for its list yet; the next stop does")

// SourceList is the list that a tracker has last said.
func (s *Store) SourceList() decide.List {
	text, err := s.Source()
	if err == nil && text == nil {
		err = ErrUnasked
	}
	if err != nil {
		return decide.List{Err: err}
	}
	list, err := features.Parse(text)
	return decide.List{List: list, Err: err}
}
