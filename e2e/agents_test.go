//go:build e2e

package e2e

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
)

var (
	fully  = flag.String("agents", "", "run all scripts for these agents, \"all\" for each, and one for the others")
	driven = flag.String("driven", "", "write to a file which scripts each agent passed")
)

// TestAgents runs the scripts of testdata/agents with each client that is installed, and says which is not.
func TestAgents(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	buildPrograms(t, bin)
	var mu sync.Mutex
	passed := map[string][]string{}
	t.Cleanup(func() { // the agents are done
		if *driven != "" {
			writeDriven(t, *driven, passed)
		}
	})
	for _, row := range agent.BuiltIn() {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			client, err := findClient(row.Name)
			if err != nil {
				t.Skip(err)
			}
			scripts := []string{"one"}
			if *fully == "all" || slices.Contains(strings.Split(*fully, ","), row.Name) {
				scripts = []string{"one", "three", "limit", "interrupt", "lies", "troubles"}
			}
			scripts = append(scripts, withClaude(t, row.Name)...)
			for _, script := range scripts {
				if t.Run(script, func(t *testing.T) { runAgent(t, row.Name, script, client, bin) }) {
					mu.Lock()
					passed[row.Name] = append(passed[row.Name], script)
					mu.Unlock()
				}
			}
		})
	}
}

// withClaude returns the scripts in which an agent works after Claude Code: for one agent always, for the others with
// all their scripts.
func withClaude(t *testing.T, name string) []string {
	asked := *fully == "all" || slices.Contains(strings.Split(*fully, ","), name)
	if name == "claude" || name != "codex" && !asked {
		return nil
	}
	if _, err := findClient("claude"); err != nil {
		t.Logf("chain and fallback are skipped: %v", err)
		return nil
	}
	return []string{"chain", "fallback"}
}

// writeDriven writes which scripts each agent passed. An agent that was not there keeps what it has.
func writeDriven(t *testing.T, path string, passed map[string][]string) {
	all := map[string]drive{}
	if data, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range agent.BuiltIn() {
		if scripts := passed[row.Name]; scripts != nil {
			one := all[row.Name]
			one.Version, one.Scripts = row.Driven, scripts
			all[row.Name] = one
		}
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// drive says with which version of an agent which scripts passed, and what was seen of it.
type drive struct {
	Version string   `json:"version"`
	Scripts []string `json:"scripts"`
	Reset   bool     `json:"reset"`
	Fails   []string `json:"fails"`
}

// runAgent runs one script with one agent.
func runAgent(t *testing.T, name, script, client, bin string) {
	testscript.Run(t, testscript.Params{
		Files:               []string{filepath.Join("testdata", "agents", script+".txtar")},
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			if err := setup(env, client, bin); err != nil {
				return err
			}
			env.Setenv("AGENT", name)
			if claude, err := findClient("claude"); err == nil {
				env.Setenv("E2E_CLIENT", claude) // the command claude of the scripts
			}
			return prepareAgent(env, name, client)
		},
		Condition: func(cond string) (bool, error) { return slices.Contains(strings.Split(cond, "|"), name), nil },
		Cmds:      commands(),
	})
}

// prepareAgent puts a client on PATH, and keeps it from what only a person or its maker needs.
func prepareAgent(env *testscript.Env, name, client string) error {
	home := env.Getenv("HOME")
	files := map[string]string{
		".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}},
			"privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true}}`,
		".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}},
			"privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}}`,
	}
	for path, text := range files {
		if err := writeFile(filepath.Join(home, path), text); err != nil {
			return err
		}
	}
	if name != "claude" { // which is a command of the scripts
		path := filepath.Dir(client) + string(os.PathListSeparator) + env.Getenv("PATH")
		env.Setenv("PATH", path)
	}
	for _, kv := range [][2]string{
		{"OPENAI_API_KEY", apiKey}, {"OPENAI_MODEL", "scripted"},
		{"GEMINI_API_KEY", apiKey}, {"GEMINI_MODEL", "gemini-2.5-pro"},
		{"COPILOT_OFFLINE", "true"}, {"COPILOT_PROVIDER_API_KEY", apiKey}, {"COPILOT_MODEL", "gpt-5.5"},
		{"CODEX_HOME", filepath.Join(home, ".codex")}, {"SCRIPTED_KEY", apiKey},
		{"OPENCODE_DISABLE_AUTOUPDATE", "1"}, {"OPENCODE_DISABLE_MODELS_FETCH", "1"},
	} {
		env.Setenv(kv[0], kv[1])
	}
	git := exec.Command("git", "init", "--quiet", env.Cd) // Codex does not work elsewhere
	return git.Run()
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// pointAt makes a model the one that clients speak to which start later.
func pointAt(ts *testscript.TestScript, url string) {
	ts.Setenv("ANTHROPIC_BASE_URL", url)
	ts.Setenv("OPENAI_BASE_URL", url+"/v1")
	ts.Setenv("COPILOT_PROVIDER_BASE_URL", url+"/v1")
	ts.Setenv("GOOGLE_GEMINI_BASE_URL", url)
	ts.Setenv("OPENCODE_CONFIG_CONTENT", `{"model": "scripted/m1", "autoupdate": false, "share": "disabled",
		"provider": {"scripted": {"npm": "@ai-sdk/openai-compatible",
			"options": {"baseURL": "`+url+`/v1", "apiKey": "`+apiKey+`"},
			"models": {"m1": {"name": "m1", "limit": {"context": 200000, "output": 8192},
				"cost": {"input": 3, "output": 15, "cache_read": 0.3}}}}}}`)
	if home := ts.Getenv("CODEX_HOME"); home != "" {
		ts.Check(writeFile(filepath.Join(home, "config.toml"), `model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "`+url+`/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
`))
	}
}
