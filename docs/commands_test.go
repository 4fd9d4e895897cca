package docs

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	group   = regexp.MustCompile(`(?m)^([A-Z][a-z ]+):\n((?:  .+\n)+)`)
	command = regexp.MustCompile(`(?m)^  (\S+)  `)
	option  = regexp.MustCompile(`(?m)^  (?:    |-\w, )(--\S+).*\n`)
	indent  = regexp.MustCompile(`(?m)^  | \[flags\]$`)
	column  = regexp.MustCompile(`(?m)^(  (?:    |-\w, )--\S+(?: \S+)?)  ( *)`)
	usage   = regexp.MustCompile(`(?s)^(.*?)\n\nUsage:\n(.*?)(\n\n.*|$)`)
	aside   = regexp.MustCompile(`(?m)^(    |  )?-h, --help .*\n|\n'.* COMMAND --help' explains one\.\n`)
)

// TestCommands compares docs/commands.md with what the programs' helps say.
func TestCommands(t *testing.T) {
	programs := build(t)
	var b strings.Builder
	b.WriteString("# Commands\n\nThe helps of both programs.\n")
	shown := map[string]bool{}
	for _, name := range []string{"ralph-stop-hook", "ralph-runner"} {
		c := commands{t: t, programs: programs, shown: shown, first: map[string]string{}}
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
	shown    map[string]bool   // the helps so far, without the program's name
	first    map[string]string // the command that has listed a flag first, by the flag's line
	bare     []string          // the usage of commands about which the list of all says everything else
	rest     strings.Builder   // the sections of the other commands
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
	parts := usage.FindStringSubmatch(text)
	lines := indent.ReplaceAllString(parts[2], "")
	text = fmt.Sprintf("\n```text\n%s\n\n%s%s\n```\n", lines, parts[1], c.refer(name, parts[3]))
	switch {
	case len(words) == 1:
		top = text
	case strings.HasSuffix(lines, " COMMAND"): // those below it have sections
	case parts[3] == "" && !strings.Contains(parts[1], "\n"):
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

// refer replaces the lines of flags that another command has in the same words by their names.
func (c *commands) refer(name, text string) string {
	again := map[string][]string{}
	line := func(m string) string { return strings.Join(strings.Fields(m), " ") }
	for _, m := range option.FindAllStringSubmatch(text+"\n", -1) {
		if first := c.first[line(m[0])]; first != "" {
			again[first] = append(again[first], m[1])
		} else {
			c.first[line(m[0])] = name
		}
	}
	for _, first := range slices.Sorted(maps.Keys(again)) {
		flags := again[first]
		if len(flags) < 3 {
			continue
		}
		text = strings.TrimSuffix(option.ReplaceAllStringFunc(text+"\n", func(m string) string {
			if c.first[line(m)] == first {
				return ""
			}
			return m
		}), "\n")
		too := fmt.Sprintf("\n\nIt also takes, as '%s' does: %s.\n\nFlags:", first, strings.Join(flags, ", "))
		text = narrow(strings.Replace(text, "\n\nFlags:", too, 1))
	}
	return text
}

// narrow takes from the column of flags what no flag needs any more.
func narrow(text string) string {
	var spare []int
	for _, m := range column.FindAllStringSubmatch(text, -1) {
		spare = append(spare, len(m[2]))
	}
	if len(spare) == 0 {
		return text
	}
	return column.ReplaceAllStringFunc(text, func(m string) string { return m[:len(m)-slices.Min(spare)] })
}
