//go:build e2e

package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// maxRequests bounds the agent's requests to one model. A hook that never lets
// go of a model that loops would otherwise run until the deadline.
const maxRequests = 500

// request is the part of a Messages API request that the model looks at.
type request struct {
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []message         `json:"messages"`
	body     []byte            // all of it
}

// message is one of a request's.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, or a list of blocks
}

// model is a Messages API on loopback whose answers to the agent come from a
// script. Everything else it is asked gets a short text.
type model struct {
	*httptest.Server

	mu       sync.Mutex
	parts    []*part   // the main agent's first
	requests []request // the main agent's, in order
	others   int       // requests of subagents
	used     usage     // by all answers together
	failure  error     // the first thing that went wrong while serving
}

// partFor returns the part for an agent, by its prompt: the first message.
func (m *model) partFor(req request) *part {
	for _, p := range m.parts[1:] {
		if len(req.Messages) > 0 && strings.Contains(string(req.Messages[0].Content), p.who) {
			return p
		}
	}
	return m.parts[0]
}

// models is the key under which a script keeps its models, by file name. The empty name
// stands for the current one.
type models struct{}

// newModel starts a model with the given script. The caller closes it.
func newModel(script string) (*model, error) {
	parts, err := parseScript(script)
	if err != nil {
		return nil, err
	}
	m := &model{parts: parts}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, []byte(`{"input_tokens":100}`))
	})
	mux.HandleFunc("POST /v1/messages", m.serve)
	mux.HandleFunc("POST /", m.serveOther)
	m.Server = httptest.NewServer(mux)
	return m, nil
}

// recorded returns the agent's requests so far, or what went wrong.
func (m *model) recorded() ([]request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, m.failure
}

// begun counts the requests that begin a conversation: those in which the model
// has said nothing yet.
func begun(requests []request) (n int) {
	for _, req := range requests {
		if !slices.ContainsFunc(req.Messages, func(m message) bool { return m.Role == "assistant" }) {
			n++
		}
	}
	return n
}

// blocks counts how often a hook kept the agent from ending its turn: the
// requests that end in what the hook said, as the client passes it on to the
// model. The events that the client prints would not do, for they show what
// the hook answered, not what came of it: past its cap the client drops a
// block and ends the turn, and the event looks like any other. Nor would the
// last request alone: a compaction leaves blocks out of it, and a resumed
// session brings the old ones back.
func blocks(requests []request) int {
	n := 0
	for i, req := range requests {
		if i > 0 && len(req.Messages) == len(requests[i-1].Messages) {
			continue // the one before, sent again after an error
		}
		for _, msg := range slices.Backward(req.Messages) {
			if msg.Role == "assistant" {
				break // the rest has been answered before
			}
			if msg.Role == "user" && fromStopHook(msg.Content) {
				n++
				break
			}
		}
	}
	return n
}

// fromStopHook reports whether a message's content, a string or a list of
// blocks, is what a Stop hook said.
func fromStopHook(content []byte) bool {
	return slices.ContainsFunc(texts(content), stopHookText.MatchString)
}

// texts returns the texts of a message's content.
func texts(content []byte) (all []string) {
	for _, block := range gjson.ParseBytes(content).Array() {
		if block.IsObject() {
			block = block.Get("text")
		}
		all = append(all, block.String())
	}
	return all
}

// answers returns what tools answered in a message's content.
func answers(content []byte) (all []string) {
	for _, block := range gjson.ParseBytes(content).Array() {
		if block.Get("type").Str == "tool_result" {
			all = append(all, block.Get("content").String())
		}
	}
	return all
}

// stopHookText matches the text for a block with a reason, and the one for a
// block with additional context.
var stopHookText = regexp.MustCompile(`^(Stop hook feedback:|<system-reminder>\nStop hook additional context:)`)

// serve answers one request.
func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	var req request
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	req.body = body
	answer := m.answer(req, err)
	switch {
	case answer.verb == "status":
		writeJSON(w, answer.code, []byte(answer.text))
	case answer.verb == "limit":
		maps.Copy(w.Header(), limitHeaders(time.Now().Add(answer.reset)))
		writeJSON(w, http.StatusTooManyRequests,
			[]byte(`{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your limit"}}`))
	case answer.verb == "cut":
		cut(w, func(w http.ResponseWriter) { writeEvents(w, answer) })
	case req.Stream:
		writeEvents(w, answer)
	default:
		writeJSON(w, http.StatusOK, answer.whole())
	}
}

// serveOther answers one request of another API than Claude's.
func (m *model) serveOther(w http.ResponseWriter, r *http.Request) {
	a := apiOf(r.URL.Path)
	body, err := io.ReadAll(r.Body)
	if a == nil || err == nil && !gjson.ValidBytes(body) {
		writeJSON(w, http.StatusNotFound, []byte(`{"error":{"message":"not found","code":404}}`))
		return
	}
	req := a.read(gjson.ParseBytes(body))
	s := m.answer(req, err)
	if len(req.Tools) == 0 {
		m.take(s.usage) // clients leave out what titles and summaries use
		s.usage = usage{}
	}
	if s.shell != "" {
		s.tool, s.input = shellCall(req.Tools, s.shell)
	}
	switch s.verb {
	case "status":
		w.Header().Set("Retry-After", "1")
		writeJSON(w, s.code, []byte(s.text))
	case "limit":
		a.limit(w, s.reset)
	case "cut":
		cut(w, func(w http.ResponseWriter) { a.write(w, req, s) })
	default:
		a.write(w, req, s)
	}
}

// cut sends the first half of an answer, and drops the connection.
func cut(w http.ResponseWriter, answer func(http.ResponseWriter)) {
	whole := httptest.NewRecorder()
	answer(whole)
	w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
	half := whole.Body.Bytes()[:whole.Body.Len()/2]
	if _, err := w.Write(half); err == nil {
		_ = http.NewResponseController(w).Flush() // the client may be gone
	}
	panic(http.ErrAbortHandler)
}

// take takes back what an answer was said to have used.
func (m *model) take(u usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used.Input, m.used.Output = m.used.Input-u.Input, m.used.Output-u.Output
	m.used.CacheRead, m.used.CacheWrite = m.used.CacheRead-u.CacheRead, m.used.CacheWrite-u.CacheWrite
}

// limitHeaders returns the headers of a subscription whose five hours are used
// up. The client asks for no other sign of it.
func limitHeaders(reset time.Time) http.Header {
	h, at := http.Header{}, strconv.FormatInt(reset.Unix(), 10)
	for _, kv := range [][2]string{
		{"Status", "rejected"}, {"Reset", at}, {"Representative-Claim", "five_hour"}, {"5h-Status", "rejected"},
		{"5h-Reset", at}, {"5h-Utilization", "1"}, {"Overage-Status", "rejected"},
	} {
		h.Set("Anthropic-Ratelimit-Unified-"+kv[0], kv[1])
	}
	return h
}

// answer decides who is asking, and with which step to answer. Titles,
// summaries and the like are asked for without tools; a subagent asks with
// tools as the agent does, but has a prompt of its own.
func (m *model) answer(req request, err error) step {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.choose(req, err)
	m.used.Input, m.used.Output = m.used.Input+s.usage.Input, m.used.Output+s.usage.Output
	m.used.CacheRead, m.used.CacheWrite = m.used.CacheRead+s.usage.CacheRead, m.used.CacheWrite+s.usage.CacheWrite
	return s
}

func (m *model) choose(req request, err error) step {
	if err == nil && len(req.Tools) == 0 {
		return step{verb: "say", text: "ok", usage: usual}
	}
	p := m.partFor(req)
	if p == m.parts[0] {
		m.requests = append(m.requests, req)
	} else {
		m.others++
	}
	if err == nil && len(m.requests)+m.others > maxRequests {
		err = fmt.Errorf("more than %d requests: nothing ends this loop", maxRequests)
	}
	if err != nil {
		if m.failure == nil {
			m.failure = err
		}
		// The client does not try again after a 400, so its run ends here.
		return step{verb: "status", code: http.StatusBadRequest,
			text: `{"type":"error","error":{"type":"invalid_request_error","message":"the scripted model gave up"}}`}
	}
	return p.take()
}

// block returns the step as a content block without its content, the delta
// that brings the content, and the reason why the message stops after it.
func (s step) block() (block, delta map[string]any, stopReason string) {
	if s.verb == "tool" {
		return map[string]any{"type": "tool_use", "id": newID("toolu"), "name": s.tool, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": string(s.input)}, "tool_use"
	}
	return map[string]any{"type": "text", "text": ""},
		map[string]any{"type": "text_delta", "text": s.text}, "end_turn"
}

// envelope returns a message of the assistant around some content.
func envelope(content []any, stopReason any, used usage) map[string]any {
	return map[string]any{
		"id": newID("msg"), "type": "message", "role": "assistant", "model": "scripted",
		"content": content, "stop_reason": stopReason, "stop_sequence": nil,
		"usage": used,
	}
}

// whole returns the step as the answer to a request that does not stream.
func (s step) whole() []byte {
	block, _, stopReason := s.block()
	if s.verb == "tool" {
		block["input"] = s.input
	} else {
		block["text"] = s.text
	}
	return mustJSON(envelope([]any{block}, stopReason, s.usage))
}

// writeEvents answers with a step as server-sent events.
func writeEvents(w http.ResponseWriter, s step) {
	block, delta, stopReason := s.block()
	begun := s.usage
	begun.Output = 1 // the API knows the rest at the end
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []map[string]any{
		{"type": "message_start", "message": envelope([]any{}, nil, begun)},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stopReason, "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": s.usage.Output}},
		{"type": "message_stop"},
	} {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], mustJSON(event))
	}
}

// writeJSON answers with a status and a JSON body.
func writeJSON(w http.ResponseWriter, code int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(body)
}

// newID returns a fresh id as the API gives them to messages and tool calls.
func newID(prefix string) string { return prefix + "_" + rand.Text() }

// mustJSON encodes what this file has built itself, which cannot fail.
func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
