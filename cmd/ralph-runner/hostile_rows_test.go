//go:build unix

package main

// fixture holds the files that each row begins with: a loop of two features that nobody has worked, and agents that
// print the file out.
var fixture = map[string]string{
	"$LOOP/feature_list.json": `[{"id":"one","passes":false},{"id":"two","passes":false}]` + "\n",
	"$PROJECT/victim":         "theirs\n",
	"$HOME/.bashrc":           "theirs\n",
	// As those clients do, it ends with status 1 after a limit of its provider.
	"$PROJECT/client.sh": "cat out; ! tail -c 200 out | grep -qe ':429' -e 'usage limit'\n",
	"$CONFIG": `{"agents": {
		"text": {"command": ["cat", "out"]}, "claude": {"command": ["sh", "client.sh"], "output": "claude"},
		"codex": {"command": ["sh", "client.sh"], "output": "codex"},
		"gemini": {"command": ["cat", "out"], "output": "gemini"},
		"qwen": {"command": ["cat", "out"], "output": "qwen"}, "sh": {"command": ["sh", "agent.sh"]},
		"opencode": {"command": ["cat", "out"], "output": "opencode"},
		"pilot": {"command": ["cat", "out"], "output": "copilot"}}}`,
}

// suites are the tables of hostile inputs, by what they replace.
var suites = map[string]suite{
	"text": {path: "$PROJECT/out", args: work("text", "--verbose"), rows: hostileText,
		good: badInput{"good", "an answer\n", 1, "ended after"}},
	"claude": {path: "$PROJECT/out", args: work("claude", "--verbose"), rows: hostileClaude,
		good: badInput{"good", says + result, 1, "5 tokens, $0.50"}},
	"codex": {path: "$PROJECT/out", args: work("codex", "--verbose"), rows: hostileCodex,
		good: badInput{"good", `{"type":"turn.completed","usage":{"input_tokens":7}}` + "\n", 1, "7 tokens"}},
	"copilot": {path: "$PROJECT/out", args: work("pilot", "--verbose"), rows: hostileCopilot,
		good: badInput{"good", `{"type":"result","sessionId":"s","exitCode":0}` + "\n", 1, "ended after"}},
	"gemini": {path: "$PROJECT/out", args: work("gemini", "--verbose"), rows: hostileGemini,
		good: badInput{"good", `{"type":"result","status":"success","stats":{"input_tokens":7}}` + "\n", 1, "7 tokens"}},
	"opencode": {path: "$PROJECT/out", args: work("opencode", "--verbose"), rows: hostileOpencode,
		good: badInput{"good", `{"type":"step_finish","part":{"reason":"stop","tokens":{"input":7}}}` + "\n", 1,
			"7 tokens"}},
	"qwen": {path: "$PROJECT/out", args: work("qwen", "--verbose"), rows: hostileQwen,
		good: badInput{"good", `{"type":"result","is_error":false,"result":"x","usage":{"input_tokens":7}}` + "\n",
			1, "7 tokens"}},
	"rollout": rollout,
	"usage":   usage,
	"agent": {path: "$PROJECT/agent.sh", args: work("sh"), may: []string{"$LOOP", "$PROJECT/"}, rows: hostileAgents,
		good: badInput{"good", "echo done", 1, "ended after"}},
	"chain": {files: answer, args: []string{"--chain", "$IN"}, rows: hostileChains,
		good: badInput{"good", "text:1", 1, "REACHED_LIMIT"}},
	"hook": {files: answer, args: work("text", "--hook", "$IN"), rows: hostileHooks,
		good: badInput{"good", "post-iteration:true", 1, "ended after"}},
	"signal": {files: noList, args: work("text", "--complete-on", "$IN"), rows: hostileSignals,
		good: badInput{"good", "marker", 1, "ended after"}},
	"pattern": {files: answer, args: work("text", "--pattern", "$IN"), rows: hostilePatterns,
		good: badInput{"good", "DONE", 1, "ended after"}},
	"name": {args: []string{"--agent", "$IN", "--dry-run"}, rows: hostileNames,
		good: badInput{"good", "text", 0, "agent    cat out"}},
	"resume": {files: map[string]string{"$STATE/run.json": runRecord(`"sessions":0`)}, args: []string{"--resume", "$IN"},
		rows: hostileResumes, good: badInput{"good", "r1", 2, "STAGNATED"}},
	"cost": {files: map[string]string{"$PROJECT/out": result}, args: work("claude", "--max-cost", "$IN"),
		rows: hostileCosts,
		good: badInput{"good", "2.5", 1, "$0.50"}},
	"flag": {files: answer, args: []string{"--agent", "text", "--dry-run", "$IN"}, rows: hostileFlags,
		good: badInput{"good", "--wait=1m", 0, "loop     checkout"}},
	"task": {files: answer, args: []string{"delegate", "--agent", "text", "--task", "$IN"}, rows: hostileTasks,
		good: badInput{"good", "Say it.", 0, "an answer"}},
	"note": {files: ownedByRun, args: []string{"note", "$IN"}, rows: hostileNotes,
		good: badInput{"good", "Use the new API.", 0, "checkout: the next prompt will include your note"}},
	"prompt": {path: "$PROJECT/prompt.md", args: prompted, rows: hostilePrompts,
		good: badInput{"good", "Do it.\n", 0, "Do it."}},
	"agents": {path: "$CONFIG", args: work("mine", "--dry-run"), rows: hostileOwn,
		good: badInput{"good", mine(`{"command":["cat"]}`), 0, "agent    cat"}},
	"prices": {path: "$CONFIG", args: work("mine", "--dry-run", "--max-cost", "1", "--model", "m"), rows: hostilePrices,
		good: badInput{"good", priced(`{"m":{"input":1,"output":1}}`), 0, "loop     checkout"}},
	"ralph": {path: "$LOOP/ralph.json", args: work("text"), files: answer, rows: hostileConfigs,
		good: badInput{"good", `{"escalate":["m"]}`, 1, "ended after"}},
	"theirs": {path: "$LOOP/ralph.json", args: work("mine"), rows: hostileTheirs,
		files: map[string]string{"$CONFIG": mine(`{"command":["cat","out"]}`), "$PROJECT/out": "an answer\n"},
		good:  badInput{"good", `{}`, 1, "ended after"}},
	"record": {path: "$STATE/run.json", args: []string{"--resume", "checkout"}, rows: hostileRecords,
		good: badInput{"good", runRecord(`"sessions":0`), 2, "STAGNATED"}},
	"sessions": {path: "$PROJECT/.agent-state/iterations.jsonl", args: reported, files: overRun, rows: hostileSessions,
		good: badInput{"good", session(`"feature":"one"`), 0, "| 1 | one | done |"}},
	"log": {path: "$PROJECT/.agent-state/logs/r1/1.log", args: asJSON, files: overRun, rows: hostileLogs,
		good: badInput{"good", "a line\n", 0, "a line"}},
	"handoff": handoff,
	"line": {path: "$STATE/run.json", args: []string{"status", "--line"}, files: ownedByRun, rows: hostileLines,
		good: badInput{"good", runRecord(`"current":{"feature":"one"}`), 0, "run of text · one"}},
	"mcp": {path: stdin, args: []string{"mcp"}, rows: hostileFrames,
		good: badInput{"good", toolCall("task_get", `{"id":"checkout"}`), 0, `"id":2,"result"`}},
	"engine": {git: true, args: work("text", "--workers", "1", "--dry-run", "--engine", "$IN"), rows: hostileEngines,
		good: badInput{"good", "tls://a.example.com:4222,tls://b.example.com:4222", 0, "loop     checkout"}},
	"credential": {args: []string{"worker", "--dir", "worker"}, env: []string{"RALPH_ENGINE=$IN"},
		may: []string{"$PROJECT/worker/"}, rows: hostileCredentials,
		good: badInput{"good", at("nats://[fe80::1%25none]"), 4, "cannot connect to the engine at nats://[fe80::1"}},
	"worker": {args: []string{"engine", "token", "$IN", "--engine", "nats://127.0.0.1:4222"}, rows: hostileWorkers,
		good: badInput{"good", "builder", 0, "builder may take work at nats://127.0.0.1:4222"}},
	"feature": {git: true, path: "$LOOP/feature_list.json", files: map[string]string{"$PROJECT/agent.sh": claims},
		args: work("sh", "--workers", "1", "--no-merge"), may: []string{"$PROJECT/.git/"}, rows: hostileFeatures,
		good: badInput{"good", one(`"login"`), 0, "login is merged"}},
}

// answer is what the agents print where the input is something else.
var (
	answer = map[string]string{"$PROJECT/out": "an answer\n"}
	// noList has a loop without a list, which alone takes signals, and a check, without which none counts.
	noList = map[string]string{"$PROJECT/out": "an answer\n",
		"$LOOP/ralph.json": `{"list": "none", "checks": [{"command": ["false"]}]}`}
)
