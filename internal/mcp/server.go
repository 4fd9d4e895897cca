// Package mcp is the server of the Model Context Protocol. The official SDK speaks the protocol; a guard around it
// keeps any input from ending the process. The desk does what an agent asks for by a tool: it tells how a loop stands,
// runs the loop's checks, and keeps the agent's hooks and checkpoints. It decides with the spine of a stop, and does
// nothing that only a person may do.
package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// toolsText describes the tools: names, schemas and annotations, as clients get them.
//
//go:embed tools.json
var toolsText []byte

// Server serves one client with the server of the SDK.
type Server struct {
	*mcp.Server
	desk *Desk
	log  io.Writer     // for the client's log
	busy chan struct{} // has a value for each call that may change something
}

// maxBusy is how many calls that may change something are answered at once. Each needs the loop's lock again and again,
// and gives up after a while; more calls would only wait for each other.
const maxBusy = 4

// instructions go into every request of the model, so they are short.
const instructions = `Ralph loops: a feature list is worked until every feature is proven by checks that a person ` +
	`trusts. Ask task_get what to work on; call iteration_start once, iteration_validate after each feature, and ` +
	`iteration_complete when everything is done. What you say is a claim; the checks decide.`

// New makes a server. log gets what a person may want to see of its trouble.
func New(desk *Desk, version string, log io.Writer) (*Server, error) {
	s := &Server{desk: desk, log: log, busy: make(chan struct{}, maxBusy)}
	about := &mcp.Implementation{Name: "ralph", Title: "Ralph loops", Version: version}
	s.Server = mcp.NewServer(about, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{},
	})
	s.AddReceivingMiddleware(s.recoverPanics)
	if err := s.addTools(); err != nil {
		return nil, err
	}
	return s, nil
}

// Run serves standard input and output until the input ends or ctx is done.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := s.Server.Run(ctx, guard(in, out))
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// recoverPanics makes a panic of a handler an error of that call.
func (s *Server) recoverPanics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				fmt.Fprintf(s.log, "ralph: internal error in %s: %s\n", plain.Line(method, 80), plain.Line(fmt.Sprint(p), 500))
				result, err = nil, errors.New("internal error; the server goes on")
			}
		}()
		return next(ctx, method, req)
	}
}

// addTools adds the tools.
func (s *Server) addTools() error {
	var tools []*mcp.Tool
	var schemas []struct{ InputSchema jsonschema.Schema }
	if err := errors.Join(json.Unmarshal(toolsText, &tools), json.Unmarshal(toolsText, &schemas)); err != nil {
		return err
	}
	handlers := map[string]handler{
		"task_get":           answer((*desk).task),
		"iteration_start":    answer((*desk).start, (*desk).moves, (*desk).endError),
		"iteration_validate": answer((*desk).validate, (*desk).moves),
		"iteration_next":     answer((*desk).next, (*desk).moves, (*desk).endError),
		"iteration_complete": answer((*desk).complete, (*desk).moves),
		"hook_register":      answer((*desk).register, (*desk).moves),
		"hook_evaluate":      answer((*desk).evaluate, (*desk).moves),
		"hook_list":          answer((*desk).listHooks, (*desk).certain),
		"hook_clear":         answer((*desk).clear, (*desk).moves),
		"checkpoint_create":  answer((*desk).create, (*desk).moves),
		"checkpoint_list":    answer((*desk).list, (*desk).certain),
		"checkpoint_resume":  answer((*desk).resume, (*desk).certain),
	}
	for i, t := range tools {
		schema, err := schemas[i].InputSchema.Resolve(nil)
		if err != nil {
			return err
		}
		t.Annotations.DestructiveHint, t.Annotations.OpenWorldHint = new(bool), new(bool) // false; the default is true
		s.AddTool(t, s.handlerOf(t, schema, handlers[t.Name]))
	}
	return nil
}

// handler answers one tool's call with a value for the tool's output schema.
type handler func(ctx context.Context, d *Desk, call Call, arguments json.RawMessage) (any, error)

// about is what the arguments of all tools say: which loop a call is about.
type about interface {
	open(d *Desk, call Call) (*desk, error)
}

// OfTask names a loop.
type OfTask struct {
	TaskID string `json:"taskId,omitempty"`
}

func (t OfTask) open(d *Desk, call Call) (*desk, error) { return d.open(call, t.TaskID) }

// OfIteration names a run of a loop.
type OfIteration struct {
	IterationID string `json:"iterationId,omitempty"`
}

func (i OfIteration) open(d *Desk, call Call) (*desk, error) { return d.iteration(call, i.IterationID) }

// answer makes the handler of a tool, which opens the loop of a call. An error of refuse ends the call.
func answer[In about, Out any](do func(*desk, context.Context, In) (Out, error), refuse ...func(*desk) error) handler {
	return func(ctx context.Context, d *Desk, call Call, arguments json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(arguments, &in); err != nil {
			if no := (*json.UnmarshalTypeError)(nil); errors.As(err, &no) {
				err = fmt.Errorf("%s cannot be the %s", no.Field, no.Value) // in other words than those of Go
			}
			return nil, fmt.Errorf("arguments: %w", err)
		}
		k, err := in.open(d, call)
		if err != nil {
			return nil, err
		}
		defer k.Close()
		for _, refused := range refuse {
			if err := refused(k); err != nil {
				return nil, err
			}
		}
		return do(k, ctx, in)
	}
}

// handlerOf makes the SDK's handler of a tool: it checks the arguments, and gives the answer both as text and
// structured, because some clients show only one of them. The SDK's own way would write the numbers in them anew.
func (s *Server) handlerOf(t *mcp.Tool, schema *jsonschema.Resolved, handle handler) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := req.Params.Arguments
		if len(arguments) == 0 || string(arguments) == "null" {
			arguments = json.RawMessage("{}")
		}
		defer s.progress(ctx, req)()
		var out any
		err := validate(schema, arguments)
		if err == nil && !t.Annotations.ReadOnlyHint {
			s.busy <- struct{}{}
			defer func() { <-s.busy }()
		}
		if err == nil {
			out, err = handle(ctx, s.desk, s.callOf(req), arguments)
		}
		var result mcp.CallToolResult
		if err != nil {
			result.SetError(errors.New(plain.Text(err.Error(), 4000)))
			return &result, nil
		}
		text, err := jsontext.Line(out)
		result.Content = []mcp.Content{&mcp.TextContent{Text: strings.TrimSpace(string(text))}}
		result.StructuredContent = json.RawMessage(text)
		return &result, err
	}
}

func validate(schema *jsonschema.Resolved, arguments json.RawMessage) error {
	var value map[string]any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return errors.New(`"arguments" must be an object`)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf(`validating "arguments": %w`, err)
	}
	return nil
}

// sessionKey is where Codex names its session; the agent does not write it. Measured with 0.169.0.
const sessionKey = "sessionId"

func (s *Server) callOf(req *mcp.CallToolRequest) (call Call) {
	if id, is := req.Params.Meta[sessionKey].(string); is {
		call.Session = id
	}
	if params := req.Session.InitializeParams(); params != nil && params.ClientInfo != nil && s.desk.ClientName != nil {
		call.Client = s.desk.ClientName(params.ClientInfo.Name)
	}
	return call
}

// progressEvery is how often a client hears that a call is still at work.
const progressEvery = 5 * time.Second

// progress tells a client that asked for it how long a call takes, until done is called. Nobody knows how long the
// checks will take in all.
func (s *Server) progress(ctx context.Context, req *mcp.CallToolRequest) (done func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, done = context.WithCancel(ctx)
	begin := time.Now()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(progressEvery):
			}
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // the client may be gone
				ProgressToken: token, Progress: time.Since(begin).Seconds(), Message: "at work",
			})
		}
	}()
	return done
}
