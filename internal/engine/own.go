package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// own is the file own.json: how the loop is called on servers, and what lets its runs into one that a person runs.
type own struct {
	Name   string `json:"name"`
	URL    string `json:"url,omitempty"`
	Seed   string `json:"seed,omitempty"`
	Public string `json:"public,omitempty"` // the public part of the seed
}

const ownFile = "own.json"

// Name returns how a loop is called on servers, and chooses the name if it has none. All runs of the loop have the same
// one, so a worker's credential outlives a run. Loops of one name in two projects get two.
func Name(dir, loop string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := lockKeys(dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	o, err := readOwn(dir, loop)
	return o.Name, err
}

// readOwn reads the file, and chooses the name. The caller has the lock of the keys.
func readOwn(dir, loop string) (o own, err error) {
	err = load(dir, ownFile, &o)
	if err != nil || o.Name != "" {
		return o, err
	}
	clean := regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(loop, "-")
	o.Name = fmt.Sprintf("%.40s-%s", clean, nonce())
	return o, save(dir, ownFile, o)
}

// TokenAt makes the credential of a worker for a server that a person runs, and a key for the runs of the loop if there
// is none. The server does not know them until the person has put Authorization into its configuration.
func TokenAt(dir, loop, url, name string) (Credential, error) {
	if err := CheckURL(url); err != nil {
		return Credential{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Credential{}, err
	}
	unlock, err := lockKeys(dir)
	if err != nil {
		return Credential{}, err
	}
	defer unlock()
	o, err := readOwn(dir, loop)
	if err != nil {
		return Credential{}, err
	}
	if o.Seed == "" {
		o.Seed, o.Public, err = newSeed()
		if err != nil {
			return Credential{}, err
		}
	}
	o.URL = url
	if err := save(dir, ownFile, o); err != nil {
		return Credential{}, err
	}
	return admit(dir, Credential{URL: url, Loop: o.Name, Worker: name})
}

// Authorization returns what a person puts into the configuration of the server that they run, so that it lets in the
// runs of the loop and its workers, and nobody else. It is empty if no credential was made for such a server.
func Authorization(dir string) (string, error) {
	var o own
	var keys []workerKey
	if err := errors.Join(load(dir, ownFile, &o), load(dir, keysFile, &keys)); err != nil || o.Seed == "" {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "authorization {\n  users = [\n    { nkey: %s } # the runs of %s\n", o.Public, o.Name)
	quoted := func(subjects []string) string { return `"` + strings.Join(subjects, "\"\n          \"") + `"` }
	for _, k := range keys {
		if !validName(k.Name) {
			continue
		}
		p := names(o.Name).rights(k.Name)
		fmt.Fprintf(&b, "    {\n      nkey: %s # the worker %s\n      permissions {\n        publish = [\n"+
			"          %s\n        ]\n        subscribe = [%s]\n      }\n    }\n",
			k.Key, k.Name, quoted(p.Publish.Allow), quoted(p.Subscribe.Allow))
	}
	b.WriteString("  ]\n}\n")
	return b.String(), nil
}

// OwnURL returns where the server is that a person runs for the loop; "": the server is a part of the loop's runs.
func OwnURL(dir string) string {
	var is about
	var o own
	switch err := errors.Join(load(dir, aboutFile, &is), load(dir, ownFile, &o)); {
	case err == nil && is.URL == "":
		return o.URL
	case err == nil && is.Own:
		return is.URL
	}
	return ""
}

// enter says how a run gets into a server that a person runs, if the person has not said it: with the key of TokenAt.
func (c *Coordinator) enter(is *about, options []nats.Option) ([]nats.Option, error) {
	var o own
	if err := load(c.home.dir, ownFile, &o); err != nil || c.opts.Creds != "" || o.Seed == "" || o.URL != c.opts.URL {
		return options, err
	}
	is.Seed = o.Seed
	return Credential{Seed: o.Seed}.options()
}

// stranger says what to do if a server that a person runs does not let us in.
func stranger(err error) error {
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrNkeysNotSupported) {
		err = fmt.Errorf("%w; put what 'ralph-runner engine token' printed into the server's configuration, and "+
			"reload it", err)
	}
	return err
}

// clear deletes what another run has left on the server. Revisions go on from where they are, so a worker that comes
// back from that run is refused.
func (c *conn) clear(ctx context.Context) error {
	for _, s := range [][2]string{
		{c.queue(), ">"}, {c.bases(), ">"}, {c.works(), ">"},
		{c.records(), "$KV." + c.bucket() + ".c.>"}, {c.records(), "$KV." + c.bucket() + ".m.>"},
	} {
		stream, err := c.js.Stream(ctx, s[0])
		if err == nil {
			err = stream.Purge(ctx, jetstream.WithPurgeSubject(s[1]))
		}
		if err != nil {
			return fmt.Errorf("cannot delete what the run before has left in %s: %w", s[0], err)
		}
	}
	return nil
}

// admit writes a worker's key, in the place of the one that it had, and completes its credential. The caller has the
// lock of the keys.
func admit(dir string, c Credential) (Credential, error) {
	var keys []workerKey
	if err := load(dir, keysFile, &keys); err != nil {
		return c, err
	}
	if !validName(c.Worker) {
		return c, errName("worker", c.Worker)
	}
	seed, public, err := newSeed()
	if err != nil {
		return c, err
	}
	c.Seed = seed
	keys = slices.DeleteFunc(keys, func(k workerKey) bool { return k.Name == c.Worker })
	keys = append(keys, workerKey{Name: c.Worker, Key: public, Made: time.Now().UTC().Truncate(time.Second)})
	return c, save(dir, keysFile, keys)
}
