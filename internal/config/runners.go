package config

import (
	_ "embed" // for the names of programs, and of Python's modules
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/wordlist"
)

// Tables of programs.txt.
var (
	interpreters = programs.Lists("interpreters")
	codeFlags    = programs.Lists("code")
	suffixes     = programs.Lists("suffixes")
	readers      = programs.Lists("readers")
	makes        = programs.Set("makes")
	builders     = programs.Set("builders")
	generators   = programs.Set("generators")
	targets      = programs.Set("targets")
	pythonTools  = programs.Set("python tools")

	installsNothing = programs.Set("install nothing")
)

//go:embed programs.txt
var programs wordlist.Text

// sections are files of which a program reads some sections, so that only these are held.
var sections = map[string][]string{"pytest": {"pyproject.toml", "tox.ini", "setup.cfg"}}

// Section returns what a pytest reads of the text of one of its configuration files: the
// sections whose name has "pytest", and what could mean such a section in another spelling.
func Section(text string) string {
	var kept strings.Builder
	within, top := false, true
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "[") {
			top, within = false, strings.Contains(bare, "pytest") || strings.ContainsAny(bare, `\"'`) ||
				bare == "[tool]"
		}
		if within && bare != "" || top && topLevelTool().MatchString(bare) {
			kept.WriteString(bare + "\n")
		}
	}
	return kept.String()
}

var topLevelTool = lazily(`^(tool\b|"|')`)

// aliases are other names of a package.json script that npm knows.
var aliases = map[string]string{"t": "test", "tst": "test"}

// lifecycle are the scripts that run when packages are installed, unasked.
var lifecycle = []string{
	"preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish", "dependencies",
	"pnpm:devPreinstall",
}

// Set names files of a folder that a program would take if they were there. It is held
// which of them there are.
type Set string

// The sets.
const (
	SetMake   Set = "for make"              // from which make remakes a makefile
	SetKept   Set = "for make to check out" // a makefile, in a folder of an old version control system
	SetPython Set = "for python"            // which python imports in place of its own modules
	SetRake   Set = "for rake"              // which rake loads, in rakelib
)

// Has tells whether the set has a name.
func (s Set) Has(name string) bool {
	switch s {
	case SetMake: // the makefiles are held by themselves, if they are not built
		return remade().MatchString(name) && !slices.Contains(readers()["make"], name)
	case SetKept:
		return remade().MatchString(name)
	case SetPython:
		stem, _, _ := strings.Cut(name, ".")
		known := pythonTools()[stem] || slices.Contains(pythonModules(), stem)
		return known && (stem == name || pythonFile().MatchString(name))
	case SetRake:
		return path.Ext(name) == ".rake"
	}
	return false
}

//go:embed python.txt
var pythonNames string

var (
	pythonModules = sync.OnceValue(func() []string { return strings.Fields(pythonNames) })
	pythonFile    = lazily(`\.(py|pyc|pyd|so)$`)
	remade        = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(s\.)?(GNUmakefile|[mM]akefile)(\.(a|o|out|ln|c|cc|C|cpp|p|` +
			`f|F|m|r|y|l|ym|yl|s|S|mod|sym|def|h|info|dvi|tex|texinfo|texi|txinfo|w|ch|web|sh|elc|el))*(,v)?$`)
	})
)

// program returns the name of a program without its folder, its version and its extension.
func program(word string) string {
	name := path.Base(strings.ReplaceAll(word, `\`, "/"))
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd"), ".bat")
	if short := strings.TrimRight(name, "0123456789.-"); short != "" { // python3.12
		return short
	}
	return name
}
