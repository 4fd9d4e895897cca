package engine

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Folder is the name of the coordinator's folder in a loop's state folder. It has the locks, the file of about, the
// certificate, and in store the embedded server's data.
const Folder = "engine"

const (
	aboutFile = "engine.json"
	storeDir  = "store"
)

// about is what other processes of this user need to know of a loop's engine. Only this user can read it.
type about struct {
	Name    string   `json:"name"` // how the loop is called on servers
	Run     string   `json:"run,omitempty"`
	URL     string   `json:"url,omitempty"`    // what a worker types; of a run that is over it may come again
	Local   string   `json:"local,omitempty"`  // what this machine connects to
	Listen  string   `json:"listen,omitempty"` // where the embedded server listened last
	Pin     string   `json:"pin,omitempty"`    // SHA-256 of its certificate
	Own     bool     `json:"own,omitempty"`    // a person runs the server
	Creds   string   `json:"creds,omitempty"`  // with which the run enters it; "": with its key
	Seed    string   `json:"seed,omitempty"`   // of the key of the loop's runs
	Workers []worker `json:"workers,omitempty"`
}

// worker is one that may come.
type worker struct {
	Name string `json:"name"`
	Key  string `json:"key"` // the public part; "": it was revoked, and may have a stream
}

// read reads what is known of an engine. A file that is not there leaves all empty.
func read(dir string) (a about, err error) {
	path := filepath.Join(dir, aboutFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		return a, fmt.Errorf("cannot read %s: %w", path, err)
	}
	a.Workers = slices.DeleteFunc(a.Workers, func(w worker) bool { return !validName(w.Name) })
	return a, nil
}

// change changes what is known of an engine. It keeps other processes from doing so at the same time.
func change(dir string, do func(a *about) error) (a about, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return a, err
	}
	lock, err := loopdir.LockFile(filepath.Join(dir, "keys.lock"), loopdir.KilledTime)
	if err != nil {
		return a, err
	}
	defer lock.Close()
	a, err = read(dir)
	if err == nil {
		err = do(&a)
	}
	if err != nil {
		return a, err
	}
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return a, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return a, err
	}
	defer root.Close()
	return a, loopdir.Replace(root, aboutFile, append(text, '\n'), 0o600)
}

// named chooses how a loop is called on servers, and makes the key of its runs. All runs of the loop have the same
// ones, so a worker's credential outlives a run. Loops of one name in two projects get two.
func (a *about) named(loop string) (err error) {
	if a.Name == "" {
		clean := regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(loop, "-")
		a.Name = fmt.Sprintf("%.40s-%s", clean, nonce())
	}
	if a.Seed == "" {
		a.Seed, _, err = newSeed()
	}
	return err
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

// ErrNoEngine means that no engine has run in a folder.
var ErrNoEngine = errors.New("no run of this loop has had an engine")

// Token makes the credential of a worker, for the engine that has the folder. A worker of this name that there was is
// locked out. url is that of servers that a person runs; they do not know the worker until the person has put
// Authorization into their configuration.
func Token(dir, loop, url, name string) (c Credential, err error) {
	if url != "" {
		if err := CheckURL(url); err != nil {
			return c, err
		}
	}
	if !validName(name) {
		return c, errName("worker", name)
	}
	_, err = change(dir, func(a *about) error {
		if url != "" && (url != a.URL || !a.Own) {
			a.URL, a.Local, a.Own, a.Pin = url, url, true, ""
		}
		if a.URL == "" {
			return ErrNoEngine
		}
		if err := a.named(loop); err != nil {
			return err
		}
		c = Credential{URL: a.URL, Loop: a.Name, Worker: name, Pin: a.Pin}
		w := worker{Name: name}
		c.Seed, w.Key, err = newSeed()
		a.Workers = append(slices.DeleteFunc(a.Workers, func(w worker) bool { return w.Name == name }), w)
		return err
	})
	return c, err
}

// Revoke locks a worker out. Its claims end with their lease.
func Revoke(dir, name string) error {
	_, err := change(dir, func(a *about) error {
		i := slices.IndexFunc(a.Workers, func(w worker) bool { return w.Name == name && w.Key != "" })
		if i < 0 {
			return fmt.Errorf("there is no worker %q", name)
		}
		a.Workers[i].Key = ""
		return nil
	})
	return err
}

// OwnURL returns where the server is that a person runs for the loop; "": the server is a part of the loop's runs.
func OwnURL(dir string) string {
	if a, err := read(dir); err == nil && a.Own {
		return a.URL
	}
	return ""
}

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
	o.URL, o.Loop, o.Worker = cmp.Or(o.URL, c.URL), c.Loop, c.Worker
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
		options = append(options, nats.Secure(pinned(c.Pin)))
	}
	return options, nil
}
