package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// told keeps what a program tells people.
type told struct {
	mu  sync.Mutex
	all []string
}

func (l *told) log(o *Options) {
	o.Log = func(text string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, text)
	}
}

// has reports whether something was told.
func (l *told) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.all, func(text string) bool { return strings.Contains(text, part) })
}

// problems returns what must not be among the words: those of NATS, and what is told again and again.
func (l *told) problems() (bad []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, text := range l.all {
		if strings.Contains(text, "nats:") || strings.Contains(text, "jetstream:") || slices.Contains(l.all[:i], text) {
			bad = append(bad, text)
		}
	}
	return bad
}

// While the server is away, people hear once that there is no connection, and no words of NATS.
func TestWordsWithoutConnection(t *testing.T) {
	t.Parallel()
	var run, worker told
	c := open(t, run.log)
	ctx := t.Context()
	check(t, c.PutBase(ctx, "base", strings.NewReader("base")))
	check(t, c.Offer(ctx, Job{Feature: "a"}))
	claim := take(t, join(t, c, "w", worker.log))
	check(t, c.Offer(ctx, Job{Feature: "b"}))
	c.server.stop()
	time.Sleep(short / 4)
	submitted := make(chan error, 1)
	go func() { submitted <- claim.SubmitBytes(ctx, []byte("report"), []byte("bundle")) }()
	for what, err := range map[string]error{
		"an offer":    c.Offer(ctx, Job{Feature: "c"}),
		"giving back": c.End(ctx, "b", false),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), "there is no connection to the engine") {
			t.Errorf("%s: %v", what, err)
		}
	}
	time.Sleep(3 * short)
	check(t, c.server.start())
	check(t, <-submitted)
	for who, l := range map[string]*told{"the run": &run, "the worker": &worker} {
		if bad := l.problems(); len(bad) > 0 || !slices.Contains(l.all, "the connection is lost; connecting again") {
			t.Errorf("%s tells %q; of them are bad %q", who, l.all, bad)
		}
	}
	control := told{all: []string{"cannot watch: nats: outbound buffer limit exceeded", "twice", "twice"}}
	if bad := control.problems(); len(bad) != 2 {
		t.Errorf("control: bad are %q", bad)
	}
}

// A process that was killed may have its lock for a moment more.
func TestFolderSoonFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := loopdir.LockFile(filepath.Join(dir, "lock"), 0)
	check(t, err)
	go func() {
		time.Sleep(time.Second)
		f.Close()
	}()
	open(t, func(o *Options) { o.Dir = dir })
}

// A worker needs a credential that names its loop. Whoever has another one hears which it must be, and no secret is
// told.
func TestForeignCredential(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "own.creds")
	check(t, os.WriteFile(file, []byte("-----BEGIN NATS USER JWT-----\n"), 0o600))
	for _, creds := range []string{file, "SUAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4", "alph1.secret"} {
		w, err := Join(t.Context(), Options{URL: "nats://127.0.0.1:1", Creds: creds, Lease: short})
		want := "a worker needs the credential that 'ralph-runner engine token' prints on the run's machine"
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(fmt.Sprint(err), creds[len(creds)-6:]) {
			t.Errorf("a worker with %.8s: %v, %v", creds, w, err)
		}
	}
}
