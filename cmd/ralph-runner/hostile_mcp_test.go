//go:build unix

package main

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"
)

// mcpPeer is a client of the MCP server that sends a text, and then asks whether the server lives. It closes the
// server's input when the answer to that has come, and the words that it waits for.
type mcpPeer struct {
	text  io.Reader
	words []string

	mu    sync.Mutex
	heard bytes.Buffer
	more  chan struct{} // something was heard
}

func newClient(text, words string) *mcpPeer {
	const alive = "\n" + `{"jsonrpc":"2.0","id":"alive","method":"ping"}` + "\n"
	return &mcpPeer{
		text: strings.NewReader(text + alive), words: []string{`"id":"alive"`, words}, more: make(chan struct{}, 1),
	}
}

// Read gives the server its input.
func (c *mcpPeer) Read(p []byte) (int, error) {
	if n, err := c.text.Read(p); err == nil {
		return n, nil
	}
	for late := time.After(20 * time.Second); !c.satisfied(); {
		select {
		case <-c.more:
		case <-late:
			return 0, io.EOF
		}
	}
	return 0, io.EOF
}

// Write takes what the server prints.
func (c *mcpPeer) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
	return c.heard.Write(p)
}

func (c *mcpPeer) satisfied() bool {
	text := c.all()
	for _, words := range c.words {
		if !strings.Contains(text, words) {
			return false
		}
	}
	return true
}

func (c *mcpPeer) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard.String()
}
