package config

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// File is what a command may depend on: a file, or files.
type File struct {
	Path    string // slash-separated, relative to the project's root, absolute, or below "~/"
	Decides bool   // by its place it says what the command does: a script, a Makefile. It counts even if it is absent
	Looked  bool   // the operand of a program that only looks at it
	Built   bool   // a program before it in the line may build it
	Pattern bool   // Path is a pattern as of path.Match
	Quiet   bool   // it may be no file at all: a folder of that name is no matter
	Set     Set    // not the file, but which files of this set there are in the folder Path
	Section bool   // only what Section returns of it
	Beside  bool   // Path is a name: of the files of this name, those beside or above held tests
}

// PackageJSON is the name of a file of which only the scripts decide what a command
// does. An agent may have to edit the rest of it.
const PackageJSON = "package.json"

// MaxPackageJSON is the largest size of a package.json in bytes. Real ones reach some 100 KB.
const MaxPackageJSON = 4 << 20

// The flags that name another file for a reader, or another folder to start in.
var (
	fileFlags = []string{"-f", "--file", "--makefile", "--justfile", "--taskfile", "--rakefile", "-c", "--config-file"}
	dirFlags  = []string{"-C", "--directory", "--dir", "--prefix", "--cwd", "--rootdir", "-d", "--working-directory",
		"--chdir", "-D"}
)

// Named is what a command names.
type Named struct {
	Files   []File
	Scripts []string // names of package.json scripts, with those that run beside them
	Open    []string // what it runs that cannot be told from its text, as it is written there
}

// Named returns what the command may depend on: all of its words, and the files that its
// programs read without being told. The same file may come twice, and many words are no
// files. A file that the command itself writes is left out.
func (c Command) Named() Named {
	left := maxNamed
	n := namer{made: map[string]bool{}, left: &left}
	if c.Shell != "" {
		n.line(splitShell(c.Shell))
	} else {
		s := simple{}
		for _, arg := range c.Argv {
			s.words = append(s.words, literal(arg))
		}
		n.line([]simple{s})
	}
	n.Files = slices.DeleteFunc(n.Files, func(f File) bool { return n.isMade(f.Path) && !f.Section && f.Set == "" })
	if n.unnamed {
		for i := range n.Files {
			n.Files[i].Looked = false // what only looks at a file may hand it to a shell
		}
	}
	return n.Named
}

// Optional tells whether a program looks for the file at path without being told, and
// does without it if it is not there.
func Optional(p string) bool {
	for _, names := range readers() {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix("/"+p, "/"+name) }) {
			return true
		}
	}
	if stem, is := strings.CutSuffix(p, ".py"); is && (pythonTools()[stem] || strings.HasSuffix(stem, "/__init__") ||
		strings.HasSuffix(stem, "/__main__")) {
		return true
	}
	return strings.Contains(p, PackageJSON) || strings.Contains(p, "/* for ") || path.Base(p) == besideTests
}

// besideTests is loaded by pytest from the folders of tests and those above.
const besideTests = "conftest.py"

// namer collects what a line names.
type namer struct {
	Named
	dir     string          // where the line has changed to
	built   bool            // a program that builds files has run
	makes   bool            // and one that writes a Makefile
	guess   bool            // the line may be no shell line
	unnamed bool            // something runs whose text comes from elsewhere in the line
	made    map[string]bool // what the line writes
	depth   int
	left    *int // words that may still be looked at
}

func (n *namer) isMade(p string) bool {
	for ; p != "." && p != "/" && p != ""; p = path.Dir(p) {
		if n.made[p] {
			return true
		}
	}
	return false
}

// maxName is the longest name of a file, in bytes.
const maxName = 4096

// add adds a file that a word names, as it is found from the folder that the line is in.
func (n *namer) add(name string, f File) {
	if name == "" || len(name) > maxName || strings.Contains(name, unknown) {
		return
	}
	f.Built, f.Decides = f.Built || n.built, f.Decides && !n.guess
	f.Looked = f.Looked || !f.Decides && Manifest(name)
	if path.IsAbs(name) || strings.HasPrefix(name, "~/") {
		f.Path = clean(name)
	} else {
		if n.dir != "" && !f.Decides {
			there := f
			there.Path = clean(name)
			n.Files = append(n.Files, there) // the cd may be over by then
		}
		if n.dir != "" {
			name = n.dir + "/" + name
		}
		if f.Path = clean(name); strings.Contains(n.dir, unknown) {
			return
		}
	}
	n.Files = append(n.Files, f)
}

// clean is path.Clean but for "a/..": if a is a link, that is not where a is.
func clean(p string) string {
	if strings.Contains(p, "../") {
		var parts []string
		for part := range strings.SplitSeq(p, "/") {
			if part != "" && part != "." || len(parts) == 0 && part == "" {
				parts = append(parts, part)
			}
		}
		return strings.Join(parts, "/")
	}
	return path.Clean(p)
}

func (n *namer) file(w word, f File) {
	for _, other := range w.or {
		n.file(other, f)
	}
	switch {
	case w.open() && (!f.Decides || strings.Trim(path.Base(w.pattern), "*?.") == ""):
	case w.open() || w.glob && !badPattern(w.pattern):
		f.Pattern, f.Decides = true, false
		n.add(w.pattern, f)
	default:
		n.add(w.text, f)
	}
}

func (n *namer) open(s simple) {
	n.unnamed = true
	text := s.text()
	if strings.HasPrefix(text, shownOpen) && n.depth > 1 {
		return // the line that it stands in is open already
	}
	if !slices.Contains(n.Open, text) {
		n.Open = append(n.Open, text)
	}
}

// badPattern tells whether a pattern is none, so that the shell takes it as it is.
func badPattern(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err != nil
}

// shownOpen is shown for a part of a command that only the running shell knows.
const shownOpen = "$…"

// text shows a command.
func (s simple) text() string {
	var shown []string
	for _, w := range s.program() {
		shown = append(shown, strings.ReplaceAll(w.text, unknown, shownOpen))
	}
	return strings.Join(shown, " ")
}

const (
	maxDepth = 10     // of lines within lines
	maxNamed = 20_000 // words, also of lines within lines
)

// line collects from the commands of a line.
func (n *namer) line(commands []simple) {
	if n.depth++; n.depth > maxDepth {
		return
	}
	defer func() { n.depth-- }()
	for _, s := range commands {
		n.writes(s)
	}
	for _, s := range commands {
		if *n.left -= len(s.words) + 1; *n.left < 0 {
			n.open(simple{words: []word{literal("the line, which is too long to be looked at whole,")}})
			return
		}
		n.command(s)
	}
}

// nested collects from a text that is a shell line, or may be one.
func (n *namer) nested(text string, guess bool) {
	inner := *n
	inner.guess = n.guess || guess
	inner.line(splitShell(text))
	n.Named, n.unnamed = inner.Named, inner.unnamed
}

// writes notes the files that a command writes: they say nothing about what was trusted.
func (n *namer) writes(s simple) {
	note := func(w word) {
		if !w.open() && !w.glob && !strings.HasPrefix(w.text, "-") {
			n.made[clean(w.text)] = true
		}
	}
	for _, w := range s.writes {
		note(w)
	}
	words := s.program()
	if len(words) == 0 {
		return
	}
	name := program(words[0].text)
	_, interprets := interpreters()[name]
	for i, w := range words[1:] {
		flag, value, _ := strings.Cut(w.text, "=")
		switch {
		case makes()[name]:
			note(w)
		case flag != "-o" && flag != "--output" && flag != "--out" && flag != "-out" || interprets:
		case name == "test" || name == "[" || name == "[[" || name == "find" || name == "grep":
		case value != "":
			note(literal(value))
		case i+2 < len(words):
			note(words[i+2])
		}
	}
}

// reserved are words of the shell before a command, and programs that run the command that
// they are given.
var reserved = words("if then elif else do while until ! { time exec command builtin nohup nice env sudo stdbuf " +
	"setsid ionice chronic unbuffer dotenv")

// program returns the words from the program's name on.
func (s simple) program() []word {
	words := s.words
	for len(words) > 0 {
		text := words[0].text
		switch {
		case assignment().MatchString(text), reserved()[text], text == "timeout":
			words = words[1:]
			for len(words) > 0 && (text == "timeout" || text == "nice" || text == "env" || text == "stdbuf") &&
				(strings.HasPrefix(words[0].text, "-") || duration().MatchString(words[0].text)) {
				words = words[1:]
			}
		default:
			return words
		}
	}
	return nil
}

var duration = lazily(`^[\d.]+[smhd]?$`)

// command collects from one simple command.
func (n *namer) command(s simple) {
	words := s.program()
	name := ""
	if len(words) > 0 {
		name = program(words[0].text)
	}
	switch {
	case len(words) > 1 && (name == "cd" || name == "pushd"):
		n.changeDir(s, words[1])
		return
	case name == "for" || name == "select":
		return // what its words are for is where its variable is used
	}
	n.runs(s, s.program())
	n.operands(s, words, len(s.words)-len(s.program()), name)
	if _, known := readers()[name]; !known { // else reads looks for its folders
		n.elsewhere(s, words, name)
	}
	if builders()[name] || len(words) > 1 && name == "python" && builders()[words[1].text] {
		n.built = true
	}
	n.makes = n.makes || slices.ContainsFunc(words, func(w word) bool { return generators()[path.Base(w.text)] })
}

// elsewhere adds what there is of the command's words in the folders that its options name. What
// is not there may be meant elsewhere.
func (n *namer) elsewhere(s simple, words []word, name string) {
	for _, dir := range s.startsIn() {
		inner := *n
		inner.dir, inner.guess = path.Join(n.dir, dir), true
		inner.runs(s, s.program())
		inner.operands(s, words, len(s.words)-len(s.program()), name)
		n.Named, n.unnamed = inner.Named, inner.unnamed
	}
}

// startsIn returns the folders that options name, as of `env -C sub`.
func (s simple) startsIn() (dirs []string) {
	for i, w := range s.words {
		flag, value, _ := strings.Cut(w.text, "=")
		switch {
		case strings.HasPrefix(w.text, "-C") && len(w.text) > 2:
			value = w.text[2:]
		case !slices.Contains(dirFlags, flag):
			continue
		case value == "" && i+1 < len(s.words):
			value = s.words[i+1].text
		}
		if value != "" && !path.IsAbs(value) && !strings.HasPrefix(value, "-") && !strings.Contains(value, unknown) {
			dirs = append(dirs, value)
		}
	}
	return dirs
}

func (n *namer) changeDir(s simple, to word) {
	switch {
	case to.open() || to.glob || to.text == "-":
		n.dir = unknown
		n.open(s)
	case path.IsAbs(to.text) || strings.HasPrefix(to.text, "~/"):
		n.dir = to.text
	default:
		n.dir = path.Join(n.dir, to.text)
	}
}

// operands adds the words that are files, or have a file's name in them.
func (n *namer) operands(s simple, words []word, before int, name string) {
	at := looker(words)
	for _, w := range s.reads {
		n.file(w, File{Looked: at >= 0})
	}
	for _, w := range s.words[:before] { // NAME=value
		n.parts(w.text)
	}
	if len(words) == 0 {
		return
	}
	if slices.ContainsFunc(words[0].all(), word.open) {
		n.open(s)
	}
	// A path is a program of the project. By its name alone PATH finds it.
	if strings.ContainsAny(words[0].text, "/.") {
		n.file(words[0], File{Decides: strings.Contains(words[0].text, "/"), Quiet: true})
	}
	if strings.Contains(words[0].text, " ") {
		n.parts(words[0].text) // env -S "sh v.sh"
	}
	if at > 0 { // npx eslint x.js
		n.arguments(words[1:at+1], name, false)
		words, name = words[at:], program(words[at].text)
	}
	n.arguments(words[1:], name, at >= 0)
}

// arguments adds the files among the words that a program is given, which may only look at
// them.
func (n *namer) arguments(words []word, name string, looks bool) {
	_, npm := readers()[name]
	npm = npm && slices.Contains(readers()[name], PackageJSON)
	valued := false
	for _, w := range words {
		isOption := strings.HasPrefix(w.text, "-") && w.text != "-"
		bare := !strings.ContainsAny(w.text, "/.")
		switch {
		case name == "read" || name == "unset": // names of variables
		case isOption:
			n.parts(w.text)
			short := len(w.text) > 2 && w.text[1] != '-'
			if short && (!looks && !bare || looks && filesOfLooks()[name+":"+w.text[:2]]) {
				n.add(w.text[2:], File{Quiet: true}) // -fFILE
			}
		case makes()[name], bare && (npm || builders()[name]), w.text == "{}":
		case valued:
			n.file(w, File{})
			n.parts(w.text)
		case targets()[name] && !assignment().MatchString(w.text):
		case looks:
			n.file(w, File{Looked: true, Quiet: true})
		default:
			n.file(w, File{})
			n.parts(w.text)
		}
		valued = isOption && !strings.Contains(w.text, "=") &&
			(!looks || filesOfLooks()[w.text] || filesOfLooks()[name+":"+w.text] ||
				filesOfLooks()[name+":-"+w.text[len(w.text)-1:]]) // -qf FILE
	}
}

// parts adds the files whose names are in a word: --require=./x, a:b, "require('./x')".
func (n *namer) parts(text string) {
	if strings.ContainsFunc(text, unicode.IsSpace) {
		n.nested(text, true)
	}
	split := func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("=,:;@()[]{}'\"`<>|&", r)
	}
	if _, value, is := strings.Cut(text, "="); is {
		n.add(value, File{Quiet: true})
	}
	if !strings.ContainsFunc(text, split) {
		return
	}
	for part := range strings.FieldsFuncSeq(text, split) {
		if strings.Trim(part, "./") != "" && strings.ContainsAny(part, "./") {
			n.add(part, File{Quiet: !strings.Contains(part, "/")})
		}
	}
}

// runs adds what the programs of a command run or read without being told, wherever they
// stand: behind timeout, xargs or find -exec too.
func (n *namer) runs(s simple, words []word) {
	if len(words) > 0 && looks()[program(words[0].text)] {
		return
	}
	for i, w := range words {
		name := program(w.text)
		in, is := interpreters()[name]
		first := name == "." || name == "source" || name == "eval"
		if is && !w.open() && (i == 0 || !first) && !onlyParses(words[i:]) {
			n.interprets(s, words, i, in)
		}
		n.reads(words, i)
	}
}

// interprets adds the script of the interpreter at i.
func (n *namer) interprets(s simple, words []word, i int, in interpreter) {
	name := program(words[i].text)
	rest := words[i+1:]
	python := name == "python" || name == "pypy"
	if name == "eval" {
		for _, w := range rest {
			if w.open() {
				n.open(s)
			}
		}
		n.nested(simple{words: rest}.text(), false)
		return
	}
	for len(rest) > 0 {
		text := rest[0].text
		switch {
		case text == "-" || text == "-s" && in.code != nil:
			rest = nil
			continue
		case text == "--":
			rest = rest[1:]
			if len(rest) == 0 {
				continue
			}
		case slices.Contains(in.code, text) || (name == "sh" || isShell(in)) && shellCode().MatchString(text):
			n.code(s, rest, name)
			return
		case slices.ContainsFunc(in.code, func(c string) bool {
			return len(c) == 2 && strings.HasPrefix(text, c) && len(text) > 2
		}) && python:
			n.code(s, append([]word{literal(text[:2]), literal(text[2:])}, rest[1:]...), name)
			return
		case (name == "perl" || name == "ruby") && strings.HasSuffix(text, "e") &&
			strings.Trim(text, "-anlpsw0") == "e": // -lane
			n.code(s, rest, name)
			return
		case slices.Contains(in.valued, text) || isShell(in) && shellOption().MatchString(text):
			if len(rest) > 1 {
				if value := rest[1].text; strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../") {
					n.script(rest[1], in)
				}
				rest = rest[1:]
			}
			rest = rest[1:]
			continue
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") && isShell(in):
			rest = rest[1:]
			continue
		case (name == "deno" || name == "bun") && !strings.ContainsAny(text, "./"):
			rest = rest[1:]
			continue
		case strings.HasPrefix(name, "busybox"):
			rest = rest[1:]
			continue
		}
		if strings.HasSuffix(name, "awk") || name == "java" {
			return // the first operand is the program's text
		}
		if rest[0].text == "{}" || slices.ContainsFunc(rest[0].all(), word.open) || n.isMade(clean(rest[0].text)) {
			n.open(s)
		}
		n.script(rest[0], in)
		for _, w := range rest[0].all() {
			if python {
				n.add(path.Dir(w.text), File{Set: SetPython})
			}
		}
		return
	}
	switch {
	case i > 0 && program(words[0].text) == "xargs":
		n.open(s)
	case len(s.reads) > 0:
		for _, w := range s.reads {
			n.file(w, File{Decides: true})
		}
	case s.input != "" && isShell(in):
		n.nested(s.input, false)
	case s.piped:
		n.open(s)
	}
}

func isShell(in interpreter) bool { return slices.Contains(in.valued, "--rcfile") }

var (
	shellCode   = lazily(`^-[a-zA-Z]*c[a-zA-Z]*$`) // -lc
	shellOption = lazily(`^[-+][a-zA-Z]*[oO]$`)    // -euo pipefail
)

// script adds a script that an interpreter is given, and the files that it would take in its
// place.
func (n *namer) script(w word, in interpreter) {
	if w.text != "{}" {
		n.file(w, File{Decides: true})
	}
	if path.Ext(w.text) == "" && !w.open() && !w.glob && w.text != "{}" {
		for _, suffix := range in.suffix {
			n.add(w.text+suffix, File{Decides: true})
		}
	}
}

// code collects from code that an option gives: of a shell, or of another language, of which
// only the names of files can be told.
func (n *namer) code(s simple, rest []word, name string) {
	if len(rest) < 2 {
		return
	}
	text := rest[1]
	switch {
	case rest[0].text == "-m":
		at := strings.ReplaceAll(text.text, ".", "/")
		first, _, _ := strings.Cut(text.text, ".")
		held := !SetPython.Has(first) // else the set says that it is not there
		for _, file := range []string{at + ".py", at + "/__init__.py", at + "/__main__.py"} {
			n.add(file, File{Decides: held})
		}
		n.add(".", File{Set: SetPython})
		n.reads(rest, 1)
	case name == "python" || name == "pypy":
		n.add(".", File{Set: SetPython})
		n.parts(text.text + " ")
	case isShell(interpreters()[name]):
		if text.open() {
			n.open(s)
		}
		n.nested(text.text, false)
	default:
		n.parts(text.text + " ")
	}
}

// reads adds the files that the program at i reads without being told, or the one that a
// flag names in their place.
func (n *namer) reads(words []word, i int) {
	name := program(words[i].text)
	names, known := readers()[name]
	if !known && i+1 < len(words) {
		names, known = readers()[name+" "+words[i+1].text]
	}
	if !known {
		return
	}
	dir, named := "", false
	for rest := words[i+1:]; len(rest) > 0; rest = rest[1:] {
		flag, value, _ := strings.Cut(rest[0].text, "=")
		switch {
		case len(flag) > 2 && flag[0] == '-' && flag[1] != '-': // -fFILE
			flag, value = flag[:2], flag[2:]
		case value == "" && len(rest) > 1:
			value = rest[1].text
		}
		if slices.Contains(fileFlags, flag) && (name != "make" || flag != "-c") {
			if !named {
				names, named = nil, true
			}
			names = append(names, value) // make takes several
		}
		if slices.Contains(dirFlags, flag) {
			dir = path.Join(dir, value)
		}
	}
	built := n.built
	for _, file := range names { // what builds writes none of these, but a Makefile
		n.built = n.makes && file == "Makefile"
		n.add(path.Join(dir, file), File{Decides: true})
	}
	n.built = built
	switch name {
	case "make", "gmake":
		n.add(path.Join(dir, "."), File{Set: SetMake})
		n.add(path.Join(dir, "RCS"), File{Set: SetKept})
		n.add(path.Join(dir, "SCCS"), File{Set: SetKept})
	case "rake":
		n.add(path.Join(dir, "rakelib"), File{Set: SetRake})
		n.add(path.Join(dir, "rakelib/*.rake"), File{Pattern: true})
	case "pytest":
		for _, file := range sections[name] {
			n.add(path.Join(dir, file), File{Section: true})
		}
		n.Files = append(n.Files, File{Path: besideTests, Beside: true})
	}
	if slices.Contains(names, PackageJSON) {
		n.npm(words[i+1:])
	}
}

// npm adds the scripts of a package.json that may run: those that words name, and those that
// run beside them.
func (n *namer) npm(words []word) {
	first := true
	add := func(name string) { n.Scripts = append(n.Scripts, name, "pre"+name, "post"+name) }
	installs := true
	for _, w := range words {
		if !strings.HasPrefix(w.text, "-") {
			add(w.text)
		}
		if alias := aliases[w.text]; alias != "" {
			add(alias)
		}
		if first && !strings.HasPrefix(w.text, "-") {
			first, installs = false, !installsNothing()[w.text]
		}
	}
	if installs {
		n.Scripts = append(n.Scripts, lifecycle...)
	}
}
