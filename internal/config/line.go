package config

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

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

// writes notes the files that a command writes. Their old content was not trusted.
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

var reserved = programs.Set("reserved")

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
		return // its words are read where its variable is used
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

// elsewhere adds those of the command's words that exist in the folders that its options name. A
// missing one may be meant elsewhere.
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

// operands adds the words that are files, or contain a file's name.
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

// arguments adds the files among a program's arguments. The program may only look at them.
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
