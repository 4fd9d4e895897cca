//go:build unix

package main

// hostileFlags are one word of the command line each.
var hostileFlags = []badInput{
	{"nothing", "", 64, `"" is not a name for a loop`},
	{"a flag that is not there", "--yolo", 64, `unknown flag "--yolo"; see 'ralph-runner run --help'`},
	{"a flag with escapes", "--\x1b[2J", 64, `unknown flag "--\x1b[2J"; see 'ralph-runner run --help'`},
	{"a flag without its value", "--model", 64, "?"},
	{"a flag that takes no value", "--json=perhaps", 64,
		`--json "perhaps"; want true or false; see 'ralph-runner run --he`},
	{"a loop that is a path", "../../checkout", 64, `the name "../../checkout" has characters that a folder cannot ha`},
	{"a loop that is not there", "nowhere", 64, `no loop "nowhere" in this project; 'ralph-stop-hook status --all`},
	{"no iterations", "--max-iterations=0", 64, `--max-iterations must be from 1 to 1000000`},
	{"iterations below 0", "--max-iterations=-1", 64, `--max-iterations must be from 1 to 1000000`},
	{"half an iteration", "--max-iterations=1.5", 64, `--max-iterations "1.5"; want a number; see 'ralph-runner run --h`},
	{"iterations out of range", "--max-iterations=99999999999999999999", 64,
		`--max-iterations "99999999999999999999"; want a number; see 'ral`},
	{"tokens below 0", "--max-tokens=-1", 64, `--max-tokens must be above 0`},
	{"tokens out of range", "--max-tokens=1e30", 64, `--max-tokens "1e30"; want a number; see 'ralph-runner run --help`},
	{"a session of no time", "--session-timeout=0", 64,
		`--session-timeout must be above 0: a session without a limit may`},
	{"a session of a time below 0", "--session-timeout=-1h", 64,
		`--session-timeout must be above 0: a session without a limit may`},
	{"a session of 300 years", "--session-timeout=9999999h", 64,
		`--session-timeout "9999999h"; want a time, such as 90s or 12h; s`},
	{"a time without a unit", "--session-timeout=60", 64,
		`--session-timeout "60"; want a time, such as 90s or 12h; see 'ra`},
	{"a silence of a second", "--idle-timeout=1s", 64, `--idle-timeout must be at least 15m: a tool is silent until it e`},
	{"a wait below 0", "--wait=-1s", 64, "--wait cannot be below 0"},
	{"no workers", "--workers=0", 64, `--workers must be at least 1, and at most 256`},
	{"a million workers", "--workers=1000000", 64, `--workers must be at least 1, and at most 256`},
	{"a lease of no time", "--lease=0s", 64, `--lease must be at least 2s`},
	{"an engine without workers", "--engine=embedded", 64,
		`--engine needs --workers: how many features are worked at a time`},
	{"an address without an engine", "--listen=0.0.0.0:1", 64, `--listen goes with --engine embedded`},
	{"a folder that is not there", "--cwd=/nowhere", 64, `--cwd: stat /nowhere: no such file or directory`},
	{"a folder that is a file", "--cwd=victim", 64, `victim is not a folder`},
	{"a model that is an option", "--model=--dangerously-skip-permissions", 64, `the agent text takes no --model`},
	{"a fallback that is not there", "--fallback=nobody", 64,
		`there is no agent "nobody": ralph.json, your configuration and P`},
	{"a check of a program that is not there", "--check=nowhere", 64,
		`--check nowhere: the shell finds no program nowhere; install it,`},
	{"branches without workers", "--no-merge", 64, `--no-merge and "pr" need --workers: without lanes the agent work`},
}

// hostileTasks are prompts of one session without a loop.
var hostileTasks = []badInput{
	{"nothing", "", 64, "delegate what? say --task 'TEXT'"},
	{"spaces", " \n", 64, "delegate what? say --task 'TEXT'"},
	{"invalid UTF-8", "a\xff", 64, "delegate what? say --task 'TEXT'"},
}
