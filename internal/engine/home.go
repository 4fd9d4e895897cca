package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/nkeys"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// home is the coordinator's folder. It has the lock, what other processes of this user need to know, the keys of the
// workers, the certificate, and in store the embedded server's data.
type home struct {
	dir  string
	lock *os.File
}

// about is the file engine.json. Only this user can read it.
type about struct {
	ID     string `json:"id"` // of the folder
	Loop   string `json:"loop"`
	Run    string `json:"run,omitempty"`
	URL    string `json:"url"`              // what a worker types; of a run that is over it may come again
	Listen string `json:"listen,omitempty"` // where the embedded server listened last
	Pin    string `json:"pin,omitempty"`    // SHA-256 of its certificate
	Local  string `json:"local"`            // what this machine connects to
	Seed   string `json:"seed,omitempty"`   // of the coordinator's key
	Creds  string `json:"creds,omitempty"`  // of a server that a person runs
	Own    bool   `json:"own,omitempty"`    // a person runs the server
}

const (
	aboutFile = "engine.json"
	keysFile  = "workers.json"
	storeDir  = "store"
)

// openHome locks the folder. Two servers on one folder would both write, and lose half of it.
func openHome(dir string) (*home, error) {
	if dir == "" {
		return nil, errors.New("the engine needs a folder")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := loopdir.LockFile(filepath.Join(dir, "lock"), loopdir.KilledTime)
	if errors.Is(err, loopdir.ErrLocked) {
		err = fmt.Errorf("%w: it has the folder %s", ErrLed, dir)
	}
	if err != nil {
		return nil, err
	}
	return &home{dir: dir, lock: f}, nil
}

// Close frees the lock.
func (h *home) Close() error { return h.lock.Close() }

// load reads a file of the folder. A file that is not there leaves v as it is.
func load(dir, name string, v any) error {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// save replaces a file of the folder.
func save(dir, name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return loopdir.Replace(root, name, append(text, '\n'), 0o600)
}

// newSeed makes a key, and returns its seed and its public part.
func newSeed() (seed, public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", "", err
	}
	text, err := pair.Seed()
	if err != nil {
		return "", "", err
	}
	public, err = pair.PublicKey()
	return string(text), public, err
}
