package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	agents "github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

// TestAgents compares the tables of agents.md and assurance/AGENTS.md with the rows of the agents, their prices, and
// what passed at the last run of make e2e AGENTS=all.
func TestAgents(t *testing.T) {
	data, err := os.ReadFile("testdata/agents.json")
	if err != nil {
		t.Fatal(err)
	}
	driven := map[string]drive{}
	if err := json.Unmarshal(data, &driven); err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct{ path, begin, table string }{
		{"agents.md", "<!-- the rows -->\n", rowTable(driven)},
		{"assurance/AGENTS.md", "<!-- the prices -->\n", priceTable()},
		{"assurance/AGENTS.md", "<!-- the rows -->\n", driveTable(driven)},
	} {
		text, err := os.ReadFile(part.path)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok := strings.Cut(string(text), part.begin)
		_, after, ended := strings.Cut(rest, generatedEnd)
		if !ok || !ended {
			t.Fatalf("%s has no lines %q and %q", part.path, part.begin, generatedEnd)
		}
		want := before + part.begin + part.table + generatedEnd + after
		if *update {
			if err := os.WriteFile(part.path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if want != string(text) {
			t.Errorf("%s is not what the rows say; run: go test ./docs -run TestAgents -update", part.path)
		}
	}
}

// drive says which scripts passed with which version of an agent, which the end-to-end tests write, and what was seen
// of it.
type drive struct {
	Version string   `json:"version"`
	Scripts []string `json:"scripts"`
	Reset   bool     `json:"reset"` // whether it can tell when a limit is reset
	Fails   []string `json:"fails"` // the ways to end, beside "done"
}

// driveTable says what was measured.
func driveTable(driven map[string]drive) string {
	var b strings.Builder
	b.WriteString("| agent | measured with | passed | failures |\n|---|---|---|---|\n")
	for _, row := range agents.BuiltIn() {
		passed, d := "–", driven[row.Name]
		if d.Version == row.Driven && len(d.Scripts) > 0 {
			passed = strings.Join(d.Scripts, ", ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row.Name, row.Driven, passed, strings.Join(d.Fails, ", "))
	}
	return b.String()
}

// rowTable says what each agent can do.
func rowTable(driven map[string]drive) string {
	var b strings.Builder
	hooked := map[string]bool{}
	for _, c := range client.All {
		hooked[c.Name] = true
	}
	b.WriteString("| agent | tokens | cost | reset | Stop hook |\n|---|---|---|---|---|\n")
	for _, row := range agents.BuiltIn() {
		cost := yes(row.TellsCost)
		if row.TellsTokens && !row.TellsCost {
			cost = "≈"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", row.Name, yes(row.TellsTokens), cost,
			yes(driven[row.Name].Reset), yes(hooked[row.Name]))
	}
	return b.String()
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "–"
}

func priceTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Dollars per million tokens, without discounts, from the providers' pages in %s", agents.PricesOf)
	b.WriteString(": [Anthropic](https://claude.com/pricing),\n[OpenAI](https://platform.openai.com/docs/pricing), " +
		"[Google](https://ai.google.dev/gemini-api/docs/pricing).\n[Your own prices](../runner.md#money) take " +
		"precedence.\n\n" +
		"```text\n" + fmt.Sprintf("%-22s%-8s%-8s%-12s%s\n", "model", "input", "output", "cache read", "cache write"))
	for _, p := range agents.ListPrices() {
		fmt.Fprintf(&b, "%-22s%-8g%-8g%-12g%g\n", p.Model, p.Input, p.Output, p.CacheRead, p.CacheWrite)
	}
	b.WriteString("```\n")
	return b.String()
}

// TestVersions compares the versions that the end-to-end tests install with those that the rows were measured with.
func TestVersions(t *testing.T) {
	text, err := os.ReadFile("../e2e/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z]+)\)\n\tversion=(\S+)$`).FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = m[2]
	}
	for _, row := range agents.BuiltIn() {
		if row.Driven != found[row.Name] {
			t.Errorf("%s: the row has version %q, and e2e/install.sh %q", row.Name, row.Driven, found[row.Name])
		}
	}
}

// TestNeeds looks in agents.md for the flags that the runner passes on.
func TestNeeds(t *testing.T) {
	text, err := os.ReadFile("agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("## What each needs"))
	for _, row := range agents.BuiltIn() {
		at := bytes.Index(text, []byte("\n| "+row.Name+" | "))
		if row.Name == "claude" {
			continue
		}
		if at < 0 {
			t.Errorf("agents.md does not say what %s needs", row.Name)
			continue
		}
		line, _, _ := strings.Cut(string(text[at+1:]), "\n")
		effort := strings.TrimSuffix(strings.TrimPrefix(row.EffortFlag, "--config "), "=")
		for _, flag := range []string{row.PermissionFlag, row.SkipPermissionsFlag, effort} {
			if flag != "" && !strings.Contains(line, "`"+flag+"`") {
				t.Errorf("agents.md says of %s: %s; it lacks %s", row.Name, line, flag)
			}
		}
	}
}
