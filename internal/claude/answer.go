package claude

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
	var o jsontext.Object
	say := func(key string, text *string) {
		if *text != "" {
			o = append(o, key, text)
		}
	}
	block, event := "", PromptSubmit
	if a.Prompt != "" && a.AsContext {
		a.Prompt, a.Context, event = "", a.Prompt, Stop
	} else if a.Prompt != "" {
		// Claude Code accepts "approve" and "block" only, so other answers have no such key.
		block = "block"
	}
	say("decision", &block)
	say("reason", &a.Prompt)
	if a.End {
		o = append(o, "continue", &a.End)
	}
	say("systemMessage", &a.Message)
	if a.Context != "" {
		specific := jsontext.Object{"hookEventName", &event, "additionalContext", &a.Context}
		o = append(o, "hookSpecificOutput", specific)
	}
	text, err := o.Line()
	if err != nil {
		return nil // cannot happen: strings and a bool can always be encoded
	}
	return append(text, '\n')
}
