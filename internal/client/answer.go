package client

import "github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"

// Answer is what the hook tells Claude Code. The zero Answer prints nothing, which lets the
// turn end.
type Answer struct {
	Prompt    string // if not empty, the turn continues with this prompt
	AsContext bool   // send Prompt as additional context, not as the reason of a block
	Message   string // shown to the person
	Context   string // additional context for the model, with the person's own prompt
	End       bool   // the loop has ended; adds "continue": true
}

// Encode returns the JSON object to print and a line end. For the zero Answer it returns
// nil.
func (a Answer) Encode() []byte {
	if a == (Answer{}) {
		return nil
	}
	out := answer{Reason: a.Prompt, Continue: a.End, Message: a.Message}
	event, context := PromptSubmit, a.Context
	if a.Prompt != "" && a.AsContext {
		out.Reason = ""
		event, context = Stop, a.Prompt
	} else if a.Prompt != "" {
		// Claude Code accepts "approve" and "block" only, so other answers have no such key.
		out.Decision = "block"
	}
	if context != "" {
		out.Specific = &specific{Event: event, Context: context}
	}
	text, _ := jsontext.Line(out) // cannot fail: texts and a bool only
	return text
}

// answer is the object that Claude Code reads.
type answer struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Continue bool      `json:"continue,omitempty"`
	Message  string    `json:"systemMessage,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext"`
}
