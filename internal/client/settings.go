package client

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// MaxBytes is the largest size of a settings file.
const MaxBytes = 4 << 20

// Entry is our hook entry, in the host's exec form: the host starts it without a shell.
type Entry struct {
	Command string
	Args    []string
	Timeout int // seconds; then the host kills the hook

	// Line makes it a line for the shell, for a host that knows no other entries. The program takes the shell's place.
	Line bool

	// Quiet makes it a line that does nothing if PATH does not find Command. Shared settings need that: the client
	// reports a missing program at each event.
	Quiet bool
}

// json returns the entry as the settings have it.
func (e Entry) json() string {
	command, args := e.Command, e.Args
	switch {
	case e.Quiet:
		command, args = quietLine(e.Args), nil
	case e.Line:
		command, args = "exec "+plain.CommandLine(append([]string{e.Command}, e.Args...)), nil
	}
	line, _ := jsontext.Line(struct { // cannot fail: texts and numbers only
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args,omitempty"`
		Timeout int      `json:"timeout"`
	}{"command", command, args, e.Timeout})
	return strings.TrimSpace(string(line))
}

// program is the name by which we know our entries. Its folder does not matter.
const program = "ralph-stop-hook"

// Merge puts our entry for an event into the settings. Merge replaces an older entry of
// ours in its place. Else it adds the entry at the end, in the layout of the file. data is
// nil if there is no file. It must be strict JSON, as the host wants it. A byte order mark
// stays.
func Merge(data []byte, event string, e Entry) ([]byte, error) {
	text := bytes.TrimPrefix(data, jsontext.BOM)
	mark := data[:len(data)-len(text)]
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	hooks, err := hooksOf(text)
	if err != nil {
		return nil, err
	}
	have := oursIn(hooks.Get(event), event)
	if len(have) == 0 {
		text, err = add(text, []string{"hooks", event}, `{"hooks":[`+e.json()+`]}`)
		if err != nil {
			return nil, err
		}
		return slices.Concat(mark, text), nil
	}
	// A second entry would call us a second time at one stop.
	for _, at := range slices.Backward(have[1:]) {
		text, err = sjson.DeleteBytes(text, at)
		if err != nil {
			return nil, err
		}
	}
	text, err = update(text, have[0], e)
	return slices.Concat(mark, text), err
}

// hooksOf returns the member "hooks" of settings. It is an error if a key on the way to an entry is there twice,
// because the host reads the last and gjson the first.
func hooksOf(text []byte) (hooks gjson.Result, err error) {
	if _, err := jsontext.Check(text); err != nil {
		comment := func(start string) bool { return bytes.Contains(text, []byte(start)) }
		if slices.ContainsFunc([]string{" //", "\t//", "\n//"}, comment) {
			err = fmt.Errorf("%w (this must be strict JSON: comments are not allowed)", err)
		}
		return hooks, err
	}
	root := gjson.ParseBytes(text)
	if !root.IsObject() {
		return hooks, errors.New("the settings are not a JSON object")
	}
	for key, value := range root.ForEach {
		if key.Str == "hooks" && hooks.Exists() {
			return hooks, jsontext.ErrorAt(text, key.Index, `the key "hooks" is there twice`)
		}
		if key.Str == "hooks" {
			hooks = value
		}
	}
	if !hooks.IsObject() {
		return hooks, nil
	}
	if key := jsontext.DuplicateKey(hooks.Raw); key != "" {
		return hooks, jsontext.ErrorAt(text, hooks.Index, fmt.Sprintf("the key %q is there twice", key))
	}
	return hooks, nil
}

// add adds a value as the last element of the array that keys lead to. It creates what is missing on the way.
func add(text []byte, keys []string, value string) ([]byte, error) {
	at := gjson.ParseBytes(text)
	at.Raw = strings.TrimSpace(at.Raw) // gjson keeps what follows the last brace
	for n, key := range keys {
		next := at.Get(key)
		last := n == len(keys)-1
		switch {
		case !next.Exists():
			value = "[" + value + "]"
			for _, missing := range slices.Backward(keys[n+1:]) {
				value = fmt.Sprintf("{%q:%s}", missing, value)
			}
			return jsontext.Insert(text, at, key, value), nil
		case last && !next.IsArray():
			return nil, jsontext.ErrorAt(text, next.Index, fmt.Sprintf("%q is not an array", key))
		case !last && !next.IsObject():
			return nil, jsontext.ErrorAt(text, next.Index, fmt.Sprintf("%q is not an object", key))
		}
		at = next
	}
	return jsontext.Insert(text, at, "", value), nil
}

// Remove takes all our entries out of settings, and the groups, lists and "hooks" that have nothing else in them. It
// returns nil if nothing is left.
func Remove(data []byte) ([]byte, error) {
	text := bytes.TrimPrefix(data, jsontext.BOM)
	mark := data[:len(data)-len(text)]
	hooks, err := hooksOf(text)
	if err != nil {
		return nil, err
	}
	changed := false
	for event, list := range hooks.ForEach {
		name := gjson.Escape(event.Str)
		for _, at := range slices.Backward(oursIn(list, name)) {
			text, err = sjson.DeleteBytes(text, largestOwnPath(text, name, at))
			if err != nil {
				return nil, err
			}
			changed = true
		}
	}
	if changed && len(gjson.ParseBytes(text).Map()) == 0 {
		return nil, nil
	}
	return slices.Concat(mark, text), nil
}

// largestOwnPath returns the path of the entry at a path, or of the largest thing that has nothing else in it.
func largestOwnPath(text []byte, event, entry string) string {
	entries := entry[:strings.LastIndex(entry, ".")]
	group := strings.TrimSuffix(entries, ".hooks")
	switch list := "hooks." + event; {
	case len(gjson.GetBytes(text, entries).Array()) > 1:
		return entry
	case len(gjson.GetBytes(text, list).Array()) > 1:
		return group
	case len(gjson.GetBytes(text, "hooks").Map()) > 1:
		return list
	}
	return "hooks"
}

// update makes our entry at a path say what e says. It keeps what a person added to
// the entry: flags such as --on-complete, and keys such as statusMessage.
func update(text []byte, at string, e Entry) ([]byte, error) {
	have := gjson.GetBytes(text, at)
	if h := newHook("", have); h.Exec {
		e.Args = slices.Concat(e.Args, addedFlags(h.Args))
	}
	if e.is(have) {
		return text, nil // its layout may differ
	}
	raw := e.json()
	for key, value := range have.ForEach {
		if !slices.Contains([]string{"type", "command", "args", "timeout"}, key.Str) {
			raw = fmt.Sprintf("%s,%s:%s}", strings.TrimSuffix(raw, "}"), key.Raw, value.Raw)
		}
	}
	return sjson.SetRawBytes(text, at, []byte(jsontext.Layout(text, jsontext.Lead(text, have.Index), raw)))
}

// is reports whether an entry of a file says what e says.
func (e Entry) is(have gjson.Result) bool {
	want := gjson.Parse(e.json())
	differs := func(key string) bool { return !reflect.DeepEqual(want.Get(key).Value(), have.Get(key).Value()) }
	return !slices.ContainsFunc([]string{"type", "command", "args", "timeout"}, differs)
}

// addedFlags returns the arguments of an entry that a person added: the flags of hook mode that init does not write. A
// flag that hook mode does not know would keep it from answering.
func addedFlags(args []string) (added []string) {
	for i, arg := range args {
		name, _, whole := strings.Cut(arg, "=")
		name = strings.TrimPrefix(strings.TrimPrefix(name, "-"), "-")
		switch {
		case name != "on-complete" && name != "loop-dir" || !strings.HasPrefix(arg, "-"):
		case whole:
			added = append(added, arg)
		case i+1 < len(args):
			added = append(added, arg, args[i+1])
		}
	}
	return added
}

// oursIn returns the paths of our entries in an event's list, in the syntax of gjson.
func oursIn(list gjson.Result, event string) (paths []string) {
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

// ours tells whether a hook entry runs this program, with a shell or without.
func ours(hook gjson.Result) bool {
	command := hook.Get("command").String()
	if hook.Get("args").Exists() {
		return runs(command)
	}
	if strings.HasPrefix(command, quiet) {
		return true // also with a misspelt word behind it
	}
	// In another line for the shell the program is the first word, or the word before "hook".
	// The latter finds it after env or timeout, and in a path with spaces.
	words := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(command))
	for i, word := range words {
		if runs(word) && (i == 0 || i+1 < len(words) && words[i+1] == "hook") {
			return true
		}
	}
	return false
}

// runs reports whether a command is this program, in any folder.
func runs(command string) bool {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(command, `\`, "/")), ".exe") == program
}
