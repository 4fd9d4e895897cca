package loopdir

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

// Trust returns what a person has trusted, or nil if there is no trust record. It ignores
// a record in the project, because an agent may have written it.
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
		return nil, fmt.Errorf("the trust record %s cannot be used: %w; run 'ralph-stop-hook trust'",
			filepath.Join(s.state.Name(), trustFile), err)
	}
	return &t, nil
}

// ErrUnprotected means that the state folder is not safe from an agent, so no trust is
// recorded there.
var ErrUnprotected = errors.New("the state folder is in the project, " +
	"so commands cannot be kept out of an agent's reach; set RALPH_STATE_DIR to another folder")

// SetTrust records what a person has trusted and keeps a copy of the list at path. If path
// is empty, the copy of an earlier call stays. The caller holds the lock.
func (s *Store) SetTrust(t config.Trust, path string) error {
	if !s.Protected {
		return ErrUnprotected
	}
	if len(t.Features) > 0 && path != "" {
		list, err := optional(readList(path, []string{s.Loop.Dir, s.Loop.Project})) // the list may not exist yet
		if err == nil {
			err = replace(s.state, baselineFile, list, 0o600, true, nil)
		}
		if err != nil {
			return err
		}
	}
	return s.replaceJSON(trustFile, t, maxTrust)
}

// Config returns the text of ralph.json, or nil if there is no such file.
func (s *Store) Config() ([]byte, error) { return optional(read(s.loop, ConfigFile, config.MaxBytes)) }

// UserConfig returns the text and the path of the user's own configuration. folder is the
// system's folder for the user's configuration. text is nil if there is no such file.
func UserConfig(folder string) (text []byte, path string, err error) {
	if folder == "" {
		return nil, "", nil // there is no home folder, so no ceiling is set
	}
	dir := filepath.Join(folder, "ralph-stop-hook")
	path = filepath.Join(dir, "config.json")
	text, err = optional(ReadFile(dir, filepath.Base(path), config.MaxBytes))
	return text, path, err
}
