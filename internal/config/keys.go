package config

import (
	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// key is a row of a table of keys: what ralph.json may say under a name in the object that a T is read from.
// The parser walks the tables. hooks/ralph.schema.json is written from them, and the reference in
// docs/ralph-json.md from that.
type key[T any] struct {
	name    string
	about   string // what it does, for the schema and the documents
	usage   string // the help of its flag, if 'init' has one, with the value's name in backquotes
	preset  string // what holds without it, in JSON; "": nothing
	example string // in JSON

	// field returns a pointer to where the value is stored. Its type says which values there are, and what is below
	// says more. A key whose value has no such field has read instead. Without both, the caller reads the value.
	field func(*T) any
	read  func(p *parser, v gjson.Result, name string, to *T)

	words       []string          // the only texts there are
	path        bool              // the text is a path below the project's root
	least, most int               // of a number, a time or the length of a list
	of          string            // what a list must be, in an error
	ok          func(string) bool // whether a text may be in a list
	object      bool              // it has a table of its own
	schema      string            // what the JSON Schema says of the values, if field does not say it
}

const wordsSchema = `"$ref": "#/$defs/words"`

// keys has every key of ralph.json.
var keys = []key[Config]{
	{
		name:    "$schema",
		example: `"https://raw.githubusercontent.com/ralph-stop-hook/ralph-stop-hook/main/hooks/ralph.schema.json"`,
		schema:  `"type": "string"`,
		about:   "The schema, for editors.",
	}, {
		name: "task", example: `"the checkout flow"`,
		field: func(c *Config) any { return &c.Task },
		about: "A few words about the loop, for notifiers.",
	}, {
		name: "list", example: `"docs/prd.json", ".taskmaster/tasks/tasks.json#ui", "none"`,
		field: func(c *Config) any { return &c.List }, path: true,
		usage: "use the list `FILE`, below this folder (default: the project's)",
		about: "The path of the feature list (default: feature_list.json in the loop's folder). tasks.json#ui is " +
			"the tag ui of a Task Master file. none: no list; the loop is complete when the agent says so and " +
			"every check passes.",
	}, {
		name:    "skip_headings",
		preset:  `["Optional", "Future", "Nice to have", "Out of scope"]`,
		example: `["Optional", "Later"]`,
		field:   func(c *Config) any { return &c.SkipHeadings }, of: "a list of headings", ok: notEmpty,
		schema: `"type": "array", "items": { "type": "string", "minLength": 1 }`,
		about: "Headings of a Markdown list whose items are skipped, in upper or lower case: alone, after a number, before " +
			"a word such as Work, or in brackets at the end. []: skip no items.",
	}, {
		name:    "source",
		example: `{"list": ["bd", "list", "--all", "--json", "--limit", "0"], "reopen": ["bd", "reopen", "${id}"]}`,
		read:    (*parser).source, object: true,
		about: "Commands of a tracker that replaces the list. They need 'trust'. The agent closes items there; " +
			"the hook reopens those whose check fails.",
	}, {
		name: "bind", preset: `"first"`, example: `"prompt"`,
		field: func(c *Config) any { return &c.Bind }, words: []string{decide.BindPrompt, decide.BindFirst},
		about: "prompt: the loop belongs to the session that gets RALPH_PROMPT.md or its first line. first: it " +
			"belongs to the first session that stops in the project.",
	}, {
		name: "limits", example: `{"max_iterations": 40, "deadline": "8h"}`,
		read:   func(p *parser, v gjson.Result, _ string, c *Config) { p.limits(v, &c.Limits) },
		object: true,
		about:  "Limits that end the loop or hand it over. 0 turns a limit off.",
	}, {
		name: "guards", preset: `true`, example: `false`,
		read:   func(p *parser, v gjson.Result, name string, c *Config) { c.GuardsOff = !p.yes(v, name) },
		schema: `"type": "boolean"`,
		about:  "Whether guards end a loop whose agent works without making progress.",
	}, {
		name: "wait_for", preset: `[]`, example: `["shell"]`,
		read: (*parser).waitFor, schema: `"type": "array", "items": { "enum": ["shell"] }`,
		about: "Other work that the loop waits for, besides background work that wakes the session. shell: shells and " +
			"monitors, even if they never finish, such as a dev server.",
	}, {
		name: "checks",
		example: `[{"command": "go test -run \"$RALPH_FEATURE\" ./..."}, ` +
			`{"command": ["go", "vet", "./..."]}]`,
		read: (*parser).checks, schema: `"type": "array", "items": { "$ref": "#/$defs/check" }`,
		usage: "check new claims with the shell command `COMMAND`; repeatable",
		about: "Checks that must pass before a claim counts. A command fails without 'trust', unless 'init' " +
			"wrote it.",
	}, {
		name: "evaluate", example: `["default", {"command": ["./review.sh"], "timeout": "2m"}]`,
		read:   (*parser).evaluators,
		schema: `"type": "array", "items": { "$ref": "#/$defs/evaluator" }, "minItems": 1, "maxItems": 10`,
		about: "Evaluators that complete or escalate the loop; the first one that does so decides. " +
			"default: every feature is claimed and every check passes. validation: every check passes. promise: " +
			"the agent says so, and checks in the list pass; not allowed with checks. A command: see " +
			"docs/configuration.md#evaluators.",
	}, {
		name: "promises", example: `{"complete": ["ALL DONE"], "blocked": ["STUCK: (.*)"]}`,
		read: (*parser).promises, object: true,
		about: "More last lines that count as <promise>COMPLETE</promise>, BLOCKED or ESCALATE: regular " +
			"expressions for the whole line; the first group is the reason.",
	}, {
		name: "protect", example: `["verify.sh", "tests/**", "+**/conftest.py", "package.json#scripts"]`,
		read: (*parser).protect, schema: `"type": "array", "items": { "type": "string" }`,
		about: "Patterns of files that checks use as they were at 'trust'. With a leading +, a pattern also " +
			"keeps new files out. FILE.json#KEY is one key of a JSON file. * and ? match within a name, **/ matches " +
			"any folders, dir or dir/ everything below it, {a,b} a or b, [a-z] one character.",
	}, {
		name: "work", example: `["src/**", "docs/", "package.json"]`,
		field: func(c *Config) any { return &c.Work },
		usage: "count only changes to files that match `PATTERN`; repeatable",
		about: "Patterns, as in protect, of the files whose changes count. Default: all.",
	}, {
		name: "prepare", example: `[{"command": "npm ci", "when_changed": ["package.json", "package-lock.json"]}]`,
		read: (*parser).prepares, schema: `"type": "array", "items": { "$ref": "#/$defs/prepare" }`,
		about: "Commands that create ignored files that the checks need, such as packages. They run in a new " +
			"copy and in each lane's folder. All run again before checks if a when_changed file has changed, or a " +
			"check changed their files. Created files that git does not ignore are removed.",
	}, {
		name: "outputs", example: `["build", "coverage"]`,
		field: func(c *Config) any { return &c.Outputs },
		about: "Patterns of files that checks write and git ignores: the copy has its own.",
	}, {
		name: "link", example: `["dist"]`,
		field: func(c *Config) any { return &c.Link },
		about: "Patterns of ignored files that the copy takes from the project although outputs names them.",
	}, {
		name: "git", preset: `false`, example: `true`,
		field: func(c *Config) any { return &c.Git },
		about: "Give the copy a git repository with the branch, index and history of the project.",
	}, {
		name: "env", example: `["DATABASE_URL"]`,
		field: func(c *Config) any { return &c.Env }, of: "a list of names of variables", ok: isVariable,
		schema: `"type": "array", "items": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" }`,
		about: "Names of variables that checks, evaluators and trackers get from the session. They get other " +
			"variables only if unchanged since 'trust'. Whoever can edit the settings can set these.",
	}, {
		name: "confine", preset: `false`, example: `true`,
		field: func(c *Config) any { return &c.Confine },
		about: "Let checks, evaluators and trackers write only to their folder, their own $TMPDIR, and writable. " +
			"They cannot use Unix sockets or setuid; they can read files and use the network. Notifiers are not " +
			"confined. Needs Linux 6.12 with Landlock, or macOS; elsewhere the loop ends FAILED.",
	}, {
		name: "writable", example: `["~/.cache/my-checks"]`,
		field: func(c *Config) any { return &c.Writable }, of: "a list of at most 20 folders from / or ~/", ok: isFolder,
		most: 20,
		about: "Folders, as paths from / or ~/, to which confined commands can also write. Give them their own build " +
			"cache: other projects would use whatever a check puts into it. 'trust' creates missing folders.",
	}, {
		name: "commit", preset: `true`, example: `false`,
		read:   func(p *parser, v gjson.Result, name string, c *Config) { c.NoCommit = !p.yes(v, name) },
		schema: `"type": "boolean"`,
		about: "Whether a run commits each feature when it is proven. A run with workers always does; the hook " +
			"never commits. See docs/runner.md#commits.",
	}, {
		name: "parallel", example: `4`,
		field: func(c *Config) any { return &c.Parallel }, least: 1, most: 64,
		about: "How many checks run at once, each in its own copy. Default: one; in a run with lanes and slow " +
			"checks, one for each lane, up to two for each core.",
	}, {
		name: "on_complete",
		example: `["./notify.sh", ["notify-send", "ralph"], ` +
			`{"command": "./slow.sh", "timeout": "2m", "env": ["MY_TOKEN"]}]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		usage: "run the shell command `COMMAND` when the loop ends; repeatable",
		about: "Commands that run in order when the loop ends, and get a JSON object. They need 'trust', unless " +
			"'init' wrote them.",
	}, {
		name: "on_stagnation", example: `["./wake-me.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Like on_complete, if the loop ends STAGNATED.",
	}, {
		name: "on_failure", example: `["./wake-me.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Like on_complete, for every other ending whose status is failed.",
	}, {
		name: "on_iteration", example: `["./count.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that run when an iteration starts; the hook does not wait for them.",
	}, {
		name: "pr", example: `["./open-pr.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that get the branch with a run's proven work, for example to open a pull request. " +
			"Implies --no-merge.",
	}, {
		name: "pre_iteration", example: `[{"command": "./make-room.sh", "on_error": "stop"}]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that run before each session of a run.",
	}, {
		name: "post_iteration", example: `["./count.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that run after each session of a run.",
	}, {
		name: "agents",
		example: `{"planner": {"extends": "claude", "model": "opus", "prompt": "plan.md"}, ` +
			`"builder": {"command": ["./bin/builder"]}}`,
		read:   func(p *parser, v gjson.Result, name string, c *Config) { p.agents(v, name, &c.Agents) },
		schema: `"type": "object", "additionalProperties": { "$ref": "#/$defs/agent" }`,
		about:  "Agents for ralph-runner --agent; docs/runner.md#agents lists their keys.",
	}, {
		name: "chains", example: `{"ship": "planner:5 -> builder:30 <-> reviewer:5"}`,
		read:   (*parser).chains,
		schema: `"type": "object", "additionalProperties": { "type": "string", "minLength": 3 }`,
		about: "Chains for ralph-runner --chain: agents and their iterations, joined by ->. The agent after <-> " +
			"reviews, and sends work back.",
	}, {
		name: "fallback", example: `["codex"]`,
		field: func(c *Config) any { return &c.Fallback }, of: "a list of texts", ok: notEmpty, least: 1,
		about: "Agents that take over during a rate limit; the run uses the first one that is free.",
	}, {
		name: "escalate", example: `["sonnet", "opus"]`,
		field: func(c *Config) any { return &c.Escalate }, of: "a list of texts", ok: notEmpty, least: 1,
		about: "Models for the first, second and later attempts at a feature. --model and a feature's own model " +
			"take precedence.",
	},
}

// sourceKeys has the keys of "source".
var sourceKeys = []key[Source]{
	{
		name: "list", example: `["bd", "list", "--all", "--json", "--limit", "0"]`,
		field: func(s *Source) any { return &s.List },
		about: "Prints all items, including closed ones, as a JSON array or one object per line.",
	}, {
		name: "reopen", example: `["bd", "reopen", "${id}"]`,
		field: func(s *Source) any { return &s.Reopen },
		about: "Reopens the item ${id}, which must be a separate word.",
	}, {
		name: "show", example: `["bd", "show", "${id}", "--json"]`,
		field: func(s *Source) any { return &s.Show },
		about: "Prints an item that list no longer prints. Default: such items are neither open nor done.",
	},
}

// promiseKeys has the keys of "promises".
var promiseKeys = []key[Config]{
	{
		name: "complete", example: `["ALL DONE"]`,
		read: (*parser).promise, schema: `"type": "array", "items": { "type": "string" }`,
		about: "The loop is complete.",
	}, {
		name: "blocked", example: `["STUCK: (.*)"]`,
		read: (*parser).promise, schema: `"type": "array", "items": { "type": "string" }`,
		about: "The loop cannot continue without a person.",
	}, {
		name: "escalate", example: `["LOOK: (.*)"]`,
		read: (*parser).promise, schema: `"type": "array", "items": { "type": "string" }`,
		about: "A person must review the loop.",
	},
}

// checkKeys has the keys of an entry of "checks".
var checkKeys = []key[Check]{
	{
		name: "name", example: `"unit tests"`,
		field: func(c *Check) any { return &c.Name },
		about: "Its name for people and the agent.",
	}, {
		name: "command", example: `"go test ./..."`,
		schema: wordsSchema,
		about:  "Must exit with 0.",
	}, {
		name: "file_exists", example: `"docs/install.md"`,
		field: func(c *Check) any { return &c.FileExists }, path: true,
		about: "A path in the project that must exist.",
	}, {
		name: "file_contains", example: `{"file": "CHANGELOG.md", "pattern": "^## 2\\."}`,
		read: (*parser).fileContains, object: true,
		about: "A file that must match a regular expression; ^ and $ match at each line.",
	}, {
		name: "last_message", example: `"^Verified: "`,
		read: (*parser).lastMessage, schema: `"type": "string"`,
		about: "A regular expression that the agent's last message must match.",
	}, {
		name: "timeout", preset: `"5m"`, example: `"10m"`,
		field: func(c *Check) any { return &c.Timeout }, least: 1,
		about: "How long it may run.",
	}, {
		name: "when", preset: `"claim"`, example: `"end"`,
		field: func(c *Check) any { return &c.When },
		words: []string{decide.WhenClaim, decide.WhenStop, decide.WhenEnd},
		about: "claim: when a feature is newly claimed, and again at the end if files have changed since. stop: " +
			"at each stop. end: when everything is claimed.",
	}, {
		name: "features", example: `["login", 7]`,
		read:   (*parser).featureIDs,
		schema: `"type": "array", "items": { "type": ["string", "number"] }, "minItems": 1`,
		about:  "With when: claim, the ids of its features; it runs once for each. Default: all.",
	}, {
		name: "in", preset: `"copy"`, example: `"project"`,
		field: func(c *Check) any { return &c.In },
		words: []string{InCopy, InProject},
		about: "Where it runs. project: in the project itself, where the agent can edit everything it runs.",
	},
}

// containsKeys has the keys of "file_contains".
var containsKeys = []key[Check]{
	{
		name:  "file",
		field: func(c *Check) any { return &c.File }, path: true,
		about: "Its path in the project.",
	}, {
		name: "pattern",
		read: (*parser).pattern, schema: `"type": "string"`,
		about: "A regular expression.",
	},
}

// evaluatorKeys has the keys of an entry of "evaluate".
var evaluatorKeys = []key[Evaluator]{
	{
		name: "name", example: `"review"`,
		field: func(e *Evaluator) any { return &e.Name },
		about: "Its name for people and logs.",
	}, {
		name: "command", example: `["./review.sh"]`,
		schema: wordsSchema,
		about:  "Answers in JSON on standard output.",
	}, {
		name: "timeout", preset: `"5m"`, example: `"10m"`,
		field: func(e *Evaluator) any { return &e.Timeout }, least: 1,
		about: "How long it may run.",
	},
}

// prepareKeys has the keys of an entry of "prepare".
var prepareKeys = []key[Prepare]{
	{
		name: "command", example: `"npm ci"`,
		schema: wordsSchema,
		about:  "The command to run.",
	}, {
		name: "when_changed", example: `["package-lock.json"]`,
		field: func(c *Prepare) any { return &c.Inputs },
		about: "Patterns of files; it runs again when one changes. Default: it runs once.",
	}, {
		name: "timeout", preset: `"5m"`, example: `"10m"`,
		field: func(c *Prepare) any { return &c.Timeout }, least: 1,
		about: "How long it may run.",
	},
}

// commandKeys has the keys of a command that is an object.
var commandKeys = []key[Command]{
	{
		name: "command", example: `"./notify.sh"`,
		schema: wordsSchema,
		about:  "The command to run.",
	}, {
		name: "timeout", preset: `"30s"`, example: `"2m"`,
		field: func(c *Command) any { return &c.Timeout }, least: 1,
		about: "How long it may run.",
	}, {
		name: "env", example: `["SLACK_URL"]`,
		field: func(c *Command) any { return &c.Env }, of: "a list of names of variables",
		about: "Names of more variables that it gets.",
	}, {
		name: "on_error", preset: `"continue"`, example: `"continue"`,
		read: (*parser).onError, schema: `"enum": ["continue", "stop"]`,
		about: "stop: if a pre_iteration command fails, the run ends.",
	},
}

// agentKeys has the keys of an entry of "agents".
var agentKeys = []key[Agent]{
	{
		name: "extends", example: `"claude"`,
		field: func(a *Agent) any { return &a.Extends },
		about: "The agent whose settings this one inherits.",
	}, {
		name: "command", example: `["./bin/builder"]`,
		field: func(a *Agent) any { return &a.Argv }, of: "an array of words", least: 1,
		about: "The program and its arguments.",
	}, {
		name: "args", example: `["--append-system-prompt-file", "planner.md"]`,
		field: func(a *Agent) any { return &a.Args }, of: "an array of words", least: 1,
		about: "More arguments, after the others.",
	}, {
		name: "model", example: `"opus"`,
		field: func(a *Agent) any { return &a.Model },
		about: "The model to request.",
	}, {
		name: "prompt", example: `"plan.md"`,
		field: func(a *Agent) any { return &a.Prompt }, path: true,
		about: "A file below the project's root whose text comes before each prompt.",
	}, {
		name: "prompt_by", preset: `"stdin"`, example: `"argument"`,
		field: func(a *Agent) any { return &a.PromptBy }, words: []string{"stdin", "argument", "file"},
		about: "How it gets the prompt: on standard input, as its last argument, or as the path of a file.",
	}, {
		name: "output", preset: `"text"`, example: `"claude"`,
		field: func(a *Agent) any { return &a.Output }, words: Outputs,
		about: "How to read its output: as the JSON of an agent, or as text.",
	}, {
		name: "complete_on", example: `["file:PLAN.md"]`,
		field: func(a *Agent) any { return &a.CompleteOn }, of: "a list of texts", ok: notEmpty, least: 1,
		about: "The signals that finish its step of a chain: marker, exit_code, file:PATH.",
	}, {
		name: "checks", example: `["test -s PLAN.md"]`,
		field: func(a *Agent) any { return &a.Checks }, of: "a list of texts", ok: notEmpty, least: 1,
		schema: `"type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1`,
		about:  "Shell commands that must exit with 0 when its step of a chain is done.",
	},
}
