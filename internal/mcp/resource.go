package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The resources. A loop's name takes the place of {name}.
const (
	loopsURI    = "ralph://loops"
	statusEnd   = "/status"
	listEnd     = "/list"
	logEnd      = "/log"
	jsonType    = "application/json"
	textType    = "text/plain"
	lookEvery   = time.Second // how often a resource that somebody subscribed to is looked at
	maxWatching = 100
)

func (s *Server) addResources() {
	s.sdk.AddResource(&mcp.Resource{
		URI: loopsURI, Name: "loops", Title: "Loops", Description: "The loops of this project.", MIMEType: jsonType,
	}, s.read)
	for _, r := range []struct{ end, name, about, kind string }{
		{statusEnd, "status", "How a loop stands.", jsonType},
		{listEnd, "list", "The features of a loop.", jsonType},
		{logEnd, "log", "The decisions of a loop, the last ones.", textType},
	} {
		s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: loopsURI + "/{name}" + r.end, Name: r.name, Description: r.about, MIMEType: r.kind,
		}, s.read)
	}
}

func (s *Server) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	text, kind, err := s.text(ctx, uri)
	if errors.Is(err, errNoResource) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}, nil
}

// maxCompletions is how many names complete a word.
const maxCompletions = 100

// complete completes the names of loops, in the prompt and in the addresses of resources.
func (s *Server) complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	loops, err := s.desk.Env.Where().All()
	if err != nil {
		return nil, err
	}
	values := []string{}
	for _, at := range loops {
		if name := plain.Line(at.Name, 100); strings.HasPrefix(name, req.Params.Argument.Value) {
			values = append(values, name)
		}
	}
	total := len(values)
	values = values[:min(total, maxCompletions)]
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: values, Total: total, HasMore: total > len(values),
	}}, nil
}

func (s *Server) addPrompt() {
	s.sdk.AddPrompt(&mcp.Prompt{
		Name: "work", Title: "Work on a loop", Description: "The prompt of a session that works on a loop.",
		Arguments: []*mcp.PromptArgument{{Name: "loop", Description: "Loop name. Default: the loop of this session."}},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text, err := s.desk.Prompt(req.Params.Arguments["loop"])
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{
			Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
		}, nil
	})
}

// text returns what a resource says now.
func (s *Server) text(ctx context.Context, uri string) (text, kind string, err error) {
	asJSON := func(v any, err error) (string, string, error) {
		if err != nil {
			return "", "", err
		}
		text, err := json.MarshalIndent(v, "", "  ")
		return string(text) + "\n", jsonType, err
	}
	if uri == loopsURI {
		return asJSON(s.desk.Loops(ctx))
	}
	path, below := strings.CutPrefix(uri, loopsURI+"/")
	for _, end := range []string{statusEnd, listEnd, logEnd} {
		escaped, is := strings.CutSuffix(path, end)
		name, invalid := url.PathUnescape(escaped)
		if !below || !is || invalid != nil {
			continue
		}
		at, err := s.desk.Env.Where().Named(name)
		if err != nil {
			return "", "", fmt.Errorf("%w: %w", errNoResource, err)
		}
		switch end {
		case statusEnd:
			return asJSON(s.desk.status(ctx, at))
		case listEnd:
			return asJSON(s.desk.items(at))
		}
		text, err = s.desk.logged(at)
		if text == "" {
			text = "nothing yet\n" // the SDK leaves out an empty text, and clients want one
		}
		return text, textType, err
	}
	return "", "", errNoResource
}

// errNoResource means that there can be no such resource.
var errNoResource = errors.New("no such resource")

// watched are the resources that a client subscribed to, with a hash of what they said last.
type watched struct {
	mu  sync.Mutex
	uri map[string][sha256.Size]byte
}

func (s *Server) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	text, _, err := s.text(ctx, req.Params.URI)
	ours := strings.HasPrefix(req.Params.URI, loopsURI) // tests serve others beside
	if ours && errors.Is(err, errNoResource) {
		return mcp.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil { // a list that cannot be read now may be repaired
		text = err.Error()
	}
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	if len(s.seen.uri) < maxWatching {
		s.seen.uri[req.Params.URI] = sha256.Sum256([]byte(text))
	}
	return nil
}

func (s *Server) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	delete(s.seen.uri, req.Params.URI)
	return nil
}

// watch tells clients of resources that have changed.
func (s *Server) watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
		for _, uri := range s.changed(ctx) {
			_ = s.sdk.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) // the client may be gone
		}
	}
}

// changed returns the resources that say something else than at the last look. A panic there must not end the process.
func (s *Server) changed(ctx context.Context) (uris []string) {
	defer func() { _ = recover() }()
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	for uri, was := range s.seen.uri {
		text, _, err := s.text(ctx, uri)
		if err != nil {
			text = err.Error()
		}
		if now := sha256.Sum256([]byte(text)); now != was {
			s.seen.uri[uri] = now
			uris = append(uris, uri)
		}
	}
	return uris
}
