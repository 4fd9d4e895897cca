package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestManPages holds docs/man to the commands; -update writes it anew.
func TestManPages(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "man")
	want := map[string]bool{}
	all := newCommands()
	release, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.hidden {
			continue
		}
		page := manPage(all, c)
		name := manName(c) + ".1"
		want[name] = true
		if !bytes.Contains(release, []byte("- man/"+name+".gz\n")) {
			t.Errorf(".goreleaser.yaml does not name %s among the cask's manpages", name)
		}
		file := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(file, page, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, page) {
			t.Errorf("%s is not what the commands say (%v); run: go test ./cmd/ralph-stop-hook -run TestManPages -update", file, err)
		}
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !want[filepath.Base(page)] {
			t.Errorf("%s is of a command that is gone", page)
		}
	}
}

func manName(c *command) string { return strings.ReplaceAll(c.path(), " ", "-") }

// manPage is the page of one command.
func manPage(all commands, c *command) []byte {
	var page bytes.Buffer
	section := func(title string) { fmt.Fprintf(&page, ".SH %s\n", title) }
	verbatim := func(text string) { fmt.Fprintf(&page, ".nf\n%s\n.fi\n", roff(text)) }
	fmt.Fprintf(&page, ".TH %s 1 2026-11-01 ralph\\-stop\\-hook\n", strings.ToUpper(roff(manName(c))))
	section("NAME")
	fmt.Fprintf(&page, "%s \\- %s\n", roff(manName(c)), roff(c.short))
	section("SYNOPSIS")
	fmt.Fprintf(&page, "\\fB%s\\fP\n", roff(c.usage()))
	section("DESCRIPTION")
	verbatim(cmp.Or(c.long, c.short))
	section("OPTIONS")
	item := func(name, what string) { fmt.Fprintf(&page, ".TP\n\\fB%s\\fP\n%s\n", roff(name), roff(what)) }
	for _, row := range c.options() {
		item(strings.TrimSpace(row[0]), row[1])
	}
	subs := all.below(c)
	if len(subs) > 0 {
		section("COMMANDS")
	}
	for _, sub := range subs {
		item(sub.verb(), sub.short)
	}
	if c.example != "" {
		section("EXAMPLES")
		verbatim(c.example)
	}
	var others []string
	for _, other := range all {
		above := strings.HasPrefix(c.name, strings.TrimPrefix(other.name+" ", " "))
		if other != c && above || slices.Contains(subs, other) {
			others = append(others, "\\fB"+roff(manName(other))+"\\fP(1)")
		}
	}
	section("SEE ALSO")
	fmt.Fprintf(&page, "%s\n", strings.Join(others, ",\n"))
	return page.Bytes()
}

// roff is text as it is, whatever its lines begin with.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
