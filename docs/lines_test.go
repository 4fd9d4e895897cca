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

// shown matches a command line of our programs in a document: in a block, an indented line or inline code. It ends
// where the shell's next command begins.
var shown = regexp.MustCompile(`(?:^|[\s&;|('"=]|\x60)(ralph-stop-hook|ralph-runner)((?: +(?:'[^'\n]*'|"[^"\n]*"|` +
	`[^\s'"\x60|;&<>()])+)*)`)

// quoted matches an argument that is no word of ours, and foreign a command of a client about our plugin.
var (
	quoted  = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	foreign = regexp.MustCompile(`plugin \w+ ralph-stop-hook.*`)
)

// code matches inline code, which may go on in the next line.
var code = regexp.MustCompile("`[^`]+`")

// help has the helps of our programs' commands.
type help struct {
	programs string
	texts    map[string]string
}

// of returns the help of a command, "" if there is no such command.
func (h *help) of(words ...string) string {
	name := strings.Join(words, " ")
	text, is := h.texts[name]
	if !is {
		out, err := exec.Command(filepath.Join(h.programs, words[0]), append(words[1:], "--help")...).Output()
		if err == nil {
			text = string(out)
		}
		h.texts[name] = text
	}
	return text
}

var (
	lowerWord = regexp.MustCompile(`^[a-z][a-z-]*$`)
	flagWord  = regexp.MustCompile(`^--?[a-z][a-z-]*`)
)

// wrong says what is wrong with a command line of which a person would copy the words; "": nothing.
func (h *help) wrong(program, words string) string {
	command, root := []string{program}, h.of(program)
	text := root
	list := strings.Fields(quoted.ReplaceAllString(words, "TEXT"))
	for n, word := range list {
		word = strings.Trim(word, `'",.:)[]`)
		has := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(word) + ` `).MatchString(text)
		switch {
		case word == "--":
			return ""
		case strings.HasPrefix(word, "-"):
			flag := flagWord.FindString(word)
			if flag == "" || flag == "--help" {
				continue
			}
			texts := []string{text}
			if program == "ralph-runner" && (len(command) == 1 || strings.Contains(text, "flags of 'ralph-runner run'")) {
				texts = append(texts, h.of(program, "run"))
			}
			known := regexp.MustCompile(`(^|[\s,\[])` + regexp.QuoteMeta(flag) + `([\s,=\]]|$)`)
			if !slices.ContainsFunc(texts, known.MatchString) {
				return fmt.Sprintf("%s has no flag %s", strings.Join(command, " "), flag)
			}
		case n == len(command)-1 && lowerWord.MatchString(word) && (has || h.isCommand(program, command, word)):
			command = append(command, word)
			text = h.of(command...)
		case n == 0 && program == "ralph-stop-hook" && lowerWord.MatchString(word):
			return fmt.Sprintf("%s has no command %s", program, word)
		}
	}
	return ""
}

// isCommand reports whether a word names a command that the list of all does not show, such as those for loops that
// both programs have.
func (h *help) isCommand(program string, command []string, word string) bool {
	if len(command) > 1 {
		return false
	}
	own := h.of(program, word)
	return own != "" && own != h.of(program)
}

// lines returns the command lines of our programs that a document shows, each with the number of its line.
func lines(text string) map[string]int {
	found := map[string]int{}
	add := func(at int, part string) {
		for _, m := range shown.FindAllStringSubmatch(foreign.ReplaceAllString(part, ""), -1) {
			found[m[1]+"\x00"+m[2]] = 1 + strings.Count(text[:at], "\n")
		}
	}
	fenced, at := false, 0
	prose := ""
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced, strings.HasPrefix(line, "    "):
			before, _, _ := strings.Cut(line, " # ")
			before, _, _ = strings.Cut(before, "     ") // what the line is for
			if strings.HasPrefix(line, "    ") {
				before = line
			}
			add(at, before)
		}
		blank := strings.Repeat(" ", len(line)-1) + "\n"
		if !fenced && !strings.HasPrefix(line, "```") && strings.HasSuffix(line, "\n") {
			blank = line
		}
		prose += blank
		at += len(line)
	}
	for _, span := range code.FindAllStringIndex(prose, -1) {
		add(span[0], strings.ReplaceAll(strings.Trim(prose[span[0]:span[1]], "`"), "\n", " "))
	}
	return found
}

// TestLines checks that the commands and flags exist in every command line of ours that a document shows, also where
// nothing runs it, or where || true hides that it fails.
func TestLines(t *testing.T) {
	h := &help{programs: build(t), texts: map[string]string{}}
	all := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/assurance/*.md", "examples/*/README.md", "skills/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line, n := range lines(string(text)) {
				all++
				program, words, _ := strings.Cut(line, "\x00")
				if wrong := h.wrong(program, words); wrong != "" && filepath.Base(path) != "commands.md" {
					t.Errorf("%s:%d: %s%s: %s", path, n, program, words, wrong)
				}
			}
		}
	}
	t.Logf("%d command lines", all)
	for text, want := range map[string]string{
		"```sh\nralph-stop-hook resume night --worke x || true\n```\n": "no flag --worke",
		"```text\n$ ralph-runner night --max-costs 20\n```\n":          "no flag --max-costs",
		"Type `ralph-stop-hook statsu night`.\n":                       "no command statsu",
		"Type `ralph-stop-hook\nstart --chek x`.\n":                    "no flag --chek",
		"```sh\ncd x && ralph-runner engine token NAME --engin\n```\n": "no flag --engin",
	} {
		found := lines(text)
		if len(found) != 1 {
			t.Errorf("%q shows %v", text, found)
		}
		for line := range found {
			program, words, _ := strings.Cut(line, "\x00")
			if got := h.wrong(program, words); !strings.Contains(got, want) {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
}
