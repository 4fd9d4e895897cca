package locked

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// maxMakefile is the largest makefile that is read, in bytes.
const maxMakefile = 1 << 20

// Target is a target of a makefile that make takes for done if a file of its name exists, whatever is in it.
type Target struct{ Makefile, Name string }

var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// Anywhere begins the key of a target that make may look for in any folder.
const Anywhere = "*/"

// RoomTargets notes the targets of all makefiles among the files of a project, since one of them may call another, and
// the patterns of the files that these include. In a room no file may appear in the place of a target: the room's own
// make makes those. They are looked for beside their makefile, and anywhere if it has another name, or if something
// says that make looks elsewhere.
func (f *Finder) RoomTargets(files []string) {
	var queue []string // makefiles, each once
	for _, file := range files {
		if slices.Contains(makefiles, path.Base(file)) || path.Ext(file) == ".mk" {
			queue = append(queue, file)
		}
	}
	include := func(folder string, patterns []string) {
		for _, pattern := range patterns {
			pattern = path.Join(folder, pattern)
			f.Included = append(f.Included, pattern)
			for _, file := range files {
				if matches, _ := path.Match(pattern, file); matches && !slices.Contains(queue, file) {
					queue = append(queue, file)
				}
			}
		}
	}
	anywhere := false
	for _, command := range f.Config.Commands() {
		var line []string
		for _, w := range command.Words() {
			line = append(line, w.Text)
		}
		text := strings.Join(line, " ")
		anywhere = anywhere || otherFolder().MatchString(text)
		named, _ := includes(text)
		include(".", named)
	}
	for i := 0; i < len(queue); i++ { // an included one includes others
		file := queue[i]
		text, err := loopdir.ReadAny(At(f.Project, file), maxMakefile)
		if err != nil {
			continue
		}
		named, unnamed := includes(string(text))
		include(".", named)
		if path.Dir(file) != "." {
			include(path.Dir(file), named)
		}
		for _, word := range unnamed {
			f.Unnamed = append(f.Unnamed, Target{file, word})
		}
		f.noteTargets(file, string(text), anywhere || !slices.Contains(makefiles, path.Base(file)))
	}
}

// noteTargets notes the targets of a makefile.
func (f *Finder) noteTargets(file, text string, anywhere bool) {
	m := readMakefile(text)
	anywhere = anywhere || otherFolder().MatchString(text)
	for _, name := range slices.Sorted(maps.Keys(m.needs)) {
		key := path.Join(path.Dir(file), name)
		if m.always(name) || f.exists(key) {
			continue
		}
		if !m.files[name] {
			f.NotPhony = append(f.NotPhony, Target{file, name})
		}
		if anywhere {
			key = Anywhere + path.Base(name)
		}
		if !slices.Contains(f.Targets, key) {
			f.Targets = append(f.Targets, key)
		}
	}
}

// includes returns the patterns of the files that a makefile includes, or that a command has make read. unnamed are
// words for such files that only make knows.
func includes(text string) (patterns, unnamed []string) {
	text = strings.NewReplacer("\\\n", " ", "$(CURDIR)/", "", "${CURDIR}/", "", "$(wildcard ", " ").Replace(text)
	for _, match := range included().FindAllStringSubmatch(text, -1) {
		words := match[1] + match[2] + strings.TrimSuffix(match[3], ")")
		if strings.Contains(words, "$") {
			unnamed = append(unnamed, strings.TrimSpace(words))
			continue
		}
		for _, word := range strings.Fields(words) {
			patterns = append(patterns, strings.TrimSuffix(word, ")"))
		}
	}
	return patterns, unnamed
}

var included = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?m)^[ \t]*[-s]?include[ \t]+([^#\n]+)|` + otherMakefile + `[ \t]*([^\s;|&]+)|` +
			`\$[({]eval[^\n]*include[ \t]+([^\n]+)`)
})

// IsIncluded reports whether a makefile includes a file, by these patterns, or make could make such a file from it: of
// x.mk.sh it makes x.mk.
func IsIncluded(patterns []string, name string) bool {
	made := strings.TrimSuffix(name, path.Ext(name))
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, _ := path.Match(pattern, name)
		makes, _ := path.Match(pattern, made)
		return matches || makes
	})
}

// otherFolder matches what has make read a makefile, or look for files, in another folder.
var otherFolder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(otherMakefile + `|(?i)\bvpath\b`)
})

// otherMakefile matches a call of make with another makefile, up to its name.
const otherMakefile = `(?:\bmake|\bMAKE[)}])\b?[^;|&\n]*\s(?:-f|--file=?|--makefile=?)`

// IsTarget reports whether a file, or a folder above it, is in the place of a target.
func IsTarget(targets []string, name string) bool {
	for at := name; at != "." && at != ".."; at = path.Dir(at) {
		if slices.Contains(targets, at) || slices.Contains(targets, Anywhere+path.Base(at)) {
			return true
		}
	}
	return false
}

// targets notes the targets of a command with make that make would take for done, by the makefile of a folder.
func (f *Finder) targets(folder string, words []config.Word) {
	m, file := f.makefile(folder, words)
	for _, name := range m.asked(words) {
		if one := (Target{file, name}); !slices.Contains(f.Believed, one) {
			f.Believed = append(f.Believed, one)
		}
	}
}

// makefile reads the makefile that make reads in a folder: that of -f, or the first of its names. It does not know
// make's language: it looks at lines.
func (f *Finder) makefile(folder string, words []config.Word) (m makefile, file string) {
	names := makefiles
	for i, w := range words[:max(0, len(words)-1)] {
		if w.Text == "-f" || w.Text == "--file" {
			names = []string{words[i+1].Text}
		}
	}
	for _, name := range names {
		file = path.Join(folder, name)
		text, err := loopdir.ReadAny(At(f.Project, file), maxMakefile)
		if err == nil {
			return readMakefile(string(text)), file
		}
	}
	return m, file
}

// makefile is what the lines of a makefile say.
type makefile struct {
	needs map[string][]string // by target
	first string              // the first target
	files map[string]bool     // the targets that are files: they read like one, or their recipe makes them
}

func readMakefile(text string) makefile {
	m := makefile{needs: map[string][]string{}, files: map[string]bool{}}
	text = strings.TrimPrefix(text, "\ufeff")
	var current []string
	for line := range strings.Lines(text) {
		if line[0] == '\t' {
			for _, name := range current {
				m.files[name] = m.files[name] || makes(line, name)
			}
			continue
		}
		current = nil
		names, needs, is := strings.Cut(line, ":")
		names = strings.TrimSuffix(names, "&") // the targets of one recipe
		if !is || strings.ContainsAny(names, "\t#=$%") || strings.HasPrefix(needs, "=") || strings.HasPrefix(needs, ":=") {
			continue
		}
		needs, _, _ = strings.Cut(needs, ";")
		current = strings.Fields(names)
		for _, name := range current {
			m.needs[name] = append(m.needs[name], strings.Fields(needs)...)
			m.files[name] = m.files[name] || strings.ContainsAny(name, "./")
			if m.first == "" && name[0] != '.' {
				m.first = name
			}
		}
	}
	return m
}

// makes reports whether a line of a recipe makes the file that is its target.
func makes(line, target string) bool {
	return strings.Contains(line, "$@") || strings.Contains(line, "$(@") || strings.Contains(line, "-o "+target) ||
		strings.Contains(line, "> "+target)
}

// always reports whether make runs a target whatever files there are, or whether the name is not that of a target.
func (m makefile) always(name string) bool {
	phony := m.needs[".PHONY"]
	forced := func(need string) bool { return need == "FORCE" || slices.Contains(phony, need) }
	special := name == "FORCE" || name[0] == '.' && name == strings.ToUpper(name)
	return special || slices.Contains(phony, name) || slices.ContainsFunc(m.needs[name], forced)
}

// asked returns the targets that a command asks for, and what they need, as far as make would take them for done.
func (m makefile) asked(words []config.Word) (believed []string) {
	seen := map[string]bool{}
	var look func(name string)
	look = func(name string) {
		needs, is := m.needs[name]
		if !is || seen[name] {
			return
		}
		seen[name] = true
		if !m.files[name] && !m.always(name) {
			believed = append(believed, name)
		}
		for _, need := range needs {
			look(need)
		}
	}
	named, within, late := false, false, false
	for _, w := range words {
		program := path.Base(w.Text)
		if program == "make" || program == "gmake" {
			within, late = true, w.Late
			continue
		}
		within = within && w.Late == late // else it is a word of the next command
		switch _, is := m.needs[w.Text]; {
		case !within:
		case w.Text == "-B", w.Text == "--always-make":
			return nil
		case is:
			named = true
			look(w.Text)
		}
	}
	if !named {
		look(m.first)
	}
	return believed
}
