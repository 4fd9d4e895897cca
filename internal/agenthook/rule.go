package agenthook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The types of rules. No rule is a command: only a person brings commands.
const (
	FileExistence  = "file_existence"
	ContentPattern = "content_pattern"
	Check          = "check"
)

// maxPattern is the longest pattern, in bytes; maxProgram is how many instructions its program may have, and bounds the
// time that a match takes; maxPaths is how many paths one rule names.
const maxPattern, maxProgram, maxPaths = 1000, 1000, 100

// Rule is a condition of the agent's own, beside the checks of the loop.
type Rule struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Config json.RawMessage `json:"config"`
}

// ruleConfig has the keys of all types.
type ruleConfig struct {
	Paths        []string `json:"paths"`
	AllMustExist *bool    `json:"allMustExist"` // nil: they must
	Pattern      string   `json:"pattern"`
	Flags        string   `json:"flags"`
	MustMatch    *bool    `json:"mustMatch"` // nil: it must
	Target       string   `json:"target"`
	Name         string   `json:"name"` // of a check; "": that of the rule
}

func (r Rule) config() (c ruleConfig, err error) {
	if json.Unmarshal(r.Config, &c) != nil {
		return c, errors.New("its config has a value of another type")
	}
	c.Name = cmp.Or(c.Name, r.Name)
	return c, nil
}

// Validate says what is wrong with a rule. isCheck reports whether a person trusted a check of that name.
func (r Rule) Validate(isCheck func(name string) bool) error {
	name := plain.Line(r.Name, 100)
	c, err := r.config()
	if err != nil {
		return fmt.Errorf("the rule %q: %w", name, err)
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("the rule %q: %s", name, fmt.Sprintf(format, args...))
	}
	switch r.Type {
	case FileExistence:
		if len(c.Paths) == 0 || len(c.Paths) > maxPaths || slices.Contains(c.Paths, "") {
			return fail("paths must name 1 to %d files", maxPaths)
		}
		for _, path := range c.Paths {
			if !filepath.IsLocal(filepath.FromSlash(path)) {
				return fail("%s is outside the project; name a path in it", plain.Line(path, 200))
			}
		}
	case ContentPattern:
		if c.Target != "" && c.Target != "agent_output" {
			return fail("unknown target %q; the only one is agent_output", plain.Line(c.Target, 80))
		}
		if c.Pattern == "" || len(c.Pattern) > maxPattern {
			return fail("pattern must have 1 to %d bytes", maxPattern)
		}
		if _, err := c.compile(); err != nil {
			return fail("%s", plain.Line(err.Error(), 300))
		}
	case Check:
		if !isCheck(c.Name) {
			return fail("no trusted check has the name %q", plain.Line(c.Name, 80))
		}
	default:
		return fail("unknown type %q; there are %s, %s and %s; a command is for a person: a check in ralph.json, accepted "+
			"with 'ralph-runner trust'", plain.Line(r.Type, 40), FileExistence, ContentPattern, Check)
	}
	return nil
}

// compile compiles the pattern. It is RE2, so the time of a match grows with the text and with the program alone.
func (c ruleConfig) compile() (*regexp.Regexp, error) {
	flags := strings.ReplaceAll(c.Flags, "g", "") // one match is enough
	if strings.Trim(flags, "ims") != "" {
		return nil, fmt.Errorf("unknown flags %q; there are g, i, m and s", c.Flags)
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	tree, err := syntax.Parse(flags+c.Pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if program, err := syntax.Compile(tree.Simplify()); err != nil || len(program.Inst) > maxProgram {
		return nil, errors.New("the pattern repeats too much; use smaller counts, or * and +")
	}
	return regexp.Compile(flags + c.Pattern)
}

// Sources are where rules look.
type Sources struct {
	Message string           // what the agent wrote last
	Project string           // the folder of the work tree
	Checks  []decide.Receipt // the results of the loop's checks that count
}

// exists reports whether a slash-separated path in the project names something. A link does not lead out of it.
func (s Sources) exists(path string) bool {
	root, err := os.OpenRoot(s.Project)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Stat(filepath.FromSlash(path))
	return err == nil
}

// check says what the checks of a name have said; known is false if none has run.
func (s Sources) check(name string) (passed, known bool) {
	for _, r := range s.Checks {
		if r.Name == name {
			known = true
			if !r.Passed {
				return false, true
			}
		}
	}
	return known, known
}

// Evaluate returns what each rule says.
func (r Record) Evaluate(s Sources) (results []Result) {
	for _, rule := range r.Rules {
		problem := rule.problem(s)
		results = append(results, Result{rule.Name, problem == "", cmp.Or(problem, "ok")})
	}
	return results
}

// problem says why the rule does not hold; "" if it does.
func (r Rule) problem(s Sources) string {
	c, err := r.config()
	if err != nil {
		return err.Error()
	}
	switch r.Type {
	case FileExistence:
		missing := slices.DeleteFunc(slices.Clone(c.Paths), s.exists)
		any := c.AllMustExist != nil && !*c.AllMustExist
		if len(missing) == 0 || any && len(missing) < len(c.Paths) {
			return ""
		}
		return "missing: " + plain.Line(strings.Join(missing, ", "), 300)
	case ContentPattern:
		re, err := c.compile()
		if err != nil {
			return plain.Line(err.Error(), 300)
		}
		want := c.MustMatch == nil || *c.MustMatch
		switch matches := re.MatchString(s.Message); {
		case matches == want:
			return ""
		case want:
			return "what you wrote does not match " + plain.Line(c.Pattern, 200)
		}
		return "what you wrote matches " + plain.Line(c.Pattern, 200)
	case Check:
		passed, known := s.check(c.Name)
		switch {
		case passed:
			return ""
		case known:
			return "the check " + plain.Line(c.Name, 80) + " does not hold"
		}
		return "the check " + plain.Line(c.Name, 80) + " has not run yet"
	}
	return "unknown type"
}
