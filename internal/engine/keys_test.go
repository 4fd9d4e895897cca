package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// A worker may do its work, and nothing else. The control does the same as the coordinator.
func TestRights(t *testing.T) {
	t.Parallel()
	c := open(t)
	w := join(t, c, "w")
	join(t, c, "other")
	mayOnlyWork(t, c, w)
}

// mayOnlyWork takes the worker "w" through its work, and through what it may not do.
func mayOnlyWork(t *testing.T, c *Coordinator, w *Worker) {
	t.Helper()
	ctx := t.Context()
	check(t, c.Offer(ctx, Job{Feature: "a"}))
	check(t, c.PutBase(ctx, "base", strings.NewReader("base")))
	claim := take(t, w)
	check(t, claim.SubmitBytes(ctx, []byte("report"), []byte("bundle")))
	holder := claim.holder
	l := c.conn.names
	for what, subject := range map[string]string{
		"asks for another":            l.ask("other"),
		"writes an order":             l.order("a"),
		"takes the lead":              l.subject("lead"),
		"reads the lead":              api + "DIRECT.GET." + l.stream() + "." + l.subject("lead"),
		"reads an order by number":    api + "DIRECT.GET." + l.stream(),
		"reads an order through all":  api + "STREAM.MSG.GET." + l.stream(),
		"reads a bundle":              api + "DIRECT.GET." + l.from("w") + "." + l.claim(holder) + "0",
		"stores another's bundle":     l.claim("other.nonce") + "0",
		"speaks for another":          l.claim("other.nonce") + "say",
		"rings for another":           l.bell("other"),
		"stores a base":               l.base("base") + "0",
		"makes a stream":              api + "STREAM.CREATE.MINE",
		"makes its own stream larger": api + "STREAM.UPDATE." + l.from("w"),
		"deletes a stream":            api + "STREAM.DELETE." + l.stream(),
		"purges a stream":             api + "STREAM.PURGE." + l.stream(),
		"lists streams":               api + "STREAM.NAMES",
		"makes a consumer":            api + "CONSUMER.CREATE." + l.from("w"),
		"makes a named consumer":      api + "CONSUMER.CREATE." + l.stream() + ".mine.>",
		"writes to another's inbox":   l.inbox("other") + ".x",
	} {
		if !refused(t, w, time.Minute, func(nc *nats.Conn) error { return nc.Publish(subject, []byte("{}")) }) {
			t.Errorf("a worker %s", what)
		}
	}
	for what, subject := range map[string]string{
		"hears another's inbox": l.inbox("other") + ".>", "hears all claims": l.subject("from.>"),
		"hears all": ">", "hears the queue": l.subject("w.>"),
	} {
		subscribe := func(nc *nats.Conn) error { _, err := nc.SubscribeSync(subject); return err }
		if !refused(t, w, time.Minute, subscribe) {
			t.Errorf("a worker %s", what)
		}
	}
	for what, subject := range map[string]string{
		"claims": l.claim("w.x") + "say", "stores work": l.claim("w.x") + "0",
	} {
		if refused(t, w, time.Second/4, func(nc *nats.Conn) error { return nc.Publish(subject, nil) }) {
			t.Errorf("control: that a worker %s is refused", what)
		}
	}
	if w, err := Join(ctx, Options{URL: c.Address(), Loop: string(l), Lease: short}); err == nil {
		w.Close()
		t.Error("a worker without a key is let in")
	}
	mayNotMisdirect(t, c, w)
	// A roll-up would delete more than it may.
	msg := &nats.Msg{Subject: l.claim("w.y") + "say", Header: nats.Header{"Nats-Rollup": {"all"}}}
	if _, err := w.conn.js.PublishMsg(ctx, msg); err == nil {
		t.Error("a worker rolls its stream up")
	}
}

// mayNotMisdirect asks the server for answers, and names reply subjects where the worker may not write. The control
// shows that the server does answer.
func mayNotMisdirect(t *testing.T, c *Coordinator, w *Worker) {
	t.Helper()
	ctx := t.Context()
	l := c.conn.names
	stream, err := c.conn.js.Stream(ctx, l.stream())
	check(t, err)
	seqOf := func(subject string) uint64 {
		is, err := stream.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return 0
		}
		check(t, err)
		return is.Sequence
	}
	order := seqOf(l.order("a"))
	forbidden := map[string]*nats.Subscription{}
	for _, subject := range []string{l.inbox("other") + ".x", l.inbox("run") + ".x", l.bell("other")} {
		forbidden[subject], err = c.conn.nc.SubscribeSync(subject)
		check(t, err)
	}
	own, err := w.conn.nc.SubscribeSync(l.inbox("w") + ".own")
	check(t, err)
	replies := []string{
		l.subject("lead"), l.order("a"), l.order("new"), l.base("base") + "0", l.claim("other.x") + "say", l.bell("other"),
		l.inbox("other") + ".x", l.inbox("run") + ".x", api + "STREAM.DELETE." + l.stream(), l.inbox("w") + ".own",
	}
	for _, reply := range replies {
		for _, subject := range []string{
			api + "DIRECT.GET." + l.stream() + "." + l.order("a"), l.claim("w.z") + "say", l.ask("w"), l.bell("w"),
		} {
			check(t, w.conn.nc.PublishRequest(subject, reply, []byte("{}")))
		}
	}
	check(t, w.conn.nc.Flush())
	if _, err := own.NextMsg(time.Minute); err != nil {
		t.Errorf("control: the server does not answer: %v", err)
	}
	for subject, at := range forbidden {
		if _, err := at.NextMsg(time.Second / 4); err == nil {
			t.Errorf("an answer went to %s", subject)
		}
	}
	if now := seqOf(l.order("a")); now != order || seqOf(l.order("new")) > 0 {
		t.Errorf("an answer is an order: %d, and before %d", now, order)
	}
	if is, err := c.conn.direct(ctx, l.from("other")+"."+l.claim("other.x")+"say", nil); err != nil || is.seq > 0 {
		t.Errorf("an answer is another worker's word: %s, %v", is.data, err)
	}
	if _, err := c.conn.js.Stream(ctx, l.stream()); err != nil {
		t.Errorf("the stream: %v", err)
	}
	if err := c.Err(); err != nil {
		t.Errorf("the run has ended: %v", err)
	}
}

// refused reports whether the server refuses what do does. The client tells of it a little later.
func refused(t *testing.T, w *Worker, within time.Duration, do func(*nats.Conn) error) bool {
	t.Helper()
	failed := make(chan error, 10)
	w.conn.nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { failed <- err })
	check(t, do(w.conn.nc))
	check(t, w.conn.nc.Flush()) // the server answers in order
	select {
	case err := <-failed:
		return errors.Is(err, nats.ErrPermissionViolation)
	case <-time.After(within):
		return false
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	c := open(t, func(o *Options) { o.Listen = "0.0.0.0:0" })
	if !strings.HasPrefix(c.Address(), "tls://") {
		t.Fatalf("the address is %s", c.Address())
	}
	c.opts.URL = "tls://" + instead(c.server.address(), "127.0.0.1") // the machine's name may not lead here
	good := func() Credential {
		k, err := Token(c.opts.Dir, "tests", "", "w")
		check(t, err)
		k.URL = c.opts.URL
		return k
	}
	seed, _, err := newSeed()
	check(t, err)
	for what, change := range map[string]func(*Credential){
		"an unknown key":        func(k *Credential) { k.Seed = seed },
		"no key":                func(k *Credential) { k.Seed = "" },
		"another certificate":   func(k *Credential) { k.Pin = strings.Repeat("0", 64) },
		"the system's root CAs": func(k *Credential) { k.Pin = "" },
	} {
		k := good()
		change(&k)
		if w, err := Join(t.Context(), Options{Creds: k.String(), Lease: short}); err == nil {
			w.Close()
			t.Errorf("%s: is let in", what)
		}
	}
	k := good()
	plain := Options{URL: strings.Replace(k.URL, "tls:", "nats:", 1), Loop: k.Loop, Lease: short}
	if w, err := Join(t.Context(), plain); err == nil {
		w.Close()
		t.Error("without a key: is let in")
	}
	w, err := Join(t.Context(), Options{Creds: k.String(), Lease: short})
	check(t, err)
	defer w.Close()
	check(t, Revoke(c.opts.Dir, "w"))
	if claim, err := w.Take(t.Context()); err == nil {
		t.Errorf("a worker that was locked out takes %s", claim.Feature)
	}

	// The server hears of a change of the keys a little later. It has heard of this one.
	if w, err := Join(t.Context(), Options{Creds: k.String(), Lease: short}); err == nil {
		w.Close()
		t.Error("a key that is revoked: is let in")
	}
}

// A credential lets some processes in, and says so to the next one.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	c := open(t)
	k, err := Token(c.opts.Dir, "tests", "", "w")
	check(t, err)
	for range maxConnections {
		w, err := Join(t.Context(), Options{Creds: k.String(), Lease: short, Log: logs(t)})
		check(t, err)
		defer w.Close()
	}
	w, err := Join(t.Context(), Options{Creds: k.String(), Lease: short, Log: logs(t)})
	if err == nil {
		w.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "4 processes use the credential of w already; end one") {
		t.Errorf("one more: %v", err)
	}
}

// A credential whose loop or name was changed is refused with the reason, by the server's first answer.
func TestCredentialOfAnother(t *testing.T) {
	t.Parallel()
	c := open(t)
	join(t, c, "other")
	for what, change := range map[string]func(*Credential){
		"another loop": func(k *Credential) { k.Loop = "other" },
		"another name": func(k *Credential) { k.Worker = "other" },
	} {
		k, err := Token(c.opts.Dir, "tests", "", "w")
		check(t, err)
		change(&k)
		w, err := Join(t.Context(), Options{Creds: k.String(), Lease: short})
		if err == nil {
			_, err = w.Take(t.Context())
			w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "the credential's key is not that of the worker") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestParseCredential(t *testing.T) {
	t.Parallel()
	k := Credential{URL: "tls://h:1", Loop: "l", Worker: "w", Seed: "s", Pin: "p"}
	if got, err := ParseCredential(" " + k.String() + "\n"); err != nil || got != k {
		t.Errorf("%+v, %v", got, err)
	}
	for _, word := range []string{"", "ralph1.", "ralph1.!", k.String()[:20], "x" + k.String()} {
		if _, err := ParseCredential(word); err == nil {
			t.Errorf("%q is a credential", word)
		}
	}
	if _, err := Token(t.TempDir(), "tests", "", "w"); !errors.Is(err, ErrNoEngine) {
		t.Errorf("a token without an engine: %v", err)
	}
}

// A worker is let in as soon as its key is written, and locked out when it is replaced.
func TestKeyCountsAtOnce(t *testing.T) {
	t.Parallel()
	c := open(t)
	first, err := Token(c.opts.Dir, "tests", "", "w")
	check(t, err)
	w, err := Join(t.Context(), Options{Creds: first.String(), Lease: short, Log: logs(t)})
	check(t, err)
	defer w.Close()
	second, err := Token(c.opts.Dir, "tests", "", "w")
	check(t, err)
	other, err := Join(t.Context(), Options{Creds: second.String(), Lease: short, Log: logs(t)})
	check(t, err)
	defer other.Close()
	waitUntil(t, w.conn.nc.IsClosed)
	if !other.conn.nc.IsConnected() {
		t.Error("the worker with the new key is not connected")
	}
}

// Who has a worker's public key, and not its seed, is not let in.
func TestKeyIsSigned(t *testing.T) {
	t.Parallel()
	seed, _, err := newSeed()
	check(t, err)
	c := open(t, func(o *Options) { // as an earlier version has left it
		text := fmt.Sprintf(`{"name": "tests-1", "seed": %q}`, seed)
		check(t, os.WriteFile(filepath.Join(o.Dir, aboutFile), []byte(text), 0o600))
	})
	good, err := Token(c.opts.Dir, "tests", "", "w")
	check(t, err)
	pair, err := nkeys.FromSeed([]byte(good.Seed))
	check(t, err)
	public, err := pair.PublicKey()
	check(t, err)
	other, err := nkeys.CreateUser()
	check(t, err)
	enters := func(sign func([]byte) ([]byte, error)) bool {
		nc, err := nats.Connect(good.URL, nats.Nkey(public, sign))
		if err == nil {
			nc.Close()
		}
		return err == nil
	}
	waitUntil(t, func() bool { return enters(pair.Sign) })
	if enters(other.Sign) {
		t.Error("who signs with another key is let in")
	}
}

// What lies in the folder is for this user alone.
func TestFilesAreSecret(t *testing.T) {
	t.Parallel()
	c := open(t, func(o *Options) { o.Listen = "0.0.0.0:0" })
	_, err := Token(c.opts.Dir, "tests", "", "w")
	check(t, err)
	for _, name := range []string{aboutFile, "key.pem", "lock"} {
		info, err := os.Stat(filepath.Join(c.opts.Dir, name))
		check(t, err)
		if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
}
