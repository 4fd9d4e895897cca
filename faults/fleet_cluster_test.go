//go:build faults && linux

package faults

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
)

// cluster is three servers of NATS that a person runs, as processes, each with a folder of its own.
type cluster struct {
	of      *fleet
	dir     string
	program string
	servers []*node
	net     *network // where the servers are; nil: on this machine

	mu   sync.Mutex
	keys []string // public ones, of who is let in
}

// node is one of the servers.
type node struct {
	name, dir           string
	number              int
	host                string
	via                 []string // what starts a program where the server is
	disk                string   // the path at which others see the server's own disk; "": it has none
	port, route, health int
	cmd                 *exec.Cmd // nil: it does not run
	ended               chan struct{}
}

// serverBuilt builds the server of NATS that the product has as a library, and returns its path.
var serverBuilt = sync.OnceValues(func() (string, error) {
	path := filepath.Join(bin, "nats-server")
	cmd := exec.Command("go", "build", "-o", path, "github.com/nats-io/nats-server/v2")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("the server cannot be built: %w\n%s", err, out)
	}
	return path, err
})

// newCluster makes three servers and has the fleet use them. at prepares each of them; nil: nothing is to be done.
func newCluster(t testing.TB, f *fleet, at func(*cluster, *node) error) (*cluster, error) {
	program, err := serverBuilt()
	if err != nil {
		return nil, err
	}
	c := &cluster{of: f, dir: tempIn(t, memory), program: program}
	for i := range 3 {
		n := &node{name: fmt.Sprintf("s%d", i+1), number: i + 1, host: "127.0.0.1"}
		n.dir = filepath.Join(c.dir, n.name)
		if err := os.Mkdir(n.dir, 0o755); err != nil {
			return nil, err
		}
		for _, port := range []*int{&n.port, &n.route, &n.health} {
			if *port, err = freePort(); err != nil {
				return nil, err
			}
		}
		if at != nil {
			if err := at(c, n); err != nil {
				return nil, err
			}
		}
		c.servers = append(c.servers, n)
	}
	t.Cleanup(func() {
		for _, n := range c.servers {
			n.kill()
		}
	})
	seed, err := c.newKey()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.root, "home", "engine.nk")
	if err := os.WriteFile(file, seed, 0o600); err != nil {
		return nil, err
	}
	f.engine, f.more, f.admit = []string{"--engine", c.urls()}, []string{"RALPH_ENGINE=" + file}, c.admit
	for _, n := range c.servers {
		if err := c.start(n); err != nil {
			return nil, err
		}
	}
	return c, c.ready()
}

// store is where a server has its data.
func (n *node) store() string { return filepath.Join(n.dir, "store") }

// smallDisk gives a server a disk of its own. It is in a mount namespace, which ends with this process.
func (n *node) smallDisk(t testing.TB) error {
	if err := os.Mkdir(n.store(), 0o755); err != nil {
		return err
	}
	holder := exec.Command("unshare", "-m", "--propagation", "private", "sh", "-c",
		`mount -t tmpfs -o size=64m none "$0" && echo mounted && exec cat >/dev/null`, n.store())
	in, err := holder.StdinPipe()
	if err != nil {
		return err
	}
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		return err
	}
	t.Cleanup(func() {
		in.Close()
		_ = holder.Wait()
	})
	if said, _ := bufio.NewReader(out).ReadString('\n'); said != "mounted\n" {
		t.Skip("needs the right to make mount namespaces")
	}
	process := fmt.Sprintf("/proc/%d/", holder.Process.Pid)
	n.via, n.disk = []string{"nsenter", "--mount=" + process + "ns/mnt"}, filepath.Join(process, "root", n.store())
	return nil
}

// onDisk returns the path at which this process sees a file on the server's own disk.
func (n *node) onDisk(name string) string { return filepath.Join(n.disk, name) }

// apart puts a server into a network of its own.
func (c *cluster) apart(t testing.TB, n *node) error {
	if c.net == nil {
		c.net = newNetwork(t)
	}
	n.host, n.via = c.net.address(n.number), []string{"ip", "netns", "exec", c.net.of(n.number)}
	return c.net.add(t, n.number)
}

// newKey makes a key that is let in, and returns its seed.
func (c *cluster) newKey() ([]byte, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	c.keys = append(c.keys, public)
	seed, err := pair.Seed()
	return seed, errors.Join(err, c.configure())
}

// admit lets a worker in, by its credential.
func (c *cluster) admit(word string) error {
	_, coded, _ := strings.Cut(word, ".")
	text, err := base64.RawURLEncoding.DecodeString(coded)
	var said struct{ Seed string }
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		return err
	}
	pair, err := nkeys.FromSeed([]byte(said.Seed))
	if err != nil {
		return err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, public)
	if err := c.configure(); err != nil {
		return err
	}
	for _, n := range c.servers {
		if n.cmd != nil {
			_ = n.cmd.Process.Signal(syscall.SIGHUP)
		}
	}
	return nil
}

// configure writes the configurations of the servers.
func (c *cluster) configure() error {
	var routes, users []string
	for _, n := range c.servers {
		routes = append(routes, fmt.Sprintf("%q", "nats://"+net.JoinHostPort(n.host, strconv.Itoa(n.route))))
	}
	for _, k := range c.keys {
		users = append(users, "{nkey: "+k+"}")
	}
	for _, n := range c.servers {
		text := fmt.Sprintf(`
server_name: %s
listen: "%s:%d"
http: "%s:%d"
jetstream: {store_dir: %q, max_file: 100GB, max_mem: 100MB, sync_interval: always}
cluster: {name: three, listen: "%s:%d", routes: [%s]}
authorization: {users: [%s]}
`, n.name, n.host, n.port, n.host, n.health, n.store(), n.host, n.route,
			strings.Join(routes, ", "), strings.Join(users, ", "))
		if err := os.WriteFile(filepath.Join(c.dir, n.name+".conf"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) urls() string {
	var all []string
	for _, n := range c.servers {
		all = append(all, "nats://"+net.JoinHostPort(n.host, strconv.Itoa(n.port)))
	}
	return strings.Join(all, ",")
}

// start starts a server.
func (c *cluster) start(n *node) error {
	log, err := os.OpenFile(filepath.Join(c.dir, n.name+".log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	argv := append(append([]string{}, n.via...), c.program, "-c", filepath.Join(c.dir, n.name+".conf"))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n.cmd, n.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(n.ended)
	return nil
}

// kill kills a server, if it runs.
func (n *node) kill() {
	if n.cmd != nil {
		_ = n.cmd.Process.Kill()
		<-n.ended
		n.cmd = nil
	}
}

// ask asks a server for its monitoring page.
func (n *node) ask(page string, into any) error {
	client := http.Client{Timeout: 2 * time.Second}
	r, err := client.Get(fmt.Sprintf("http://%s/%s", net.JoinHostPort(n.host, strconv.Itoa(n.health)), page))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	return err
}

// ready waits until all servers have one leader and are healthy.
func (c *cluster) ready() error {
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		err = c.whole()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("the servers are not ready: %w", err)
}

func (c *cluster) whole() error {
	if c.leader() == nil {
		return errors.New("no server leads")
	}
	for _, n := range c.servers {
		if err := n.healthy(); err != nil {
			return err
		}
	}
	return nil
}

// healthy asks a server whether it can work.
func (n *node) healthy() error {
	var said struct{ Status, Error string }
	if err := n.ask("healthz", &said); err != nil || said.Status != "ok" {
		return errors.Join(err, fmt.Errorf("%s is %q: %s", n.name, said.Status, said.Error))
	}
	return nil
}

// leader returns the server that leads, or nil.
func (c *cluster) leader() *node {
	for _, n := range c.servers {
		var said struct {
			Meta struct {
				Leader string `json:"leader"`
				Size   int    `json:"cluster_size"`
			} `json:"meta_cluster"`
		}
		if n.ask("jsz", &said) != nil || said.Meta.Size != len(c.servers) {
			continue
		}
		for _, one := range c.servers {
			if one.name == said.Meta.Leader {
				return one
			}
		}
	}
	return nil
}
