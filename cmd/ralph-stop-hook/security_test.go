package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// threats lists the scripts of the threats that each program was designed against.
var threats = map[string][]string{"ralph-stop-hook": {
	"symlink-out", "symlink-in", "fifo-state", "hardlink-state", "loopdir-traversal", "owner-mode", "mode-0666",
	"repo-notify-ignored", "repo-git-config", "notify-argv", "notify-env", "notify-hang",
	"status-escapes", "reason-injection", "record-open", "dup-keys", "deep-json", "state-tamper", "panic-exit",
	"stdout-clean", "log-rotate", "init-garbage", "entry-planted", "agent-other-session", "use-caller",
	"begin-by-person", "links-elsewhere", "links-foreign", "confine", "copy-attacks", "check-added",
	"check-script",
}, "ralph-runner": {
	"hostile-output", "hostile-words", "hostile-processes", "hostile-files", "agent-stops", "handoff", "agents-trusted",
	"own-config", "prices", "resume-file", "serve-refused", "mcp-refused", "event-forged", "results", "workers-refused",
	"serve-control", "commit-refused",
}}

// TestSecurityTable checks that the tables of SECURITY.md and the scripts match.
func TestSecurityTable(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range tableProblems(root, string(page)) {
		t.Error(problem)
	}
	// The control: a row without its script, a script without its row, and a link to a missing
	// file must be found.
	for name, broken := range map[string]string{
		"a row is gone":               rowOf("symlink-in").ReplaceAllString(string(page), ""),
		"a script is not there":       strings.ReplaceAll(string(page), "fifo-state", "pipe-state"),
		"a test is not there":         strings.ReplaceAll(string(page), "TestProperties", "TestNothing"),
		"a row of the runner is gone": rowOf("handoff").ReplaceAllString(string(page), ""),
		"a table is gone":             strings.Split(string(page), "### Threats to ralph-runner")[0],
		"a row shows nothing": strings.Replace(
			string(page), "[dup-keys](cmd/ralph-stop-hook/testdata/script/dup-keys.txtar)", "–", 1,
		),
	} {
		if len(tableProblems(root, broken)) == 0 {
			t.Errorf("control: %s, and it was not seen", name)
		}
	}
}

// rowOf matches the row that a script shows.
func rowOf(script string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^.*` + script + `\.txtar.*\n`)
}

var shownBy = regexp.MustCompile(`\| \[([\w-]+)\]\(([^)]+)\) \|$`)

func tableProblems(root, page string) (problems []string) {
	tables := strings.Split(page, "\n|---|---|---|\n")
	if len(tables) != 1+len(threats) {
		return []string{fmt.Sprintf("%d tables", len(tables)-1)}
	}
	problems = programProblems(root, tables[1], "ralph-stop-hook", 1) // the runner has tools for agents
	return append(problems, programProblems(root, tables[2], "ralph-runner", 0)...)
}

// programProblems looks at a program's table. none is how many rows show nothing.
func programProblems(root, table, program string, none int) (problems []string) {
	var shown []string
	for row := range strings.Lines(table) {
		if !strings.HasPrefix(row, "|") {
			break
		}
		m := shownBy.FindStringSubmatch(strings.TrimRight(row, "\n"))
		if m == nil {
			none--
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m[2])))
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case strings.HasPrefix(m[1], "Test"):
			if !strings.Contains(string(text), "func "+m[1]+"(") {
				problems = append(problems, fmt.Sprintf("no %s in %s", m[1], m[2]))
			}
		case m[2] != "cmd/"+program+"/testdata/script/"+m[1]+".txtar":
			problems = append(problems, fmt.Sprintf("%s leads to %s", m[1], m[2]))
		default:
			shown = append(shown, m[1])
		}
	}
	if none != 0 {
		problems = append(problems, fmt.Sprintf("%d rows of %s too many show nothing", -none, program))
	}
	slices.Sort(shown)
	if want := slices.Sorted(slices.Values(threats[program])); !slices.Equal(shown, want) {
		problems = append(problems, fmt.Sprintf("the rows of %s are %q, want %q", program, shown, want))
	}
	return problems
}
