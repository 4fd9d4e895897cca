package jobs

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// server is the NATS server in this program.
type server struct {
	*natsserver.Server
	opts *natsserver.Options
}

// What the server holds for those who connect.
const (
	maxClients = 2000     // connections, also of those who have no credential; each takes a file of the run's
	maxUnread  = 32 << 20 // bytes for a connection that does not read them
)

// readyTime is how long a server may take to start. It takes some milliseconds.
const readyTime = 30 * time.Second

// portTime is how long another program may have the port of the server before.
const portTime = 5 * time.Second

// serve starts a server. If the port is free to choose, and somebody has a credential, it is that of the server before:
// at another one no worker would find it.
func serve(ctx context.Context, dir, listen string, a about) (*server, error) {
	host, port, err := HostPort(listen)
	if err != nil {
		return nil, err
	}
	s := &server{}
	s.opts = &natsserver.Options{
		ServerName: "ralph-" + a.Name, Host: host, Port: port, NoSigs: true, NoLog: true,
		PingInterval: answerTime, MaxPingsOut: 2, DisableShortFirstPing: true,
		MaxConn: maxClients, MaxPending: maxUnread,
		// Else the server waits for who reads slowly, and keeps all other answers meanwhile.
		NoFastProducerStall: true,
	}
	if err := s.know(a); err != nil {
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
	if err != nil || last != host || before == 0 || len(a.Workers) == 0 {
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
	free, err := net.Listen("tcp", net.JoinHostPort(s.opts.Host, strconv.Itoa(max(0, s.opts.Port))))
	if err != nil {
		return fmt.Errorf("the engine cannot listen: %w", err) // the server itself would end the process
	}
	free.Close()
	s.Server, err = natsserver.NewServer(s.opts.Clone())
	if err != nil {
		return fmt.Errorf("cannot make the engine: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(readyTime) {
		s.stop()
		return errors.New("the engine did not start")
	}
	if s.opts.Port <= 0 {
		s.opts.Port = s.Addr().(*net.TCPAddr).Port
	}
	return nil
}

// stop ends the server.
func (s *server) stop() {
	s.Shutdown()
	s.WaitForShutdown()
}

// address returns where the server listens, HOST:PORT.
func (s *server) address() string { return net.JoinHostPort(s.opts.Host, strconv.Itoa(s.opts.Port)) }

// know puts into the server's options who may enter.
func (s *server) know(a about) error {
	var said natsserver.Options
	text, err := a.users()
	if err == nil {
		err = said.ProcessConfigString(text)
	}
	if err != nil {
		return fmt.Errorf("cannot make the engine's users: %w", err)
	}
	s.opts.Nkeys = said.Nkeys
	return nil
}

// admit lets in those who may come now, and disconnects all others.
func (s *server) admit(a about) error {
	if err := s.know(a); err != nil {
		return err
	}
	return s.ReloadOptions(s.opts.Clone())
}

// startServer starts the server, and connects to it in this process.
func (h *Hub) startServer(ctx context.Context, is *about) (err error) {
	h.server, err = serve(ctx, h.opts.Dir, h.opts.Listen, *is)
	if err != nil {
		return err
	}
	is.Listen = h.server.address()
	is.Pin = ""
	is.External = false
	scheme := "nats://"
	if tls := h.server.opts.TLSConfig; tls != nil {
		is.Pin = pinOf(tls.Certificates[0].Certificate[0])
		scheme = "tls://"
	}
	is.URL = scheme + replaceHost(is.Listen, cmp.Or(h.opts.Machine, "127.0.0.1"))
	options, err := h.options(is.Seed)
	if err != nil {
		return err
	}
	o := h.opts
	o.URL = ""
	h.opts.URL = is.URL
	h.nc, err = o.dial(runName, append(options, nats.InProcessServer(h.server))...)
	return err
}

// options returns what the run connects with.
func (h *Hub) options(seed string) ([]nats.Option, error) {
	options, err := Credential{Seed: seed}.options()
	return append(options, nats.ErrorHandler(h.connectionError)), err
}

// external connects to a server that a person runs, and into whose configuration the person has put the key of the
// loop's runs.
func (h *Hub) external(ctx context.Context, is *about) error {
	options, err := h.options(is.Seed)
	if err != nil {
		return err
	}
	is.URL, is.Pin, is.External = h.opts.URL, "", true
	h.nc, err = h.opts.connect(ctx, runName, append(options, nats.DisconnectErrHandler(func(nc *nats.Conn, _ error) {
		if !nc.IsClosed() {
			h.opts.Log("the connection is lost; connecting again")
		}
	}))...)
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrNkeysNotSupported) {
		err = fmt.Errorf("%w; put what 'ralph-runner engine token' printed into the server's configuration, and "+
			"reload it", err)
	}
	return err
}

// replaceHost puts a host in the place of one that stands for all names of the machine.
func replaceHost(address, host string) string {
	all, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(all); err != nil || all != "" && (ip == nil || !ip.IsUnspecified()) {
		return address
	}
	return net.JoinHostPort(host, port)
}
