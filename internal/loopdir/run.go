package loopdir

import (
	"errors"
	"os"
	"time"
)

// RunFolder is the folder below a project's root that has the files of runs for people.
const RunFolder = ".agent-state"

// The files of the last run over a loop, of a program that starts sessions by itself.
const (
	runFile = "run.json"
	runLock = "run"    // locked by the process that works the run
	maxRun  = 16 << 20 // bytes
)

// Names of the files in which an agent keeps what it asks of a loop through its tools. They are no part of the record:
// nothing in them can complete a loop or raise a limit.
const (
	AgentFile       = "agent.json"       // its hooks and rules
	CheckpointsFile = "checkpoints.json" // its checkpoints

	maxAgent = 16 << 20 // bytes
)

// Agent returns one of the agent's files, or nil if there is none.
func (s *Store) Agent(name string) ([]byte, error) {
	if s.state == nil {
		return nil, nil
	}
	return s.private(name, maxAgent)
}

// SaveAgent writes one of the agent's files. The caller holds the lock.
func (s *Store) SaveAgent(name string, data []byte) error {
	if err := s.openState(true); err != nil {
		return err
	}
	return replace(s.state, name, data, 0o600, true, nil)
}

// Run returns the record of the last run, or nil if there is none.
func (s *Store) Run() ([]byte, error) {
	if s.state == nil {
		return nil, nil
	}
	return s.private(runFile, maxRun)
}

// SaveRun writes the record of the run. Only the process that holds the lock of LockRun writes it.
func (s *Store) SaveRun(data []byte) error {
	if err := s.openState(true); err != nil {
		return err
	}
	return replace(s.state, runFile, data, 0o600, true, nil)
}

// LockRun makes this process the only one that runs sessions over the loop, until unlock or until
// it dies. It waits for at most the given time and then returns ErrLocked.
func (s *Store) LockRun(wait time.Duration) (unlock func(), err error) { return s.lock(runLock, wait) }

// AppendLog adds one line to a log in a folder, as the logs of a loop are written: in one write,
// and with the older half in NAME.1. A link or a special file is refused.
func AppendLog(root *os.Root, name string, line []byte) error { return appendLog(root, name, line) }

// RunWorks reports whether a process holds the lock of LockRun.
func (s *Store) RunWorks() bool {
	unlock, err := s.LockRun(0)
	if err == nil {
		unlock()
	}
	return errors.Is(err, ErrLocked)
}
