package claude

import "github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"

// Answer is what the hook tells Claude Code. The zero Answer is silence, which lets
// the turn end.
type Answer struct {
	Prompt    string // not empty: the turn goes on with this prompt
	AsContext bool   // Prompt reaches the model once, as context, not as a problem
	Message   string // shown to the person
	Context   string // told to the model beside a prompt of the person's
	End       bool   // the loop is over; said explicitly beside Message
}

// Encode returns the one JSON object to print, or nothing.
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
		// "approve" and "block" are the only legal values, so the key is
		// there for a block only.
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
		return nil // strings and a bool always go
	}
	return append(text, '\n')
}
