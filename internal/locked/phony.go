package locked

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// maxMakefile is the largest makefile that is read, in bytes.
const maxMakefile = 1 << 20

// NotPhony returns the targets of make in a command that make takes for done if a file of that name exists, whatever
// is in it. It looks at the lines of the makefile in the project's root, and does not know make.
func NotPhony(project string, c config.Command) (targets []string) {
	words := c.Words()
	at := slices.IndexFunc(words, func(w config.Word) bool {
		name := path.Base(w.Text)
		return name == "make" || name == "gmake"
	})
	if at < 0 {
		return nil
	}
	text := ""
	for _, name := range []string{"Makefile", "makefile", "GNUmakefile"} {
		data, err := loopdir.ReadAny(At(project, name), maxMakefile)
		if err == nil {
			text = string(data)
		}
	}
	rules, first := rulesOf(text)
	phony := rules[".PHONY"]
	asked := false
	believed := func(name string) {
		needs, is := rules[name]
		always := func(need string) bool { return need == "FORCE" || slices.Contains(phony, need) }
		if is && !slices.Contains(phony, name) && !slices.ContainsFunc(needs, always) {
			targets = append(targets, name)
		}
	}
	for _, w := range words[at+1:] {
		if w.Late != words[at].Late {
			break // of the next command
		}
		if w.Text == "-B" || w.Text == "--always-make" || w.Text == "-C" || w.Text == "-f" {
			return nil // of another makefile nothing is known
		}
		_, is := rules[w.Text]
		number := strings.Trim(w.Text, "0123456789") == "" // of jobs, after -j
		asked = asked || is || !number && w.Text[0] != '-' && !strings.Contains(w.Text, "=")
		if is && !slices.Contains(targets, w.Text) {
			believed(w.Text)
		}
	}
	if !asked {
		believed(first)
	}
	return targets
}

// makes reports whether a line of a recipe makes the file that is its target.
func makes(line, target string) bool {
	return strings.Contains(line, "$@") || strings.Contains(line, "$(@") || strings.Contains(line, "-o "+target) ||
		strings.Contains(line, "> "+target)
}

// rulesOf returns what the targets of a makefile need, and the first target. It leaves out targets that are files:
// they read like one, or their recipe makes them.
func rulesOf(text string) (rules map[string][]string, first string) {
	rules = map[string][]string{}
	var current []string
	for line := range strings.Lines(text) {
		if line[0] == '\t' {
			for _, name := range current {
				if makes(line, name) {
					delete(rules, name)
				}
			}
			continue
		}
		current = nil
		names, needs, is := strings.Cut(line, ":")
		if !is || strings.ContainsAny(names, "\t#=$%") || strings.HasPrefix(needs, "=") || strings.HasPrefix(needs, ":=") {
			continue
		}
		needs, _, _ = strings.Cut(needs, ";")
		for name := range strings.FieldsSeq(names) {
			if name == ".PHONY" || !strings.ContainsAny(name, "./") {
				rules[name] = append(rules[name], strings.Fields(needs)...)
				current = append(current, name)
			}
			if first == "" && name[0] != '.' {
				first = name
			}
		}
	}
	return rules, first
}
