package client

import (
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

// TestJSON adds an entry and removes it again.
func TestJSON(t *testing.T) {
	for _, text := range jsonTexts {
		roundTrip(t, text, ralph.AddJSON, ralph.RemoveJSON)
		added, err := ralph.AddJSON(text)
		if err != nil {
			continue
		}
		trimmed := strings.TrimPrefix(added, "\ufeff")
		if !gjson.Valid(trimmed) || gjson.Get(trimmed, "mcpServers.ralph.args.0").String() != "mcp" {
			t.Errorf("%q: added: %s", text, added)
		}
	}
	if _, err := ralph.AddJSON(`{"mcpServers": {"ralph": {"command": "other"}}}`); err != ErrHas {
		t.Errorf("another entry: %v", err)
	}
	for _, text := range []string{"[]", "{", `{"mcpServers": 1}`, "// x\n{}", `{"mcpServers": {}, "mcpServers": {}}`} {
		if got, err := ralph.AddJSON(text); err == nil {
			t.Errorf("%q: no error, but %q", text, got)
		}
	}
}

// roundTrip adds twice and removes twice.
func roundTrip(t *testing.T, text string, add, remove func(string) (string, error)) {
	t.Helper()
	added, err := add(text)
	if err != nil {
		return
	}
	again, err := add(added)
	if err != nil || again != added {
		t.Errorf("%q: added twice: %q, %v", text, again, err)
	}
	back, err := remove(added)
	if err != nil || back != text {
		t.Errorf("%q became %q and then %q, %v", text, added, back, err)
	}
	if twice, err := remove(back); err != nil || twice != back {
		t.Errorf("%q: removed twice: %q, %v", text, twice, err)
	}
}

var tomlTexts = []string{
	"", "model = \"x\"", "model = \"x\"\n", "a = 1\n\n", "a = 1\r\n\r\n[b]\r\nc = 2\r\n",
	"[mcp_servers.other]\ncommand = \"y\"\n",
	"# only a comment",
}

func TestTOML(t *testing.T) {
	with := ralph
	with.Env = map[string]string{"RALPH_STATE_DIR": `C:\state "x"`}
	for _, s := range []Server{ralph, with} {
		for _, text := range tomlTexts {
			roundTrip(t, text, s.AddTOML, s.RemoveTOML)
		}
	}
	got, err := ralph.AddTOML("a = 1\n")
	want := "a = 1\n\n[mcp_servers.ralph]\ncommand = \"ralph-runner\"\nargs = [\"mcp\"]\n"
	if err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"[mcp_servers.ralph]\ncommand = \"other\"\n", "mcp_servers = {}\n"} {
		if got, err := ralph.AddTOML(text); err == nil {
			t.Errorf("%q: no error, but %q", text, got)
		}
	}
	// A table that somebody wrote behind the entry stays, and one below it goes.
	got, err = ralph.RemoveTOML(want + "\n[mcp_servers.ralph.env]\nA = \"1\"\n\n[z]\nb = 1\n")
	if err != nil || strings.Contains(got, "ralph") || !strings.HasSuffix(got, "[z]\nb = 1\n") {
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
			roundTrip(t, text, ralph.AddJSON, ralph.RemoveJSON)
			roundTrip(t, text, ralph.AddTOML, ralph.RemoveTOML)
		}
	})
}
