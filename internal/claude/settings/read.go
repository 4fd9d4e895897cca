package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// File is what a settings file says that a loop depends on.
type File struct {
	Disabled    gjson.Result // disableAllHooks, where it is said
	ManagedOnly bool         // allowManagedHooksOnly
	BlockCap    string       // of "env": how many blocks in a row the host honours
	Plugins     []string     // those that are enabled, NAME@MARKETPLACE
	Hooks       []*Hook
}

// Hook is a hook entry for an event.
type Hook struct {
	Event   string
	Command string
	Args    []string
	Exec    bool // no shell reads it
	Timeout int  // seconds; 0 where it has none
	Ours    bool
}

// Ours returns our entries for an event; for any without one.
func (f *File) Ours(event string) []*Hook {
	return slices.DeleteFunc(slices.Clone(f.Hooks), func(h *Hook) bool { return !h.Ours || event != "" && h.Event != event })
}

// Read reads settings as the host does. What it returns an error for, the host
// leaves out whole, and says nothing, as measured with 2.1.329.
func Read(data []byte) (f File, err error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return f, err
	}
	root := gjson.ParseBytes(text)
	if !root.IsObject() {
		return f, errors.New("the settings are not a JSON object")
	}
	wrong := func(at gjson.Result, problem string) bool {
		err = jsontext.ErrorAt(text, at.Index, problem)
		return false
	}
	root.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "permissions", "env", "enabledPlugins", "hooks":
			if !value.IsObject() {
				return wrong(value, fmt.Sprintf("%q is not an object", key.Str))
			}
		}
		switch key.Str {
		case "disableAllHooks":
			if f.Disabled = value; !value.IsBool() {
				return wrong(value, `"disableAllHooks" is not true or false`)
			}
		case "allowManagedHooksOnly":
			f.ManagedOnly = value.Bool()
		case "model":
			if value.Type != gjson.String {
				return wrong(value, `"model" is not text`)
			}
		case "env":
			f.BlockCap = value.Get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP").String()
		case "enabledPlugins":
			for plugin, on := range value.ForEach {
				if on.Type != gjson.False {
					f.Plugins = append(f.Plugins, plugin.Str)
				}
			}
		case "hooks":
			f.Hooks = nil
			value.ForEach(func(event, list gjson.Result) bool {
				if !list.IsArray() {
					return wrong(list, fmt.Sprintf("%q is not an array", event.Str))
				}
				for _, group := range list.Array() {
					entries := group.Get("hooks")
					if !entries.IsArray() {
						return wrong(group, `a group of hooks without an array "hooks"`)
					}
					for _, entry := range entries.Array() {
						switch args, timeout := entry.Get("args"), entry.Get("timeout"); {
						case entry.Get("type").Str == "command" && entry.Get("command").Type != gjson.String:
							return wrong(entry, `a hook of type "command" without a "command"`)
						case args.Exists() && !args.IsArray():
							return wrong(args, `"args" is not an array`)
						case timeout.Exists() && (timeout.Type != gjson.Number || timeout.Num <= 0):
							return wrong(timeout, `"timeout" is not a number above 0`)
						}
						f.Hooks = append(f.Hooks, newHook(event.Str, entry))
					}
				}
				return true
			})
		}
		return err == nil
	})
	return f, err
}

func newHook(event string, entry gjson.Result) *Hook {
	h := &Hook{Event: event, Command: entry.Get("command").String(), Timeout: int(entry.Get("timeout").Int()), Ours: ours(entry)}
	args := entry.Get("args")
	h.Exec = args.Exists()
	for _, arg := range args.Array() {
		h.Args = append(h.Args, arg.String())
	}
	if !h.Exec {
		h.Args = strings.Fields(h.Command)
	}
	return h
}

// Flag returns what the entry gives a flag, "--timeout" for one.
func (h *Hook) Flag(name string) string {
	for i, arg := range h.Args {
		if value, is := strings.CutPrefix(arg, name+"="); is {
			return value
		}
		if arg == name && i+1 < len(h.Args) {
			return h.Args[i+1]
		}
	}
	return ""
}
