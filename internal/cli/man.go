package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Man returns the hidden verb that writes the man pages. A release calls it and packs
// them.
func Man(app *App) *Command {
	return &Command{
		Name: "man", Args: "DIR", Hidden: true,
		Short: "Write a man page of each command into a folder; a release calls this",
		Run:   func(_ io.Writer, words []string) error { return app.writeMan(words[0]) },
	}
}

// writeMan writes a page of each command that is not hidden into dir, which it makes if
// there is none. A page replaces a file of the same name.
func (a *App) writeMan(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range a.Commands {
		if c.Hidden || c.Shared {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, a.manName(c)+".1"), a.manPage(c), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manName is the name of c's page: "ralph-stop-hook-list-check" for "list check".
func (a *App) manName(c *Command) string { return strings.ReplaceAll(a.path(c), " ", "-") }

// manPage is c's page of section 1, in the man macros of roff (groff_man(7)).
func (a *App) manPage(c *Command) []byte {
	var page bytes.Buffer
	section := func(title string) { fmt.Fprintf(&page, ".SH %s\n", title) }
	verbatim := func(text string) { fmt.Fprintf(&page, ".nf\n%s\n.fi\n", roff(text)) }
	item := func(name, what string) { fmt.Fprintf(&page, ".TP\n\\fB%s\\fP\n%s\n", roff(name), roff(what)) }

	// The date is fixed, so that the same commands give the same bytes.
	fmt.Fprintf(&page, ".TH %s 1 2026-11-01 %s\n", strings.ToUpper(roff(a.manName(c))), roff(a.Name))
	section("NAME")
	fmt.Fprintf(&page, "%s \\- %s\n", roff(a.manName(c)), roff(c.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&page, "\\fB%s\\fP\n", roff(a.usage(c)))
	section("DESCRIPTION")
	verbatim(cmp.Or(c.Long, c.Short))
	section("OPTIONS")
	if c.Like != "" {
		fmt.Fprintf(&page, "%s\n", roff(a.alike(c)))
	}
	for _, row := range a.own(c) {
		item(strings.TrimSpace(row[0]), row[1])
	}
	if subs := a.below(c); len(subs) > 0 {
		section("COMMANDS")
		for _, sub := range subs {
			item(sub.verb(), sub.Short)
		}
	}
	if c.Example != "" {
		section("EXAMPLES")
		verbatim(c.Example)
	}
	section("SEE ALSO")
	fmt.Fprintln(&page, strings.Join(a.seeAlso(c), ",\n"))
	return page.Bytes()
}

// seeAlso returns references to the pages of the commands right above and below c.
func (a *App) seeAlso(c *Command) (pages []string) {
	subs := a.below(c)
	for _, other := range a.Commands {
		above := strings.HasPrefix(c.Name, strings.TrimPrefix(other.Name+" ", " "))
		if other != c && above || slices.Contains(subs, other) {
			pages = append(pages, "\\fB"+roff(a.manName(other))+"\\fP(1)")
		}
	}
	return pages
}

// roff escapes text so that roff prints it as it is.
func roff(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\e`), "-", `\-`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		// A line that begins with one of these would be a request.
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
