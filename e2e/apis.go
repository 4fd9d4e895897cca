//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// api is an API of a provider other than Claude's, as far as clients need it.
type api struct {
	read  func(body gjson.Result) request
	write func(w http.ResponseWriter, req request, s step)
	limit func(w http.ResponseWriter, reset time.Duration) // answers that a limit is used up
}

// apiOf returns the API that a path belongs to, or nil.
func apiOf(path string) *api {
	switch {
	case strings.HasSuffix(path, "/responses"):
		return &api{readResponses, writeResponses, limitResponses}
	case strings.HasSuffix(path, "/chat/completions"):
		return &api{readChat, writeChat, limitChat}
	case strings.Contains(path, "enerateContent"):
		return &api{readGemini, writeGemini(strings.Contains(path, "streamGenerateContent")), limitGemini}
	}
	return nil
}

// said returns a message as the scripts' commands look at it.
func said(role string, content any) message { return message{Role: role, Content: mustJSON(content)} }

// tools returns the names of a request's tools that are functions.
func tools(list gjson.Result) (names []json.RawMessage) {
	for _, tool := range list.Array() {
		for _, path := range []string{"name", "function.name"} {
			if name := tool.Get(path); name.Exists() {
				names = append(names, json.RawMessage(name.Raw))
			}
		}
		names = append(names, tools(tool.Get("functionDeclarations"))...) // Gemini
	}
	return names
}

// shellCall returns the name of the client's tool for commands, and its input. Each client takes a few of these keys.
func shellCall(names []json.RawMessage, command string) (string, json.RawMessage) {
	input := map[string]any{"command": command, "description": "scripted"}
	has := func(name string) bool {
		return slices.ContainsFunc(names, func(n json.RawMessage) bool { return string(n) == strconv.Quote(name) })
	}
	switch {
	case has("exec_command"): // Codex
		return "exec_command", mustJSON(map[string]any{"cmd": command})
	case has("run_shell_command"): // Gemini CLI, Qwen Code
		if has("zoom_image") || has("read_mcp_resource") {
			input["is_background"] = false
		}
		return "run_shell_command", mustJSON(input)
	case has("report_intent"), has("read_bash"): // Copilot CLI
		input["mode"], input["initial_wait"] = "sync", 30
	}
	return "bash", mustJSON(input)
}

// events begins a stream, and returns what writes one event into it.
func events(w http.ResponseWriter) func(kind string, event any) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(kind string, event any) {
		if kind != "" {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", mustJSON(event))
	}
}

type object = map[string]any

// whole is the number of tokens of a prompt, with those from the cache.
func (u usage) prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// readResponses reads a request of OpenAI's Responses API.
func readResponses(body gjson.Result) request {
	req := request{Stream: body.Get("stream").Bool(), Tools: tools(body.Get("tools"))}
	for _, item := range body.Get("input").Array() {
		switch item.Get("type").Str {
		case "message", "":
			req.Messages = append(req.Messages, said(item.Get("role").Str, item.Get("content.#.text").Value()))
		case "function_call":
			req.Messages = append(req.Messages, said("assistant", ""))
		case "function_call_output":
			req.Messages = append(req.Messages, said("tool", item.Get("output").String()))
		}
	}
	return req
}

// serverTool splits the name of a tool of an MCP server, as Claude Code has it.
func serverTool(name string) (server, bare string, is bool) {
	server, is = strings.CutPrefix(name, "mcp__")
	server, bare, _ = strings.Cut(server, "__")
	return server, bare, is
}

func writeResponses(w http.ResponseWriter, _ request, s step) {
	u := object{
		"input_tokens": s.usage.prompt(), "input_tokens_details": object{"cached_tokens": s.usage.CacheRead},
		"output_tokens": s.usage.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": s.usage.prompt() + s.usage.Output,
	}
	item := object{"type": "message", "id": newID("msg"), "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": s.text, "annotations": []any{}}}}
	if s.verb == "tool" {
		item = object{"type": "function_call", "id": newID("fc"), "call_id": newID("call"), "name": s.tool,
			"arguments": string(s.input), "status": "completed"}
		if server, name, is := serverTool(s.tool); is { // as Codex names them
			item["namespace"], item["name"] = "mcp__"+server, name
		}
	}
	response := object{"id": newID("resp"), "object": "response", "created_at": time.Now().Unix(), "model": "scripted",
		"output": []any{}, "status": "in_progress"}
	put := events(w)
	put("response.created", object{"type": "response.created", "response": response})
	put("response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item})
	put("response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	response["status"], response["output"], response["usage"] = "completed", []any{item}, u
	put("response.completed", object{"type": "response.completed", "response": response})
}

// limitResponses answers as for a subscription to Codex.
func limitResponses(w http.ResponseWriter, reset time.Duration) {
	at := time.Now().Add(reset).Unix()
	for name, value := range map[string]string{
		"primary-used-percent": "100", "primary-window-minutes": "300", "primary-reset-at": strconv.FormatInt(at, 10),
	} {
		w.Header().Set("X-Codex-"+name, value)
	}
	writeJSON(w, http.StatusTooManyRequests, mustJSON(object{"error": object{"type": "usage_limit_reached",
		"message": "The usage limit has been reached", "plan_type": "plus", "resets_at": at,
		"resets_in_seconds": int(reset.Seconds())}}))
}

// readChat reads a request of OpenAI's Chat Completions API.
func readChat(body gjson.Result) request {
	req := request{Stream: body.Get("stream").Bool(), Tools: tools(body.Get("tools"))}
	for _, msg := range body.Get("messages").Array() {
		content := msg.Get("content")
		if content.IsArray() {
			content = msg.Get("content.#.text")
		}
		req.Messages = append(req.Messages, said(msg.Get("role").Str, content.Value()))
	}
	return req
}

func writeChat(w http.ResponseWriter, req request, s step) {
	u := object{
		"prompt_tokens": s.usage.prompt(), "completion_tokens": s.usage.Output,
		"total_tokens":          s.usage.prompt() + s.usage.Output,
		"prompt_tokens_details": object{"cached_tokens": s.usage.CacheRead},
	}
	msg, finish := object{"role": "assistant", "content": s.text}, "stop"
	if s.verb == "tool" {
		msg["tool_calls"], finish = []any{object{"index": 0, "id": newID("call"), "type": "function",
			"function": object{"name": s.tool, "arguments": string(s.input)}}}, "tool_calls"
	}
	chunk := func(kind string, choices ...any) object {
		return object{"id": newID("chatcmpl"), "object": kind, "created": time.Now().Unix(), "model": "scripted",
			"choices": append([]any{}, choices...)}
	}
	if !req.Stream {
		answer := chunk("chat.completion", object{"index": 0, "finish_reason": finish, "message": msg})
		answer["usage"] = u
		writeJSON(w, http.StatusOK, mustJSON(answer))
		return
	}
	const kind = "chat.completion.chunk"
	put := events(w)
	put("", chunk(kind, object{"index": 0, "delta": msg, "finish_reason": nil}))
	put("", chunk(kind, object{"index": 0, "delta": object{}, "finish_reason": finish}))
	last := chunk(kind)
	last["usage"] = u
	put("", last)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func limitChat(w http.ResponseWriter, reset time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(reset.Seconds())))
	writeJSON(w, http.StatusTooManyRequests,
		[]byte(`{"error":{"message":"Rate limit reached","type":"rate_limit_exceeded","code":null,"param":null}}`))
}

// readGemini reads a request of Gemini's API.
func readGemini(body gjson.Result) request {
	req := request{Tools: tools(body.Get("tools"))}
	for _, content := range body.Get("contents").Array() {
		role := content.Get("role").Str
		if role == "model" {
			role = "assistant"
		}
		if results := content.Get("parts.#.functionResponse.response"); len(results.Array()) > 0 {
			req.Messages = append(req.Messages, said("tool", results.Raw))
			continue
		}
		req.Messages = append(req.Messages, said(role, content.Get("parts.#.text").Value()))
	}
	return req
}

func writeGemini(stream bool) func(http.ResponseWriter, request, step) {
	return func(w http.ResponseWriter, _ request, s step) {
		part := object{"text": s.text}
		if s.verb == "tool" {
			name := s.tool
			if server, bare, is := serverTool(s.tool); is { // as Gemini CLI names them
				name = "mcp_" + server + "_" + bare
			}
			part = object{"functionCall": object{"name": name, "args": s.input}}
		}
		answer := object{
			"candidates": []any{object{"index": 0, "finishReason": "STOP",
				"content": object{"role": "model", "parts": []any{part}}}},
			"usageMetadata": object{
				"promptTokenCount": s.usage.prompt(), "candidatesTokenCount": s.usage.Output,
				"totalTokenCount": s.usage.prompt() + s.usage.Output, "cachedContentTokenCount": s.usage.CacheRead,
			},
			"modelVersion": "scripted", "responseId": newID("r"),
		}
		if stream {
			events(w)("", answer)
		} else {
			writeJSON(w, http.StatusOK, mustJSON(answer))
		}
	}
}

// limitGemini answers as for a day's quota that is used up.
func limitGemini(w http.ResponseWriter, _ time.Duration) {
	writeJSON(w, http.StatusTooManyRequests, []byte(`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED",
		"message":"You exceeded your current quota, please check your plan and billing details.","details":[
		{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{
		"quotaMetric":"generativelanguage.googleapis.com/generate_content_paid_tier_requests",
		"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]}]}}`))
}
