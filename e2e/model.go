//go:build e2e

package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// maxRequests bounds the agent's requests to one model. A hook that never lets
// go of a model that loops would otherwise run until the deadline.
const maxRequests = 500

// step is one line of a model's script, and one answer to the agent.
type step struct {
	verb  string          // say, tool, status or loop
	text  string          // what is said, or the body of a status
	tool  string          // the tool's name
	input json.RawMessage // the tool's input
	code  int             // the HTTP status
}

// parseScript reads a model's script, one step a line:
//
//	say TEXT            a text that ends the turn
//	bash COMMAND        a call of the Bash tool
//	tool NAME INPUT     a call of any tool, with its input as JSON
//	status CODE BODY    an HTTP status with a JSON body
//	loop                start again from the first line, for ever
//	for TEXT            what follows is said to those whose prompt holds TEXT,
//	                    such as a subagent with a prompt of its own
//
// Empty lines and lines that begin with # are skipped.
func parseScript(script string) (parts []*part, err error) {
	parts = []*part{{}}
	for i, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if who, ok := strings.CutPrefix(line, "for "); ok {
			parts = append(parts, &part{who: who})
			continue
		}
		s, err := parseStep(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		p := parts[len(parts)-1]
		if s.verb == "loop" && len(p.steps) == 0 {
			return nil, fmt.Errorf("line %d: nothing to loop over", i+1)
		}
		p.steps = append(p.steps, s)
	}
	return parts, nil
}

// part is what a script says to one agent: the main one, or those whose prompt
// holds a text.
type part struct {
	who   string // empty for the main agent
	steps []step
	next  int
}

// take returns the part's next step.
func (p *part) take() step {
	if p.next < len(p.steps) && p.steps[p.next].verb == "loop" {
		p.next = 0
	}
	if p.next == len(p.steps) {
		return step{verb: "say", text: "the script is over"}
	}
	p.next++
	return p.steps[p.next-1]
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

// parseStep reads one line of a model's script.
func parseStep(line string) (step, error) {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "say":
		return step{verb: "say", text: rest}, nil
	case "bash":
		input, err := json.Marshal(map[string]string{"command": rest, "description": "scripted"})
		return step{verb: "tool", tool: "Bash", input: input}, err
	case "tool":
		name, input, _ := strings.Cut(rest, " ")
		if !json.Valid([]byte(input)) {
			return step{}, fmt.Errorf("the input of tool %s is not JSON", name)
		}
		return step{verb: "tool", tool: name, input: json.RawMessage(input)}, nil
	case "status":
		code, body, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(code)
		return step{verb: "status", code: n, text: body}, err
	case "loop":
		return step{verb: "loop"}, nil
	}
	return step{}, fmt.Errorf("unknown step %q", verb)
}

// request is the part of a Messages API request that the model looks at.
type request struct {
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []message         `json:"messages"`
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
	failure  error     // the first thing that went wrong while serving
}

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
	m.Server = httptest.NewServer(mux)
	return m, nil
}

// recorded returns the agent's requests so far, or what went wrong.
func (m *model) recorded() ([]request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, m.failure
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

// added returns how many bytes of a request came from Stop hooks. The reason of
// a block is there twice, as the user's message and as the system's.
func added(req request) (n int) {
	for _, msg := range req.Messages {
		for _, text := range texts(msg.Content) {
			if stopHookText.MatchString(text) || strings.HasPrefix(text, "Stop hook blocking error from command") {
				n += len(text)
			}
		}
	}
	return n
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
	answer := m.answer(req, err)
	switch {
	case answer.verb == "status":
		writeJSON(w, answer.code, []byte(answer.text))
	case req.Stream:
		writeEvents(w, answer)
	default:
		writeJSON(w, http.StatusOK, answer.whole())
	}
}

// answer decides who is asking, and with which step to answer. Titles,
// summaries and the like are asked for without tools; a subagent asks with
// tools as the agent does, but has a prompt of its own.
func (m *model) answer(req request, err error) step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil && len(req.Tools) == 0 {
		return step{verb: "say", text: "ok"}
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
func envelope(content []any, stopReason any) map[string]any {
	return map[string]any{
		"id": newID("msg"), "type": "message", "role": "assistant", "model": "scripted",
		"content": content, "stop_reason": stopReason, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 10},
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
	return mustJSON(envelope([]any{block}, stopReason))
}

// writeEvents answers with a step as server-sent events.
func writeEvents(w http.ResponseWriter, s step) {
	block, delta, stopReason := s.block()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []map[string]any{
		{"type": "message_start", "message": envelope([]any{}, nil)},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stopReason, "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": 10}},
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
