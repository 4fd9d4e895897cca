package jobs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// A worker may ask for itself, and hear its own answers. It may do nothing else, whatever it writes.
func TestRights(t *testing.T) {
	t.Parallel()
	w := open(t)
	worker := w.join("w")
	mayOnlyAsk(t, w, worker)
}

// mayOnlyAsk takes the worker "w" through what it may do, and what it may not.
func mayOnlyAsk(t *testing.T, w *world, worker *Worker) {
	t.Helper()
	l := w.Hub.opts.Loop
	for what, topic := range map[string]string{
		"asks for another":         subject(l, "other", "take"),
		"asks for the run":         subject(l, runName, "take"),
		"asks in another loop":     subject("other", "w", "take"),
		"answers another":          inbox(l, "other") + ".x",
		"answers itself":           inbox(l, "w") + ".x",
		"asks with two words more": subject(l, "w", "take.x"),
		"asks the server":          "$SYS.REQ.SERVER.PING",
		"asks JetStream":           "$JS.API.INFO",
	} {
		if !refused(t, worker, func(nc *nats.Conn) error { return nc.Publish(topic, []byte("{}")) }) {
			t.Errorf("a worker %s", what)
		}
	}
	for what, topic := range map[string]string{
		"hears another's answers": inbox(l, "other") + ".>", "hears the run's": inbox(l, runName) + ".>",
		"hears all answers": "_INBOX.>", "hears another's questions": subject(l, "other", "*"),
		"hears its own questions": subject(l, "w", "*"), "hears all": ">",
	} {
		if !refused(t, worker, func(nc *nats.Conn) error { _, err := nc.SubscribeSync(topic); return err }) {
			t.Errorf("a worker %s", what)
		}
	}
	if refused(t, worker, func(nc *nats.Conn) error { return nc.Publish(subject(l, "w", "take"), nil) }) {
		t.Error("control: a worker may not ask")
	}
}

// A worker asks, and names a subject for the answer that is not its own. The control does get an answer.
func TestMisdirected(t *testing.T) {
	t.Parallel()
	w := open(t)
	worker, other := w.join("w"), w.join("other")
	l := w.Hub.opts.Loop
	heard, err := other.nc.SubscribeSync(inbox(l, "other") + ".x")
	check(t, err)
	own, err := worker.nc.SubscribeSync(inbox(l, "w") + ".own")
	check(t, err)
	o := w.offer("a")
	task := take(t, other)
	for _, reply := range []string{
		inbox(l, "other") + ".x", subject(l, "other", "drop"),
		subject(l, "w", "drop"), inbox(l, "w"), inbox(l, "w") + ".own",
	} {
		for _, verb := range []string{"take", "beat", "get", "put", "done", "drop", "other"} {
			check(t, worker.nc.PublishRequest(subject(l, "w", verb), reply, []byte(`{"c":"`+task.id+`"}`)))
		}
	}
	if _, err := own.NextMsg(time.Minute); err != nil {
		t.Errorf("control: there is no answer: %v", err)
	}
	if m, err := heard.NextMsg(time.Second / 4); err == nil {
		t.Errorf("another worker hears %s", m.Data)
	}
	if c := o.Claim(); c == nil || c.ID != task.id {
		t.Errorf("the job is that of %+v", c)
	}
}

// refused reports whether the server refuses what do does. The client tells of it a little later.
func refused(t *testing.T, w *Worker, do func(*nats.Conn) error) bool {
	t.Helper()
	failed := make(chan error, 10)
	w.nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { failed <- err })
	check(t, do(w.nc))
	check(t, w.nc.Flush()) // the server answers in order
	select {
	case err := <-failed:
		return errors.Is(err, nats.ErrPermissionViolation)
	case <-time.After(time.Second / 4):
		return false
	}
}

// A worker has a job. What another one says of it counts for nothing, and neither does what makes no sense.
func TestForeign(t *testing.T) {
	t.Parallel()
	w := open(t)
	o := w.offer("a")
	liar := w.join("liar")
	honest := w.join("honest")
	task := take(t, honest)
	l := w.Hub.opts.Loop
	for what, q := range map[string]message{
		"another's claim":            {Claim: task.id, Size: 1, Sum: "x"},
		"a claim of no worker":       {Claim: "x"},
		"a claim that is a path":     {Claim: "liar.../../x"},
		"a claim with a part of one": {Claim: "liar.x.y"},
		"a claim that it has not":    {Claim: "liar.x", Size: 1, Sum: "x"},
		"a file above":               {Claim: "liar.x", File: "../engine.json"},
		"nothing":                    {},
	} {
		for _, verb := range []string{"beat", "get", "put", "done", "drop", "none"} {
			text, err := json.Marshal(q)
			check(t, err)
			m, err := liar.nc.Request(subject(l, "liar", verb), text, time.Minute)
			check(t, err)
			var a message
			check(t, json.Unmarshal(m.Data, &a))
			if !a.ClaimLost && a.Err == "" && (verb != "drop" || q.Claim != "liar.x") {
				t.Errorf("%s: %s is answered with %s", what, verb, m.Data)
			}
		}
	}
	if c := o.Claim(); c == nil || c.ID != task.id {
		t.Errorf("the job is that of %+v", c)
	}
	w.offer("b")
	mine := take(t, liar)
	for what, q := range map[string]struct {
		verb string
		message
	}{
		"a file above":                {"get", message{File: "../engine.json"}},
		"a file that is not there":    {"get", message{File: "x"}},
		"a folder":                    {"get", message{File: "."}},
		"a part before the beginning": {"get", message{File: ".", At: -1}},
		"work before the beginning":   {"put", message{At: -1, Data: []byte("x")}},
		"work that is too large":      {"put", message{At: MaxWork, Data: []byte("x")}},
		"a report that is too large":  {"done", message{Report: make([]byte, MaxBody+1)}},
	} {
		q.Claim = mine.id
		if a, err := liar.ask(t.Context(), q.verb, q.message, answerTime); err == nil {
			t.Errorf("%s: the answer is %+v", what, a)
		}
	}
	for what, q := range map[string]message{
		"work that was not sent": {Size: 3, Sum: "abc"},
		"work that is another":   {Size: 1, Sum: strings.Repeat("0", 64)},
	} {
		_, err := mine.ask(t.Context(), "put", message{Data: []byte("x")})
		check(t, err)
		q.Claim = mine.id
		if a, err := liar.ask(t.Context(), "done", q, answerTime); err != nil || !a.Resend {
			t.Errorf("%s: the answer is %+v, %v", what, a, err)
		}
	}
}

// FuzzQuestion sends any bytes as any question. The hub answers, and gives out nothing.
func FuzzQuestion(f *testing.F) {
	w := open(f)
	w.offer("a")
	liar := w.join("liar")
	for _, text := range []string{`{"c":"liar.x"}`, `{"c":"liar.x","o":-1}`, `{"c":"other.x"}`, "null", "[]", "{"} {
		f.Add("take", []byte(text))
		f.Add("put", []byte(text))
	}
	f.Fuzz(func(t *testing.T, verb string, text []byte) {
		if verb == "" || strings.ContainsAny(verb, " \t\r\n.*>") {
			return // no subject
		}
		if verb == "take" && json.Valid(text) || len(text) > 1<<19 {
			return // it may wait for a job, or is too large for a message
		}
		m, err := liar.nc.Request(subject(w.Hub.opts.Loop, "liar", verb), text, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var a message
		if err := json.Unmarshal(m.Data, &a); err != nil || a.Job != nil || len(a.Data) > 0 {
			t.Errorf("%s %q is answered with %q: %v", verb, text, m.Data, err)
		}
	})
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	w := open(t, func(o *Options) { o.Listen = "0.0.0.0:0" })
	if !strings.HasPrefix(w.Address(), "tls://") {
		t.Fatalf("the address is %s", w.Address())
	}
	url := "tls://" + replaceHost(w.server.address(), "127.0.0.1") // the machine's name may not lead here
	good := func() Credential {
		k, err := Token(w.opts.Dir, "tests", "", "w")
		check(t, err)
		k.URL = url
		return k
	}
	seed, _, err := newSeed()
	check(t, err)
	for what, change := range map[string]func(*Credential){
		"an unknown key":        func(k *Credential) { k.Seed = seed },
		"no key":                func(k *Credential) { k.Seed = "" },
		"another certificate":   func(k *Credential) { k.Pin = strings.Repeat("0", 64) },
		"the system's root CAs": func(k *Credential) { k.Pin = "" },
		"no TLS":                func(k *Credential) { k.URL, k.Pin = strings.Replace(url, "tls:", "nats:", 1), "" },
	} {
		k := good()
		change(&k)
		if w, err := Join(t.Context(), Options{Creds: k.String()}); err == nil {
			w.Close()
			t.Errorf("%s: is let in", what)
		}
	}
	if nc, err := nats.Connect(url, nats.Secure(pinned(good().Pin))); err == nil {
		nc.Close()
		t.Error("without a key: is let in")
	}
	k := good()
	worker, err := Join(t.Context(), Options{Creds: k.String()})
	check(t, err)
	defer worker.Close()
	check(t, Revoke(w.opts.Dir, "w"))
	if task, err := worker.Take(t.Context()); err == nil {
		t.Errorf("a worker that was locked out takes %s", task.Feature)
	}
	// The server hears of a change of the keys a little later. It has heard of this one.
	if one, err := Join(t.Context(), Options{Creds: k.String()}); err == nil {
		one.Close()
		t.Error("a key that is revoked: is let in")
	} else if !strings.Contains(err.Error(), "it was revoked or replaced") {
		t.Errorf("a key that is revoked: %v", err)
	}
}

// A credential whose loop or name was changed is refused with the reason.
func TestCredentialOfAnother(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.join("other")
	for what, change := range map[string]func(*Credential){
		"another loop": func(k *Credential) { k.Loop = "other" },
		"another name": func(k *Credential) { k.Worker = "other" },
	} {
		k, err := Token(w.opts.Dir, "tests", "", "w")
		check(t, err)
		change(&k)
		one, err := Join(t.Context(), Options{Creds: k.String()})
		if err == nil {
			_, err = one.Take(t.Context())
			one.Close()
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
	w := open(t)
	first := w.join("w")
	second := w.join("w")
	if !within(first.nc.IsClosed) {
		t.Error("the worker with the old key is connected")
	}
	if !second.nc.IsConnected() {
		t.Error("the worker with the new key is not connected")
	}
}

// Who has a worker's public key, and not its seed, is not let in.
func TestKeyIsSigned(t *testing.T) {
	t.Parallel()
	w := open(t)
	good, err := Token(w.opts.Dir, "tests", "", "w")
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
	if !within(func() bool { return enters(pair.Sign) }) {
		t.Error("control: the worker is not let in")
	}
	if enters(other.Sign) {
		t.Error("who signs with another key is let in")
	}
}

// What lies in the folder is for this user alone.
func TestFilesAreSecret(t *testing.T) {
	t.Parallel()
	w := open(t, func(o *Options) { o.Listen = "0.0.0.0:0" })
	_, err := Token(w.opts.Dir, "tests", "", "w")
	check(t, err)
	for _, name := range []string{aboutFile, "cert.pem", "lock", filesDir} {
		info, err := os.Stat(filepath.Join(w.opts.Dir, name))
		check(t, err)
		if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
}

// FuzzCredential reads any text as a credential. One that is read is written as what is read again.
func FuzzCredential(f *testing.F) {
	f.Add(Credential{URL: "tls://h:1", Loop: "l", Worker: "w", Seed: "s", Pin: "p"}.String())
	f.Add("ralph1.!")
	f.Add("")
	f.Fuzz(func(t *testing.T, word string) {
		c, err := ParseCredential(word)
		if err != nil {
			return
		}
		if again, err := ParseCredential(c.String()); err != nil || again != c {
			text, _ := json.Marshal(c)
			t.Fatalf("%s is read as %+v: %v", text, again, err)
		}
	})
}
