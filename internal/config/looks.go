package config

import (
	"path"
	"slices"
	"strings"
)

// The agent may edit what it makes, even if a check names it: files that a program compiles or
// only looks at. programs.txt lists programs whose operands decide nothing. The operands of any
// other program are held.

var (
	linters      = programs.Set("linters")
	looks        = programs.Set("looks")
	filesOfLooks = programs.Set("files of looks")
	launchers    = programs.Lists("launchers")
	compiles     = programs.Set("compiles")
	parses       = programs.Set("parses")
)

// onlyParses reports whether words are an interpreter that does not run its script.
func onlyParses(words []word) bool {
	return len(words) > 2 && parses()[program(words[0].text)+":"+words[1].text] &&
		!slices.ContainsFunc(words[2:], func(w word) bool { return strings.HasPrefix(w.text, "-") })
}

// looker returns the index of the program that only looks at its operands; -1 if there is none.
func looker(words []word) int {
	if len(words) == 0 {
		return -1
	}
	name := program(words[0].text)
	if looks()[name] || onlyParses(words) || len(words) > 1 && compiles()[name+":"+words[1].text] {
		return 0
	}
	between, is := launchers()[name]
	if !is || name == "python" && (len(words) < 2 || words[1].text != "-m") {
		return -1
	}
	for i, w := range words[1:] {
		switch {
		case linters()[program(w.text)]:
			return i + 1
		case !slices.Contains(between, w.text):
			return -1
		}
	}
	return -1
}

// Manifest reports whether a file lists what a project needs. The agent may have to add to it.
// Programs also read it without being told. So it is not held if a command names it.
func Manifest(p string) bool {
	name := path.Base(p)
	return name == "Cargo.toml" || name == "go.mod" || name == "pom.xml" || name == "pyproject.toml" ||
		strings.HasPrefix(name, "requirements") && path.Ext(name) == ".txt"
}
