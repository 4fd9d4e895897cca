// Package suggest says what init and start may write into ralph.json for the checks of a project: which files stay as a
// person trusted them, and what a clean copy of the project needs. It is the only package that knows build tools, and
// only advice: a person sees and edits it, and nothing else reads it. It runs nothing.
package suggest

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

// Suggestion has values for keys of ralph.json. Patterns are relative to the folder in which the checks run.
type Suggestion struct {
	Tests     []string  // those that are there, for "protect"
	Protect   []string  // what the checks run, and then the configuration of tools
	Outputs   []string  // what git ignores, and of which the copy has its own
	Git       bool      // a check, or what it runs, uses git
	Prepare   []Prepare // makes some of Outputs
	Scripts   []string  // what the checks name to be run, also if it does not exist yet
	InProject []int     // indexes of checks that run in containers, or with packages, which have the project

	outputNotes []string // what is said of Outputs
	site        string   // a folder of packages that has the project by its path
}

// Prepare is an entry of "prepare".
type Prepare struct {
	Command     string
	WhenChanged []string
}

// For returns a suggestion for checks, which are lines for a shell. They run in dir, a slash-separated path below
// project, which is the top of a repository or another folder. Sites are folders of the machine with Python's packages.
// Of what cannot be read it says nothing.
func For(project, dir string, checks []string, sites ...string) Suggestion {
	var s Suggestion
	t, err := openTree(project, dir)
	if err != nil {
		return s
	}
	defer t.root.Close()
	r := &reader{tree: t, syntax: newSyntax()}
	site := t.isInstalled(sites)
	leadsBack := false
	for i, line := range checks {
		mounts := r.check(line)
		leadsBack = leadsBack || r.python && site != ""
		if mounts || r.python && site != "" {
			s.InProject = append(s.InProject, i)
		}
	}
	s.Git = r.git
	s.Scripts = r.named
	s.outputNotes = r.linksBack(&s)
	count := len(s.Outputs)
	s.Tests = r.testPatterns()
	s.Protect = r.scriptPatterns(s.Tests)
	for _, u := range r.uses {
		if r.isReady(u) {
			s.Protect = r.configuration(s.Protect, u)
			s.Outputs = r.outputs(s.Outputs, u)
		}
	}
	s.outputNotes = append(s.outputNotes, s.Outputs[count:]...)
	if leadsBack {
		s.site = site
	}
	return s
}

// Lines returns at most five lines that say to a person what was chosen, and why.
func (s Suggestion) Lines() (lines []string) {
	explain := func(about string, patterns []string) {
		if len(patterns) > 0 {
			lines = append(lines, about+": "+InWords(patterns))
		}
	}
	explain("protected tests; the agent may add more", s.Tests)
	about := "protected"
	if slices.ContainsFunc(s.Protect, func(pattern string) bool { return strings.HasPrefix(pattern, "+") }) {
		about += " (+ also keeps new files out)"
	}
	explain(about, s.Protect)
	explain("the copy has its own of these, not the project's", s.outputNotes)
	if s.Git {
		lines = append(lines, "the copy has a repository, as a check uses git")
	}
	if s.site != "" {
		lines = append(lines, "python would test the project from a copy, too: "+s.site+" has it by its path; "+
			"a virtual environment in the project would not")
	}
	return lines
}

// InWords names patterns, at most five.
func InWords(patterns []string) string {
	const most = 5
	if len(patterns) <= most {
		return strings.Join(patterns, ", ")
	}
	return strings.Join(patterns[:most], ", ") + " and " + strconv.Itoa(len(patterns)-most) + " more"
}

// add adds a pattern for ralph.json, unless it is there, or would be read as another one.
func add(all []string, text string) []string {
	bare, _, _ := strings.Cut(strings.TrimPrefix(text, "+"), "#")
	_, err := config.ParsePattern(bare)
	isThere := slices.Contains(all, text) || slices.Contains(all, "+"+text)
	isOdd := strings.ContainsFunc(text, func(c rune) bool { return c == unicode.ReplacementChar || !unicode.IsPrint(c) })
	if err != nil || isThere || isOdd {
		return all
	}
	return append(all, text)
}

// match returns those of some files that a pattern names.
func match(pattern string, all []string) (names []string) {
	p, err := config.ParsePattern(pattern)
	if err != nil {
		return nil
	}
	for _, name := range all {
		if p.Match(name) {
			names = append(names, name)
		}
	}
	return names
}

// testPatterns returns patterns of tests that are there. Each names some that those before it do not.
func (r *reader) testPatterns() (patterns []string) {
	if !r.tests {
		return nil
	}
	rest := r.files
	for pattern := range strings.FieldsSeq(usualTests) {
		p, err := config.ParsePattern(pattern)
		names := match(pattern, rest)
		if err != nil || len(names) == 0 {
			continue
		}
		rest = slices.DeleteFunc(slices.Clone(rest), p.Match)
		root, isDeep := strings.CutPrefix(pattern, "**/")
		if isDeep && strings.HasSuffix(root, "/**") && len(match(root, names)) == len(names) {
			pattern = root // it is shorter, and names no such folder of a later day
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// scriptPatterns returns patterns of the scripts that are no tests.
func (r *reader) scriptPatterns(tests []string) (patterns []string) {
	const most = 5 // of a folder; if there are more, the folder is named
	count := map[string]int{}
	for _, name := range r.scripts {
		count[path.Dir(name)]++
	}
	for _, name := range r.scripts {
		isTest := slices.ContainsFunc(tests, func(test string) bool { return len(match(test, []string{name})) > 0 })
		folder := path.Dir(name)
		switch {
		case isTest:
		case count[folder] > most && folder != ".":
			patterns = add(patterns, folder+"/**")
		default:
			patterns = add(patterns, name)
		}
	}
	return patterns
}

// at returns the pattern of files of the folders in which a tool runs.
func (u use) at(pattern string) string {
	if len(u.folders) == 1 {
		return path.Join(u.folders[0], pattern)
	}
	return "**/" + strings.TrimPrefix(pattern, "**/")
}

// isReady reports whether a project is set up for a tool. If it is not, an agent has to do that, and what it writes has
// to count.
func (r *reader) isReady(u use) bool {
	return u.needs == "" || slices.ContainsFunc(strings.Fields(u.needs), func(pattern string) bool {
		return len(match(u.at(pattern), r.files)) > 0
	})
}

// configuration adds patterns of the files that decide what a tool does.
func (r *reader) configuration(all []string, u use) []string {
	for pattern := range strings.FieldsSeq(u.always) {
		all = add(all, "+"+u.at(pattern))
	}
	for pattern := range strings.FieldsSeq(u.optional + " " + u.scripts) {
		file, key, isKey := strings.Cut(pattern, "#")
		pattern = u.at(file)
		if isKey { // also of the packages of a workspace
			names := slices.DeleteFunc(match(u.at("**/"+file), r.files), func(name string) bool {
				return !gjson.Get(r.read(name), key).Exists()
			})
			if len(names) == 0 {
				continue
			}
			if len(names) > 1 || names[0] != pattern {
				file = "**/" + file
			}
			all = add(all, u.at(file)+"#"+key)
		} else if len(match(pattern, r.files)) > 0 {
			if strings.ContainsAny(pattern, "*?[") {
				pattern = "+" + pattern
			}
			all = add(all, pattern)
		}
	}
	return all
}

// outputs adds patterns of what a tool makes in its folder, and in those of packages below it.
func (r *reader) outputs(all []string, u use) []string {
	const most = 100
	folders := slices.Clone(u.folders)
	for pattern := range strings.FieldsSeq(u.needs) {
		for _, name := range match(u.at("**/"+pattern), r.files) {
			folder := path.Dir(name)
			if !strings.Contains(pattern, "**") && len(folders) < most && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	_, err := r.root.Lstat(".git")
	for output := range strings.FieldsSeq(u.tool.outputs) {
		name, isSure := strings.CutPrefix(output, "!")
		var own []string
		for _, folder := range folders {
			at := path.Join(folder, name)
			isOwn := isSure && err != nil || r.ignoresPath(at+"/x")
			if strings.Contains(name, "*") {
				isOwn = len(match(at, r.ignored)) > 0 || r.ignoresPath(strings.ReplaceAll(at, "*", "x"))
			}
			if isOwn {
				own = append(own, at)
			}
		}
		deep := u.at("**/" + name)
		if len(own) > 1 && len(match(deep, r.files)) == 0 {
			own = []string{deep}
		}
		for _, pattern := range own {
			isBelow := slices.ContainsFunc(all, func(one string) bool { return strings.HasPrefix(pattern, one+"/") })
			if !isBelow {
				all = add(all, pattern)
			}
		}
	}
	return all
}
