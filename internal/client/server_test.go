package client

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

var ralph = Server{Name: "ralph", Command: "ralph-runner", Args: []string{"mcp"}}

var jsonTexts = []string{
	"", "{}", "{ }", "{\n}\n", `{"a": 1}`, "{\n  \"a\": 1\n}\n", "{\r\n\t\"a\": [1, {\"mcpServers\": 2}]\r\n}",
	`{"mcpServers": {}}`, `{"mcpServers": { }, "b": "}"}`, "{\"mcpServers\": {\n  \"x\": {\"command\": \"y\"}\n}}",
	"{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"y\"},\n    \"z\": {}\n  },\n  \"last\": null\n}\n",
	"\ufeff{\"a\":1}", `  {"a" : "mcpServers"}  `,
}

// TestJSON adds an entry and removes it again, as each client has it.
func TestJSON(t *testing.T) {
	for _, c := range AllServers {
		if c.Key == "" {
			continue
		}
		for _, text := range jsonTexts {
			text = strings.ReplaceAll(text, usualKey, c.Key)
			roundTrip(t, text, with(c.Add, ralph), with(c.Remove, ralph))
			got, err := c.Add(ralph, []byte(text))
			added := string(got)
			if err != nil {
				continue
			}
			trimmed := strings.TrimPrefix(added, "\ufeff")
			entry := gjson.Get(trimmed, c.Key+".ralph")
			program := entry.Get("command").String() + entry.Get("args").String()
			if !gjson.Valid(trimmed) || !strings.Contains(program, "ralph-runner") || !strings.Contains(program, "mcp") {
				t.Errorf("%s: %q: added: %s", c.Client, text, added)
			}
		}
	}
	claude := AllServers[0]
	if _, err := claude.Add(ralph, []byte(`{"mcpServers": {"ralph": {"command": "other"}}}`)); err != ErrHas {
		t.Errorf("another entry: %v", err)
	}
	for _, text := range []string{"[]", "{", `{"mcpServers": 1}`, "// x\n{}", `{"mcpServers": {}, "mcpServers": {}}`} {
		if got, err := claude.Add(ralph, []byte(text)); err == nil {
			t.Errorf("%q: no error, but %q", text, got)
		}
	}
}

// with makes a function over texts of one for a server.
func with(change func(Server, []byte) ([]byte, error), s Server) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return change(s, text) }
}

// roundTrip adds twice and removes twice.
func roundTrip(t *testing.T, text string, add, remove func([]byte) ([]byte, error)) {
	t.Helper()
	added, err := add([]byte(text))
	if err != nil {
		return
	}
	again, err := add(added)
	if err != nil || !bytes.Equal(again, added) {
		t.Errorf("%q: added twice: %q, %v", text, again, err)
	}
	back, err := remove(added)
	if err != nil || string(back) != text {
		t.Errorf("%q became %q and then %q, %v", text, added, back, err)
	}
	if twice, err := remove(back); err != nil || !bytes.Equal(twice, back) {
		t.Errorf("%q: removed twice: %q, %v", text, twice, err)
	}
}

var tomlTexts = []string{
	"", "model = \"x\"", "model = \"x\"\n", "a = 1\n\n", "a = 1\r\n\r\n[b]\r\nc = 2\r\n",
	"[mcp_servers.other]\ncommand = \"y\"\n",
	"# only a comment",
}

func TestTOML(t *testing.T) {
	more := ralph
	more.Env = map[string]string{"RALPH_STATE_DIR": `C:\state "x"`}
	for _, s := range []Server{ralph, more} {
		for _, text := range tomlTexts {
			roundTrip(t, text, s.addTOML, s.removeTOML)
		}
	}
	got, err := ralph.addTOML([]byte("a = 1\n"))
	want := "a = 1\n\n[mcp_servers.ralph]\ncommand = \"ralph-runner\"\nargs = [\"mcp\"]\n"
	if err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"[mcp_servers.ralph]\ncommand = \"other\"\n", "mcp_servers = {}\n"} {
		if got, err := ralph.addTOML([]byte(text)); err == nil {
			t.Errorf("%q: no error, but %q", text, got)
		}
	}
	// A table that somebody wrote behind the entry stays, and one below it goes.
	got, err = ralph.removeTOML([]byte(want + "\n[mcp_servers.ralph.env]\nA = \"1\"\n\n[z]\nb = 1\n"))
	if err != nil || strings.Contains(string(got), "ralph") || !strings.HasSuffix(string(got), "[z]\nb = 1\n") {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzEntry adds to any text and removes again: the text is as it was.
func FuzzEntry(f *testing.F) {
	for _, text := range append(jsonTexts, tomlTexts...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "ralph") {
			roundTrip(t, text, with(AllServers[0].Add, ralph), with(AllServers[0].Remove, ralph))
			roundTrip(t, text, ralph.addTOML, ralph.removeTOML)
		}
	})
}
