// Package makefile reads from the text of a makefile what make would run. It runs nothing.
package makefile

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Recipes is what make runs of a makefile.
type Recipes struct {
	Lines    []string // for the shell. "$?" stands for what the makefile's text does not tell
	Included []string // makefiles that it includes, from the folder that make runs in
	Made     []string // targets. One that is included is made anew
	Open     []string // statements that cannot be told from their text
}

// Read returns what make runs of a makefile when it gets these arguments: the recipes of the
// targets that they name, or of the first one, and of all that these need. include returns the text of
// another makefile.
func Read(text string, args []string, include func(name string) string) Recipes {
	m := reader{
		vars: map[string]string{
			"MAKE": "make", "CURDIR": ".", "SHELL": "/bin/sh", "CC": "cc", "CXX": "g++", "AR": "ar", "RM": "rm -f",
		},
		given: map[string]bool{}, set: map[string]bool{}, rules: map[string]*rule{},
		done: map[string]bool{}, open: map[string]bool{}, include: include,
	}
	for _, arg := range args {
		if name, value, is := strings.Cut(arg, "="); is {
			m.vars[name], m.given[name] = value, true
		}
	}
	m.read(text)
	goals := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { r, _ := m.find(arg); return r == nil })
	if len(goals) == 0 {
		goals = strings.Fields(m.expand(m.vars[".DEFAULT_GOAL"], nil))
	}
	if len(goals) == 0 {
		goals = []string{m.first}
	}
	for _, goal := range goals {
		m.make(goal)
	}
	for target := range m.rules {
		m.Made = append(m.Made, target)
	}
	return m.Recipes
}

// Bounds, beyond which a makefile is not read as it is.
const (
	maxRecipes  = 10_000   // lines of recipes, and targets
	maxIncluded = 100      // makefiles
	maxExpanded = 64 << 10 // bytes of a line
	maxSteps    = 200_000  // references to variables
)

// untold stands for the value of a variable that is not told. The reader of shell lines takes it for a
// value that it does not know.
const untold = "$?"

// rule is a rule for a target, or for a pattern of targets.
type rule struct {
	needs []string
	lines []string
}

type reader struct {
	Recipes
	vars     map[string]string
	given    map[string]bool // variables that the command line sets
	set      map[string]bool // variables that the makefile sets
	rules    map[string]*rule
	patterns []string // targets with a "%"
	first    string   // target
	current  []*rule  // to which the next line of a recipe belongs
	done     map[string]bool
	open     map[string]bool // variables that are being expanded
	steps    int
	include  func(string) string
}

var (
	continued = strings.NewReplacer("\\\r\n", " ", "\\\n", " ")
	ignores   = strings.Fields("ifeq ifneq ifdef ifndef else endif unexport undefine vpath")

	// Compiled when it is first used: few stops need it.
	sets = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([\w.-]+)\s*(\+|\?|!|:{0,3})=\s*(.*)$`)
	})
)

// read reads a makefile. Of a condition it reads both branches.
func (m *reader) read(text string) {
	defines := false
	for line := range strings.Lines(continued.Replace(text)) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(line, "\t") && m.current != nil {
			for _, r := range m.current {
				r.lines = append(r.lines, bare)
			}
			continue
		}
		bare, _, _ = strings.Cut(bare, "#")
		bare = strings.TrimSpace(bare)
		for _, prefix := range []string{"export ", "override ", "private "} {
			bare = strings.TrimPrefix(bare, prefix)
		}
		first, rest, _ := strings.Cut(strings.ReplaceAll(bare, "\t", " "), " ")
		switch {
		case defines:
			defines = bare != "endef"
		case bare == "" || slices.Contains(ignores, first):
		case first == "define":
			name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			m.vars[name], defines = untold, true
		case first == "include" || first == "-include" || first == "sinclude":
			m.current = nil
			m.includes(m.expand(rest, nil))
		default:
			m.current = nil
			if set := sets().FindStringSubmatch(bare); set != nil {
				m.assign(set[1], set[2], set[3])
			} else {
				m.rule(bare)
			}
		}
	}
}

func (m *reader) includes(names string) {
	for name := range strings.FieldsSeq(names) {
		if strings.Contains(name, untold) {
			m.Open = append(m.Open, "include "+strings.ReplaceAll(name, untold, "$…"))
			continue
		}
		if !slices.Contains(m.Included, name) && len(m.Included) < maxIncluded {
			m.Included = append(m.Included, name)
			m.read(m.include(name))
		}
	}
}

// assign sets a variable. One that gets several values has none that is told.
func (m *reader) assign(name, op, value string) {
	was, is := m.vars[name], m.set[name]
	switch {
	case m.given[name] || op == "?" && is:
		return
	case op == "!" || is && op != "+" && was != value:
		value = untold
	case op == "+" && len(was) < maxExpanded:
		value = was + " " + value
	}
	m.vars[name], m.set[name] = value, true
}

func (m *reader) rule(text string) {
	head, recipe, inline := strings.Cut(text, ";")
	targets, needs, is := strings.Cut(m.expand(head, nil), ":")
	if !is {
		if strings.Contains(targets, untold) {
			m.Open = append(m.Open, text)
		}
		return
	}
	needs = strings.TrimSpace(strings.TrimPrefix(needs, ":"))
	if set := sets().FindStringSubmatch(needs); set != nil { // for these targets alone
		m.assign(set[1], set[2], set[3])
		return
	}
	needs = strings.NewReplacer(":", " ", "|", " ").Replace(needs)
	for target := range strings.FieldsSeq(targets) {
		r := m.rules[target]
		if r == nil {
			r = &rule{}
			m.rules[target] = r
		}
		if strings.Contains(target, "%") {
			m.patterns = append(m.patterns, target)
		} else if m.first == "" && target[0] != '.' {
			m.first = target
		}
		r.needs = append(r.needs, strings.Fields(needs)...)
		if inline {
			r.lines = append(r.lines, strings.TrimSpace(recipe))
		}
		m.current = append(m.current, r)
	}
}

// find returns the rule for a target, and what a "%" in it stands for.
func (m *reader) find(target string) (found *rule, stem string) {
	found = m.rules[target]
	if found != nil && len(found.lines) > 0 {
		return found, ""
	}
	for _, pattern := range m.patterns {
		before, after, _ := strings.Cut(pattern, "%")
		if len(target) > len(before)+len(after) && strings.HasPrefix(target, before) &&
			strings.HasSuffix(target, after) {
			stem = target[len(before) : len(target)-len(after)]
			by := m.rules[pattern]
			if found != nil {
				by = &rule{needs: append(slices.Clone(found.needs), by.needs...), lines: by.lines}
			}
			return by, stem
		}
	}
	return found, ""
}

// make adds the recipes of a target and of what it needs.
func (m *reader) make(target string) {
	r, stem := m.find(target)
	if r == nil || m.done[target] || len(m.done) > maxRecipes {
		return
	}
	m.done[target] = true
	auto := map[string]string{"@": target, "@D": path.Dir(target), "@F": path.Base(target), "*": stem, "<": untold}
	var needs []string
	for i, need := range r.needs {
		need = strings.Replace(need, "%", stem, 1)
		needs = append(needs, need)
		if i == 0 {
			auto["<"] = need
		}
		m.make(need)
	}
	auto["^"] = strings.Join(needs, " ")
	for _, line := range r.lines {
		line = strings.TrimLeft(m.expand(line, auto), "@+- \t")
		if line != "" && len(m.Lines) < maxRecipes {
			m.Lines = append(m.Lines, line)
		}
	}
}

// expand puts in the values of variables.
func (m *reader) expand(text string, auto map[string]string) string {
	var all strings.Builder
	for {
		before, rest, is := strings.Cut(text, "$")
		all.WriteString(before)
		if !is || rest == "" {
			return all.String()
		}
		if m.steps++; m.steps > maxSteps || all.Len() > maxExpanded {
			return untold
		}
		name := rest[:1]
		text = rest[1:]
		if name == "(" || name == "{" {
			name, text = reference(text, name[0])
		}
		all.WriteString(m.value(name, auto))
	}
}

// reference returns the text before the parenthesis or brace that closes one, and the text after it.
func reference(text string, begin byte) (name, rest string) {
	end := byte(')')
	if begin == '{' {
		end = '}'
	}
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case begin:
			depth++
		case end:
			if depth--; depth == 0 {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

func (m *reader) value(name string, auto map[string]string) string {
	if value, is := auto[name]; is {
		return value
	}
	if name == "$" {
		return name
	}
	if value, is := m.vars[name]; is && !m.open[name] {
		m.open[name] = true
		defer delete(m.open, name)
		return m.expand(value, auto)
	}
	switch function, of, _ := strings.Cut(name, " "); function {
	case "wildcard", "abspath", "realpath", "strip":
		return m.expand(of, auto)
	}
	return untold
}
