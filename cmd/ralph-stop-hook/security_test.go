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

// threats lists the scripts of the threats that the hook was designed against.
var threats = []string{
	"symlink-out", "symlink-in", "fifo-state", "hardlink-state", "loopdir-traversal", "owner-mode", "mode-0666",
	"repo-notify-ignored", "repo-git-config", "notify-argv", "notify-env", "notify-hang",
	"status-escapes", "reason-injection", "dup-keys", "deep-json", "state-tamper", "panic-exit",
	"stdout-clean", "log-rotate", "init-garbage", "entry-planted", "agent-other-session",
	"begin-by-person", "links-elsewhere", "confine",
}

// TestSecurityTable checks that the table of SECURITY.md and the scripts match.
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
		"a row is gone":         regexp.MustCompile(`(?m)^.*symlink-in\.txtar.*\n`).ReplaceAllString(string(page), ""),
		"a script is not there": strings.ReplaceAll(string(page), "fifo-state", "pipe-state"),
		"a test is not there":   strings.ReplaceAll(string(page), "TestProperties", "TestNothing"),
		"a row shows nothing": strings.Replace(
			string(page), "[dup-keys](cmd/ralph-stop-hook/testdata/script/dup-keys.txtar)", "–", 1,
		),
	} {
		if len(tableProblems(root, broken)) == 0 {
			t.Errorf("control: %s, and it was not seen", name)
		}
	}
}

var shownBy = regexp.MustCompile(`\| \[([\w-]+)\]\(([^)]+)\) \|$`)

func tableProblems(root, page string) (problems []string) {
	var shown []string
	rows, none := 0, 0
	_, table, _ := strings.Cut(page, "\n|---|---|---|\n")
	for row := range strings.Lines(table) {
		rows++
		m := shownBy.FindStringSubmatch(strings.TrimRight(row, "\n"))
		if m == nil {
			none++
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
		case m[2] != "cmd/ralph-stop-hook/testdata/script/"+m[1]+".txtar":
			problems = append(problems, fmt.Sprintf("%s leads to %s", m[1], m[2]))
		default:
			shown = append(shown, m[1])
		}
	}
	if none != 1 { // what a later binary has
		problems = append(problems, fmt.Sprintf("%d of %d rows show nothing, want 1", none, rows))
	}
	slices.Sort(shown)
	if want := slices.Sorted(slices.Values(threats)); !slices.Equal(shown, want) {
		problems = append(problems, fmt.Sprintf("the rows are %q, want %q", shown, want))
	}
	return problems
}
