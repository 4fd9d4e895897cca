package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// File is what a loop needs to know of a settings file.
type File struct {
	Disabled    gjson.Result // disableAllHooks; does not exist if the file does not set it
	Permissions gjson.Result // of tools
	Plugins     []string     // the enabled plugins, as NAME@MARKETPLACE
	Hooks       []*Hook      // the hook entries of all events, in the order of the file
}

// Hook is one hook entry.
type Hook struct {
	Event   string   // the event that it is for
	Command string   // the program, or a line for the shell
	Args    []string // the arguments; of another line for the shell, its words
	Exec    bool     // the host starts the program itself, without a shell; or a line of ours does
	Timeout int      // seconds; 0: the entry gives none
	Ours    bool     // it runs this program
}

// Ours returns our entries for an event, or for all events if event is empty.
func (f *File) Ours(event string) []*Hook {
	return slices.DeleteFunc(slices.Clone(f.Hooks), func(h *Hook) bool {
		return !h.Ours || event != "" && h.Event != event
	})
}

// ReadSettings reads settings as the client does. If it returns an error, the client ignores the whole file and does
// not say so. Syntax errors, and errors in a value, are of type *jsontext.Error.
func (c *Client) ReadSettings(data []byte) (f File, err error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return f, err
	}
	root := gjson.ParseBytes(text)
	if !root.IsObject() {
		return f, errors.New("the settings are not a JSON object")
	}
	for key, value := range root.ForEach {
		if at, problem := f.member(key.Str, value); c.Strict && problem != "" {
			return File{}, jsontext.ErrorAt(text, at.Index, problem)
		}
	}
	return f, nil
}

// member takes one member of the settings over. If the host refuses its value, member
// returns the place in it and what is wrong there.
func (f *File) member(key string, value gjson.Result) (at gjson.Result, problem string) {
	switch key {
	case "permissions", "env", "enabledPlugins", "hooks":
		if !value.IsObject() {
			return value, fmt.Sprintf("%q is not an object", key)
		}
	}
	switch key {
	case "permissions":
		f.Permissions = value
	case "disableAllHooks":
		f.Disabled = value
		if !value.IsBool() {
			return value, `"disableAllHooks" is not true or false`
		}
	case "model":
		if value.Type != gjson.String {
			return value, `"model" is not text`
		}
	case "enabledPlugins":
		for plugin, on := range value.ForEach {
			if on.Type != gjson.False {
				f.Plugins = append(f.Plugins, plugin.Str)
			}
		}
	case "hooks":
		f.Hooks = nil // of two "hooks" the host reads the last
		for event, list := range value.ForEach {
			if at, problem := f.event(event.Str, list); problem != "" {
				return at, problem
			}
		}
	}
	return gjson.Result{}, ""
}

// event takes the hook entries of one event over. Its results are those of member.
func (f *File) event(event string, list gjson.Result) (at gjson.Result, problem string) {
	if !list.IsArray() {
		return list, fmt.Sprintf("%q is not an array", event)
	}
	for _, group := range list.Array() {
		entries := group.Get("hooks")
		if !entries.IsArray() {
			return group, `a group of hooks without an array "hooks"`
		}
		for _, entry := range entries.Array() {
			switch args, timeout := entry.Get("args"), entry.Get("timeout"); {
			case entry.Get("type").Str == "command" && entry.Get("command").Type != gjson.String:
				return entry, `a hook of type "command" without a "command"`
			case args.Exists() && !args.IsArray():
				return args, `"args" is not an array`
			case timeout.Exists() && (timeout.Type != gjson.Number || timeout.Num <= 0):
				return timeout, `"timeout" is not a number above 0`
			}
			f.Hooks = append(f.Hooks, newHook(event, entry))
		}
	}
	return gjson.Result{}, ""
}

func newHook(event string, entry gjson.Result) *Hook {
	args := entry.Get("args")
	h := &Hook{
		Event:   event,
		Command: entry.Get("command").String(),
		Exec:    args.Exists(),
		Timeout: int(entry.Get("timeout").Int()),
		Ours:    ours(entry),
	}
	for _, arg := range args.Array() {
		h.Args = append(h.Args, arg.String())
	}
	if words, quiet := quietWords(h.Command); quiet && !h.Exec {
		h.Command = program
		h.Args = words
		h.Exec = true
	} else if line, is := strings.CutPrefix(h.Command, "exec "); is && !h.Exec {
		if words, is := shellWords(line); is && len(words) > 0 {
			h.Command = words[0]
			h.Args = words[1:]
			h.Exec = true
		}
	}
	if !h.Exec {
		h.Args = strings.Fields(h.Command)
	}
	return h
}
