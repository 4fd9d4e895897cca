package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	group   = regexp.MustCompile(`(?m)^([A-Z][a-z ]+):\n((?:  .+\n)+)`)
	command = regexp.MustCompile(`(?m)^  (\S+)  `)
	aside   = regexp.MustCompile(`(?m)^(    |  )?-h, --help .*\n|\n'.* COMMAND --help' explains one\.\n`)
)

// TestCommands compares docs/commands.md with what the programs' helps say.
func TestCommands(t *testing.T) {
	program := build(t)
	var b strings.Builder
	b.WriteString("# Commands\n\nThe helps of both programs. `ralph-runner` also takes the commands for loops of " +
		"`ralph-stop-hook`.\n")
	shown := map[string]bool{}
	for _, name := range []string{"ralph-stop-hook", "ralph-runner"} {
		fmt.Fprintf(&b, "\n## %s\n", name)
		describe(t, &b, shown, program, name)
	}
	old, err := os.ReadFile("commands.md")
	if err != nil && !*update {
		t.Fatal(err)
	}
	if *update {
		err = os.WriteFile("commands.md", []byte(b.String()), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	} else if string(old) != b.String() {
		t.Error("commands.md is not what the helps say; run: go test ./docs -run TestCommands -update")
	}
}

// describe writes the help of a command, and of those below it, unless it was shown for the other program.
func describe(t *testing.T, b *strings.Builder, shown map[string]bool, program string, words ...string) {
	t.Helper()
	out, err := exec.Command(filepath.Join(program, words[0]), append(words[1:], "--help")...).Output()
	if err != nil {
		t.Fatal(words, err)
	}
	help := string(out)
	same := strings.ReplaceAll(help, words[0], "")
	if shown[same] {
		return
	}
	shown[same] = true
	if len(words) > 1 {
		fmt.Fprintf(b, "\n### %s\n", strings.Join(words, " "))
	}
	text := strings.TrimSuffix(strings.TrimSpace(aside.ReplaceAllString(help, "")), "\n\nFlags:")
	fmt.Fprintf(b, "\n```text\n%s\n```\n", text)
	for _, m := range group.FindAllStringSubmatch(help, -1) {
		switch m[1] {
		case "Usage", "Examples", "Flags":
			continue
		}
		for _, sub := range command.FindAllStringSubmatch(m[2], -1) {
			describe(t, b, shown, program, append(words[:len(words):len(words)], sub[1])...)
		}
	}
}
