package engine

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/engine/pin"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Credential lets one worker in. Its seed is a secret.
type Credential struct {
	URL    string `json:"url"`
	Loop   string `json:"loop"`
	Worker string `json:"worker"`
	Seed   string `json:"seed"`
	Pin    string `json:"pin,omitempty"` // SHA-256 of the server's certificate
}

// credentialMark begins each credential.
const credentialMark = "ralph1."

// String returns the credential as one word.
func (c Credential) String() string {
	text, _ := json.Marshal(c)
	return credentialMark + base64.RawURLEncoding.EncodeToString(text)
}

// ParseCredential is the inverse of String.
func ParseCredential(word string) (c Credential, err error) {
	coded, is := strings.CutPrefix(strings.TrimSpace(word), credentialMark)
	text, err := base64.RawURLEncoding.DecodeString(coded)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if !is || err != nil {
		return c, errors.New("this is no credential of 'ralph-runner engine token'; was it copied whole?")
	}
	return c, nil
}

// withCreds reads the credentials.
func (o Options) withCreds() (Options, []nats.Option, error) {
	switch {
	case o.Creds == "":
		return o, nil, nil
	case strings.HasPrefix(o.Creds, credentialMark):
	case strings.HasSuffix(o.Creds, ".creds"):
		return o, []nats.Option{nats.UserCredentials(o.Creds)}, nil
	default:
		option, err := nats.NkeyOptionFromSeed(o.Creds)
		if err != nil {
			err = errors.New("the credentials are neither what 'ralph-runner engine token' prints nor a file with the seed " +
				"of an nkey")
		}
		return o, []nats.Option{option}, err
	}
	c, err := ParseCredential(o.Creds)
	if err != nil {
		return o, nil, err
	}
	if o.URL == "" {
		o.URL = c.URL
	}
	o.Loop, o.Worker = c.Loop, c.Worker
	options, err := c.options()
	return o, options, err
}

// options say who connects, and to whom.
func (c Credential) options() ([]nats.Option, error) {
	pair, err := nkeys.FromSeed([]byte(c.Seed))
	if err != nil {
		return nil, fmt.Errorf("the credential's key: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	options := []nats.Option{nats.Nkey(public, pair.Sign)}
	if c.Pin != "" {
		options = append(options, nats.Secure(pin.Config(c.Pin)))
	}
	return options, nil
}

// workerKey is one worker in workers.json.
type workerKey struct {
	Name string    `json:"name"`
	Key  string    `json:"key"` // the public part
	Made time.Time `json:"made"`
}

// ErrNoEngine means that no engine has run in a folder.
var ErrNoEngine = errors.New("no run of this loop has had an engine")

// Token makes the credential of a worker, for the engine that has the folder. A worker of this name that there was is
// locked out.
func Token(dir, name string) (Credential, error) {
	unlock, err := lockKeys(dir)
	if err != nil {
		return Credential{}, err
	}
	defer unlock()
	is, _, err := readKeys(dir)
	if err != nil {
		return Credential{}, err
	}
	return admit(dir, Credential{URL: is.URL, Loop: is.Loop, Worker: name, Pin: is.Pin})
}

// Revoke locks a worker out. Its claims end with their lease.
func Revoke(dir, name string) error {
	unlock, err := lockKeys(dir)
	if err != nil {
		return err
	}
	defer unlock()
	var keys []workerKey
	if err := load(dir, keysFile, &keys); err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(keys), func(k workerKey) bool { return k.Name == name })
	if len(left) == len(keys) {
		return fmt.Errorf("there is no worker %q", name)
	}
	return save(dir, keysFile, left)
}

// lockKeys keeps other processes from changing the keys.
func lockKeys(dir string) (unlock func() error, err error) {
	f, err := loopdir.LockFile(filepath.Join(dir, "keys.lock"), loopdir.KilledTime)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoEngine
	}
	return f.Close, err
}

func readKeys(dir string) (is about, keys []workerKey, err error) {
	err = errors.Join(load(dir, aboutFile, &is), load(dir, keysFile, &keys))
	if err == nil && is.URL == "" {
		err = ErrNoEngine
	}
	return is, keys, err
}
