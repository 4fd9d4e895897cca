package agent

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// maxMessage is how many bytes of an answer are kept.
const maxMessage = 1 << 20

// maxTools is how many tools that run at once are known.
const maxTools = 64

// transcript is what all parsers of JSON keep of a session. It needs the same memory for each length of the session.
type transcript struct {
	activity  Activity // without Text and Tool
	tools     []tool   // that run
	text      rawJSON  // the last text of the main agent, or its end; a copy
	denied    int      // events that say that a tool was refused
	refused   string   // the last tool that was refused, cleaned; "": not known
	plainLine string   // the last line that is not JSON
	torn      bool     // an event could not be read
	active    bool     // the agent has started working
}

// tool is one call of a tool.
type tool struct{ id, name, subject string }

// outcome returns what the session has told, without a class. If an event could not be read, that one may have told
// another cost; if the last event has not come, the last turn is left out.
func (t *transcript) outcome() Outcome {
	o := Outcome{Message: t.text.tail(maxMessage), Denied: t.denied, Refused: t.refused, Usage: t.activity.Usage}
	if t.torn {
		o.Usage.CostUSD = 0
	}
	if t.torn || !t.activity.Ended {
		o.Usage.TokensKnown, o.Usage.CostKnown = false, false
	}
	return o
}

// goOn notes that the agent works. It may do so after its last event: when work in the background has ended.
func (t *transcript) goOn() {
	t.active = true
	t.activity.Ended = false
	t.activity.Retrying = false
	t.activity.Refused = false
}

// says notes a text of the agent.
func (t *transcript) says(text rawJSON) {
	if strings.TrimSpace(text.head(textChars)) != "" {
		t.text = text.end(maxMessage)
	}
}

// begins notes that a tool runs. subject is what it works on.
func (t *transcript) begins(id, name, subject rawJSON) {
	if len(t.tools) == maxTools {
		t.tools = slices.Delete(t.tools, 0, 1)
	}
	t.tools = append(t.tools, tool{id.head(4 * nameChars), name.head(4 * nameChars), subject.head(4 * toolChars)})
}

// ends notes that a tool has ended, and whether the agent's permissions refused it.
func (t *transcript) ends(id rawJSON, refused bool) {
	of := id.head(4 * nameChars)
	if i := slices.IndexFunc(t.tools, func(t tool) bool { return t.id == of }); refused {
		t.denied++
		if i >= 0 {
			t.refused = plain.Line(t.tools[i].name, nameChars)
		}
	}
	t.tools = slices.DeleteFunc(t.tools, func(t tool) bool { return t.id == of })
}

// Activity returns what the lines have told so far.
func (t *transcript) Activity() Activity {
	h := t.activity
	h.Text = plain.Line(t.text.head(4*textChars), textChars)
	if len(t.tools) > 0 {
		h.Tool = t.tools[len(t.tools)-1].label()
	}
	return h
}

// label says which tool it is and what it works on, on one line.
func (t tool) label() string {
	text := t.name
	if t.subject != "" {
		text += ": " + t.subject
	}
	return plain.Line(text, toolChars)
}

// denials returns how many tools were refused, and the last one, cleaned; with its command, as a rule that allows it
// has both: Bash(npm test). An agent may print millions, so none is kept.
func (e event) denials() (n int, tool string) {
	last := gjson.Result{}
	if all := e.Get("permission_denials"); all.IsArray() {
		for _, last = range all.ForEach {
			n++
		}
	}
	tool = plain.Line(last.Get("tool_name").Str, nameChars)
	if command := last.Get("tool_input.command").Str; command != "" {
		tool += "(" + plain.Line(command, nameChars) + ")"
	}
	return n, strings.Clone(tool)
}
