//go:build e2e

//lint:file-ignore SA1019 the official tests of the older protocol use what the newer one deprecates

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The fixtures that ask the client something. The older protocol has a request for that, which the tool waits for. The
// newer one has a result that asks: the client calls the tool again with the answers.

// addQuestions adds them all.
func addQuestions(s *sdk.Server) {
	addOldQuestions(s)
	for name, do := range map[string]call{
		"test_missing_capability":                    needsSampling,
		"test_input_required_result_elicitation":     askName,
		"test_input_required_result_sampling":        askModel,
		"test_input_required_result_list_roots":      askRoots,
		"test_input_required_result_request_state":   askWithState,
		"test_input_required_result_tampered_state":  askWithState,
		"test_input_required_result_multiple_inputs": askAll,
		"test_input_required_result_multi_round":     askTwice,
		"test_input_required_result_capabilities":    askWhatItCan,
	} {
		addTool(s, name, "", do)
	}
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture."},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text := accepted(req.Params.InputResponses, "user_context", "context")
			if text == "" {
				return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": form("context", "string")}}, nil
			}
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: "Context: " + text}},
			}}, nil
		})
}

// The forms of the older questions: defaults (SEP-1034), and ways to choose (SEP-1330).
const (
	defaultsForm = `{"type": "object", "properties": {
		"name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30},
		"score": {"type": "number", "default": 95.5}, "verified": {"type": "boolean", "default": true},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}}}`
	enumsForm = `{"type": "object", "properties": {
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First Option"},
			{"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
			"enumNames": ["Option One", "Option Two", "Option Three"]},
		"untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string",
			"enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {
			"anyOf": [{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"},
				{"const": "value3", "title": "Third Option"}]}}}}`
	usernameForm = `{"type": "object", "properties": {"username": {"type": "string"}}, "required": ["username"]}`
)

func addOldQuestions(s *sdk.Server) {
	for name, schema := range map[string]string{
		"test_elicitation": usernameForm, "test_elicitation_sep1034_defaults": defaultsForm,
		"test_elicitation_sep1330_enums": enumsForm,
	} {
		addTool(s, name, "", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			ask := &sdk.ElicitParams{Message: "Please say.", RequestedSchema: json.RawMessage(schema)}
			result, err := req.Session.Elicit(ctx, ask)
			if err != nil {
				return nil, err
			}
			return says(fmt.Sprintf("action=%s, content=%v", result.Action, result.Content)), nil
		})
	}
	addTool(s, "test_sampling", "", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		result, err := req.Session.CreateMessage(ctx, sample("Say something."))
		if err != nil {
			return nil, err
		}
		text, _ := result.Content.(*sdk.TextContent)
		if text == nil {
			return nil, fmt.Errorf("the model said %T", result.Content)
		}
		return says("LLM response: " + text.Text), nil
	})
}

// sample asks the client's model.
func sample(prompt string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{
		Messages:  []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: prompt}}},
		MaxTokens: 100,
	}
}

// form asks a person for one value.
func form(key, kind string) *sdk.ElicitParams {
	schema := fmt.Sprintf(`{"type": "object", "properties": {%q: {"type": %q}}, "required": [%[1]q]}`, key, kind)
	return &sdk.ElicitParams{Message: "Please say.", RequestedSchema: json.RawMessage(schema)}
}

// accepted returns a value of a form that a person has filled in, else "".
func accepted(answers sdk.InputResponseMap, name, key string) string {
	form, is := answers[name].(*sdk.ElicitResult)
	if !is || form.Action != "accept" || form.Content[key] == nil {
		return ""
	}
	return fmt.Sprint(form.Content[key])
}

// sampled returns what the client's model said.
func sampled(answers sdk.InputResponseMap, name string) string {
	if answer, is := answers[name].(*sdk.CreateMessageWithToolsResult); is && len(answer.Content) > 0 {
		if text, is := answer.Content[0].(*sdk.TextContent); is {
			return text.Text
		}
	}
	return ""
}

// asks is the result that asks.
func asks(state string, requests sdk.InputRequestMap) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{InputRequests: requests, RequestState: state}, nil
}

func needsSampling(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if can := req.ClientCapabilities(); can != nil && can.Sampling != nil {
		return says("sampling is there"), nil
	}
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}},
	})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{
		Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client has no sampling", Data: data,
	}
}

func askName(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if name := accepted(req.Params.InputResponses, "user_name", "name"); name != "" {
		return says("Hello, " + name + "!"), nil
	}
	return asks("", sdk.InputRequestMap{"user_name": form("name", "string")})
}

func askModel(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if text := sampled(req.Params.InputResponses, "capital_question"); text != "" {
		return says("Sampling response: " + text), nil
	}
	return asks("", sdk.InputRequestMap{"capital_question": sample("What is the capital of France?")})
}

func askRoots(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if roots, is := req.Params.InputResponses["client_roots"].(*sdk.ListRootsResult); is {
		return says(fmt.Sprintf("%d roots", len(roots.Roots))), nil
	}
	return asks("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}})
}

// askWithState gives the client a state, and refuses one that is not what it gave.
func askWithState(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	const state = "state"
	if got := req.Params.RequestState; got != "" && got != state {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state is not the one that was given"}
	}
	if req.Params.RequestState == state && accepted(req.Params.InputResponses, "confirm", "ok") != "" {
		return says("state-ok: requestState received and confirmation accepted"), nil
	}
	return asks(state, sdk.InputRequestMap{"confirm": form("ok", "boolean")})
}

// all are the three kinds of questions.
func all() sdk.InputRequestMap {
	return sdk.InputRequestMap{
		"user_name": form("name", "string"), "greeting": sample("Generate a greeting"),
		"client_roots": &sdk.ListRootsParams{},
	}
}

func askAll(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	answers := req.Params.InputResponses
	name, greeting := accepted(answers, "user_name", "name"), sampled(answers, "greeting")
	if _, is := answers["client_roots"].(*sdk.ListRootsResult); is && name != "" && greeting != "" {
		return says(greeting + " " + name), nil
	}
	return asks("all", all())
}

// askTwice keeps the first answer in the state.
func askTwice(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	name, second := strings.CutPrefix(req.Params.RequestState, "name=")
	switch answers := req.Params.InputResponses; {
	case second:
		return says(name + " likes " + accepted(answers, "step2", "color")), nil
	case req.Params.RequestState != "":
		return asks("name="+accepted(answers, "step1", "name"), sdk.InputRequestMap{"step2": form("color", "string")})
	}
	return asks("first", sdk.InputRequestMap{"step1": form("name", "string")})
}

// askWhatItCan asks only what the client says that it can answer.
func askWhatItCan(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return says("answered"), nil
	}
	can, questions := req.ClientCapabilities(), all()
	if can == nil || can.Elicitation == nil {
		delete(questions, "user_name")
	}
	if can == nil || can.Sampling == nil {
		delete(questions, "greeting")
	}
	if can == nil || can.RootsV2 == nil {
		delete(questions, "client_roots")
	}
	if len(questions) == 0 {
		return says("the client can answer nothing"), nil
	}
	return asks("", questions)
}
