package jobs

import (
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
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Folder is the name of the engine's folder in a loop's state folder. It has the locks, the file of about, the
// embedded server's certificate, what jobs begin with, and work that arrives.
const Folder = "engine"

const aboutFile = "engine.json"

// about is what other processes of this user need to know of a loop's engine. Only this user can read it.
type about struct {
	Name     string   `json:"name"`             // how the loop is called on servers
	URL      string   `json:"url,omitempty"`    // what a worker types; of a run that is over it may come again
	Listen   string   `json:"listen,omitempty"` // where the embedded server listened last
	Pin      string   `json:"pin,omitempty"`    // SHA-256 of its certificate
	External bool     `json:"own,omitempty"`    // a person runs the server
	Seed     string   `json:"seed,omitempty"`   // of the key of the loop's runs
	Workers  []worker `json:"workers,omitempty"`
}

// worker is one that may come.
type worker struct {
	Name string `json:"name"`
	Key  string `json:"key"` // the public part
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
	return a, replace(dir, aboutFile, append(text, '\n'))
}

// setName chooses how a loop is called on servers, and makes the key of its runs. All runs of the loop have the same
// ones, so a worker's credential outlives a run. Loops of one name in two projects get two.
func (a *about) setName(loop string) (err error) {
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
		if url != "" && (url != a.URL || !a.External) {
			a.URL, a.External, a.Pin = url, true, ""
		}
		if a.URL == "" {
			return ErrNoEngine
		}
		if err := a.setName(loop); err != nil {
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
		i := slices.IndexFunc(a.Workers, func(w worker) bool { return w.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no worker %q", name)
		}
		a.Workers = slices.Delete(a.Workers, i, i+1)
		return nil
	})
	return err
}

// Engine is what is known of the engine of a folder.
type Engine struct {
	Loop    string   // how the loop is called on servers
	URL     string   // what a worker types
	Workers []string // who has a key
}

// Look reads what is known of the engine of a folder. The error is ErrNoEngine if none has had the folder.
func Look(dir string) (e Engine, err error) {
	a, err := read(dir)
	if err == nil && a.URL == "" {
		err = ErrNoEngine
	}
	for _, w := range a.Workers {
		e.Workers = append(e.Workers, w.Name)
	}
	slices.Sort(e.Workers)
	e.Loop, e.URL = a.Name, a.URL
	return e, err
}

// Authorization returns what a person puts into the configuration of the server that they run, so that it lets in the
// runs of the loop and its workers, and nobody else. It is empty if the server is a part of the loop's runs.
func Authorization(dir string) (string, error) {
	a, err := read(dir)
	if err != nil || !a.External {
		return "", err
	}
	return a.users()
}

// users are who may enter the server: the runs of the loop, and the workers. A worker may write on its own subjects
// alone. The server does not look to which subject an answer shall go, so the run does.
func (a about) users() (string, error) {
	pair, err := nkeys.FromSeed([]byte(a.Seed))
	if err != nil {
		return "", fmt.Errorf("the key of the loop's runs: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	user := func(who, key, publish, subscribe string) {
		fmt.Fprintf(&b, "    { # %s\n      nkey: %s\n      permissions {publish: [%q], subscribe: [%q]}\n    }\n", who, key,
			publish, subscribe)
	}
	user("the runs of "+a.Name, public, inbox(a.Name, ">"), subject(a.Name, "*", "*"))
	for _, w := range a.Workers {
		user("the worker "+w.Name, w.Key, subject(a.Name, w.Name, "*"), inbox(a.Name, w.Name+".>"))
	}
	return "authorization {\n  users = [\n" + b.String() + "  ]\n}\n", nil
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

// writeTime returns when the file of about was written last.
func writeTime(dir string) time.Time {
	info, err := os.Stat(filepath.Join(dir, aboutFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
