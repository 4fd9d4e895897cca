package jobs

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// own is servers as a person runs them, with configuration files: one, or a cluster of three.
type own struct {
	testing.TB
	files   []string
	servers []*natsserver.Server
}

// newOwn starts servers. users makes the part about users when it is known where they will be.
func newOwn(t testing.TB, n int, users func(urls string) string) *own {
	t.Helper()
	o := &own{TB: t, servers: make([]*natsserver.Server, n)}
	var clients, routes []string
	for range n {
		clients = append(clients, freeAddress(t))
		routes = append(routes, "nats://"+freeAddress(t))
	}
	text := users("nats://" + strings.Join(clients, ",nats://"))
	for i := range n {
		config := fmt.Sprintf("server_name: s%d\nlisten: %q\n%s", i, clients[i], text)
		if n > 1 {
			at, err := url.Parse(routes[i])
			check(t, err)
			config += fmt.Sprintf("cluster { name: three, listen: %q, routes: [%s] }\n",
				at.Host, strings.Join(routes, ", "))
		}
		o.files = append(o.files, file(t, config))
		o.start(i)
	}
	t.Cleanup(func() {
		for i := range o.servers {
			o.kill(i)
		}
	})
	return o
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().String()
}

func (o *own) start(i int) {
	o.Helper()
	config, err := natsserver.ProcessConfigFile(o.files[i])
	check(o, err)
	config.NoSigs, config.NoLog = true, true
	o.servers[i], err = natsserver.NewServer(config)
	check(o, err)
	o.servers[i].Start()
	if !o.servers[i].ReadyForConnections(time.Minute) {
		o.Fatal("the server does not start")
	}
}

func (o *own) kill(i int) {
	o.servers[i].Shutdown()
	o.servers[i].WaitForShutdown()
}

// What engine token prints for the servers of a person lets in the runs of the loop and its workers. A worker may work
// there, and nothing else. One after the other the servers are killed, and the work is done nevertheless.
func TestOwnServers(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var k Credential
			servers := newOwn(t, n, func(at string) string {
				var err error
				for _, name := range []string{"other", "w"} {
					k, err = Token(dir, "many loops", at, name)
					check(t, err)
				}
				text, err := Authorization(dir)
				check(t, err)
				return text
			})
			if !strings.HasPrefix(k.Loop, "many-loops-") {
				t.Errorf("the loop is called %q", k.Loop)
			}
			w := open(t, func(o *Options) { o.URL, o.Loop, o.Dir = k.URL, "many loops", dir })
			worker, err := Join(t.Context(), Options{Creds: k.String(), Machine: "m"})
			check(t, err)
			defer worker.Close()
			mayOnlyAsk(t, w, worker)
			for i := range n {
				o := w.offer(fmt.Sprint("f", i))
				task := take(t, worker)
				servers.kill(i)
				if n == 1 {
					time.Sleep(short + time.Second)
					servers.start(i)
				}
				done := submits(t, task, file(t, strings.Repeat("work", part)))
				if s := next(t, o); s.Attempt != 1 {
					t.Errorf("the work is that of attempt %d", s.Attempt)
				}
				o.End(true)
				check(t, <-done)
				if n > 1 {
					servers.start(i)
				}
			}
			if e, err := Look(dir); err != nil || e.URL != k.URL || len(e.Workers) != 2 {
				t.Errorf("%+v, %v", e, err)
			}
			// Another project has a loop of that name. Its key and its worker are strangers.
			stranger, err := Token(t.TempDir(), "many loops", k.URL, "w")
			check(t, err)
			if w, err := Join(t.Context(), Options{Creds: stranger.String()}); err == nil {
				w.Close()
				t.Error("another loop's worker is let in")
			}
			if n == 1 {
				revokeOwn(t, dir, servers, worker)
			}
		})
	}
}

// revokeOwn locks the worker out as a person does.
func revokeOwn(t *testing.T, dir string, o *own, w *Worker) {
	t.Helper()
	before, err := Authorization(dir)
	check(t, err)
	change := func() {
		t.Helper()
		after, err := Authorization(dir)
		check(t, err)
		text, err := os.ReadFile(o.files[0])
		check(t, err)
		check(t, os.WriteFile(o.files[0], []byte(strings.Replace(string(text), before, after, 1)), 0o600))
		before = after
		check(t, o.servers[0].Reload())
	}
	check(t, Revoke(dir, "w"))
	change()
	if task, err := w.Take(t.Context()); err == nil {
		t.Errorf("a worker that was locked out takes %s", task.Feature)
	}
	k, err := Token(dir, "many loops", w.opts.URL, "w") // lets it in again
	check(t, err)
	change()
	anew, err := Join(t.Context(), Options{Creds: k.String()})
	check(t, err)
	anew.Close()
}

// A worker that floods the hub keeps nobody from working, and not much of it waits.
func TestFlood(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 20_000)
	for what, flood := range map[string]struct{ verb, format string }{
		"questions": {"take", `{"c":"liar.%d","w":"` + large + `"}`},
		"nonsense":  {"beat", large + "%d"},
		"parts":     {"put", `{"c":"liar.%d","o":%[1]d}`},
	} {
		t.Run(what, func(t *testing.T) {
			w := open(t, func(o *Options) { o.Lease = 2 * time.Second })
			liar, good := w.join("liar"), w.join("good")
			sent := floods(t, liar, flood.verb, flood.format)
			if !within(func() bool { return sent.Load() > 1000 }) {
				t.Error("control: there is no flood")
			}
			fewWait(t, w)

			for i := range 5 {
				worksOnce(t, good, w.offer(fmt.Sprint(what, i)))
			}

			if what == "parts" && !w.hears("liar asks faster than it is answered") {
				t.Error("the hub listens to small questions, however many they are")
			}
			fewWait(t, w)
		})
	}
}

// fewWait wants the hub to hold few questions of a worker that floods it.
func fewWait(t *testing.T, w *world) {
	t.Helper()
	w.Hub.mu.Lock()
	defer w.Hub.unlock()
	if open := w.workers["liar"].open; open > maxOpen {
		t.Errorf("%d of its questions wait", open)
	}
}

// floods has a worker ask as fast as it can until the test ends. It returns how often it has asked.
func floods(t *testing.T, w *Worker, verb, format string) *atomic.Int64 {
	stop := make(chan struct{})
	sent := new(atomic.Int64)
	var flood sync.WaitGroup
	flood.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			question := fmt.Sprintf(format, sent.Add(1))
			loop := w.opts.Loop
			_ = w.nc.PublishRequest(subject(loop, w.name, verb), inbox(loop, w.name)+".x", []byte(question))
		}
	})
	t.Cleanup(func() {
		close(stop)
		flood.Wait()
	})
	return sent
}

// worksOnce has a worker do a job. On a busy machine it may not be heard for a lease, and begins again.
func worksOnce(t *testing.T, w *Worker, o *Offer) {
	t.Helper()
	for {
		done := submits(t, take(t, w), file(t, "work"))
		select {
		case <-o.Done:
			o.End(true)
			check(t, <-done)
			return
		case <-done:
		}
	}
}
