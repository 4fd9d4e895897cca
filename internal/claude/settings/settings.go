// Package settings edits the host's settings files, in place: an edit changes
// our own lines and no other byte.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// MaxBytes bounds a settings file.
const MaxBytes = 4 << 20

// Entry is our hook entry, in the host's exec form: no shell reads it.
type Entry struct {
	Type    string   `json:"type"` // "command"
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout int      `json:"timeout"` // seconds, after which the host kills the hook
}

// program is how an entry of ours is known, whatever its folder.
const program = "ralph-stop-hook"

// Merge returns the settings text with our entry for the event in it, and
// whether that is a change. An older entry of ours is replaced where it
// stands; else ours is added behind what is there, in a form that tells Remove
// what was there. nil is a file that is not there. The text must be strict
// JSON, as the host wants it; a byte order mark stays.
func Merge(data []byte, event string, e Entry) ([]byte, bool, error) {
	text := bytes.TrimPrefix(data, jsontext.BOM)
	mark := data[:len(data)-len(text)]
	if space(text) == len(text) {
		out, err := merge([]byte("{}"), event, e)
		if err != nil {
			return nil, false, err
		}
		out = append([]byte("{"), out[1+len(wasEmpty):]...)
		if data == nil {
			return append(out, '\n'), true, nil
		}
		return slices.Concat(data, out), true, nil
	}
	if _, err := jsontext.Check(text); err != nil {
		if comment(text) {
			err = fmt.Errorf("%w (the host reads strict JSON: comments are not allowed)", err)
		}
		return nil, false, err
	}
	out, err := merge(text, event, e)
	if err != nil {
		return nil, false, err
	}
	return slices.Concat(mark, out), !bytes.Equal(out, text), nil
}

func merge(text []byte, event string, e Entry) ([]byte, error) {
	root := gjson.ParseBytes(text)
	if !root.IsObject() {
		return nil, errors.New("the settings are not a JSON object")
	}
	root.Raw = strings.TrimSpace(root.Raw) // gjson keeps what follows the last brace
	entry, _ := json.Marshal(e)            // texts and a number always go
	group := `{"hooks":[` + string(entry) + `]}`
	_, hooks, err := member(text, root, "hooks")
	switch {
	case err != nil:
		return nil, err
	case !hooks.Exists():
		return insert(text, root, "hooks", `{"`+event+`":[`+group+`]}`), nil
	case !hooks.IsObject():
		return nil, jsontext.ErrorAt(text, hooks.Index, `"hooks" is not an object`)
	}
	_, list, err := member(text, hooks, event)
	switch {
	case err != nil:
		return nil, err
	case !list.Exists():
		return insert(text, hooks, event, `[`+group+`]`), nil
	case !list.IsArray():
		return nil, jsontext.ErrorAt(text, list.Index, `"`+event+`" is not an array`)
	}
	have := found(list, event)
	if len(have) == 0 {
		return insert(text, list, "", group), nil
	}
	// One stop is one call: what there is beyond the first goes.
	for _, at := range slices.Backward(have[1:]) {
		if text, err = sjson.DeleteBytes(text, at); err != nil {
			return nil, err
		}
	}
	return update(text, have[0], e)
}

// update brings our entry up to date. What a person added to it, flags such as
// --on-complete and keys such as statusMessage, stays.
func update(text []byte, at string, e Entry) ([]byte, error) {
	have := gjson.GetBytes(text, at)
	if args := have.Get("args"); args.IsArray() {
		e.Args = slices.Concat(e.Args, ownFlags(args))
	}
	var h Entry
	if json.Unmarshal([]byte(have.Raw), &h) == nil && h.Type == e.Type && h.Command == e.Command && slices.Equal(h.Args, e.Args) && h.Timeout == e.Timeout {
		return text, nil // however it is laid out
	}
	raw, _ := json.Marshal(e)
	for key, value := range have.ForEach {
		if !slices.Contains([]string{"type", "command", "args", "timeout"}, key.Str) {
			raw = fmt.Appendf(raw[:len(raw)-1], ",%s:%s}", key.Raw, value.Raw)
		}
	}
	return sjson.SetRawBytes(text, at, []byte(layout(text, lead(text, have.Index), string(raw))))
}

// ownFlags returns the arguments of an entry that are not those init writes.
func ownFlags(args gjson.Result) (own []string) {
	list := args.Array()
	for i := 0; i < len(list); i++ {
		switch arg := list[i].String(); {
		case arg == "hook" && i == 0, strings.HasPrefix(arg, "--timeout="), strings.HasPrefix(arg, "--entry="):
		case arg == "--timeout", arg == "--entry":
			i++
		default:
			own = append(own, arg)
		}
	}
	return own
}

// found returns the paths of our entries in an event's list.
func found(list gjson.Result, event string) (paths []string) {
	for i, group := range list.Array() {
		hooks := group.Get("hooks")
		if !hooks.IsArray() {
			continue
		}
		for j, have := range hooks.Array() {
			if ours(have) {
				paths = append(paths, fmt.Sprintf("hooks.%s.%d.hooks.%d", event, i, j))
			}
		}
	}
	return paths
}

// member returns a member of an object. Of two with one name the host reads
// the last and gjson the first, so two are refused.
func member(text []byte, object gjson.Result, name string) (key, found gjson.Result, err error) {
	for k, value := range object.ForEach {
		if k.Str == name && found.Exists() {
			return key, found, jsontext.ErrorAt(text, k.Index, fmt.Sprintf("the key %q is there twice", name))
		}
		if k.Str == name {
			key, found = k, value
		}
	}
	return key, found, nil
}

// ours tells whether a hook entry runs this program, in either form.
func ours(hook gjson.Result) bool {
	command := strings.ReplaceAll(hook.Get("command").String(), `\`, "/")
	if hook.Get("args").Exists() {
		return strings.TrimSuffix(path.Base(command), ".exe") == program
	}
	// A shell line: the program is its first word, or it stands before "hook",
	// behind a prefix such as env or timeout, or in a path with spaces.
	words := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(command))
	for i, word := range words {
		if strings.TrimSuffix(path.Base(word), ".exe") == program && (i == 0 || i+1 < len(words) && words[i+1] == "hook") {
			return true
		}
	}
	return false
}

// Append adds an element to the array key of the object text, or makes it, in
// the layout that the text has.
func Append(text []byte, key, value string) []byte {
	if list := gjson.GetBytes(text, key); list.Exists() {
		return insert(text, list, "", value)
	}
	root := gjson.ParseBytes(text)
	root.Raw = strings.TrimSpace(root.Raw)
	return insert(text, root, key, "["+value+"]")
}

// insert adds a member to an object, or an element (without a key) to an
// array, behind the last one, in the layout that the file has.
func insert(text []byte, container gjson.Result, key, value string) []byte {
	open := container.Index
	end := open + len(container.Raw) - 1
	last := len(bytes.TrimRight(text[:end], " \t\r\n"))
	empty := last == open+1
	outer := lead(text, open)
	add := func(before string) string {
		value := layout(text, before, value)
		switch {
		case key == "":
			return value
		case oneLine(text):
			return `"` + key + `":` + value
		}
		return `"` + key + `": ` + value
	}
	was := string(text[open+1:end]) + wasEmpty
	switch {
	case empty && oneLine(text):
		return splice(text, open+1, end, was+add(""))
	case oneLine(text):
		return splice(text, last, last, ","+add(""))
	case empty:
		inner := outer + indent(text)
		return splice(text, open+1, end, was+eol(text)+inner+add(inner)+eol(text)+outer)
	}
	first := bytes.IndexByte(text[open:end], '\n')
	if first < 0 {
		return splice(text, last, last, ", "+add(outer))
	}
	inner := lead(text, open+first+1)
	if at := open + 1 + space(text[open+1:]); bytes.IndexByte(text[open:at], '\n') >= 0 {
		inner = lead(text, at) // blank lines may come before
	}
	return splice(text, last, last, ","+eol(text)+inner+add(inner))
}

// oneLine tells whether a file has all it says in one line. An empty object
// is none yet, and gets the usual layout.
func oneLine(text []byte) bool {
	text = bytes.TrimSpace(text)
	return !bytes.Contains(text, []byte("\n")) && string(text) != "{}"
}

func splice(text []byte, from, to int, add string) []byte {
	return slices.Concat(text[:from], []byte(add), text[to:])
}

// layout writes JSON as the file does: on lines of its own below the indent
// before, or in one line where the file is one line.
func layout(text []byte, before, raw string) string {
	var b bytes.Buffer
	if oneLine(text) || json.Indent(&b, []byte(raw), before, indent(text)) != nil {
		return raw
	}
	return strings.ReplaceAll(b.String(), "\n", eol(text))
}

// lead is the white space at the start of the line that offset is in.
func lead(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indent is one level of the file's indent: that of its first indented line.
func indent(text []byte) string {
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		rest := bytes.TrimLeft(line, " \t")
		if len(rest) < len(line) && len(bytes.TrimSpace(rest)) > 0 {
			return string(line[:len(line)-len(rest)])
		}
	}
	return "  "
}

func eol(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// comment tells whether broken settings look like JSON with comments.
func comment(data []byte) bool {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("/*")) || bytes.Contains(line, []byte(" // ")) {
			return true
		}
	}
	return false
}
