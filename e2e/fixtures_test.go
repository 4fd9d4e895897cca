//go:build e2e

//lint:file-ignore SA1019 the official tests of the older protocol use what the newer one deprecates

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official tests call tools, resources and prompts of fixed names. What each must do is read in the server of the
// SDK's own tests, conformance/everything-server of v1.8.0.

// A red pixel, and a sound of no length.
var (
	pixel = []byte("\x89PNG\r\n\x1a\n")
	sound = []byte("RIFF\x26\x00\x00\x00WAVEfmt ")
)

// watchedURI is the resource that changes all the time.
const watchedURI = "test://watched-resource"

// addFixtures adds all of them to a server. They are there until ctx is done.
func addFixtures(ctx context.Context, s *sdk.Server) {
	addAnswers(s)
	addTalks(s)
	addQuestions(s)
	addFixedResources(s)
	addFixedPrompts(s)
	s.AddReceivingMiddleware(more)
	go func() {
		for ctx.Err() == nil {
			_ = s.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: watchedURI}) // nobody may listen
			time.Sleep(time.Second)
		}
	}()
}

// more gives the server what the runner's has no use for: completion, and messages for a log.
func more(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "completion/complete" {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
		}
		result, err := next(ctx, method, req)
		var can *sdk.ServerCapabilities
		switch r := result.(type) {
		case *sdk.InitializeResult:
			can = r.Capabilities
		case *sdk.DiscoverResult:
			can = r.Capabilities
		}
		if err == nil && can != nil {
			can.Completions, can.Logging = &sdk.CompletionCapabilities{}, &sdk.LoggingCapabilities{}
		}
		return result, err
	}
}

// call is a tool of the fixtures.
type call = func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)

// addTool adds a tool with a schema of its own, or with one that takes all.
func addTool(s *sdk.Server, name, schema string, do call) {
	if schema == "" {
		schema = `{"type": "object"}`
	}
	s.AddTool(&sdk.Tool{Name: name, Description: "A fixture.", InputSchema: json.RawMessage(schema)}, do)
}

// says is the result of a tool.
func says(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func embedded(uri string) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "embedded"}}
}

// addAnswers adds the tools that answer at once.
func addAnswers(s *sdk.Server) {
	image, text := &sdk.ImageContent{Data: pixel, MIMEType: "image/png"}, &sdk.TextContent{Text: "This is text."}
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":            {&sdk.TextContent{Text: "This is a simple text response for testing."}},
		"test_image_content":          {image},
		"test_audio_content":          {&sdk.AudioContent{Data: sound, MIMEType: "audio/wav"}},
		"test_embedded_resource":      {embedded("test://embedded-resource")},
		"test_multiple_content_types": {text, image, embedded("test://embedded-in-multiple")},
		"test_streaming_elicitation":  {text},
	} {
		addTool(s, name, "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: content}, nil
		})
	}
	addTool(s, "test_error_handling", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var result sdk.CallToolResult
		result.SetError(errors.New("this tool intentionally returns an error for testing"))
		return &result, nil
	})
	echo := func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return says(string(req.Params.Arguments)), nil
	}
	addTool(s, "json_schema_2020_12_tool", `{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {
			"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]},
			"phone": {"type": "string"}, "email": {"type": "string"}},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]}, "else": {"required": ["email"]}, "additionalProperties": false}`, echo)
	addTool(s, "test_x_mcp_header", `{"type": "object", "properties": {
		"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}}}`, echo)
}

// addTalks adds the tools that send something while they run.
func addTalks(s *sdk.Server) {
	log := func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for _, text := range []string{"started", "working", "completed"} {
			if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: text}); err != nil {
				return nil, err
			}
			time.Sleep(50 * time.Millisecond)
		}
		return says("logged"), nil
	}
	addTool(s, "test_tool_with_logging", "", log)
	addTool(s, "test_logging_tool", "", log)
	addTool(s, "test_tool_with_progress", "",
		func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			token := req.Params.GetProgressToken()
			for _, done := range []float64{0, 50, 100} {
				err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
					ProgressToken: token, Progress: done, Total: 100, Message: "working",
				})
				if err != nil {
					return nil, err
				}
				time.Sleep(50 * time.Millisecond)
			}
			return says(fmt.Sprint(token)), nil
		})
	addTool(s, "test_reconnection", "", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(100 * time.Millisecond)
		return says("reconnected"), nil
	})
	addTool(s, "test_trigger_tool_change", "",
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			addTool(s, "transient", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return says("here"), nil
			})
			return says("changed"), nil
		})
	addTool(s, "test_trigger_prompt_change", "",
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			addPrompt(s, "transient", nil, func(map[string]string) []sdk.Content { return nil })
			return says("changed"), nil
		})
}

// addFixedResources adds the resources.
func addFixedResources(s *sdk.Server) {
	read := func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		c := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: "This is text."}
		if id, is := strings.CutPrefix(c.URI, "test://template/"); is {
			c.MIMEType, c.Text = "application/json", fmt.Sprintf(`{"id": %q}`, strings.TrimSuffix(id, "/data"))
		}
		if strings.HasSuffix(c.URI, "binary") {
			c.MIMEType, c.Text, c.Blob = "image/png", "", bytes.Clone(pixel)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
	}
	for uri, kind := range map[string]string{
		"test://static-text": "text/plain", "test://static-binary": "image/png", watchedURI: "text/plain",
	} {
		s.AddResource(&sdk.Resource{URI: uri, Name: uri, Description: "A fixture.", MIMEType: kind}, read)
	}
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: "test://template/{id}/data", Name: "template", Description: "A fixture.", MIMEType: "application/json",
	}, read)
}

// addPrompt adds a prompt, which says one message for each content.
func addPrompt(s *sdk.Server, name string, takes []string, content func(map[string]string) []sdk.Content) {
	p := &sdk.Prompt{Name: name, Description: "A fixture."}
	for _, argument := range takes {
		p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: argument, Description: "Text.", Required: true})
	}
	s.AddPrompt(p, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		result := &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{}}
		for _, c := range content(req.Params.Arguments) {
			result.Messages = append(result.Messages, &sdk.PromptMessage{Role: "user", Content: c})
		}
		return result, nil
	})
}

// addFixedPrompts adds the prompts that answer at once.
func addFixedPrompts(s *sdk.Server) {
	text := &sdk.TextContent{Text: "This is a simple prompt for testing."}
	addPrompt(s, "test_simple_prompt", nil, func(map[string]string) []sdk.Content { return []sdk.Content{text} })
	addPrompt(s, "test_prompt_with_arguments", []string{"arg1", "arg2"}, func(in map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("arg1='%s', arg2='%s'", in["arg1"], in["arg2"])}}
	})
	addPrompt(s, "test_prompt_with_embedded_resource", []string{"resourceUri"}, func(in map[string]string) []sdk.Content {
		return []sdk.Content{embedded(in["resourceUri"]), text}
	})
	addPrompt(s, "test_prompt_with_image", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.ImageContent{Data: pixel, MIMEType: "image/png"}, text}
	})
}
