// Package claude knows Claude Code: the names and fields of its hook events, the
// answers that it takes, its transcripts, its settings files and its CLAUDE_*
// variables. Nothing below it does.
package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// maxBytes bounds what is read from the host. The longest field is the
// model's last message, far below a megabyte.
const maxBytes = 8 << 20

// The names of the events that a hook entry is for.
const (
	Stop         = "Stop"
	StopFailure  = "StopFailure"
	PromptSubmit = "UserPromptSubmit"
	SessionStart = "SessionStart"
	SessionEnd   = "SessionEnd"
)

// Events are the events that a hook entry is for, in the order of a settings file.
var Events = []string{Stop, StopFailure, PromptSubmit, SessionStart, SessionEnd}

// planMode is the permission mode in which the agent may only plan.
const planMode = "plan"

// Event is what Claude Code says when it calls the hook. Fields that a version of it
// does not send are zero.
type Event struct {
	Name           string // one of Events, or another such as "SubagentStop"
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

	// What runs in the background: agents, shells, and wake-ups that come once.
	Subagents, Shells, Wakeups int
}

// Kind returns the event as decisions know it, "" for an event that is not answered.
// The notification of a background task is no person's prompt.
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

// Aside reports whether a stop is a subagent's, or one in plan mode. A failure may
// come with an agent's id, too: from Claude Code's own helpers.
func (e Event) Aside() bool {
	return e.Name == Stop && (e.AgentID != "" || e.PermissionMode == planMode)
}

// Cleared reports whether a session ends or starts because of /clear, which gives it
// another id.
func (e Event) Cleared() bool {
	return (e.Name == SessionEnd || e.Name == SessionStart) && e.Reason == "clear"
}

// Dying reports whether Claude Code may end the hook at any moment, as it does at an
// API error and at a session's end. It reads no answer then.
func (e Event) Dying() bool { return e.Name == StopFailure || e.Name == SessionEnd }

// Goal reports whether the prompt sets a /goal: then Claude Code blocks stops itself.
func (e Event) Goal() bool {
	condition, is := strings.CutPrefix(e.Prompt, "/goal ")
	condition = strings.ToLower(strings.TrimSpace(condition))
	return is && condition != "" && !slices.Contains(goalOver, condition)
}

// goalOver are the words by which a person takes a /goal back.
var goalOver = []string{"clear", "stop", "off", "reset", "none", "cancel"}

// Read reads the one JSON object on standard input.
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
			e.countTasks(value)
		case "session_crons":
			// {id, schedule, recurring, prompt}, as measured with 2.1.329.
			e.Wakeups = len(value.Get("#(recurring==false)#").Array())
		}
	}
	e.Prompt = unwrap(e.Prompt)
	return e, nil
}

// countTasks counts what runs in the background. A task without a status runs.
func (e *Event) countTasks(tasks gjson.Result) {
	for _, task := range tasks.ForEach {
		status := task.Get("status")
		if status.Exists() && status.Str != "running" {
			continue
		}
		switch task.Get("type").Str {
		case "subagent":
			e.Subagents++
		case "shell":
			e.Shells++
		}
	}
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
