package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

// TestPlugin compares the plugin's entries with those that init writes, and the two halves
// of the script that they call with each other. At a session's end the host gives a
// plugin's hook 1.5 s, whatever its entry says, and then kills the processes that it
// started. The hook must be gone by then, and its sender must live on.
func TestPlugin(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "hooks", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	plugin, shared := gjson.Get(read("hooks.json"), "hooks"), gjson.Get(read("settings.json"), "hooks")
	if got, want := plugin.Get("@keys").Raw, shared.Get("@keys").Raw; got != want {
		t.Errorf("the plugin answers %s, want %s", got, want)
	}
	file, err := client.Find(client.Usual).ReadSettings([]byte(read("settings.json")))
	if err != nil {
		t.Fatal(err)
	}
	plugin.ForEach(func(event, groups gjson.Result) bool {
		entry, want := groups.Get("0.hooks.0"), shared.Get(event.Str+".0.hooks.0")
		timeout := file.Ours(event.Str)[0].Args[2]
		if event.Str == client.SessionEnd || event.Str == client.StopFailure {
			timeout = "1s"
		}
		line := `"${CLAUDE_PLUGIN_ROOT}/hooks/run.cmd" hook --timeout ` + timeout
		if got := entry.Get("command").Str; got != line {
			t.Errorf("%s runs %s, want %s", event, got, line)
		}
		if entry.Get("timeout").Int() != want.Get("timeout").Int() {
			t.Errorf("%s has %s, want %s", event, entry.Raw, want.Raw)
		}
		return true
	})
	said := regexp.MustCompile(`\{"systemMessage".*"\}`).FindAllString(read("run.cmd"), -1)
	if len(said) != 2 || said[0] != said[1] {
		t.Errorf("run.cmd says %q, want the same twice", said)
	}
}

// TestPluginServer runs what the plugin starts as its MCP server where ralph-runner is not on PATH: a server without
// tools, which ends with its input.
func TestPluginServer(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("..", "..", "hooks", "mcp.cmd"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", ".claude-plugin", "plugin.json"))
	if got := gjson.GetBytes(text, "mcpServers.ralph.command").Str; err != nil ||
		got != "${CLAUDE_PLUGIN_ROOT}/hooks/mcp.cmd" {
		t.Errorf("the plugin starts %q: %v", got, err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("there it only starts ralph-runner")
	}
	tools := t.TempDir() // all that it needs, and not ralph-runner
	sed, err := exec.LookPath("sed")
	if err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(sed, filepath.Join(tools, "sed")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	cmd.Env = []string{"PATH=" + tools}
	cmd.Stdin = strings.NewReader(`{"method":"server/discover","params":{"_meta":{"id":"x"}},"jsonrpc":"2.0","id":0}
{"method":"initialize","params":{"clientInfo":{"name":"a\\b $(touch pwned) %s"}},"jsonrpc":"2.0","id":"one"}
{"method":"notifications/initialized","jsonrpc":"2.0"}
{"jsonrpc":"2.0","id": 2,"method":"ping"}
`)
	out, err := cmd.CombinedOutput()
	want := `{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"ralph-runner is not installed"}}
{"jsonrpc":"2.0","id":"one","result":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"serverInfo":{"name":"ralph","version":"0"}}}
{"jsonrpc":"2.0","id":2,"result":{}}
`
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

// TestSkills checks that the command lines in the skills use existing verbs and flags.
func TestSkills(t *testing.T) {
	skills, _ := filepath.Glob(filepath.Join("..", "..", "skills", "*", "SKILL.md"))
	if len(skills) != 5 {
		t.Errorf("%d skills, want 5", len(skills))
	}
	line, flag := regexp.MustCompile("ralph-stop-hook ([a-z]+)([^`\n]*)"), regexp.MustCompile(`--([a-z-]+)`)
	all := newApp(boot.Env(program))
	for _, path := range skills {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := line.FindAllStringSubmatch(string(text), -1)
		if len(lines) == 0 {
			t.Errorf("%s calls nothing", path)
		}
		for _, call := range lines {
			verb, _, _ := all.Find([]string{call[1]})
			if verb == all.Command {
				t.Errorf("%s: there is no verb %s", path, call[1])
			}
			for _, f := range flag.FindAllStringSubmatch(call[2], -1) {
				if verb.Flags().Lookup(f[1]) == nil {
					t.Errorf("%s: %s has no flag --%s", path, call[1], f[1])
				}
			}
		}
	}
}
