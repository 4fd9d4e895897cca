package loopdir

import (
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// StartFlags is what a person gave to 'start' for the client, last time.
type StartFlags struct {
	PermissionMode string   `json:"permissionMode,omitempty"`
	AllowedTools   []string `json:"allowedTools,omitempty"`
	Arguments      []string `json:"arguments,omitempty"` // what stood behind --
}

// Line returns the flags as Claude Code takes them behind a prompt.
func (f StartFlags) Line() (words []string) {
	if f.PermissionMode != "" {
		words = append(words, "--permission-mode", f.PermissionMode)
	}
	if len(f.AllowedTools) > 0 {
		words = append(append(words, "--allowedTools"), f.AllowedTools...)
	}
	return append(words, f.Arguments...)
}

// StartFlags returns what was given last time. There is nothing where an agent could write it.
func (s *Store) StartFlags() (flags StartFlags) {
	if s.state == nil || !s.Protected {
		return StartFlags{}
	}
	text, err := s.private(startFile, maxStart)
	if err != nil || text == nil || jsontext.Read(text, &flags) != nil {
		return StartFlags{}
	}
	return flags
}

// SetStartFlags stores what was given. The caller holds the lock.
func (s *Store) SetStartFlags(flags StartFlags) error {
	if s.state == nil || !s.Protected {
		return nil
	}
	text, err := jsontext.Line(flags)
	if err != nil {
		return err
	}
	return s.replaceRecord(startFile, text)
}

// maxStart bounds start.json, in bytes.
const maxStart = 64 << 10
