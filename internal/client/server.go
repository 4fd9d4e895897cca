package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// Server is how a client starts the server of the Model Context Protocol. An entry that was added to a configuration
// and is removed again leaves the text as it was, byte for byte.
type Server struct {
	Name    string // letters, digits, "-" and "_"
	Command string
	Args    []string
	Env     map[string]string
}

// ErrHas means that the configuration has another entry of that name.
var ErrHas = errors.New("it has another entry of that name; remove that one first")

// servers is the key under which Claude Code and Gemini CLI look for servers.
const servers = "mcpServers"

// text returns the entry in one line, as JSON.
func (s Server) text() string {
	parts := []string{`"command": ` + quote(s.Command), `"args": ` + quote(s.Args)}
	if len(s.Env) > 0 {
		parts = append(parts, `"env": `+quote(s.Env))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func quote(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail: texts only
	return strings.TrimSpace(b.String())
}

// JSON returns a configuration with this server alone, in one line.
func (s Server) JSON() string { return fmt.Sprintf("{%q: {%q: %s}}", servers, s.Name, s.text()) }

// AddJSON adds the entry to "mcpServers" of a JSON object. Without text it makes a file. The result is the text itself
// if it has this entry.
func (s Server) AddJSON(text string) (string, error) {
	if blank(text) {
		return text + fmt.Sprintf("{\n  %q: {\n    %q: %s\n  }\n}\n", servers, s.Name, s.text()), nil
	}
	root, err := parseObject(text)
	if err != nil {
		return "", err
	}
	all, has := memberOf(root, servers)
	if !has {
		newline, indent := layout(text, root)
		value := fmt.Sprintf("{%[1]s%[2]s%[2]s%[3]q: %[4]s%[1]s%[2]s}", newline, indent, s.Name, s.text())
		return insert(text, root, servers, value), nil
	}
	if !all.IsObject() {
		return "", fmt.Errorf("%q is no object", servers)
	}
	if one, has := memberOf(all, s.Name); has {
		if one.Raw != s.text() {
			return "", ErrHas
		}
		return text, nil
	}
	return insert(text, all, s.Name, s.text()), nil
}

// RemoveJSON removes the entry of that name. The result is blank if the file had nothing else and AddJSON made it.
func (s Server) RemoveJSON(text string) (string, error) {
	if blank(text) {
		return text, nil
	}
	root, err := parseObject(text)
	if err != nil {
		return "", err
	}
	all, _ := memberOf(root, servers)
	if one, has := memberOf(all, s.Name); !has || !one.IsObject() {
		return text, nil
	}
	if len(all.Map()) > 1 || tight(text, all) {
		return remove(text, all, s.Name), nil
	}
	if len(root.Map()) > 1 || tight(text, root) {
		return remove(text, root, servers), nil
	}
	return text[:root.Index] + strings.TrimPrefix(text[root.Index+len(root.Raw):], "\n"), nil
}

// blank reports whether a text has only what JSON calls white space.
func blank(text string) bool { return strings.Trim(text, " \t\r\n") == "" }

// parseObject reads a JSON object. Its values know where they are in the text.
func parseObject(text string) (gjson.Result, error) {
	if _, err := jsontext.Check([]byte(text)); err != nil {
		return gjson.Result{}, err
	}
	if key := jsontext.Twice(text); key != "" {
		return gjson.Result{}, fmt.Errorf("it has the key %q twice", key)
	}
	root := gjson.Parse(text)
	if !root.IsObject() {
		return root, errors.New("it is no JSON object")
	}
	root.Index = strings.Index(text, root.Raw)
	return root, nil
}

// members calls each for the members of an object, with their places in the text.
func members(object gjson.Result, each func(key, value gjson.Result)) {
	if !object.IsObject() {
		return
	}
	at := 0
	gjson.Parse(object.Raw).ForEach(func(key, value gjson.Result) bool {
		key.Index = at + strings.Index(object.Raw[at:], key.Raw)
		behind := key.Index + len(key.Raw)
		value.Index = behind + strings.Index(object.Raw[behind:], value.Raw)
		at = value.Index + len(value.Raw)
		key.Index, value.Index = key.Index+object.Index, value.Index+object.Index
		each(key, value)
		return true
	})
}

func memberOf(object gjson.Result, name string) (found gjson.Result, has bool) {
	members(object, func(key, value gjson.Result) {
		if key.String() == name {
			found, has = value, true
		}
	})
	return found, has
}

// tight reports whether the first member follows its brace at once, which is how insert writes into an empty object.
func tight(text string, object gjson.Result) bool { return text[object.Index+1] == '"' }

// layout returns the line break and the indent of an object's members.
func layout(text string, object gjson.Result) (newline, indent string) {
	newline, indent = "\n", "  "
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	if space := leading(text[object.Index+1:]); strings.Contains(space, "\n") {
		if last := space[strings.LastIndex(space, "\n")+1:]; last != "" {
			indent = last
		}
	}
	return newline, indent
}

func leading(text string) string { return text[:len(text)-len(strings.TrimLeft(text, " \t\r\n"))] }

// insert adds a member at the end of an object, with the space that its first member has before it.
func insert(text string, object gjson.Result, name, value string) string {
	at, before := object.Index+1, ""
	members(object, func(_, value gjson.Result) {
		at = value.Index + len(value.Raw)
		before = "," + leading(text[object.Index+1:])
	})
	return text[:at] + before + quote(name) + ": " + value + text[at:]
}

// remove takes a member out of an object, with the comma and the space that it needed.
func remove(text string, object gjson.Result, name string) string {
	begin := 0
	end := 0
	previous := -1
	found := false
	next := -1
	members(object, func(key, value gjson.Result) {
		switch {
		case key.String() == name:
			begin = key.Index
			end = value.Index + len(value.Raw)
			found = true
		case found && next < 0:
			next = key.Index
		case !found:
			previous = value.Index + len(value.Raw)
		}
	})
	switch {
	case previous >= 0:
		begin = previous
	case next >= 0:
		end = next
	}
	return text[:begin] + text[end:]
}
