//go:build faults && linux

package faults

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy is between a worker and the server. It can cut the connection, and send what a worker writes a second time.
type proxy struct {
	l     net.Listener
	to    string
	twice bool

	mu    sync.Mutex
	away  bool
	conns map[net.Conn]bool

	repeated atomic.Int64 // questions that were asked a second time
}

func newProxy(t testing.TB, to string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{l: l, to: to, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		p.cut(true)
		l.Close()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p, nil
}

func (p *proxy) url() string { return "nats://" + p.l.Addr().String() }

// cut cuts the connections and refuses new ones, or ends that.
func (p *proxy) cut(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
	if away {
		for c := range p.conns {
			c.Close()
		}
	}
}

// hold notes a connection. It reports whether there may be one.
func (p *proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	c.Close()
}

func (p *proxy) serve(c net.Conn) {
	if !p.hold(c) {
		return
	}
	defer p.drop(c)
	s, err := net.Dial("tcp", p.to)
	if err != nil || !p.hold(s) {
		return
	}
	defer p.drop(s)
	ours := &repeater{to: s}
	done := make(chan error, 2)
	go func() { done <- p.up(c, ours) }()
	go func() {
		_, err := io.Copy(c, s)
		done <- err
	}()
	<-done
}

// repeater writes to the server. Each write is a whole message.
type repeater struct {
	mu sync.Mutex
	to io.Writer
}

func (r *repeater) Write(message []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.to.Write(message)
}

// next reads a line of NATS's protocol, with its payload if it has one.
func next(r *bufio.Reader) (words []string, message []byte, err error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, nil, err
	}
	words = strings.Fields(string(line))
	if len(words) == 0 {
		return []string{""}, line, nil
	}
	switch words[0] {
	case "PUB", "HPUB", "MSG", "HMSG":
		size, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			return nil, nil, err
		}
		payload := make([]byte, size+2)
		if _, err := io.ReadFull(r, payload); err != nil {
			return nil, nil, err
		}
		return words, append(line, payload...), nil
	}
	return words, line, nil
}

// up carries what the worker says. Each question comes a second time: at once, or after a while.
func (p *proxy) up(from io.Reader, to *repeater) error {
	r := bufio.NewReader(from)
	for {
		words, message, err := next(r)
		if err != nil {
			return err
		}
		if _, err := to.Write(message); err != nil {
			return err
		}
		if !p.twice || !strings.HasSuffix(words[0], "PUB") {
			continue
		}
		p.repeated.Add(1)
		if rand.IntN(2) == 0 {
			_, _ = to.Write(message)
		} else {
			time.AfterFunc(rand.N(time.Second), func() { _, _ = to.Write(message) })
		}
	}
}

// throughProxies puts a proxy before each worker.
func (f *fleet) throughProxies(t testing.TB) (all []*proxy, err error) {
	for _, m := range f.machines {
		p, err := newProxy(t, f.engine[len(f.engine)-1])
		if err != nil {
			return nil, err
		}
		m.engine = p.url()
		all = append(all, p)
	}
	return all, nil
}

// repeated returns how many questions came twice.
func repeated(all []*proxy) (repeated int, err error) {
	for _, p := range all {
		repeated += int(p.repeated.Load())
	}
	if repeated == 0 {
		err = errors.New("no question came twice")
	}
	return repeated, err
}
