package config

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Word is a word of a command. It may name a file.
type Word struct {
	Text   string
	Runs   bool // it stands where a program stands, or the script of an interpreter
	Looked bool // its command only looks at files, so that none of them decides what the command does
	Late   bool // another command stands before it, which may build the file
}

// Words returns the words of a command. It knows quotes, and the signs that end a word or a command, and no more of
// a shell. A text in quotes is one word, and is also split for itself: it may be a command, as of `sh -c`. Files that
// the command writes are left out.
func (c Command) Words() []Word {
	s := &splitter{written: map[string]bool{}}
	if c.Shell != "" {
		s.line(FromRoot(c.Shell), 0)
	} else {
		var all []token
		for _, arg := range c.Argv {
			all = append(all, token{text: arg, quoted: true})
		}
		s.command(all, 0)
	}
	for _, i := range s.read {
		s.words[i].Looked = s.words[i].Looked || !s.interprets
	}
	return slices.DeleteFunc(s.words, func(w Word) bool { return s.written[path.Clean(w.Text)] })
}

// FromRoot returns a line for the shell without the variables that name the project's root, where commands begin.
func FromRoot(line string) string { return rootVariables.Replace(line) }

var rootVariables = strings.NewReplacer(
	"$PWD/", "./", "${PWD}/", "./", "$CLAUDE_PROJECT_DIR/", "./", "${CLAUDE_PROJECT_DIR}/", "./")

var (
	// wrappers are words before a program.
	wrappers = strings.Fields(`! { if then elif else while until do time timeout env nice nohup exec command xargs npx
		sudo`)
	// interpreters run a script, which is their first operand.
	interpreters = strings.Fields(`sh bash dash zsh ksh . source eval python python3 node deno bun ruby perl php pwsh`)
	// looks are programs that only look at the files that they name: they parse, compile, search or count them.
	looks = strings.Fields(`test [ [[ : true false exit echo printf grep egrep fgrep rg wc ls cc gcc g++ c++ clang
		clang++ rustc javac tsc gofmt eslint prettier ruff black flake8 mypy pylint shellcheck py_compile compileall`)
	// reads only look, too, unless an interpreter in the same line may run what they print.
	reads = strings.Fields(`cat head tail git`)
	// writes are programs that write or remove the files that they name; copies write only the last one.
	writes = strings.Fields(`mv rm mkdir touch tee chmod`)
	copies = strings.Fields(`cp ln install`)
)

// token is a word as the text has it.
type token struct {
	text   string
	quoted bool // a part of it is in quotes
	into   bool // it stands after >
}

type splitter struct {
	words      []Word
	written    map[string]bool
	read       []int // words of reads
	interprets bool  // there is an interpreter
	late       bool
}

// maxQuotes bounds how deep texts in quotes may lie within each other.
const maxQuotes = 4

// line adds the words of a text for a shell.
func (s *splitter) line(text string, depth int) {
	for _, words := range split(text) {
		s.command(words, depth)
	}
}

// command adds the words of one command.
func (s *splitter) command(words []token, depth int) {
	late, begin := s.late, len(s.words)
	c, before := simple{}, ""
	for i, w := range words {
		code := codeFlag().MatchString(before) && c.interprets
		copied := slices.Contains(copies, c.program) && i == len(words)-1
		if w.into || before == "-o" || copied || slices.Contains(writes, c.program) {
			s.written[path.Clean(w.text)] = true
		} else {
			if w.quoted && depth < maxQuotes && (code || strings.ContainsAny(w.text, " \t\n;|&(")) {
				s.line(w.text, depth+1)
			}
			word := c.word(w.text, code)
			word.Late = late
			s.words = append(s.words, word)
			if _, value, is := strings.Cut(w.text, "="); is {
				s.words = append(s.words, Word{Text: value, Looked: c.looks, Late: late})
			}
		}
		before = w.text
	}
	if c.looks { // as a flag may say
		for i := range s.words[begin:] {
			s.words[begin+i].Looked = !s.words[begin+i].Runs
		}
	}
	if slices.Contains(reads, c.program) {
		for i := range s.words[begin:] {
			s.read = append(s.read, begin+i)
		}
	}
	s.interprets = s.interprets || c.interprets
	s.late = late || c.program != "" && c.program != "cd"
}

// simple is what is known of one command while its words are read.
type simple struct {
	program    string
	interprets bool // it is an interpreter
	script     bool // whose script was read, or the text that it runs
	looks      bool // it only looks at files
}

// word returns the next word. code: the interpreter runs it as a text.
func (c *simple) word(text string, code bool) Word {
	flag, isPath := strings.HasPrefix(text, "-"), plainPath().MatchString(text)
	w := Word{Text: text, Looked: c.looks}
	switch {
	case c.program == "":
		name := path.Base(text)
		if slices.Contains(wrappers, name) {
			w.Looked = true
		} else if !flag && !beforeProgram().MatchString(text) {
			c.program = name
			c.looks = slices.Contains(looks, name)
			c.interprets = slices.Contains(interpreters, name)
			w.Runs = strings.Contains(text, "/") && isPath
			w.Looked = c.looks && !w.Runs
		}
	case c.program == "go" && (text == "vet" || text == "build"), text == "--check", text == "-n" && c.interprets:
		c.looks = true
		w.Looked = true
	case c.interprets && !c.script && !c.looks && code:
		c.script = true
		c.looks = slices.Contains(looks, text) // a module
	case c.interprets && !c.script && !c.looks && !flag && isPath && strings.ContainsAny(text, "./"):
		c.script = true
		w.Runs = true
	}
	return w
}

var (
	// codeFlag is a flag before a text that an interpreter runs, or before the name of a module.
	codeFlag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-[a-z]*c|-[mep]|--eval)$`) })
	// beforeProgram is a variable, or an operand of a wrapper, before a program.
	beforeProgram = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]|\w+=)`) })
	// plainPath is a path that needs no quotes in a shell line.
	plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./~+@%-]+$`) })
)

// split splits a text for a shell into commands, and these into words.
func split(text string) (commands [][]token) {
	var words []token
	word := strings.Builder{}
	begun := false
	next := token{}
	endWord := func() {
		if begun {
			next.text = word.String()
			words = append(words, next)
			next = token{}
		}
		begun = false
		word.Reset()
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '<':
			endWord()
		case '>':
			endWord()
			next.into = true
		case '\n', ';', '|', '&', '(', ')', '`':
			if c == '&' && i > 0 && text[i-1] == '>' { // 2>&1
				next.into = false
				continue
			}
			endCommand()
		case '\'', '"':
			end := closing(text, i)
			word.WriteString(text[i+1 : end])
			begun = true
			next.quoted = true
			i = end
		case '\\':
			i++
			if i < len(text) && text[i] != '\n' {
				word.WriteByte(text[i])
				begun = true
			}
		case '#':
			if !begun {
				if end := strings.IndexByte(text[i:], '\n'); end >= 0 {
					i += end - 1
					continue
				}
				i = len(text)
				continue
			}
			word.WriteByte(c)
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	endCommand()
	return commands
}

// closing returns where the quotes end that begin at an index of a text: at the text's end if they do not.
func closing(text string, begin int) int {
	for i := begin + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[begin] == '"':
			i++
		case text[i] == text[begin]:
			return i
		}
	}
	return len(text)
}
