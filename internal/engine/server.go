package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/engine/pin"
)

// server is the NATS server in this program. It can be restarted in place: whoever is connected connects again.
type server struct {
	home  *home
	names names
	admin string // the public key of the coordinator
	log   func(string)

	mu   sync.Mutex // guards what follows
	opts *natsserver.Options
	now  *natsserver.Server
	away bool // it was stopped, and shall not run
}

// readyTime is how long a server may take to start. It takes some milliseconds with little data.
const readyTime = 30 * time.Second

// serve starts a server. listen is HOST:PORT; last is where the one before listened, for a port that is free to choose.
func serve(h *home, l names, admin, listen, last string, log func(string)) (*server, error) {
	host, port, err := HostPort(listen)
	if err != nil {
		return nil, err
	}
	s := &server{home: h, names: l, admin: admin, log: log}
	s.opts = &natsserver.Options{
		ServerName: "ralph-" + string(l), Host: host, Port: port, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Join(h.dir, storeDir), SyncAlways: true,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40, // the folder's disk is the limit
		PingInterval: 5 * time.Second, MaxPingsOut: 2, DisableShortFirstPing: true,
		CustomClientAuthentication: s, AlwaysEnableNonce: true,
	}
	if !pin.Loopback(host) {
		certificate, err := pin.Certificate(h.dir)
		if err != nil {
			return nil, err
		}
		s.opts.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
		s.opts.TLS, s.opts.TLSTimeout = true, 5
	}
	if port == 0 {
		s.opts.Port = natsserver.RANDOM_PORT
		if sameHost(last, host) && s.startAt(last) == nil {
			return s, nil // so workers of the run before find this one
		}
	}
	return s, s.start()
}

// startAt starts the server where one has listened before.
func (s *server) startAt(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	s.opts.Port, err = strconv.Atoi(port)
	if err == nil {
		err = s.start()
	}
	if err != nil {
		s.opts.Port = natsserver.RANDOM_PORT
	}
	return err
}

func sameHost(address, host string) bool {
	last, _, err := net.SplitHostPort(address)
	return err == nil && last == host
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
	s.now, s.away = now, false
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

// watch locks out workers whose keys are gone, and restarts a server whose disk was full: it does not write again by
// itself.
func (s *server) watch(ctx context.Context, every time.Duration) {
	for ill := 0; pause(ctx, every) == nil; {
		if err := s.lockOut(); err != nil {
			s.log(err.Error())
		}
		ill++
		if s.healthy() {
			ill = 0
		}
		if ill < 2 || !s.room() {
			continue
		}
		s.log("its data cannot be written; restarting the server")
		if err := s.restart(); err != nil {
			s.log(err.Error())
		}
	}
}

func (s *server) healthy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away || s.now.Running() && s.now.Healthz(&natsserver.HealthzOptions{}).StatusCode == 200
}

// room reports whether the disk takes some data.
func (s *server) room() bool {
	path := filepath.Join(s.home.dir, "room")
	err := os.WriteFile(path, make([]byte, 4<<20), 0o600)
	return errors.Join(err, os.Remove(path)) == nil
}
