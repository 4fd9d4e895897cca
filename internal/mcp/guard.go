package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// The SDK ends the process at a line that is not JSON, at a batch, and at deep or long input. So it reads only what the
// guard passes on: lines of one message each. The guard answers the others itself.

const (
	maxMessage = 1 << 20 // bytes of a line
	maxDepth   = 64      // levels of arrays and objects
	maxOpen    = 256     // requests without an answer; a client that reads none is not read from
)

// guard returns the transport over in and out.
func guard(in io.ReadCloser, out io.Writer) mcp.Transport {
	w := &writer{out: out, open: make(chan struct{}, maxOpen)}
	// The client bounds no answer, and the guard has bounded each line.
	return &mcp.IOTransport{Reader: Lines(in, w, w.open), Writer: w, MaxLineLength: -1}
}

// Lines returns what the server reads of its input: the lines that are one message. It answers the others on out, and
// puts a value into open for each request; nil: answers go another way.
func Lines(in io.ReadCloser, out io.Writer, open chan<- struct{}) io.ReadCloser {
	return &reader{in: in, lines: bufio.NewReaderSize(in, 64<<10), out: out, open: open}
}

// writer writes each message in one piece.
type writer struct {
	mu   sync.Mutex
	out  io.Writer
	open chan struct{} // has a value for each request without an answer
}

func (w *writer) Write(p []byte) (int, error) {
	message := p
	if gjson.GetBytes(p, "error.code").Raw == "0" { // the SDK has no code for what a handler or itself refuses
		if coded, err := sjson.SetBytes(p, "error.code", invalidParams); err == nil {
			message = coded
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(message)
	if !gjson.GetBytes(p, "method").Exists() { // it is an answer
		select {
		case <-w.open:
		default:
		}
	}
	return len(p), err
}

// Close leaves the output open: it is the process's.
func (w *writer) Close() error { return nil }

// Codes of JSON-RPC.
const (
	parseError     = -32700
	invalidRequest = -32600
	invalidParams  = -32602
)

// reader passes on the lines that are one message.
type reader struct {
	in    io.Closer
	lines *bufio.Reader
	out   io.Writer
	open  chan<- struct{}
	rest  []byte // of a line that is passed on
}

func (r *reader) Close() error { return r.in.Close() }

func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, tooLong, err := r.line()
		switch line = bytes.TrimSpace(line); {
		case tooLong:
			r.refuse(invalidRequest, fmt.Sprintf("message longer than %d MB", maxMessage>>20))
		case len(line) == 0:
		default:
			if code, why := problem(line); why != "" {
				r.refuse(code, why)
			} else {
				if r.open != nil && gjson.GetBytes(line, "id").Exists() {
					r.open <- struct{}{}
				}
				r.rest = append(line, '\n')
			}
		}
		if err != nil && len(r.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line reads a line. Of one that is too long it keeps nothing.
func (r *reader) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := r.lines.ReadSlice('\n')
		tooLong = tooLong || len(line)+len(part) > maxMessage
		if tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, tooLong, err
		}
	}
}

// refuse answers a line that has no id which could be read.
func (r *reader) refuse(code int, why string) {
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, why)
	_, _ = r.out.Write([]byte(answer)) // if nobody reads, the next read ends too
}

// problem says why a line is not passed on; why is "" if it is.
func problem(line []byte) (code int, why string) {
	if tooDeep(line) {
		return invalidRequest, fmt.Sprintf("message deeper than %d levels", maxDepth)
	}
	if !json.Valid(line) {
		return parseError, "not JSON; want one JSON-RPC message a line"
	}
	if line[0] != '{' {
		return invalidRequest, "not one JSON-RPC message a line"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return invalidRequest, "not a JSON-RPC 2.0 message"
	}
	if id := gjson.GetBytes(line, "id"); id.Exists() && !isID(id) {
		return invalidRequest, "its id is no text and no whole number below 2^53"
	}
	return 0, ""
}

// isID reports whether an answer can have the same id: the SDK reads numbers as floating point.
func isID(id gjson.Result) bool {
	whole := id.Num == math.Trunc(id.Num) && math.Abs(id.Num) < 1<<53
	return id.Type == gjson.String || id.Type == gjson.Number && whole
}

// tooDeep reports whether arrays and objects are nested too deep. It also looks at what is no JSON.
func tooDeep(line []byte) bool {
	depth := 0
	inString := false
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '[', c == '{':
			depth++
			if depth > maxDepth {
				return true
			}
		case c == ']', c == '}':
			depth--
		}
	}
	return false
}
