package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// server is the NATS server in this program. It can be restarted in place: whoever is connected connects again.
type server struct {
	dir string
	log func(string)

	mu   sync.Mutex // guards what follows
	opts *natsserver.Options
	now  *natsserver.Server
	away bool        // it was stopped, and shall not run
	full bool        // because its disk is full
	data os.FileInfo // the folder that it writes to
}

// readyTime is how long a server may take to start. It takes some milliseconds with little data.
const readyTime = 30 * time.Second

// portTime is how long another program may have the port of the server before.
const portTime = 5 * time.Second

// serve starts a server. If the port is free to choose, and somebody has a credential, it is that of the server before:
// at another one no worker would find it.
func serve(ctx context.Context, dir, listen string, a about, log func(string)) (*server, error) {
	host, port, err := HostPort(listen)
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, log: log}
	s.opts = &natsserver.Options{
		ServerName: "ralph-" + a.Name, Host: host, Port: port, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Join(dir, storeDir), SyncAlways: true,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40,
		PingInterval: 5 * time.Second, MaxPingsOut: 2, DisableShortFirstPing: true,
		MaxConn: maxClients, MaxPending: maxUnread,
		// Else the server waits for who reads slowly, and keeps all other answers meanwhile.
		NoFastProducerStall: true,
	}
	if err := a.admit(s.opts); err != nil {
		return nil, err
	}
	if !isLoopback(host) {
		cert, err := certificate(dir)
		if err != nil {
			return nil, err
		}
		s.opts.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}
		s.opts.TLS, s.opts.TLSTimeout = true, 5
	}
	if port > 0 {
		return s, s.start()
	}
	last, before, err := HostPort(a.Listen)
	known := slices.ContainsFunc(a.Workers, func(w worker) bool { return w.Key != "" })
	if err != nil || last != host || before == 0 || !known {
		s.opts.Port = natsserver.RANDOM_PORT
		return s, s.start()
	}
	s.opts.Port = before
	taken := new(*net.OpError)
	err = s.start()
	for end := time.Now().Add(portTime); errors.As(err, taken) && time.Now().Before(end); err = s.start() {
		if err := pause(ctx, retryTime); err != nil {
			return nil, err
		}
	}
	if errors.As(err, taken) {
		err = fmt.Errorf("%w; the workers know this address: free the port, or name another one with --workers, "+
			"--engine embedded and --listen, and make new credentials", err)
	}
	return s, err
}

// start starts a server.
func (s *server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	free, err := net.Listen("tcp", net.JoinHostPort(s.opts.Host, strconv.Itoa(max(0, s.opts.Port))))
	if err != nil {
		return fmt.Errorf("the engine cannot listen: %w", err) // the server itself would end the process
	}
	free.Close()
	now, err := natsserver.NewServer(s.opts.Clone())
	if err != nil {
		return fmt.Errorf("cannot make the engine: %w", err)
	}
	now.Start()
	if !now.ReadyForConnections(readyTime) || !now.JetStreamEnabled() {
		now.Shutdown()
		return fmt.Errorf("the engine did not start with its data in %s", s.opts.StoreDir)
	}
	s.now = now
	s.away = false
	s.data, _ = os.Stat(s.opts.StoreDir)
	if s.opts.Port <= 0 {
		s.opts.Port = now.Addr().(*net.TCPAddr).Port
	}
	return nil
}

// stop ends the server.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = true
	if s.now != nil {
		s.now.Shutdown()
		s.now.WaitForShutdown()
	}
}

// restart ends the server and starts another one on the same data and the same port.
func (s *server) restart() error {
	s.stop()
	err := s.start()
	s.mu.Lock()
	s.away = false // if it has not started, watch tries again
	s.mu.Unlock()
	return err
}

// InProcessConn lets the coordinator connect without a network.
func (s *server) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil, errors.New("the engine does not run")
	}
	return s.now.InProcessConn()
}

// address returns where the server listens, HOST:PORT.
func (s *server) address() string { return net.JoinHostPort(s.opts.Host, strconv.Itoa(s.opts.Port)) }

// reloads is how often a server must be reloaded for a new account: the first time makes it, and only the next one its
// imports. See configureAccounts in nats-server.
const reloads = 2

// admit lets in those who may come now, and disconnects all others.
func (s *server) admit(a about) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := a.admit(s.opts); err != nil {
		return err
	}
	if s.away {
		return nil
	}
	for range reloads {
		if err := s.now.ReloadOptions(s.opts.Clone()); err != nil {
			return err
		}
	}
	return nil
}

// roomForRecord is how many bytes of its disk the server leaves for others: the record of the run is there, too.
const roomForRecord = 16 << 20

// guard stops the server while its disk has no room, and starts it again when it has, or when its data were removed.
// ill says that it does not take what is written: by itself it does not write again. begun says that it was started.
func (s *server) guard(ill bool) (begun bool) {
	s.mu.Lock()
	away, full, data := s.away, s.full, s.data
	s.mu.Unlock()
	at, err := os.Stat(s.opts.StoreDir)
	removed := data != nil && (err != nil || !os.SameFile(data, at))
	free, known := loopdir.Free(s.dir)
	room := !known || free > roomForRecord
	switch {
	case away && !full:
	case !room && !full:
		s.log("its disk is full; nothing is claimed and nothing handed in until there is room")
		s.stop()
		s.setFull(true)
	case room && (ill || full || removed):
		s.log(map[bool]string{true: "its data were removed", false: "its data can be written again"}[removed] +
			"; starting the server")
		err := s.restart()
		if err != nil {
			s.log(err.Error())
		}
		s.setFull(err != nil)
		return true
	}
	return false
}

func (s *server) setFull(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}
