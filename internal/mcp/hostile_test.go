package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wire is a server behind the guard, as a client sees it.
type wire struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string // what the server wrote; closed at its end
	ended chan error
}

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

func newWire(t *testing.T, add func(*Server)) *wire {
	t.Helper()
	world := newWorld(t)
	s, err := New(world.desk, "test", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if add != nil {
		add(s)
	}
	r, in := io.Pipe()
	out, w := io.Pipe()
	c := &wire{t: t, in: in, lines: make(chan string, 1000), ended: make(chan error, 1)}
	go func() {
		defer close(c.lines)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- line
		}
	}()
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		c.ended <- s.Run(ctx, r, w)
		w.Close()
		close(over)
	}()
	t.Cleanup(func() {
		stop()
		in.Close()
		out.Close()
		<-over
		for range maxBusy { // a call that is under way still writes, and the folders of the test are about to be removed
			s.busy <- struct{}{}
		}
	})
	c.send(hello)
	c.answer(`"id":"hello"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *wire) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("the server has closed its input: %v", err)
	}
}

// answer returns the next line that contains a text.
func (c *wire) answer(text string) (line string, before []string) {
	c.t.Helper()
	for late := time.After(time.Minute); ; { // a watchdog: an answer that never comes
		var line string
		select {
		case line = <-c.lines:
		case <-late:
			c.t.Fatalf("no answer %s after %s", text, before)
		}
		if line == "" {
			c.t.Fatalf("the server ended before it answered %s", text)
		}
		if !json.Valid([]byte(line)) {
			c.t.Fatalf("the server wrote what is no JSON: %q", line)
		}
		if strings.Contains(line, text) {
			return line, before
		}
		before = append(before, line)
	}
}

// lives asks for the tools, and returns what was answered before.
func (c *wire) lives() []string {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"alive","method":"tools/list"}`)
	_, before := c.answer(`"id":"alive"`)
	return before
}

func callLine(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
}

// TestHostile sends input that ended the process of the bare SDK, or could have.
func TestHostile(t *testing.T) {
	deep := func(n int) string { return callLine("task_get", strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n)) }
	for _, tc := range []struct {
		name, line string
		want       string // part of an answer; "": any or none
	}{
		{"nothing", "", ""},
		{"no JSON", "hello", "-32700"},
		{"empty lines", "\n\n \n", ""},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "-32600"},
		{"unknown method", `{"jsonrpc":"2.0","id":7,"method":"nope"}`, "-32601"},
		{"unknown tool", callLine("nope", "{}"), "nope"},
		{"no jsonrpc", `{"id":7,"method":"ping"}`, "-32600"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, ""},
		{"arguments are a text", callLine("task_get", `"x"`), "must be an object"},
		{"arguments are null", callLine("task_get", "null"), `\"id\":\"demo\"`},
		{"no arguments", `{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"task_get"}}`, `demo`},
		{"a key in another case", callLine("task_get", `{"ID":"demo"}`), "unexpected additional properties"},
		{"a key twice", callLine("task_get", `{"id":"demo","id":"other"}`), ""},
		{"20 MB", callLine("task_get", `{"id":"`+strings.Repeat("x", 20<<20)+`"}`), "-32600"},
		{"just over 1 MB", strings.Repeat("x", maxMessage+1), "-32600"},
		{"10,000 levels", deep(10_000), "-32600"},
		{"1,000,000 levels", deep(1_000_000), "-32600"},
		{"65 levels", deep(65), "-32600"},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":5}`, "-32600"},
		{"params are a text", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}`, "error"},
		{"broken UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "error"},
		{"an answer that nobody asked for", `{"jsonrpc":"2.0","id":99,"result":{}}`, ""},
		{"a panic", callLine("panics", "{}"), "internal error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := newWire(t, func(s *Server) {
				s.AddTool(&mcp.Tool{Name: "panics", InputSchema: json.RawMessage(`{"type":"object"}`)},
					func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("boom") })
			})
			go io.WriteString(c.in, tc.line+"\n")
			var all []string
			if tc.want != "" {
				line, before := c.answer(tc.want)
				all = append(before, line)
			}
			all = append(all, c.lives()...)
			if tc.want != "" && !strings.Contains(strings.Join(all, ""), tc.want) {
				t.Errorf("no %s in %s", tc.want, all)
			}
		})
	}
}

// TestEndOfInput ends the server, as clients do.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	c := newWire(t, nil)
	c.in.Close()
	select {
	case err := <-c.ended:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server lives on after its input has ended")
	}
}

// TestManyCalls makes ten thousand calls. The heap may grow by a little, not by something for each call.
func TestManyCalls(t *testing.T) {
	c := newWire(t, nil)
	calls := func(n int) {
		for range n {
			c.send(callLine("hook_list", "{}"))
			c.answer(`"id":50`)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	total := 10_000
	if testing.Short() {
		total = 1000
	}
	calls(total / 10)
	before := heap()
	calls(total)
	const perCall = 100 // bytes; one that keeps its answer keeps more
	if after := heap(); after > before+uint64(total*perCall) {
		t.Errorf("the heap grew from %d to %d bytes in %d calls", before, after, total)
	}
}

// FuzzGuard sends anything. The server lives on, and what it writes is JSON.
func FuzzGuard(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	f.Add([]byte(`[1]`))
	f.Add([]byte(callLine("hook_register", `{"hookType":"default","metadata":{"a":[[]]}}`)))
	f.Add([]byte(callLine("iteration_start", `{"validationRules":[{"type":"content_pattern","name":"x","config":{}}]}`)))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newWire(t, nil)
		go c.in.Write(append(append([]byte{}, data...), '\n'))
		c.answerOrLive()
	})
}

// answerOrLive is lives for input that may be half written when it is called.
func (c *wire) answerOrLive() {
	c.t.Helper()
	c.send("")
	c.lives()
}
