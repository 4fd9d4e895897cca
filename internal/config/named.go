package config

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// File is a file that a command may rest on.
type File struct {
	Path string // slash-separated, from the project's root or absolute
	Text bool   // it says what is done, by its place in the command: a script, a Makefile
}

// interpreters do what the file says that is their first argument.
var interpreters = []string{
	"sh", "bash", "dash", "zsh", "ksh", "fish", "python", "node", "deno", "bun", "ruby", "perl", "php", "pwsh", "powershell", "cmd", "source", ".",
}

// readers do what files of these names say, where they are started.
var readers = map[string][]string{
	"make":  {"GNUmakefile", "makefile", "Makefile"},
	"gmake": {"GNUmakefile", "makefile", "Makefile"},
	"just":  {"justfile", "Justfile", ".justfile"},
	"task":  {"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"},
	"rake":  {"Rakefile", "rakefile"},
	"npm":   {Package, ".npmrc"},
	"pnpm":  {Package, ".npmrc"},
	"yarn":  {Package, ".yarnrc.yml"},
	"bun":   {Package, "bunfig.toml"},
}

// Package is a file of which only the scripts matter; the rest an agent has to edit.
const Package = "package.json"

// MaxPackage bounds it. Real ones reach some 100 KB.
const MaxPackage = 4 << 20

// The flags by which a reader is told of another file, or folder to start in.
var (
	fileFlags = []string{"-f", "--file", "--makefile", "--justfile", "--taskfile", "--rakefile"}
	dirFlags  = []string{"-C", "--directory", "--dir", "--prefix", "--cwd"}
)

// Files returns what may be files in a command: all of its words, and what the
// programs in it read by themselves. What is written to is left out.
func (c Command) Files() (files []File) {
	dir := ""
	add := func(name string, text bool) {
		if !path.IsAbs(name) {
			if dir != "" && !text {
				files = append(files, File{Path: path.Clean(name)}) // its cd may be undone
			}
			name = path.Join(dir, name)
		}
		files = append(files, File{name, text})
	}
	for _, words := range c.segments() {
		if len(words) > 1 && (words[0] == "cd" || words[0] == "pushd") {
			if dir = path.Join(dir, words[1]); path.IsAbs(words[1]) {
				dir = words[1]
			}
			continue
		}
		for i, word := range words {
			add(word, script(words, i) || i == 0 && strings.Contains(word, "/"))
			for _, name := range reads(words, i) {
				add(name, true)
			}
		}
	}
	return files
}

// Optional tells whether a program reads the file at path only where it is there.
func Optional(path string) bool {
	for _, names := range readers {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix("/"+path, "/"+name) }) {
			return true
		}
	}
	return strings.Contains(path, Package)
}

// Scripts returns the names of scripts in a package.json that a command may run,
// with those that run before and after them.
func (c Command) Scripts() (names []string) {
	for _, words := range c.segments() {
		for i, word := range words {
			if !slices.Contains(readers[program(word)], Package) {
				continue
			}
			for _, name := range words[i+1:] {
				names = append(names, name, "pre"+name, "post"+name)
			}
		}
	}
	return names
}

// written matches what a shell line writes to.
var written = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`>+\s*[^\s;&|]+`) })

// here spells the project's root in a shell line as what it is to a command.
var here = strings.NewReplacer("$PWD/", "./", "${PWD}/", "./", "$CLAUDE_PROJECT_DIR/", "./", "${CLAUDE_PROJECT_DIR}/", "./")

// segments are the words of the simple commands of which a command is made.
func (c Command) segments() (segments [][]string) {
	lines := []string{c.Shell}
	if c.Shell == "" {
		segments = append(segments, c.Argv)
		lines = slices.DeleteFunc(slices.Clone(c.Argv), func(arg string) bool { return !strings.ContainsFunc(arg, unicode.IsSpace) }) // sh -c LINE
	}
	for _, line := range lines {
		line = written().ReplaceAllString(here.Replace(line), " ")
		for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune("`;&|(){}\n", r) }) {
			if words := strings.FieldsFunc(part, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'$<>=", r) }); len(words) > 0 {
				segments = append(segments, words)
			}
		}
	}
	return segments
}

// script tells whether the word at i is a program's text by its place: the first
// argument of an interpreter that is no flag. (After sh -c come commands.)
func script(words []string, i int) bool {
	if strings.HasPrefix(words[i], "-") {
		return false
	}
	for i--; i >= 0 && strings.HasPrefix(words[i], "-") && !strings.HasSuffix(words[i], "c"); i-- {
	}
	if i < 0 {
		return false
	}
	name := program(words[i])
	if name != "." {
		name = strings.TrimRight(name, "0123456789.") // python3.12
	}
	return slices.Contains(interpreters, name)
}

// reads returns the files that the program at i reads by itself.
func reads(words []string, i int) (files []string) {
	names, dir := readers[program(words[i])], ""
	if names == nil {
		return nil
	}
	for rest := words[i+1:]; len(rest) > 0; rest = rest[1:] {
		flag, value, _ := strings.Cut(rest[0], "=")
		switch {
		case len(flag) > 2 && flag[0] == '-' && flag[1] != '-': // -fFILE
			flag, value = flag[:2], flag[2:]
		case value == "" && len(rest) > 1:
			value = rest[1]
		}
		if slices.Contains(fileFlags, flag) {
			names = []string{value}
		}
		if slices.Contains(dirFlags, flag) {
			dir = value
		}
	}
	for _, name := range names {
		files = append(files, path.Join(dir, name))
	}
	return files
}

// program is the name of a program by its path.
func program(word string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
}
