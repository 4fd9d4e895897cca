package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

func TestParse(t *testing.T) {
	c, err := Parse([]byte(`{
		"task": "checkout flow", "list": "docs/list.json", "bind": "prompt",
		"limits": {"max_iterations": 30, "deadline": "8h", "stagnation": 0, "attempts": 5, "iterations_per_hour": 6,
			"features_per_session": 7, "context_tokens": 150000, "max_wait": "90m"}, "wait_for": ["subagent", "shell"],
		"guards": false,
		"on_complete": ["./notify.sh $X", ["a", "b c"], {"command": ["d"], "timeout": "1m", "env": ["TOKEN"]}]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := decide.Limits{
		MaxIterations: 30, Deadline: 8 * time.Hour, Attempts: 5, CheckFailures: 10, IterationsPerHour: 6,
		FeaturesPerSession: 7, ContextTokens: 150_000, MaxWait: 90 * time.Minute,
	}
	if c.Task != "checkout flow" || c.List != "docs/list.json" || c.Bind != "prompt" {
		t.Errorf("%+v", c)
	}
	if c.Limits != want || !c.GuardsOff || !c.WaitShells || len(c.Notifiers) != 3 {
		t.Errorf("%+v", c)
	}
	a, line := c.Notifiers[0], "./notify.sh $X"
	if a.Shell != line || a.String() != line || a.Timeout != DefaultTimeout || a.Event != OnComplete {
		t.Errorf("%+v", a)
	}
	a = c.Notifiers[1]
	if a.Shell != "" || !slices.Equal(a.Argv, []string{"a", "b c"}) || a.String() != "a 'b c'" {
		t.Errorf("%+v", a)
	}
	if a := c.Notifiers[2]; a.Timeout != time.Minute || !slices.Equal(a.Env, []string{"TOKEN"}) {
		t.Errorf("%+v", a)
	}
	if c, err := Parse([]byte("\xef\xbb\xbf{}\r\n")); err != nil || c.GuardsOff ||
		c.Limits.Stagnation != decide.DefaultStagnation {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestParseRunner(t *testing.T) {
	c, err := Parse([]byte(`{"agents": {
		"planner": {"extends": "claude", "model": "opus", "args": ["-x"], "prompt": "plan.md",
			"complete_on": ["marker"], "checks": ["test -s PLAN.md"]},
		"builder": {"command": ["./bin/builder"], "prompt_by": "file", "output": "text"}},
		"chains": {"ship": "planner:5 -> builder:30"}, "fallback": ["builder"], "escalate": ["sonnet", "opus"],
		"pre_iteration": [{"command": "./room.sh", "on_error": "stop"}], "post_iteration": ["./count.sh"]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Agent{
		{Name: "planner", Extends: "claude", Model: "opus", Args: []string{"-x"}, Prompt: "plan.md",
			CompleteOn: []string{"marker"}, Checks: []string{"test -s PLAN.md"}},
		{Name: "builder", Argv: []string{"./bin/builder"}, PromptBy: "file", Output: "text"},
	}
	if !reflect.DeepEqual(c.Agents, want) {
		t.Errorf("%+v", c)
	}
	if got := c.Chains["ship"].String(); got != "planner:5 -> builder:30" || c.Fallback[0] != "builder" ||
		c.Escalate[1] != "opus" || !slices.ContainsFunc(c.Commands(), func(c Command) bool {
		return c.Shell == "test -s PLAN.md"
	}) {
		t.Errorf("%+v", c)
	}
	pre, post := c.Notifiers[0], c.Notifiers[1]
	if pre.Event != PreIteration || !pre.Stops || post.Event != PostIteration || post.Stops {
		t.Errorf("%+v", c.Notifiers)
	}
	in, err := Choose(nil, []byte(`{"agents": {"a": {"command": ["x"]}}, "fallback": ["sh"], "escalate": ["m"],
		"chains": {"ship": "sh:2"}}`))
	if in.Chains != nil || in.Fallback != nil || in.Escalate != nil {
		t.Errorf("%+v: what nobody has trusted starts agents", in)
	}
	if err != nil || !in.Agents[0].Untrusted || in.Untrusted != 1 {
		t.Errorf("%+v, %v: an agent that nobody has trusted", in, err)
	}
	own, err := ParseUserConfig([]byte(`{"limits": {}, "agents": {"a": {"command": ["x"]}}}`))
	if err != nil || len(own.Agents) != 1 {
		t.Errorf("%+v, %v", own, err)
	}
}

func TestPrices(t *testing.T) {
	own, err := ParseUserConfig([]byte(`{"limits": {}, "prices": {"m": {"input": 1.5, "output": 0, "cache_read": 0.1},
		"a/b-2": {"input": 0, "output": 3, "cache_write": 2}}}`))
	want := []Price{{"m", 1.5, 0, 0.1, 1.5}, {"a/b-2", 0, 3, 0, 2}}
	if err != nil || !slices.Equal(own.Prices, want) {
		t.Errorf("%+v %v", own, err)
	}
	for text, want := range map[string]string{
		`{"prices": []}`:                                 `"prices" must be an object`,
		`{"prices": {"m": 3}}`:                           "line 1, column 18: ",
		`{"prices": {"m": {"input": 1}}}`:                `must have "input" and "output"`,
		`{"prices": {"m": {"input": -1, "output": 1}}}`:  `"input" must be dollars per million tokens`,
		`{"prices": {"m": {"input": "1", "output": 1}}}`: `"input" must be dollars per million tokens`,
		`{"prices": {"m": {"input": 1, "output": 1e9}}}`: `"output" must be dollars per million tokens`,
		`{"prices": {"m": {"input": 1, "out": 1}}}`:      `unknown key "out"`,
		`{"prices": {"m": {"input": 1, "output": 1}}`:    "line 1",
	} {
		if _, err := ParseUserConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]string{
		``:   "nothing here",
		`[]`: "ralph.json must be an object",

		"{\n \"chains\": {\"a\": \"b:1 -> c\"}}": `line 2, column 18: the chain "a": ` +
			"say how many iterations c may have: c:10 (character 9)",
		`{"chains": {"a b": "b:1"}}`:           "a chain's name has letters, digits, - and _",
		`{"chains": {"a": "b:1", "a": "b:2"}}`: "appears twice",
		`{"chains": ["b:1"]}`:                  `"chains" must be an object`,
		`{"chains": {"a": 3}}`:                 `"a" must be text`,
		`{"fallback": "codex"}`:                `"fallback" must be a list of texts, such as ["codex"]`,
		`{"escalate": []}`:                     `"escalate" must be a list of texts`,
		"{\n \"limits\": {\"max_iteration\": 3}}": "line 2, column 13: " +
			`unknown key "max_iteration"; did you mean "max_iterations"?`,
		`{"colour": 1}`: `unknown key "colour"; known: $schema, agents, bind, chains, checks, ` +
			"commit, confine, env, escalate, evaluate, fallback, git, guards, " +
			"limits, link, list, on_complete, " +
			"on_failure, on_iteration, on_stagnation, outputs, parallel, post_iteration, pr, pre_iteration, prepare, " +
			"promises, protect, skip_headings, source, task, wait_for, work, writable",
		`{"agents": {"a b": {"command": ["x"]}}}`:                 "an agent's name has letters, digits, - and _",
		`{"agents": {"a": {"command": ["x"]}, "a": {}}}`:          `the key "a" appears twice`,
		`{"agents": {"a": {}}}`:                                   `must have either "extends", another agent, or "command"`,
		`{"agents": {"a": {"command": ["x"], "extends": "b"}}}`:   `must have either "extends", another agent, or "command"`,
		`{"agents": {"a": {"command": "x"}}}`:                     `"command" must be an array of words`,
		`{"agents": {"a": {"command": ["x"], "prompt": "/p"}}}`:   "must be a path below the project's root",
		`{"agents": {"a": {"command": ["x"], "output": "json"}}}`: `"output" must be "claude" or "codex" or`,
		`{"on_complete": [{"command": "x", "on_error": "stop"}]}`: `works only with "pre_iteration"`,

		`{"confine": 1}`:                               `"confine" must be true or false`,
		`{"confine": true, "writable": "~/x"}`:         `"writable" must be a list of at most 20 folders`,
		`{"confine": true, "writable": ["x"]}`:         `"writable" must be a list of at most 20 folders`,
		`{"confine": true, "writable": ["~other/x"]}`:  `"writable" must be a list of at most 20 folders`,
		`{"confine": true, "writable": ["/a\u0007b"]}`: `"writable" must be a list of at most 20 folders`,

		`{"skip_headings": "Later"}`: `"skip_headings" must be a list of headings`,
		`{"skip_headings": [""]}`:    `"skip_headings" must be a list of headings`,

		`{"env": "A"}`:                              `"env" must be a list of names of variables`,
		`{"env": ["A B"]}`:                          `"env" must be a list of names of variables`,
		`{"env": ["1A"]}`:                           `"env" must be a list of names of variables`,
		`{"env": ["AWS_*"]}`:                        `"env" must be a list of names of variables`,
		`{"env": [""]}`:                             `"env" must be a list of names of variables`,
		`{"limits": {"max_iterations": 0}}`:         `"max_iterations" must be a whole number from 1 to 1000000`,
		`{"limits": {"max_iterations": 1.5}}`:       "must be a whole number",
		`{"limits": {"max_iterations": "9"}}`:       "must be a whole number",
		`{"limits": {"max_iterations": 9e99}}`:      "must be a whole number",
		`{"limits": {"stagnation": 1}}`:             "would end every loop at its first stop",
		`{"limits": []}`:                            `"limits" must be an object`,
		`{"limits": {"max_wait": "-1s"}}`:           `"max_wait" must be a duration`,
		`{"limits": {"max_wait": 60}}`:              `"max_wait" must be text`,
		`{"guards": 0}`:                             `"guards" must be true or false`,
		`{"guards": {"asks": false}}`:               `"guards" must be true or false`,
		`{"lane_start": [["x"]]}`:                   `unknown key "lane_start"; it is "prepare" now`,
		`{"wait_for": "shell"}`:                     `"wait_for" must be ["shell"] or an empty list`,
		`{"wait_for": ["cron"]}`:                    `"wait_for" must be "shell" or "subagent"`,
		`{"task": 7}`:                               `"task" must be text`,
		`{"task": "a", "task": "b"}`:                `the key "task" appears twice`,
		`{"list": "../x.json"}`:                     "must be a path below the project's root",
		`{"list": "a\u0000b"}`:                      `"list" contains the character U+0000`,
		`{"list": "/etc/passwd"}`:                   "must be a path below the project's root",
		`{"limits": {"iterations_per_hour": 1001}}`: "from 0 to 1000",
		`{"limits": {"deadline": 8}}`:               `"deadline" must be text`,
		`{"checks": {}}`:                            `"checks" must be a list`,
		`{"checks": [{}]}`: `a check must have one of "command", ` +
			`"file_exists", "file_contains" and "last_message"`,
		`{"checks": [{"command": "x", "file_exists": "y"}]}`: "a check must have one of",
		`{"checks": [{"command": ""}]}`:                      "is empty",
		`{"checks": [{"command": "x"}, {"command": "x"}]}`:   `two checks are named "x"`,

		`{"checks": [{"command": "x", "when": "end", "features": ["a"]}]}`: `"features" works only with "when": "claim"`,

		`{"checks": [{"command": "x", "when": "never"}]}`:         `"when" must be "claim" or "stop" or "end"`,
		`{"checks": [{"command": "x", "when": "feature"}]}`:       `"when": "feature" is now called "claim"`,
		`{"checks": [{"command": "x", "when": "iteration"}]}`:     `"when": "iteration" is now called "stop"`,
		`{"checks": [{"command": "x", "when": "complete"}]}`:      `"when": "complete" is now called "end"`,
		`{"checks": [{"file_exists": "../x"}]}`:                   `"file_exists" must be a path below the project's root`,
		`{"checks": [{"file_contains": {"file": "x"}}]}`:          `"file_contains" must have "file" and "pattern"`,
		`{"checks": [{"last_message": "("}]}`:                     "the pattern cannot be read",
		`{"evaluate": "default"}`:                                 `"evaluate" must be a list of at most 10`,
		`{"evaluate": []}`:                                        `"evaluate" must be a list of at most 10`,
		`{"evaluate": ["model"]}`:                                 `must be "default" or "validation" or "promise"`,
		`{"evaluate": [{"name": "x"}]}`:                           `an evaluator must have "command"`,
		`{"evaluate": ["promise"], "checks": [{"command": "x"}]}`: "cannot be combined with \"checks\"",
		`{"evaluate": ["validation"]}`:                            `"validation" needs "checks"`,
		`{"promises": {"complete": "x"}}`:                         `"complete" must be a list of patterns`,
		`{"promises": {"blocked": ["("]}}`:                        "the pattern cannot be read",
		`{"promises": {"escalate": ["x*"]}}`:                      "the pattern matches an empty line",
		`{"parallel": 0}`:                                         "from 1 to 64",
		`{"bind": "last"}`:                                        `"bind" must be "prompt" or "first"`,
		`{"on_complete": "x"}`:                                    "must be a list of commands",
		`{"on_complete": [""]}`:                                   "is empty",
		`{"on_complete": [[]]}`:                                   "is empty",
		`{"on_complete": ["a\u0000b"]}`:                           `"on_complete" contains the character U+0000`,
		`{"on_complete": [["a", "\u0000"]]}`:                      `"on_complete" contains the character U+0000`,
		`{"on_complete": [7]}`:                                    "must be text for the shell or an array of words",
		`{"on_complete": [{"timeout": "30s"}]}`:                   "is empty",
		`{"on_complete": [{"command": "x", "timeout": "30"}]}`:    "must be a duration",
		`{"on_complete": [{"command": "x", "timeout": "-1s"}]}`:   "must be a duration",
		strings.Repeat("[", 1_000_000):                            "nested deeper",
	} {
		if _, err := Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%.60s) = %v, want %q", in, err, want)
		}
	}
}

func TestProtects(t *testing.T) {
	for text, want := range map[string]string{
		"**/*_test.go": "a_test.go x/a_test.go x/y/a_test.go",
		"*_test.go":    "a_test.go",
		"x/**":         "x/a_test.go x/y/a_test.go x/y/a.txt",
		"x/?/a.txt":    "x/y/a.txt",
		"a+b":          "a+b",

		"./x/y/":              "x/y/a_test.go x/y/a.txt",
		"/a_test.go":          "a_test.go",
		"{a+b,x/{y,z}/*.txt}": "x/y/a.txt a+b",
		"[a-c]*b":             "a+b aab",
		"[!x]?b":              "a+b aab",
		"x/**/a.txt":          "x/y/a.txt",
		"x":                   "x/a_test.go x/y/a_test.go x/y/a.txt",
		"{x/y,q}":             "x/y/a_test.go x/y/a.txt",
		"**/y":                "x/y/a_test.go x/y/a.txt",
		"x/*":                 "x/a_test.go",
		"x[!q]a_test.go":      "",
		"**":                  "a_test.go x/a_test.go x/y/a_test.go x/y/a.txt a+b aab",
		"a+b/**":              "",
		"x/**/":               "x/a_test.go x/y/a_test.go x/y/a.txt",
		"y":                   "",
	} {
		var got []string
		for _, path := range []string{"a_test.go", "x/a_test.go", "x/y/a_test.go", "x/y/a.txt", "a+b", "aab"} {
			pattern, err := ParsePattern(text)
			if err != nil {
				t.Fatal(err)
			}
			if (Config{Protect: []Protected{{Pattern: pattern}}}).Protects(path, false) {
				got = append(got, path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		"", "/", ".", "./", "..", "../x", "a/../b", "a//b", "//a", "a/./b", `a\b`, "[a", "a/[", "{a", "a}", "{a,{b}",
		"}{",
		"a**", "src/**.go", "{a,}", "{,/}", strings.Repeat("{a,b}", 7),
	} {
		if p, err := ParsePattern(text); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("the pattern %q", text)) {
			t.Errorf("%q is a pattern: %v, %v", text, p, err)
		}
	}
}

func TestCeilings(t *testing.T) {
	own, err := ParseUserConfig([]byte(`{"limits": {"max_iterations": 20, "deadline": "4h", "context_tokens": 100000}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := decide.Limits{
		MaxIterations: 30, Deadline: time.Hour, Stagnation: 3, ContextTokens: 200_000, MaxWait: time.Hour,
	}.CappedBy(own.Limits)
	want := decide.Limits{
		MaxIterations: 30, Deadline: time.Hour, Stagnation: 3, ContextTokens: 100_000, MaxWait: time.Hour,
		CeilingIterations: 20, CeilingDeadline: 4 * time.Hour,
	}
	if got != want {
		t.Errorf("%+v", got)
	}
	for in, want := range map[string]string{
		`[]`:                          "the configuration must be an object",
		`{"limit": {}}`:               `did you mean "limits"?`,
		`{"limits": {"deadline": 1}}`: `"deadline" must be text`,
		`{`:                           "line 1",
	} {
		if _, err := ParseUserConfig([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseOwn(%s) = %v, want %q", in, err, want)
		}
	}
}

func TestChoose(t *testing.T) {
	text := []byte(`{"task": "t", "on_complete": ["x"]}`)
	trust := NewTrust(text, "/bin")
	for _, tc := range []struct {
		name  string
		trust *Trust
		text  []byte
		want  Effective
	}{
		{"no ralph.json", nil, nil, Effective{Config: Default()}},
		{"nobody trusted it", nil, text, Effective{Untrusted: 1}},
		{"trusted", &trust, text, Effective{}},
		{"edited since", &trust, []byte(`{"on_complete": ["rm -rf ."]}`), Effective{Changed: true}},
		{"emptied", &trust, []byte{}, Effective{Changed: true}},
		{"gone", &trust, nil, Effective{Missing: true}},
	} {
		got, err := Choose(tc.trust, tc.text)
		if err != nil || got.Changed != tc.want.Changed || got.Missing != tc.want.Missing ||
			got.Untrusted != tc.want.Untrusted {
			t.Errorf("%s: %+v, %v", tc.name, got, err)
		}
		if commands := len(got.Notifiers); (commands == 1) != (tc.trust != nil) {
			t.Errorf("%s: %d commands", tc.name, commands)
		}
	}
	trust.Text = `{"on_complete": ["other"]}`
	if _, err := ParseTrust(fmt.Appendf(nil, `{"schema":1,"sha256":%q,"text":%q}`, trust.SHA256,
		trust.Text)); err == nil {
		t.Error("a trust record whose text is another was accepted")
	}
}

// TestSchemaKeys checks that the JSON Schema and the parser know the same keys.
func TestSchemaKeys(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "hooks", "ralph.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	for path, in := range map[string]string{
		"properties":                                      `{"zzzzzzzz": 1}`,
		"properties.limits.properties":                    `{"limits": {"zzzzzzzz": 1}}`,
		"properties.source.properties":                    `{"source": {"zzzzzzzz": 1}}`,
		"$defs.check.properties":                          `{"checks": [{"zzzzzzzz": 1}]}`,
		"$defs.check.properties.file_contains.properties": `{"checks": [{"file_contains": {"zzzzzzzz": 1}}]}`,
		"properties.promises.properties":                  `{"promises": {"zzzzzzzz": 1}}`,
		"$defs.evaluator.oneOf.1.properties":              `{"evaluate": [{"zzzzzzzz": 1}]}`,
		"$defs.command.oneOf.1.properties":                `{"on_complete": [{"zzzzzzzz": 1}]}`,
		"$defs.agent.properties":                          `{"agents": {"a": {"zzzzzzzz": 1}}}`,
	} {
		keys := slices.Sorted(maps.Keys(gjson.GetBytes(data, path).Map()))
		_, err := Parse([]byte(in))
		if want := "known: " + strings.Join(keys, ", "); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("schema has %v, the parser says %v", keys, err)
		}
	}
}

// TestSchemaLimits compares the bounds and defaults of the JSON Schema with those of the
// parser.
func TestSchemaLimits(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "hooks", "ralph.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	defaults := Default().Limits
	defaults.MaxIterations = decide.DefaultIterations
	parse := func(name, value string) (decide.Limits, error) {
		c, err := Parse(fmt.Appendf(nil, `{"limits": {%q: %s}}`, name, value))
		return c.Limits, err
	}
	for _, row := range decide.LimitTable {
		schema := gjson.GetBytes(data, "properties.limits.properties."+row.Name)
		got, err := parse(row.Name, schema.Get("default").Raw)
		if err != nil {
			t.Errorf("%s: the schema's default: %v", row.Name, err)
		}
		if row.Time != nil {
			if *row.Time(&got) != *row.Time(&defaults) || schema.Get("type").Str != "string" {
				t.Errorf("%s: the schema has %s, the default is %v", row.Name, schema.Raw, *row.Time(&defaults))
			}
			continue
		}
		if *row.Count(&got) != *row.Count(&defaults) || schema.Get("type").Str != "integer" {
			t.Errorf("%s: the schema has %s, the default is %d", row.Name, schema.Raw, *row.Count(&defaults))
		}
		least, most, not := schema.Get("minimum").Int(), schema.Get("maximum").Int(), schema.Get("not.const")
		for _, n := range []int64{least - 1, least, least + 1, least + 2, most - 1, most, most + 1} {
			want := n >= least && n <= most && (!not.Exists() || n != not.Int())
			if _, err := parse(row.Name, fmt.Sprint(n)); (err == nil) != want {
				t.Errorf("%s of %d: the schema accepts it: %v, the parser: %v", row.Name, n, want, err)
			}
		}
	}
}
