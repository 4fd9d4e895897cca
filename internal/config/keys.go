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
		about:   "The URL of this schema, for editors.",
	}, {
		name: "task", example: `"the checkout flow"`,
		field: func(c *Config) any { return &c.Task },
		about: "What the loop is for, in a few words. Notifiers get it.",
	}, {
		name: "list", example: `"docs/prd.json", ".taskmaster/tasks/tasks.json#ui", "none"`,
		field: func(c *Config) any { return &c.List }, path: true,
		usage: "take the list in `FILE`, below this folder (default: the project's list)",
		about: "The path of the feature list, below the project's root. The path of a Task Master file can end " +
			"with a tag: tasks.json#ui. Without this key: feature_list.json in the loop folder. none: the loop has " +
			"no list, and is complete when the agent says so and every check holds; a file of that name is ./none.",
	}, {
		name:    "skip_headings",
		preset:  `["Optional", "Future", "Nice to have", "Out of scope"]`,
		example: `["Optional", "Future", "Stretch goals"]`,
		field:   func(c *Config) any { return &c.SkipHeadings }, of: "a list of headings", ok: notEmpty,
		schema: `"type": "array", "items": { "type": "string", "minLength": 1 }`,
		about: "Headings of a Markdown list. Items below them are not work. A heading counts if it is one of " +
			"these, in any letter case, also after a number or before a word such as Work, or if it ends with one " +
			"in brackets: Polish (optional). An empty list: all items are work.",
	}, {
		name:    "source",
		example: `{"list": ["bd", "list", "--all", "--json", "--limit", "0"], "reopen": ["bd", "reopen", "${id}"]}`,
		read:    (*parser).source, object: true,
		about: "The commands of a tracker, instead of a list in a file. They run only after 'ralph-stop-hook " +
			"trust'. The agent closes items in the tracker. The hook reopens an item whose check fails.",
	}, {
		name: "bind", preset: `"first"`, example: `"prompt"`,
		field: func(c *Config) any { return &c.Bind }, words: []string{decide.BindPrompt, decide.BindFirst},
		about: "Which session works on the loop. prompt: the one that gets RALPH_PROMPT.md, or a prompt with the " +
			"same first line. first: the first one that stops in the project.",
	}, {
		name: "continue_with", preset: `"auto"`, example: `"block"`,
		field: func(c *Config) any { return &c.Continue },
		words: []string{ContinueBlock, ContinueContext, ContinueAuto},
		about: "How the next prompt reaches the agent. block: as the reason of a block, which every version of " +
			"Claude Code accepts. context: as additional context, which costs half; 2.1.163 and later accept it, and " +
			"older versions end the turn. auto: context if the event names its prompt, as it does from 2.1.198 on, " +
			"else block.",
	}, {
		name: "limits", example: `{"max_iterations": 40, "deadline": "8h"}`,
		read:   func(p *parser, v gjson.Result, _ string, c *Config) { p.limits(v, &c.Limits) },
		object: true,
		about:  "Limits that end the loop or hand it over, whatever the list says.",
	}, {
		name: "guards", example: `{"tests_only": false}`,
		read: (*parser).guards, object: true,
		about: "Rules that end a loop whose agent gets nowhere. All of them are on.",
	}, {
		name: "wait_for", preset: `["subagent"]`, example: `["subagent", "shell"]`,
		read: (*parser).waitFor, schema: `"type": "array", "items": { "enum": ["subagent", "shell"] }`,
		about: "What the loop waits for in the background. It always waits for subagents and one-time wake-ups. It " +
			"waits for shells only if they are named here, because a dev server never ends.",
	}, {
		name: "checks",
		example: `[{"command": "go test -run \"$RALPH_FEATURE\" ./...", "when": "feature"}, ` +
			`{"command": ["go", "vet", "./..."]}]`,
		read: (*parser).checks, schema: `"type": "array", "items": { "$ref": "#/$defs/check" }`,
		usage: "require that the shell's `COMMAND` exits with 0: at the end, or for each feature if it names " +
			"$RALPH_FEATURE; repeatable",
		about: "What must hold before a claim counts. Commands run only after 'ralph-stop-hook trust', or if " +
			"'init' wrote them. A command that nobody trusts fails.",
	}, {
		name: "evaluate", example: `["default", {"command": ["./review.sh"], "timeout": "2m"}]`,
		read:   (*parser).evaluators,
		schema: `"type": "array", "items": { "$ref": "#/$defs/evaluator" }, "minItems": 1, "maxItems": 10`,
		about: "Who decides at each stop whether the loop is complete. The hook asks them in order and follows the " +
			"first that says complete or escalate. default: every feature is claimed and every check holds. " +
			"validation: every check holds, for all features that it is for. promise: the agent says so, and checks " +
			"in the list hold; not allowed beside checks. A command gets the iteration as JSON on standard input " +
			"and answers {\"action\": \"complete|continue|escalate\", \"reason\", \"nextPrompt\"}; its complete is " +
			"a claim. Without this key: [\"default\"].",
	}, {
		name: "promises", example: `{"complete": ["ALL DONE"], "blocked": ["STUCK: (.*)"]}`,
		read: (*parser).promises, object: true,
		about: "More lines with which the agent can say how the loop stands, beside <promise>COMPLETE</promise>, " +
			"BLOCKED and ESCALATE. Each is a regular expression for the whole last line of its message. Its first " +
			"group is the reason.",
	}, {
		name: "protect", example: `["**/*_test.{go,txt}", "testdata/"]`,
		field: func(c *Config) any { return &c.Protect },
		about: "Patterns of files that are locked: they must stay what they were at 'trust', such as **/*_test.go. " +
			"* and ? match within a name, **/ matches any folders, dir or dir/ everything below a folder, {a,b} either, " +
			"[a-z] one of these characters. 'trust' refuses a pattern that matches no file.",
	}, {
		name: "protect_new", preset: `false`, example: `true`,
		field: func(c *Config) any { return &c.ProtectNew },
		about: "New files that match protect count as a change, too. A pattern may then match no file yet.",
	}, {
		name: "room", preset: `false`, example: `true`,
		field: func(c *Config) any { return &c.Room },
		usage: "run checks in a room: a folder of their own, outside of the project",
		about: "Checks and evaluators run in a folder of the loop's own, outside of the project. It has what the " +
			"project had at 'trust', and of the changes since then those that work allows and protect does not forbid. " +
			"Other changes do not count, and end nothing: the next prompt and status list them. Files that git ignores are " +
			"not there; see prepare and share. It needs git on PATH, but no repository.",
	}, {
		name: "work", example: `["src/**", "docs/", "package.json"]`,
		field: func(c *Config) any { return &c.Work },
		usage: "with --room: count only changes of files that match `PATTERN`; repeatable",
		about: "With room: patterns of the files that are the agent's work, as in protect. No change of another file " +
			"counts. Without this key every change counts, but for locked files and build files.",
	}, {
		name: "prepare", example: `[{"command": "npm ci", "when_changed": ["package.json", "package-lock.json"]}]`,
		read: (*parser).prepares, schema: `"type": "array", "items": { "$ref": "#/$defs/prepare" }`,
		about: "Commands that make what git ignores and the checks need, such as installed packages. They run in the " +
			"room and in each worktree of a run with workers: when it is made, and all of them again before checks " +
			"when a file that one of them names has changed, or a check has changed what they made in the room. What " +
			"they make in files that git does not ignore is removed. They do not run in the project itself.",
	}, {
		name: "share", example: `["node_modules", ".venv"]`,
		field: func(c *Config) any { return &c.Share }, of: "a list of at most 20 folders of the project", ok: isBelow,
		most: 20,
		about: "With room: folders of the project that the room has by a link, instead of a copy. The agent can change " +
			"them. A folder that is not there at 'trust' is not shared.",
	}, {
		name: "env", example: `["DATABASE_URL"]`,
		field: func(c *Config) any { return &c.Env }, of: "a list of names of variables", ok: isVariable,
		schema: `"type": "array", "items": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" }`,
		about: "Names of variables that checks, evaluators and trackers get with the session's value. They get any " +
			"other variable only if it has the value that it had at 'trust'. Whoever can edit the settings can set " +
			"a variable that is named here.",
	}, {
		name: "confine", preset: `false`, example: `true`,
		field: func(c *Config) any { return &c.Confine },
		usage: "let checks write only to the project and a temporary folder",
		about: "Checks, evaluators and the tracker's commands can write only to the project (or the room), to their own " +
			"temporary folder ($TMPDIR), and to the folders in writable. They cannot use Unix sockets, and setuid " +
			"programs give them no rights. They can still read files and use the network. Notifiers are not " +
			"confined. This needs Linux 6.12 with Landlock, or macOS; elsewhere the loop ends FAILED.",
	}, {
		name: "writable", example: `["~/.cache/my-checks"]`,
		field: func(c *Config) any { return &c.Writable }, of: "a list of at most 20 folders from / or ~/", ok: isFolder,
		most: 20,
		about: "Folders outside of the project to which confined commands can also write, such as a build cache of " +
			"their own: what builds other projects takes from a cache, a check could put there. A path begins with / " +
			"or ~/. 'trust' makes a folder that is missing. None may contain the state folder.",
	}, {
		name: "report", preset: `false`, example: `true`,
		field: func(c *Config) any { return &c.Report },
		about: "A run of ralph-runner writes a report at its end, and its notice names the file as report. See " +
			"docs/watch.md.",
	}, {
		name: "commit", preset: `false`, example: `true`,
		field: func(c *Config) any { return &c.Commit },
		about: "When a stop has proven features, or the loop is complete and its checks hold, commit what has changed in " +
			"the project. See docs/configuration.md#commits. A run with workers makes commits in any case.",
	}, {
		name: "git_hooks", example: `"run"`,
		field: func(c *Config) any { return &c.GitHooks }, words: []string{HooksRun, HooksSkip},
		about: "What becomes of the repository's hooks pre-commit, prepare-commit-msg and commit-msg when the loop makes " +
			"commits, by commit or in a run with workers. run: they run for each commit, as they were at 'trust'. skip: " +
			"they do not run. Where there are such hooks, no commit is made without this key. See " +
			"docs/configuration.md#hooks-of-the-repository.",
	}, {
		name: "not_held", example: `["src/**"]`,
		field: func(c *Config) any { return &c.NotHeld },
		about: "Patterns of files that the agent may edit although a command names them, such as the sources that " +
			"a check runs. 'trust' shows which files are locked.",
	}, {
		name: "parallel", preset: `1`, example: `4`,
		field: func(c *Config) any { return &c.Parallel }, least: 1, most: 64,
		about: "How many checks of one stop may run at the same time.",
	}, {
		name: "recheck", preset: `"stale"`, example: `"all"`,
		field: func(c *Config) any { return &c.Recheck },
		words: []string{decide.RecheckStale, decide.RecheckAll, decide.RecheckNever},
		about: "Which features are proven again when every feature is claimed. stale: those that were proven " +
			"before files changed. all: all of them. never: none.",
	}, {
		name: "on_complete",
		example: `["./notify.sh", ["notify-send", "ralph"], ` +
			`{"command": "./slow.sh", "timeout": "2m", "env": ["MY_TOKEN"]}]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		usage: "run the shell's `COMMAND` when the loop ends, with JSON on standard input; repeatable",
		about: "Commands that run, in order, when the loop ends. Each gets one JSON object on standard input. They " +
			"run only after 'ralph-stop-hook trust', or if 'init' wrote them.",
	}, {
		name: "on_stagnation", example: `["./wake-me.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that run when the loop ends STAGNATED.",
	}, {
		name: "on_failure", example: `["./wake-me.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that run at every other ending whose status is failed.",
	}, {
		name: "on_iteration", example: `["./count.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that run when a stop begins an iteration. The hook does not wait for them.",
	}, {
		name: "workers", example: `4`,
		field: func(c *Config) any { return &c.Workers }, least: 1, most: decide.MaxLanes,
		about: "How many features a run of ralph-runner works at a time, each in a git worktree of its own.",
	}, {
		name: "history", preset: `"feature"`, example: `"commits"`,
		field: func(c *Config) any { return &c.History },
		words: []string{HistoryFeature, HistoryCommits},
		about: "What a run with workers merges. feature: one commit for each feature, with the messages of the " +
			"agent's own ones. commits: all of the agent's commits.",
	}, {
		name: "no_merge", example: `true`,
		field: func(c *Config) any { return &c.NoMerge },
		about: "Leave the proven work of a run with workers on its own branch, for a person to merge. " +
			"Your branch does not move.",
	}, {
		name: "pr", example: `["./open-pr.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that ralph-runner runs for the branch with the proven work, such as one that opens a pull " +
			"request. It implies no_merge.",
	}, {
		name: "pre_iteration", example: `[{"command": "./make-room.sh", "on_error": "stop"}]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that ralph-runner runs before each session. One with on_error: stop ends the run if it " +
			"fails.",
	}, {
		name: "post_iteration", example: `["./count.sh"]`,
		read: (*parser).notifiers, schema: `"$ref": "#/$defs/commands"`,
		about: "Commands that ralph-runner runs after each session.",
	}, {
		name: "max_cost_usd", example: `2.5`,
		read: (*parser).maxCost, schema: `"type": "number", "exclusiveMinimum": 0`,
		about: "What the sessions of one run of ralph-runner may cost, in dollars.",
	}, {
		name: "max_tokens", example: `2000000`,
		field: func(c *Config) any { return &c.MaxTokens }, least: 1, most: 1e12,
		about: "How many tokens the sessions of one run of ralph-runner may use.",
	}, {
		name: "agents",
		example: `{"planner": {"extends": "claude", "model": "opus", "prompt": "plan.md"}, ` +
			`"builder": {"command": ["./bin/builder"]}}`,
		read:   func(p *parser, v gjson.Result, name string, c *Config) { p.agents(v, name, &c.Agents) },
		schema: `"type": "object", "additionalProperties": { "$ref": "#/$defs/agent" }`,
		about:  "Agents for ralph-runner --agent NAME. Each extends another agent, or names a program.",
	}, {
		name: "chains", example: `{"ship": "planner:5 -> builder:30 <-> reviewer:5"}`,
		read:   (*parser).chains,
		schema: `"type": "object", "additionalProperties": { "type": "string", "minLength": 3 }`,
		about: "Chains of agents for ralph-runner --chain NAME: legs that -> joins, each an agent and how many " +
			"iterations it may have. Behind <->, one reviews, and sends work back.",
	}, {
		name: "fallback", example: `["codex"]`,
		field: func(c *Config) any { return &c.Fallback }, of: "a list of texts", ok: notEmpty, least: 1,
		about: "Agents that go on while a provider's limit keeps the run's own agent from working. The first one " +
			"that is free works.",
	}, {
		name: "escalate", example: `["sonnet", "opus"]`,
		field: func(c *Config) any { return &c.Escalate }, of: "a list of texts", ok: notEmpty, least: 1,
		about: "The models for the first, the second and each later attempt at a feature. The flag --model and a " +
			"feature's own model come first.",
	},
}

// guardKeys has the keys of "guards".
var guardKeys = []key[Config]{
	{
		name: "permission_denied", preset: `true`, example: `false`,
		read: (*parser).guard, schema: `"type": "boolean"`,
		about: "Ends the loop BLOCKED when the agent's permissions refused a tool in three iterations in a row, " +
			"and no feature passed. Only ralph-runner sees that, if the agent reports it.",
	}, {
		name: "asks", preset: `true`, example: `false`,
		read: (*parser).guard, schema: `"type": "boolean"`,
		about: "Ends the loop BLOCKED when two iterations in a row ended in a question, and nothing else happened " +
			"in them. The ending has the question.",
	}, {
		name: "regression", preset: `true`, example: `false`,
		read: (*parser).guard, schema: `"type": "boolean"`,
		about: "Ends the loop STAGNATED when checks prove fewer features than before, at two stops in a row.",
	}, {
		name: "tests_only", preset: `true`, example: `false`,
		read: (*parser).guard, schema: `"type": "boolean"`,
		about: "Ends the loop STAGNATED when five iterations changed only tests and no feature passed. It is " +
			"silent if the feature's title has the word test, without git, without a list, and if the limit " +
			"stagnation is 0.",
	}, {
		name: "same_file", preset: `true`, example: `false`,
		read: (*parser).guard, schema: `"type": "boolean"`,
		about: "Ends the loop STAGNATED when five iterations changed the same file, none of them changed a file " +
			"that the ones before had not, and no feature passed. It is silent without git, without a list, and if " +
			"the limit stagnation is 0.",
	},
}

// sourceKeys has the keys of "source".
var sourceKeys = []key[Source]{
	{
		name: "list", example: `["bd", "list", "--all", "--json", "--limit", "0"]`,
		field: func(s *Source) any { return &s.List },
		about: "Prints all items, also the closed ones, as a JSON array or as one object a line.",
	}, {
		name: "reopen", example: `["bd", "reopen", "${id}"]`,
		field: func(s *Source) any { return &s.Reopen },
		about: "Reopens the item ${id}. ${id} must be a word of its own.",
	}, {
		name: "show", example: `["bd", "show", "${id}", "--json"]`,
		field: func(s *Source) any { return &s.Show },
		about: "Prints the item ${id}, when list no longer prints it. Without this key such an item is neither " +
			"open nor done.",
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
		about: "A person must look at it.",
	},
}

// checkKeys has the keys of an entry of "checks".
var checkKeys = []key[Check]{
	{
		name: "name", example: `"unit tests"`,
		field: func(c *Check) any { return &c.Name },
		about: "The name that people and the agent see.",
	}, {
		name: "command", example: `"go test ./..."`,
		schema: wordsSchema,
		about:  "Must exit with 0.",
	}, {
		name: "file_exists", example: `"docs/install.md"`,
		field: func(c *Check) any { return &c.FileExists }, path: true,
		about: "A path below the project's root that must exist.",
	}, {
		name: "file_contains", example: `{"file": "CHANGELOG.md", "pattern": "^## 2\\."}`,
		read: (*parser).fileContains, object: true,
		about: "A file that must match a regular expression. ^ and $ match at each line.",
	}, {
		name: "last_message", example: `"^Verified: "`,
		read: (*parser).lastMessage, schema: `"type": "string"`,
		about: "A regular expression that the agent's last message must match.",
	}, {
		name: "timeout", preset: `"5m"`, example: `"10m"`,
		field: func(c *Check) any { return &c.Timeout }, least: 1,
		about: "How long it may run. Then the hook kills its whole process group.",
	}, {
		name: "when", preset: `"complete"`, example: `"feature"`,
		field: func(c *Check) any { return &c.When },
		words: []string{decide.WhenFeature, decide.WhenIteration, decide.WhenComplete},
		about: "feature: when a feature is newly claimed. iteration: at each stop. complete: when every feature is " +
			"claimed, or the loop without a list.",
	}, {
		name: "features", example: `["login", 7]`,
		read:   (*parser).featureIDs,
		schema: `"type": "array", "items": { "type": ["string", "number"] }, "minItems": 1`,
		about:  "The ids of the features that a check with when: feature is for. Without this key: all.",
	},
}

// containsKeys has the keys of "file_contains".
var containsKeys = []key[Check]{
	{
		name:  "file",
		field: func(c *Check) any { return &c.File }, path: true,
		about: "A path below the project's root.",
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
		about: "The name that people and logs see.",
	}, {
		name: "preset", example: `"validation"`,
		field: func(e *Evaluator) any { return &e.Preset }, words: decide.Presets, schema: `"$ref": "#/$defs/preset"`,
		about: "A built-in evaluator.",
	}, {
		name: "command", example: `["./review.sh"]`,
		schema: wordsSchema,
		about:  "Answers on standard output, in JSON.",
	}, {
		name: "timeout", preset: `"5m"`, example: `"10m"`,
		field: func(e *Evaluator) any { return &e.Timeout }, least: 1,
		about: "How long it may run. Then the hook kills its whole process group.",
	}, {
		name: "enabled", preset: `true`, example: `false`,
		read: (*parser).enabled, schema: `"type": "boolean"`,
		about: "false: the hook skips it.",
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
		about: "Patterns of files. The command runs again when one of them has changed. Without this key it runs " +
			"once, when the room or the worktree is made.",
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
		about: "How long it may run. Then the hook kills its whole process group.",
	}, {
		name: "env", example: `["SLACK_URL"]`,
		field: func(c *Command) any { return &c.Env }, of: "a list of names of variables",
		about: "Names of environment variables that it gets beside the usual few.",
	}, {
		name: "on_error", preset: `"continue"`, example: `"continue"`,
		read: (*parser).onError, schema: `"enum": ["continue", "stop"]`,
		about: "Of pre_iteration alone. stop: if the command fails, the run ends.",
	},
}

// agentKeys has the keys of an entry of "agents".
var agentKeys = []key[Agent]{
	{
		name: "extends", example: `"claude"`,
		field: func(a *Agent) any { return &a.Extends },
		about: "The agent of which this one takes all that it does not say itself.",
	}, {
		name: "command", example: `["./bin/builder"]`,
		field: func(a *Agent) any { return &a.Argv }, of: "an array of words", least: 1,
		about: "The program and its arguments.",
	}, {
		name: "args", example: `["--append-system-prompt-file", "planner.md"]`,
		field: func(a *Agent) any { return &a.Args }, of: "an array of words", least: 1,
		about: "More arguments, behind the others.",
	}, {
		name: "model", example: `"opus"`,
		field: func(a *Agent) any { return &a.Model },
		about: "The model that it is asked for.",
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
		about: "How its output is read: as the JSON of an agent, or as text.",
	}, {
		name: "complete_on", example: `["file:PLAN.md"]`,
		field: func(a *Agent) any { return &a.CompleteOn }, of: "a list of texts", ok: notEmpty, least: 1,
		about: "The signals with which it says that its leg of a chain is done: marker, exit_code, file:PATH.",
	}, {
		name: "checks", example: `["test -s PLAN.md"]`,
		field: func(a *Agent) any { return &a.Checks }, of: "a list of texts", ok: notEmpty, least: 1,
		schema: `"type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1`,
		about:  "Lines for the shell that must exit with 0 when its leg of a chain is done.",
	},
}
