package agent

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// maxBlocks is how many blocks of a message are read. Claude Code prints a line for each block.
const maxBlocks = 64

// rawJSON is the text of a valid JSON value, or nothing. It is a part of a line, which is gone when the next one comes.
type rawJSON string

// maxValue is how many bytes of a value are read. A larger value counts as nothing. Of a larger text, head and tail
// read a part.
const maxValue = 2*maxMessage + 2

func (j rawJSON) value() gjson.Result {
	if len(j) > maxValue {
		return gjson.Result{}
	}
	return gjson.Parse(string(j))
}

func (j rawJSON) text() string { return j.value().Str }

// name returns a text that names something, cleaned. It is a copy.
func (j rawJSON) name() string { return plain.Line(j.head(4*nameChars), nameChars) }

// head returns a copy of a text, or of its beginning if it has more than most bytes.
func (j rawJSON) head(most int) string {
	if len(j) > most && j[0] == '"' {
		j = j[:most-unpaired(j[:most])] + `"`
	}
	return strings.Clone(j.text())
}

// end returns a copy of a text, or of its end, from which tail reads at most most bytes.
func (j rawJSON) end(most int) rawJSON {
	if start := len(j) - 2*most - 1; start > 0 && j[0] == '"' {
		return `"` + j[start+unpaired(j[:start]):]
	}
	return rawJSON(strings.Clone(string(j)))
}

// tail returns a copy of a text, or of its end. It has at most most bytes.
func (j rawJSON) tail(most int) string {
	text := j.end(most).text()
	return strings.ToValidUTF8(text[max(0, len(text)-most):], "")
}

// unpaired returns 1 if text ends between a backslash and the character that it escapes, else 0.
func unpaired(text rawJSON) int { return (len(text) - len(strings.TrimRight(string(text), `\`))) % 2 }

// claudeEvent has those values of an event that a claudeParser reads.
type claudeEvent struct {
	kind, subtype, session, parent, agent rawJSON
	model, keySource, fallback, tasks     rawJSON // system
	failure, isFailure                    rawJSON // assistant
	rateLimit                             rawJSON
	isError, reason, status, result       rawJSON // result
	errors, cost, models, denials         rawJSON

	author rawJSON       // of a message
	blocks []claudeBlock // of a message
}

// claudeBlock is a part of a message: a text, the call of a tool or the result of one.
type claudeBlock struct {
	kind, text, id, name, of rawJSON
	subject                  rawJSON // what a tool works on
	rank                     int     // of the subject in toolSubjects
}

// toolSubjects are the arguments that say best what a tool works on, the best one first.
var toolSubjects = []string{
	"command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "skill",
}

// readClaude reads one JSON object. ok is false if line is anything else. The line is checked and cut into its values
// in one pass, before gjson sees any of them.
func readClaude(line []byte) (e claudeEvent, ok bool) {
	s := &jsontext.Scanner{Text: jsontext.String(line)}
	if s.Peek() != '{' {
		return e, false
	}
	eachKey(s, func(key string) {
		if key == "message" {
			e.readMessage(s)
		} else {
			keep(s, e.field(key))
		}
	})
	return e, s.OK()
}

// readMessage reads a message, which is a string in some events.
func (e *claudeEvent) readMessage(s *jsontext.Scanner) {
	eachKey(s, func(key string) {
		switch {
		case key == "model":
			keep(s, &e.author)
		case key == "content" && s.Peek() == '[':
			s.Enter()
			for s.Elem() {
				e.blocks = append(e.blocks[:min(len(e.blocks), maxBlocks-1)], readBlock(s))
			}
		default:
			s.Skip()
		}
	})
}

func readBlock(s *jsontext.Scanner) claudeBlock {
	b := claudeBlock{rank: len(toolSubjects)}
	eachKey(s, func(key string) {
		if key != "input" {
			keep(s, b.field(key))
			return
		}
		eachKey(s, func(key string) {
			value, rank := rawJSON(s.Skip()), slices.Index(toolSubjects, key)
			if rank >= 0 && rank < b.rank && value != "" && value[0] == '"' {
				b.subject, b.rank = value, rank
			}
		})
	})
	return b
}

// eachKey calls read for each key of the object that comes next. read passes the value. Any other value is passed.
func eachKey(s *jsontext.Scanner, read func(key string)) {
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	s.Enter()
	for key, _, ok := s.Key(); ok; key, _, ok = s.Key() {
		read(key)
	}
}

// keep passes the value that comes next, and keeps it if to is not nil.
func keep(s *jsontext.Scanner, to *rawJSON) {
	if value := s.Skip(); to != nil {
		*to = rawJSON(value)
	}
}

// main reports whether the event is about the agent itself and not one of its subagents.
func (e *claudeEvent) main() bool { return e.parent.text() == "" && e.agent.text() == "" }

// field returns the place for the value of a key, or nil if nobody reads it.
func (b *claudeBlock) field(key string) *rawJSON {
	switch key {
	case "type":
		return &b.kind
	case "text":
		return &b.text
	case "id":
		return &b.id
	case "name":
		return &b.name
	case "tool_use_id":
		return &b.of
	}
	return nil
}

// field returns the place for the value of a key, or nil if nobody reads it.
func (e *claudeEvent) field(key string) *rawJSON {
	switch key {
	case "type":
		return &e.kind
	case "subtype":
		return &e.subtype
	case "session_id":
		return &e.session
	case "parent_tool_use_id":
		return &e.parent
	case "agent_id":
		return &e.agent
	case "model":
		return &e.model
	case "apiKeySource":
		return &e.keySource
	case "fallback_model":
		return &e.fallback
	case "tasks":
		return &e.tasks
	case "error":
		return &e.failure
	case "is_api_error_message":
		return &e.isFailure
	case "rate_limit_info":
		return &e.rateLimit
	case "is_error":
		return &e.isError
	case "terminal_reason":
		return &e.reason
	case "api_error_status":
		return &e.status
	case "result":
		return &e.result
	case "errors":
		return &e.errors
	case "total_cost_usd":
		return &e.cost
	case "modelUsage":
		return &e.models
	case "permission_denials":
		return &e.denials
	}
	return nil
}
