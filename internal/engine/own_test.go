package engine

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// ownServers starts servers as a person does, with configuration files: one, or a cluster of three. users makes the
// part about users when it is known where the servers will be.
func ownServers(t testing.TB, n int, users func(urls string) string) (files []string, servers []*natsserver.Server) {
	t.Helper()
	var clients, routes []string
	for range n {
		clients = append(clients, fmt.Sprint("127.0.0.1:", freePort(t)))
		routes = append(routes, fmt.Sprint("nats://127.0.0.1:", freePort(t)))
	}
	text := users("nats://" + strings.Join(clients, ",nats://"))
	for i := range n {
		dir := t.TempDir()
		file := filepath.Join(dir, "nats.conf")
		config := fmt.Sprintf("server_name: s%d\nlisten: %q\njetstream { store_dir: %q, sync_interval: always }\n%s", i,
			clients[i], dir, text)
		if n > 1 {
			at, err := url.Parse(routes[i])
			check(t, err)
			config += fmt.Sprintf("cluster { name: three, listen: %q, routes: [%s] }\n", at.Host,
				strings.Join(routes, ", "))
		}
		check(t, os.WriteFile(file, []byte(config), 0o600))
		files = append(files, file)
		servers = append(servers, ownServer(t, file))
	}
	waitUntil(t, func() bool {
		for _, s := range servers {
			if n == 1 || s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == n {
				return true
			}
		}
		return false
	})
	return files, servers
}

func ownServer(t testing.TB, file string) *natsserver.Server {
	t.Helper()
	o, err := natsserver.ProcessConfigFile(file)
	check(t, err)
	o.NoSigs, o.NoLog = true, true
	s, err := natsserver.NewServer(o)
	check(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	waitUntil(t, func() bool { return s.ReadyForConnections(time.Second) })
	return s
}

// What engine token prints for the servers of a person lets in the runs of the loop and its workers. A worker may work
// there, and nothing else. On a cluster of three all is there three times.
func TestOwnServers(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			if n > 1 && testing.Short() {
				t.Skip("three servers take a while to agree")
			}
			dir := t.TempDir()
			var k Credential
			users := func(at string) string {
				var err error
				for _, name := range []string{"other", "w"} {
					k, err = Token(dir, "many loops", at, name)
					check(t, err)
				}
				text, err := Authorization(dir)
				check(t, err)
				return text
			}
			files, servers := ownServers(t, n, users)
			if !strings.HasPrefix(k.Loop, "many-loops-") {
				t.Errorf("the loop is called %q", k.Loop)
			}
			o := Options{URL: k.URL, Loop: "many loops", Dir: dir, Run: "first", Lease: 2 * short, Log: logs(t)}
			c, err := Open(t.Context(), o)
			check(t, err)
			defer func() { c.Close() }()
			w, err := Join(t.Context(), Options{Creds: k.String(), Lease: short, Log: logs(t)})
			check(t, err)
			defer w.Close()
			mayOnlyWork(t, c, w)
			for _, stream := range []string{c.conn.stream(), c.conn.from("w"), c.conn.from("other")} {
				s, err := c.conn.js.Stream(t.Context(), stream)
				check(t, err)
				if got := s.CachedInfo().Config.Replicas; got != n {
					t.Errorf("%s is there %d times", stream, got)
				}
			}
			if s, err := Look(t.Context(), dir); err != nil || s.Problem != "" || s.URL != k.URL {
				t.Errorf("the status is %+v, %v", s, err)
			}
			// Another project has a loop of that name. Its key and its worker are strangers.
			stranger, err := Token(t.TempDir(), "many loops", k.URL, "w")
			check(t, err)
			if w, err := Join(t.Context(), Options{Creds: stranger.String(), Lease: short}); err == nil {
				w.Close()
				t.Error("another loop's worker is let in")
			}
			if n == 1 {
				revokeOwn(t, dir, files[0], servers[0], w)
			}
		})
	}
}

// revokeOwn locks the worker out as a person does.
func revokeOwn(t *testing.T, dir, file string, s *natsserver.Server, w *Worker) {
	t.Helper()
	before, err := Authorization(dir)
	check(t, err)
	check(t, Revoke(dir, "w"))
	after, err := Authorization(dir)
	check(t, err)
	text, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(file, []byte(strings.Replace(string(text), before, after, 1)), 0o600))
	check(t, s.Reload())
	if claim, err := w.Take(t.Context()); err == nil {
		t.Errorf("a worker that was locked out takes %s", claim.Feature)
	}
	// A new credential lets it in again. A server makes the imports of a new account at the second reload.
	k, err := Token(dir, "many loops", w.opts.URL, "w")
	check(t, err)
	again, err := Authorization(dir)
	check(t, err)
	check(t, os.WriteFile(file, []byte(strings.Replace(string(text), before, again, 1)), 0o600))
	for range reloads {
		check(t, s.Reload())
	}
	anew, err := Join(t.Context(), Options{Creds: k.String(), Lease: short, Log: logs(t)})
	check(t, err)
	anew.Close()
}

// A run that begins finds nothing of the run before it, and a run that goes on finds all. A worker of the run before is
// refused.
func TestClear(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begin := func(run string) *Coordinator {
		return open(t, func(o *Options) { o.Dir, o.Run = dir, run })
	}
	c := begin("first")
	check(t, c.PutBase(t.Context(), "base", strings.NewReader("base")))
	check(t, c.Offer(t.Context(), Job{Feature: "a", Body: []byte("old")}))
	w := join(t, c, "w")
	late := take(t, w)
	check(t, c.Offer(t.Context(), Job{Feature: "b", Body: []byte("old")}))
	check(t, c.Close())
	for _, run := range []string{"first", "second"} {
		c = begin(run)
		_, found, err := c.conn.readOrder(t.Context(), "b")
		check(t, err)
		has, err := c.HasBase(t.Context(), "base")
		check(t, err)
		if found != (run == "first") || has != (run == "first") {
			t.Errorf("the run %s finds a record: %v; a base: %v", run, found, has)
		}
		if run == "first" {
			check(t, c.Close())
		}
	}
	check(t, c.Offer(t.Context(), Job{Feature: "b", Body: []byte("new")}))
	if got := take(t, join(t, c, "v")); got.Feature != "b" || string(got.Body) != "new" {
		t.Errorf("a worker gets %s, %s", got.Feature, got.Body)
	}
	check(t, c.Offer(t.Context(), Job{Feature: late.Feature}))
	if err := late.SubmitBytes(t.Context(), nil, nil); err == nil {
		t.Error("the work on the old job is taken")
	}
}
