// Package hookio is the host's JSON, in and out. It is the only place that
// knows the field names of Claude Code's hooks.
package hookio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// maxBytes bounds what is read from the host. The longest field is the
// model's last message, far below a megabyte.
const maxBytes = 8 << 20

// Event is what the host says when it calls the hook. Fields that a version
// of the host does not send are zero.
type Event struct {
	Name           string // "Stop", "SubagentStop", ...
	SessionID      string
	AgentID        string // set inside a subagent
	Cwd            string // follows the agent's cd
	PermissionMode string // "default", "plan", ...
	LastMessage    string // the text that ended the turn
	Prompt         string // what was typed, or a background task's notification
	PromptID       string // of the prompt that began the turn; older hosts do not say
	Transcript     string // path of the conversation's file
	Reason         string // why a session ended or started: "clear", "other", ...
	Error          string // what a turn died of: "rate_limit", ...
	StopHookActive bool   // true on each stop that follows a block in the same turn

	// What wakes the session by itself: agents in the background, and wake-ups
	// that come once. Shells are apart: a dev server runs for ever.
	Subagents, Shells, Wakeups int
}

// Typed tells whether the prompt of a UserPromptSubmit is a person's, not the
// notification of a background task.
func (e Event) Typed() bool { return !strings.HasPrefix(e.Prompt, "<task-notification>") }

// Goal tells whether the prompt sets a /goal: then the host blocks stops itself.
func (e Event) Goal() bool {
	condition, is := strings.CutPrefix(e.Prompt, "/goal ")
	condition = strings.ToLower(strings.TrimSpace(condition))
	return is && condition != "" && !slices.Contains(goalOver, condition)
}

// goalOver are the words by which a person takes a /goal back.
var goalOver = []string{"clear", "stop", "off", "reset", "none", "cancel"}

// Read reads the host's one JSON object.
func Read(r io.Reader) (Event, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return Event{}, fmt.Errorf("cannot read standard input: %w", err)
	}
	if len(data) > maxBytes {
		return Event{}, fmt.Errorf("standard input is larger than %d MB", maxBytes>>20)
	}
	return parse(data)
}

func parse(data []byte) (Event, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Event{}, errors.New("nothing on standard input; the host sends one JSON object")
	}
	text, err := jsontext.Check(data)
	if err != nil {
		return Event{}, fmt.Errorf("standard input is not one JSON object: %w", err)
	}
	root := gjson.ParseBytes(text)
	if !root.IsObject() {
		return Event{}, errors.New("standard input is JSON, but not an object")
	}
	var e Event
	texts := map[string]*string{
		"hook_event_name": &e.Name, "session_id": &e.SessionID, "agent_id": &e.AgentID, "cwd": &e.Cwd,
		"permission_mode": &e.PermissionMode, "last_assistant_message": &e.LastMessage,
		"prompt": &e.Prompt, "prompt_id": &e.PromptID, "transcript_path": &e.Transcript,
		"reason": &e.Reason, "source": &e.Reason, "error": &e.Error,
	}
	for key, value := range root.ForEach {
		if to := texts[key.Str]; to != nil && value.Type == gjson.String {
			*to = value.Str
		}
		switch key.Str {
		case "stop_hook_active":
			e.StopHookActive = value.Bool()
		case "background_tasks":
			for _, task := range value.ForEach {
				status, kind := task.Get("status"), task.Get("type").Str
				switch runs := !status.Exists() || status.Str == "running"; {
				case runs && kind == "subagent":
					e.Subagents++
				case runs && kind == "shell":
					e.Shells++
				}
			}
		case "session_crons":
			// {id, schedule, recurring, prompt}, as measured with 2.1.329.
			e.Wakeups = len(value.Get("#(recurring==false)#").Array())
		}
	}
	e.Prompt = unwrap(e.Prompt)
	return e, nil
}

// unwrap drops the line that the host puts before pasted text, as measured with
// 2.1.329: <pasted_content id="795f">.
func unwrap(prompt string) string {
	text := strings.TrimLeft(prompt, "\r\n")
	if line, rest, found := strings.Cut(text, "\n"); found && strings.HasPrefix(line, "<pasted_content ") {
		return rest
	}
	return prompt
}

// Answer is what the hook tells the host. The zero Answer is silence, which
// lets the turn end.
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
	block, event := "", "UserPromptSubmit"
	if a.Prompt != "" && a.AsContext {
		a.Prompt, a.Context, event = "", a.Prompt, "Stop"
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
