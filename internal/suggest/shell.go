package suggest

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// absolute begins a name that does not depend on the folder in which a command runs. No text has it when it is read.
const absolute = "\x00"

// maxValue bounds the value of a variable, and maxLine a line with such values.
const (
	maxValue = 200
	maxLine  = 2 << 10
)

// syntax has regular expressions, which are only compiled when a suggestion is asked for.
type syntax struct {
	continuation, comment, home, inside, top     *regexp.Regexp
	assignment, variable, redirection, separator *regexp.Regexp
	result                                       *regexp.Regexp
	recipe, shebang, git, mount, bind, workspace *regexp.Regexp
	value, option, cmake                         *regexp.Regexp
}

func newSyntax() syntax {
	re := regexp.MustCompile
	return syntax{
		continuation: re(`\\\r?\n`),
		comment:      re(`(?m)(^|[ \t])#.*$`),
		home:         re(`\$\(dirname (-- )?\$(0|\{?BASH_SOURCE(\[0\])?\}?)\)|\$\{(0|BASH_SOURCE(\[0\])?)%/\*\}`),
		inside:       re(`\$\(cd (?:-- )?([^\s$()&;]+)[^()&;]*(?:&&|;) *pwd[^()]*\)`),
		top:          re(`\$\(git rev-parse --show-toplevel[^()]*\)|\$\{?CLAUDE_PROJECT_DIR\}?`),
		result:       re(`(?m)(^|[;&|({!@]|\b(if|elif|while|until)) *(test|\[\[?) [^;&|\n$]*\$\$?\([^()]*\)`),
		assignment:   re(`(?m)^\s*(?:export +|readonly +|local +)?(\w+) *[:?+]*= *([^\n]+)$`),
		variable:     re(`\$\w+|\$\{\w+\}|\$\(\w+\)`),
		redirection:  re(`[0-9&]*[<>]+&?[ \t]*[^\s;&|()]+`),
		separator:    re("[;&|()`]+"),
		recipe:       re(`(?m)^([^\s#=:][^#=:\n]*)::?(\n|[^=:\n].*\n)((?:[\t#].*\n|\n)*)`),
		shebang:      re(`^#!.*\b(ba|da|z|k)?sh\b`),
		git:          re("[\"'`]git[\"' ]|setuptools[-_]scm|hatch-vcs|versioningit|vergen"),
		mount:        re(`^(docker|podman) (exec|run .*((-v|--volume)[ =]?[.~$` + absolute + `]|type=bind))`),
		bind:         re(`(?m)^\s*(-|source:)\s*["']?(\.|\$\{?PWD)`),
		value:        re(`^[-0-9]|=|:$`),
		option:       re(`^-[a-z]*o$`), // a name follows, as in bash -euo pipefail
		cmake:        re(`^cmake .*(-B|-S|--preset|\.\.?( |$))`),
		workspace:    re(`^(-r|-w|--ws|--workspaces?(=.*)?|--recursive|--filter(=.*)?|workspaces?|turbo|nx|lerna)$`),
	}
}

// step is a text of commands that is still to be read.
type step struct {
	text     string
	folder   string // in which it runs
	home     string // the folder of its file
	isLines  bool   // each line begins in the folder
	isScript bool   // a script of the project has it, or has run what has it
}

// step reads a text. It knows words of a shell, and no more: what it misses, a person adds.
func (r *reader) step(s step) {
	x := r.syntax
	isCompared := strings.Contains(strings.ReplaceAll(s.text, "||", ""), "|") // with what the work prints, mostly
	r.inside = s.isScript || s.isLines || isCompared
	text := strings.NewReplacer(`"`, "", `'`, "", absolute, "", "$(MAKE)", "make", "${MAKE}", "make").Replace(s.text)
	text = x.comment.ReplaceAllString(x.continuation.ReplaceAllString(text, " "), "$1")
	text = x.inside.ReplaceAllString(x.home.ReplaceAllLiteralString(text, absolute+s.home), "$1")
	r.git = r.git || strings.Contains(text, "git rev-parse --show-toplevel")
	text = x.top.ReplaceAllLiteralString(text, absolute+r.up())
	values := map[string]string{"PWD": ".", "CURDIR": "."}
	for _, parts := range x.assignment.FindAllStringSubmatch(text, -1) {
		if len(parts[2]) <= maxValue {
			values[parts[1]] = parts[2]
		}
	}
	if s.isScript { // what it compares is mostly what the work prints
		text = x.result.ReplaceAllStringFunc(text, func(test string) string {
			before, command, _ := strings.Cut(test, "$")
			r.git = r.git || hasWord(strings.Trim(command, "$()"), "git")
			return before
		})
	}
	here := s.folder
	for line := range strings.SplitSeq(text, "\n") {
		before := here
		if r.words > maxWords {
			return
		}
		line = x.redirection.ReplaceAllString(r.expand(strings.TrimLeft(line, " \t@+-"), values), "")
		for _, command := range x.separator.Split(line, -1) {
			here = r.command(strings.Fields(command), s.folder, here)
		}
		if s.isLines || strings.Contains(line, "(cd ") {
			here = before
		}
	}
}

// expand puts the values of variables into a line. They may have variables, too.
func (r *reader) expand(line string, values map[string]string) string {
	for range 3 {
		if len(line) > maxLine || !strings.Contains(line, "$") {
			break
		}
		line = r.syntax.variable.ReplaceAllStringFunc(line, func(variable string) string {
			value, isThere := values[strings.Trim(variable, "$(){}")]
			if !isThere {
				return variable
			}
			return value
		})
	}
	return line
}

// command reads a command that runs in a folder, here. It returns the folder for the next one. Start is that in which
// its text began: where subshells end is not known.
func (r *reader) command(words []string, start, here string) string {
	if len(words) > 0 && hasWord(operators, words[0]) { // what is left of: test "$(program)" = value
		return here
	}
	folder := here
	for i, word := range words {
		if i > 0 && hasWord(folderFlags, words[i-1]) && r.isFolder(r.resolve(here, word)) {
			folder = r.resolve(here, word)
		}
	}
	r.manages = false
	begins := true // a program may come next
	for i, word := range words {
		r.words++
		name := path.Base(word)
		if name != "." {
			name = strings.TrimRight(name, "0123456789.") // python3.12
		}
		switch {
		case r.words > maxWords:
			return here
		case hasWord(starters, word):
			begins = true
		case !begins || r.syntax.value.MatchString(word): // of a flag of the one before, for example
		case name == "cd" || name == "pushd":
			if i+1 < len(words) && r.isFolder(r.resolve(here, words[i+1])) {
				return r.resolve(here, words[i+1])
			}
			return start
		case hasWord(calm, name):
			r.git = r.git || name == "git"
			return here
		default:
			r.program(name, word, words[i+1:], folder, start)
			begins = hasWord(containers, path.Base(words[0])) // after the name of a service
		}
	}
	return here
}

// resolve returns the name of what a word means in a folder, or "" if that is not in the project.
func (r *reader) resolve(folder, word string) string {
	name, isAbsolute := strings.CutPrefix(word, absolute)
	if !isAbsolute {
		name = path.Join(folder, word)
	}
	local := r.local(name)
	name, err := filepath.Rel(filepath.FromSlash(r.dir), local) // "../web" may be "."
	if err != nil || strings.HasPrefix(word, "/") || !filepath.IsLocal(local) {
		return ""
	}
	return filepath.ToSlash(name)
}

// recipes returns the lines of a makefile for some targets and what they need, or else for the first target. If a
// target is not there, it returns the whole text: a pattern, or an included file, may have it.
func (r *reader) recipes(text string, args []string) string {
	const most = 100
	text = r.syntax.continuation.ReplaceAllString(text, " ") + "\n"
	all := r.syntax.recipe.FindAllStringSubmatch(text, -1)
	rest := r.syntax.recipe.ReplaceAllString(text, "") // variables, for example
	var goals []string
	for i, arg := range args {
		isValue := i > 0 && hasWord(fileFlags+" -j "+folderFlags, args[i-1])
		if !isValue && arg[0] != '-' && !strings.Contains(arg, "=") {
			goals = append(goals, arg)
		}
	}
	for _, parts := range all {
		if len(goals) == 0 && parts[1][0] != '.' {
			goals = strings.Fields(parts[1])[:1]
		}
	}
	count := len(goals)
	for i := 0; i < len(goals) && i < most; i++ {
		isThere := false
		for _, parts := range all {
			if hasWord(parts[1], goals[i]) && !slices.Contains(goals[:i], goals[i]) {
				needs, command, _ := strings.Cut(parts[2], ";")
				rest += command + "\n" + parts[3]
				goals = append(goals, strings.Fields(needs)...)
				isThere = true
			}
		}
		if !isThere && i < count {
			return text
		}
	}
	return rest
}
