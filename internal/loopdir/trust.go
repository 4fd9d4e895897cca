package loopdir

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

// Trust returns what a person has trusted, or nil. A record that is not protected
// an agent may have written.
func (s *Store) Trust() (*config.Trust, error) {
	if !s.Protected {
		return nil, nil
	}
	data, err := s.private(trustFile, maxTrust)
	if err == nil && data == nil {
		return nil, nil
	}
	var t config.Trust
	if err == nil {
		t, err = config.ParseTrust(data)
	}
	if err != nil {
		return nil, fmt.Errorf("the trust record %s cannot be used: %w; run 'ralph-stop-hook trust'", filepath.Join(s.state.Name(), trustFile), err)
	}
	return &t, nil
}

// ErrUnprotected says that no trust can be recorded.
var ErrUnprotected = errors.New("the state folder cannot be written, or is in the project, so commands cannot be kept out of an agent's reach; set RALPH_STATE_DIR to another folder")

// SetTrust records what a person has trusted, and keeps the list at path as it is;
// without a path the one that is kept stays.
func (s *Store) SetTrust(t config.Trust, path string) error {
	if !s.Protected {
		return ErrUnprotected
	}
	if len(t.Features) > 0 && path != "" {
		list, err := optional(readList(path, []string{s.Loop.Dir, s.Loop.Project})) // it may not be written yet
		if err == nil {
			err = replace(s.state, baselineFile, list, 0o600, true, nil)
		}
		if err != nil {
			return err
		}
	}
	return s.replaceJSON(trustFile, t.Fields(), maxTrust)
}

// Config returns the text of ralph.json, nil where there is none.
func (s *Store) Config() ([]byte, error) { return optional(read(s.loop, ConfigFile, config.MaxBytes)) }

// UserConfig returns a person's own configuration and its path, from the system's
// folder for users' configuration; nil if there is none.
func UserConfig(folder string) (text []byte, path string, err error) {
	if folder == "" {
		return nil, "", nil // without a home nobody has set a ceiling
	}
	dir := filepath.Join(folder, "ralph-stop-hook")
	path = filepath.Join(dir, "config.json")
	text, err = optional(ReadFile(dir, filepath.Base(path), config.MaxBytes))
	return text, path, err
}
