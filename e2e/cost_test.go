//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// size is how large a request is, or by how much it is larger than another.
type size struct{ bytes, tokens int }

// costKey is the key under which the script keeps the sizes of requests, by name.
type costKey struct{}

// TestCost counts what the server adds to a request of Claude Code, and holds the table in docs/assurance/MCP.md to it.
// With -update it writes the table.
func TestCost(t *testing.T) {
	t.Parallel()
	client, err := findClient("claude")
	if err != nil {
		t.Skip(err)
	}
	node, tokenizer := installed(t, "tokenizer/node_modules/@anthropic-ai/tokenizer")
	bin := t.TempDir()
	buildPrograms(t, bin)
	cmds := commands()
	cmds["sent"] = func(ts *testscript.TestScript, neg bool, args []string) {
		requests := current(ts)
		if neg || len(args) != 1 || len(requests) == 0 {
			ts.Fatalf("usage: sent NAME, after a run")
		}
		text := contextOf(requests[len(requests)-1].body)
		tokens, err := countTokens(node, tokenizer, text)
		ts.Check(err)
		ts.Value(costKey{}).(map[string]size)[args[0]] = size{len(text), tokens}
	}
	cmds["costs"] = func(ts *testscript.TestScript, _ bool, args []string) {
		sizes := ts.Value(costKey{}).(map[string]size)
		ts.Logf("%v", sizes)
		ts.Check(holdCosts(args[0], costs(sizes)))
	}
	testscript.Run(t, testscript.Params{
		Files:               []string{filepath.Join("testdata", "mcp", "cost.txtar")},
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Values[costKey{}] = map[string]size{}
			return setup(env, client, bin)
		},
		Cmds: cmds,
	})
}

// madeUp matches what a run makes up: ids, and the names of temporary folders.
var madeUp = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|toolu_[A-Z0-9]+|go-test-script[0-9]+`)

// contextOf returns what a request brings into the model's context, as JSON, without what each run makes up.
func contextOf(body []byte) []byte {
	var text []byte
	for _, part := range gjson.GetManyBytes(body, "system", "tools", "messages") {
		text = append(text, part.Raw...)
	}
	return madeUp.ReplaceAll(text, []byte("x"))
}

// countTokens counts the tokens of a text by the tokenizer that Anthropic has published. It is that of older models.
func countTokens(node, tokenizer string, text []byte) (int, error) {
	const program = `process.stdout.write(""+require(process.argv[1]).countTokens(require("fs").readFileSync(0,"utf8")))`
	cmd := exec.Command(node, "-e", program, tokenizer)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(out))
}

// costHead is the head of the table.
const costHead = "| the tools are | extra bytes | extra tokens |\n|---|--:|--:|\n"

// costs returns the table: by how much a request is larger than the one without the server.
func costs(of map[string]size) string {
	table := costHead
	for _, row := range []struct{ name, with, without string }{
		{"deferred, as usual", "deferred", "nothing"},
		{"deferred, and installed by the plugin", "plugin", "plugin-no-server"},
		{"missing: the plugin without `ralph-runner` on PATH", "plugin-no-runner", "plugin-no-server"},
		{"deferred, and the agent has looked all of them up", "looked-up", "nothing"},
		{"sent at once (`ENABLE_TOOL_SEARCH=false`)", "at-once", "nothing-at-once"},
	} {
		with, without := of[row.with], of[row.without]
		table += fmt.Sprintf("| %s | %d | %d |\n", row.name, with.bytes-without.bytes, with.tokens-without.tokens)
	}
	return table
}

// holdCosts compares the table in a document, or rewrites it.
func holdCosts(path, table string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), costHead)
	if !found {
		return fmt.Errorf("%s has no table of costs", path)
	}
	old, after, _ := strings.Cut(rest, "\n\n")
	switch old = costHead + old + "\n"; {
	case old == table:
		return nil
	case *update:
		return os.WriteFile(path, []byte(before+table+"\n"+after), 0o644)
	}
	return fmt.Errorf("%s has\n%s, but the client sends\n%s", path, old, table)
}
