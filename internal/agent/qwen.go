package agent

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Qwen Code, measured with 0.24.4.
var qwenRow = Row{
	Name: "qwen", Command: []string{"qwen", "--output-format", "stream-json"},
	PromptBy: ByStdin, Output: OutputQwen,
	ModelFlag:      "--model",
	PermissionFlag: "--approval-mode", SkipPermissionsFlag: "--yolo",
	Refuses: "most commands and edits", Permits: []string{"--approval-mode", "--yolo", "-y"},
	Advice: "--permission-mode auto-edit or, in a sandbox, --dangerously-skip-permissions",
	Driven: "0.24.4", Idle: 15 * time.Minute,
}

// NewQwen returns the Parser for Qwen Code, run with --output-format stream-json. It prints Claude Code's events, with
// other figures and without a reason in the last one.
func NewQwen() Parser {
	return &eventParser{dialect: dialect{
		read:  readQwen,
		exits: map[int]Class{53: Turns},
		noise: []string{"Ripgrep not available", "Warning: running headless", "Retrying provider attempt"},
	}}
}

func readQwen(p *eventParser, e event) {
	if e.Get("parent_tool_use_id").Type == gjson.String { // a subagent's
		return
	}
	switch e.Get("type").Str {
	case "system":
		p.qwenSystem(e)
	case "assistant":
		p.goOn()
		for _, block := range e.blocks() {
			p.qwenBlock(block)
		}
	case "user":
		p.goOn()
		for _, block := range e.blocks() {
			p.ends(block.at("tool_use_id"), false)
		}
	case "result":
		p.qwenEnd(e)
	}
}

func (p *eventParser) qwenSystem(e event) {
	switch e.Get("subtype").Str {
	case "init":
		p.goOn()
		p.activity.Session, p.activity.Model = e.at("session_id").name(), e.at("model").name()
	case "retry":
		p.activity.Retrying = true
	}
}

// qwenBlock reads a part of a message. Errors of the API are texts, too.
func (p *eventParser) qwenBlock(block event) {
	switch block.Get("type").Str {
	case "text":
		if !strings.HasPrefix(block.Get("text").Str, "[API Error: ") {
			p.says(block.at("text"))
		}
	case "tool_use":
		p.begins(block.at("id"), block.at("name"), block.subject("input"))
	}
}

// qwenEnd reads the result of Qwen Code.
func (p *eventParser) qwenEnd(e event) {
	failed := e.Get("is_error")
	if !failed.IsBool() {
		return
	}
	p.finish()
	denied, tool := e.denials()
	if denied > 0 {
		p.denied, p.refused = max(p.denied, denied), tool
	}
	p.failure = nil
	if failed.Bool() {
		p.fails(e.first("error.message", "result"), 0)
	} else if p.text == "" {
		p.says(e.at("result")) // which joins all texts behind the last tool
	}
	u := "usage."
	p.usage(e.tokens(u+"input_tokens"), e.tokens(u+"output_tokens"), e.tokens(u+"cache_read_input_tokens"), 0)
	p.activity.Usage.TokensKnown = e.Get("usage").IsObject()
}
