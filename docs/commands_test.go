package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	group   = regexp.MustCompile(`(?m)^([A-Z][A-Za-z ]+):\n((?:  .+\n)+)`)
	command = regexp.MustCompile(`(?m)^  (\S+)  `)
	indent  = regexp.MustCompile(`(?m)^  | \[flags\]$`)
	usage   = regexp.MustCompile(`(?s)^(.*?)\n\nUsage:\n(.*?)(\n\n.*|$)`)
	aside   = regexp.MustCompile(`(?m)^(    |  )?-h, --help .*\n|\nUse ".*" for more information about a command\.\n`)
	samples = regexp.MustCompile(`\n\nExamples:(?:\n .*)+`)
	option  = regexp.MustCompile(`(?m)^ +(?:-\w, )?(--\S+) .*\n?`)
)

// TestCommands compares docs/commands.md with what the programs' helps say.
func TestCommands(t *testing.T) {
	programs := build(t)
	var b strings.Builder
	b.WriteString("# Commands\n\nThis is the help of both programs. `--help` also shows examples.\n")
	shown, flags := map[string]bool{}, map[string]bool{}
	for _, name := range []string{"ralph-stop-hook", "ralph-runner"} {
		c := commands{t: t, programs: programs, shown: shown, flags: flags}
		top := c.describe(name)
		fmt.Fprintf(&b, "\n## %s\n%s", name, top)
		if len(c.bare) > 0 {
			fmt.Fprintf(&b, "\nWithout flags: `%s`.\n", strings.Join(c.bare, "`, `"))
		}
		b.WriteString(c.rest.String())
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

// commands collects the helps of one program.
type commands struct {
	t        *testing.T
	programs string
	shown    map[string]bool // the helps so far, without the program's name
	bare     []string        // the usage of commands about which the list of all says everything else
	rest     strings.Builder // the sections of the other commands
	flags    map[string]bool // those that were shown, with their text
}

// describe returns the help of a program, or adds that of a command to the rest, and does so for those below it. It
// leaves out what was shown for the other program.
func (c *commands) describe(words ...string) (top string) {
	c.t.Helper()
	out, err := exec.Command(filepath.Join(c.programs, words[0]), append(words[1:], "--help")...).Output()
	if err != nil {
		c.t.Fatal(words, err)
	}
	help, name := string(out), strings.Join(words, " ")
	same := strings.ReplaceAll(help, words[0], "")
	if c.shown[same] {
		return ""
	}
	c.shown[same] = true
	text := strings.TrimSuffix(strings.TrimSpace(aside.ReplaceAllString(help, "")), "\n\nFlags:")
	parts := usage.FindStringSubmatch(samples.ReplaceAllString(text, ""))
	lines := indent.ReplaceAllString(parts[2], "")
	said, flags := parts[1], strings.TrimPrefix(strings.TrimLeft(parts[3], "\n"), "Flags:\n")
	if flags != "" && !strings.Contains(said, "\n") && len(words) > 1 {
		said = "" // the list of all commands says it
	}
	text = fmt.Sprintf("\n```text\n%s\n```\n", strings.Join(slices.DeleteFunc([]string{lines, said, c.own(flags)},
		func(part string) bool { return part == "" }), "\n\n"))
	switch {
	case len(words) == 1:
		top = text
	case lines == name+" [command]": // those below it have sections
	case flags == "" && !strings.Contains(said, "\n"):
		c.bare = append(c.bare, strings.TrimPrefix(lines, words[0]+" "))
	default:
		fmt.Fprintf(&c.rest, "\n### %s\n%s", name, text)
	}
	for _, m := range group.FindAllStringSubmatch(help, -1) {
		switch m[1] {
		case "Usage", "Examples", "Flags":
			continue
		}
		for _, sub := range command.FindAllStringSubmatch(m[2], -1) {
			c.describe(append(words[:len(words):len(words)], sub[1])...)
		}
	}
	return top
}

// own returns the flags of a command, and only the names of those that were shown before with the same text.
func (c *commands) own(flags string) string {
	var same []string
	flags = option.ReplaceAllStringFunc(flags, func(line string) string {
		text := strings.Join(strings.Fields(line), " ")
		if !c.flags[text] {
			c.flags[text] = true
			return line
		}
		same = append(same, option.FindStringSubmatch(line)[1])
		return ""
	})
	if len(same) > 0 {
		flags = strings.TrimRight(flags, "\n") + "\n      as above: " + strings.Join(same, ", ")
	}
	return strings.Trim(flags, "\n")
}
