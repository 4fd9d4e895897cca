package mcp

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestBackpressure sends requests and reads no answer. The server reads no more of them than it can keep.
func TestBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"
		notification := `{"jsonrpc":"2.0","method":"notifications/cancelled"}` + "\n"
		in := io.NopCloser(strings.NewReader(notification + strings.Repeat(request, maxOpen+3)))
		transport := guard(in, io.Discard).(*mcp.IOTransport)
		passed := 0
		go func() {
			lines := bufio.NewScanner(transport.Reader)
			for lines.Scan() {
				passed++
			}
		}()
		synctest.Wait()
		if want := 1 + maxOpen; passed != want {
			t.Errorf("%d lines before an answer, want %d", passed, want)
		}
		for _, line := range []string{notification, `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"} {
			if _, err := transport.Writer.Write([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if want := 1 + maxOpen + 1; passed != want {
			t.Errorf("%d lines after one answer, want %d", passed, want)
		}
		for range 2 {
			_, _ = transport.Writer.Write([]byte("{}\n"))
		}
		synctest.Wait()
	})
}

// TestIDs sees which requests can be answered under their own id.
func TestIDs(t *testing.T) {
	for id, refused := range map[string]bool{
		`1`: false, `"a"`: false, `9007199254740991`: false, `-1`: false, `1.5`: true, `9007199254740993`: true, `null`: true,
		`{}`: true,
	} {
		_, why := problem([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`))
		if (why != "") != refused {
			t.Errorf("id %s: %q", id, why)
		}
	}
}

// TestCodes begins a session twice, and calls a tool that there is not: what is refused has a code.
func TestCodes(t *testing.T) {
	t.Parallel()
	c := newWire(t, nil)
	c.send(strings.Replace(hello, `"hello"`, `"again"`, 1))
	again, _ := c.answer(`"id":"again"`)
	c.send(`{"jsonrpc":"2.0","id":"p","method":"tools/call","params":{"name":"nope"}}`)
	call, _ := c.answer(`"id":"p"`)
	for what, line := range map[string]string{"a second initialize": again, "a call of no tool": call} {
		if !strings.Contains(line, `"code":-32602`) {
			t.Errorf("%s: %s", what, line)
		}
	}
}
