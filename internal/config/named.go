package config

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// File is a file that a command may depend on.
type File struct {
	Path    string // slash-separated, relative to the project's root or absolute
	Decides bool   // by its place in the command it says what the command does: a script, a Makefile
}

// interpreters are programs that run the file that is their first argument.
var interpreters = []string{
	"sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "pwsh", "powershell", "cmd",
	"python", "node", "deno", "bun", "ruby", "perl", "php",
}

// readers are programs that follow a file of one of these names in the folder they
// start in, without being told of it.
var readers = map[string][]string{
	"make":  {"GNUmakefile", "makefile", "Makefile"},
	"gmake": {"GNUmakefile", "makefile", "Makefile"},
	"just":  {"justfile", "Justfile", ".justfile"},
	"task":  {"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"},
	"rake":  {"Rakefile", "rakefile"},
	"npm":   {PackageJSON, ".npmrc"},
	"pnpm":  {PackageJSON, ".npmrc"},
	"yarn":  {PackageJSON, ".yarnrc.yml"},
	"bun":   {PackageJSON, "bunfig.toml"},
}

// PackageJSON is the name of a file of which only the scripts decide what a command
// does. An agent may have to edit the rest of it.
const PackageJSON = "package.json"

// MaxPackageJSON is the largest size of a package.json in bytes. Real ones reach some 100 KB.
const MaxPackageJSON = 4 << 20

// The flags that name another file for a reader, or another folder to start in.
var (
	fileFlags = []string{"-f", "--file", "--makefile", "--justfile", "--taskfile", "--rakefile"}
	dirFlags  = []string{"-C", "--directory", "--dir", "--prefix", "--cwd"}
)

// Files returns the files that the command may depend on: all of its words, and the
// files that its programs read without being told. The same file may come twice, and
// many words are no files. A file that the shell writes to is left out.
func (c Command) Files() (files []File) {
	dir := ""
	add := func(name string, text bool) {
		if !path.IsAbs(name) {
			if dir != "" && !text {
				files = append(files, File{Path: path.Clean(name)}) // the cd may be over by then
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

// Optional tells whether a program looks for the file at path without being told, and
// does without it if it is not there.
func Optional(path string) bool {
	for _, names := range readers {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix("/"+path, "/"+name) }) {
			return true
		}
	}
	return strings.Contains(path, PackageJSON)
}

// Scripts returns the names of the package.json scripts that the command may run, and
// of the "pre" and "post" scripts that run with each. Words that are no script's name
// are among them.
func (c Command) Scripts() (names []string) {
	for _, words := range c.segments() {
		for i, word := range words {
			if !slices.Contains(readers[program(word)], PackageJSON) {
				continue
			}
			for _, name := range words[i+1:] {
				names = append(names, name, "pre"+name, "post"+name)
			}
		}
	}
	return names
}

// written matches a redirection to a file in a shell line.
var written = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`>+\s*[^\s;&|]+`) })

// rootVariables replaces the variables that name the project's root in a shell line.
// Commands start in that folder.
var rootVariables = strings.NewReplacer(
	"$PWD/", "./", "${PWD}/", "./", "$CLAUDE_PROJECT_DIR/", "./", "${CLAUDE_PROJECT_DIR}/", "./")

// segments returns the simple commands that the command is made of, each as its
// words. An argument with white space counts as a shell line too, as in sh -c LINE.
func (c Command) segments() (segments [][]string) {
	lines := []string{c.Shell}
	if c.Shell == "" {
		segments = append(segments, c.Argv)
		lines = slices.DeleteFunc(slices.Clone(c.Argv), func(arg string) bool {
			return !strings.ContainsFunc(arg, unicode.IsSpace)
		})
	}
	endsCommand := func(r rune) bool { return strings.ContainsRune("`;&|(){}\n", r) }
	endsWord := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'$<>=", r) }
	for _, line := range lines {
		line = written().ReplaceAllString(rootVariables.Replace(line), " ")
		for part := range strings.FieldsFuncSeq(line, endsCommand) {
			if words := strings.FieldsFunc(part, endsWord); len(words) > 0 {
				segments = append(segments, words)
			}
		}
	}
	return segments
}

// script tells whether the word at i is a file that an interpreter runs: its first
// argument that is no flag. What comes after sh -c is a command and no file.
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

// reads returns the files that the program at i reads without being told, or the
// one that a flag names in their place. It returns nil if the program is no reader.
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

// program returns the name of a program without its folder and without ".exe".
func program(word string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
}
