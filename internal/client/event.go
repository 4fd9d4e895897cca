package client

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// maxBytes is the largest event that is read, in bytes. The longest field is the model's
// last message, which is far below a megabyte.
const maxBytes = 8 << 20

// The names of the events that our hook entries are for.
const (
	Stop         = "Stop"
	StopFailure  = "StopFailure"
	PromptSubmit = "UserPromptSubmit"
	SessionStart = "SessionStart"
	SessionEnd   = "SessionEnd"
)

// planMode is the permission mode in which the agent may only plan.
const planMode = "plan"

// Event is what Claude Code sends to the hook. A field that it does not send is zero.
type Event struct {
	Name           string // one of these, or another such as "SubagentStop"
	SessionID      string
	AgentID        string // set inside a subagent
	Cwd            string // follows the agent's cd
	PermissionMode string // "default", "plan", ...
	LastMessage    string // the text that ended the turn
	Prompt         string // what was typed, or a background task's notification
	PromptID       string // id of the prompt that began the turn; old versions do not send it
	Transcript     string // path of the conversation's file
	Reason         string // why a session ended or started: "clear", "other", ...
	Error          string // the API error that ended the turn: "rate_limit", ...
	StopHookActive bool   // true on each stop that follows a block in the same turn

	// How much of each kind runs in the background and will wake the session, such as "subagent": tasks, as the client
	// calls them, and scheduled prompts that come once.
	Background map[string]int
}

// Kind returns the event's kind for package decide, or "" for an event that the hook does not
// answer. The notification of a background task arrives as a prompt, but no person typed
// it, so it is not answered.
func (e Event) Kind() decide.Event {
	switch e.Name {
	case Stop:
		return decide.EventStop
	case StopFailure:
		return decide.EventFailure
	case SessionStart:
		return decide.EventStart
	case SessionEnd:
		return decide.EventEnd
	case PromptSubmit:
		if !strings.HasPrefix(e.Prompt, "<task-notification>") {
			return decide.EventPrompt
		}
	}
	return ""
}

// IsIgnored reports whether a stop does not concern the loop: it comes from a subagent or
// happens in plan mode. A StopFailure may also have an agent's id, from Claude Code's own
// helpers, so it never counts here.
func (e Event) IsIgnored() bool {
	return e.Name == Stop && (e.AgentID != "" || e.PermissionMode == planMode)
}

// Cleared reports whether a session ends or starts because of /clear. That command gives the
// session a new id.
func (e Event) Cleared() bool {
	return (e.Name == SessionEnd || e.Name == SessionStart) && e.Reason == "clear"
}

// Dying reports whether Claude Code may kill the hook at any moment. It does so at an API
// error and at a session's end, and it reads no answer then.
func (e Event) Dying() bool { return e.Name == StopFailure || e.Name == SessionEnd }

// Goal reports whether the prompt sets a /goal. Claude Code then blocks stops by itself.
func (e Event) Goal() bool {
	condition, is := strings.CutPrefix(e.Prompt, "/goal ")
	condition = strings.ToLower(strings.TrimSpace(condition))
	return is && condition != "" && !slices.Contains(goalOver, condition)
}

// goalOver lists the arguments with which /goal removes the goal.
var goalOver = []string{"clear", "stop", "off", "reset", "none", "cancel"}

// LastMessage is the field of a stop that has the agent's last message.
const LastMessage = "last_assistant_message"

// ReadEvent reads an event, one JSON object, from r, up to its end. What writes it may leave r
// open. Its errors name r as standard input. words are another client's names of Claude Code's
// events and fields; nil: there are none.
func ReadEvent(r io.Reader, words map[string]string) (Event, error) {
	var end jsontext.End
	data := make([]byte, 0, 4<<10)
	for !end.Found(data) {
		data = slices.Grow(data, 1)
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if len(data) > maxBytes {
			return Event{}, fmt.Errorf("standard input is larger than %d MB", maxBytes>>20)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return Event{}, fmt.Errorf("cannot read standard input: %w", err)
		}
	}
	return parse(data, words)
}

// parse parses an event and refuses anything but one JSON object.
func parse(data []byte, words map[string]string) (Event, error) {
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
	e := Event{Background: map[string]int{}}
	texts := map[string]*string{
		"hook_event_name": &e.Name, "session_id": &e.SessionID, "agent_id": &e.AgentID, "cwd": &e.Cwd,
		"permission_mode": &e.PermissionMode, LastMessage: &e.LastMessage,
		"prompt": &e.Prompt, "prompt_id": &e.PromptID, "transcript_path": &e.Transcript,
		"reason": &e.Reason, "source": &e.Reason, "error": &e.Error,
	}
	for key, value := range root.ForEach {
		if to := texts[cmp.Or(words[key.Str], key.Str)]; to != nil && value.Type == gjson.String {
			*to = value.Str
		}
		switch key.Str {
		case "stop_hook_active":
			e.StopHookActive = value.Bool()
		case "background_tasks":
			e.countTasks(value)
		case "session_crons":
			// {id, schedule, recurring, prompt}, as measured with 2.1.329.
			for range value.Get("#(recurring==false)#").Array() {
				e.Background["wake-up"]++
			}
		}
	}
	e.Name, e.Prompt = cmp.Or(words[e.Name], e.Name), unwrap(e.Prompt)
	return e, nil
}

// silent lists the kinds of tasks of Claude Code's own that do not wake the session when they end, as measured with
// 2.1.329. Whoever waited for them would wait until a person types something.
var silent = []string{"dream", "auto-mode scan", "memory save"}

// countTasks counts the background tasks that have not ended, also those of kinds that nobody knows. A task without a
// status counts as running.
func (e *Event) countTasks(tasks gjson.Result) {
	for _, task := range tasks.ForEach {
		status := task.Get("status")
		ended := status.Exists() && status.Str != "running" && status.Str != "pending"
		if kind := task.Get("type").Str; kind != "" && !ended && !slices.Contains(silent, kind) {
			e.Background[kind]++
		}
	}
}

// unwrap removes the line that Claude Code puts before pasted text. As measured with 2.1.329
// it is <pasted_content id="795f">.
func unwrap(prompt string) string {
	text := strings.TrimLeft(prompt, "\r\n")
	if line, rest, found := strings.Cut(text, "\n"); found && strings.HasPrefix(line, "<pasted_content ") {
		return rest
	}
	return prompt
}
