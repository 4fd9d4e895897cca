package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tool is a program with a verb of each kind.
func tool() *App {
	app := &App{Name: "tool"}
	list := &Command{Name: "list", Args: "[NAME]", Short: "Show a list", Long: "Show a list.\n.SH is no heading.",
		Example: "  tool list -n 3", Letters: map[string]string{"n": "lines"}}
	list.Flags.Int("lines", 20, "how many, `N`")
	list.Run = func(w io.Writer, words []string) error {
		_, err := io.WriteString(w, strings.Join(words, " "))
		return err
	}
	again := &Command{Name: "again", Short: "Show it again", Like: "list", Letters: list.Letters, Run: list.Run}
	again.Flags.Int("lines", 20, "how many, `N`")
	again.Flags.Bool("loud", false, "say it aloud")
	check := &Command{Name: "list check", Args: "FILE", Short: "Check one", Run: list.Run}
	app.Commands = []*Command{{Short: "A tool"}, list, again, check,
		{Name: "secret", Hidden: true, Run: list.Run}, Man(app)}
	return app
}

// TestMan writes the pages of a program.
func TestMan(t *testing.T) {
	a, dir := tool(), filepath.Join(t.TempDir(), "new", "man")
	if err := a.Execute(io.Discard, []string{"man", dir}); err != nil {
		t.Fatal(err)
	}
	for _, c := range a.Commands {
		page, err := os.ReadFile(filepath.Join(dir, a.manName(c)+".1"))
		if c.Hidden != (err != nil) {
			t.Errorf("the page of %q, hidden: %v: %v", c.Name, c.Hidden, err)
		}
		if !c.Hidden {
			checkManPage(t, a, c, string(page))
		}
	}
}

// TestLike shows the help of a command that takes the flags of another one: its own flags alone are listed.
func TestLike(t *testing.T) {
	var b strings.Builder
	if err := tool().Execute(&b, []string{"again", "--help"}); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "[flags]\n")
	want := "\nIt takes the flags of 'tool list', too.\n\nFlags:\n      --loud  say it aloud\n  -h, --help  show this\n"
	if got != want {
		t.Errorf("help has %q, want %q", got, want)
	}
}

// checkManPage checks that a page says what the command's help says.
func checkManPage(t *testing.T, a *App, c *Command, page string) {
	t.Helper()
	want := []string{
		".TH " + strings.ToUpper(roff(a.manName(c))) + " 1 ",
		".SH NAME\n" + roff(a.manName(c)) + ` \- ` + roff(c.Short) + "\n",
		".SH SYNOPSIS\n\\fB" + roff(a.usage(c)) + "\\fP\n",
		".SH DESCRIPTION\n.nf\n",
		roff(c.Long), roff(c.Example),
		".SH SEE ALSO\n\\fBtool",
	}
	for _, row := range a.own(c) {
		want = append(want, "\\fB"+roff(strings.TrimSpace(row[0]))+"\\fP\n"+roff(row[1])+"\n")
	}
	for _, sub := range a.below(c) {
		want = append(want, "\\fB"+roff(sub.verb())+"\\fP\n"+roff(sub.Short)+"\n",
			"\\fB"+roff(a.manName(sub))+"\\fP(1)")
	}
	for _, part := range want {
		if !strings.Contains(page, part) {
			t.Errorf("%s.1 lacks %q", a.manName(c), part)
		}
	}
}

func TestRoff(t *testing.T) {
	got := roff(".SH\n'quoted'\na\\b --flag")
	if want := "\\&.SH\n\\&'quoted'\na\\eb \\-\\-flag"; got != want {
		t.Errorf("roff gives %q, want %q", got, want)
	}
}
