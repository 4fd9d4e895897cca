package config

import (
	"regexp"
	"strings"
	"sync"
)

// word is one word of a command, as the shell reads it.
type word struct {
	text    string // without quotes; unknown stands for each part that only the running shell knows
	pattern string // the same as a pattern of path.Match
	glob    bool   // the shell replaces it by the files that match
	or      []word // what else it may be: a variable has several values, or there are braces
}

// unknown stands for a part of a word whose value the line does not tell, such as a variable's.
const unknown = "\x00"

func literal(text string) word { return word{text: text, pattern: escapePattern.Replace(text)} }

var escapePattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// open tells whether the line does not tell the whole word.
func (w word) open() bool { return strings.Contains(w.text, unknown) }

// all returns what the word may be.
func (w word) all() []word { return append([]word{w}, w.or...) }

func (w word) then(v word) word {
	return word{text: w.text + v.text, pattern: w.pattern + v.pattern, glob: w.glob || v.glob}
}

// simple is a simple command: a program with its arguments.
type simple struct {
	words  []word
	reads  []word // files that redirections read
	writes []word // files that redirections write
	input  string // a text that it gets as its standard input
	doc    int    // the number of the here-document that is its input, from 1
	piped  bool   // it gets its standard input from another command, or from input
}

// Bounds, beyond which a line is not read as it is. No line that a person writes reaches them.
const (
	maxWords  = 1000     // of one command, and commands of a line
	maxValues = 100      // that one word may have, by variables and braces
	maxCopied = 16 << 20 // bytes that are copied to put words together
	maxNested = 1000     // substitutions within each other
)

// scanner splits a shell line into simple commands, also those of substitutions. It does not
// judge: of a line that no shell would take it makes what it can.
type scanner struct {
	line     string
	at       int
	vars     map[string][]word // each value that the line gives a variable
	commands []simple
	docs     []string // the delimiters of all here-documents so far
	bodies   []string // the texts of those that were read
	copied   int      // bytes, to put words together
	nested   int      // substitutions around this one
}

func splitShell(line string) []simple {
	root, home := literal("."), literal("~")
	s := scanner{line: line, vars: map[string][]word{"PWD": {root}, "CLAUDE_PROJECT_DIR": {root}, "HOME": {home}}}
	for s.at < len(s.line) {
		s.list(0)
	}
	for i, c := range s.commands {
		if c.doc > 0 && c.doc <= len(s.bodies) {
			s.commands[i].input = s.bodies[c.doc-1]
		}
	}
	return s.commands
}

// next returns the byte at a distance from the current one, 0 behind the end.
func (s *scanner) next(n int) byte {
	if s.at+n < len(s.line) {
		return s.line[s.at+n]
	}
	return 0
}

// list reads commands to the end of the line, or to the byte that ends a substitution.
func (s *scanner) list(end byte) {
	cur := simple{}
	flush := func(piped bool) {
		if len(cur.words)+len(cur.reads)+len(cur.writes) > 0 && len(s.commands) < maxWords {
			s.assign(cur.words)
			s.commands = append(s.commands, cur)
		}
		cur = simple{piped: piped}
	}
	if s.nested++; s.nested > maxNested {
		cur.words, s.at = []word{{text: unknown, pattern: "*"}}, len(s.line)
	}
	defer func() {
		flush(false)
		s.nested--
	}()
	for s.at < len(s.line) {
		switch c := s.line[s.at]; {
		case end != 0 && c == end:
			s.at++
			return
		case c == '\n':
			s.at++
			flush(false)
			s.documents()
		case c == ' ' || c == '\t' || c == '\r':
			s.at++
		case c == '#':
			for s.at < len(s.line) && s.line[s.at] != '\n' {
				s.at++
			}
		case c == '<' || c == '>' || c == '&' && s.next(1) == '>':
			s.redirect(&cur)
		case c == '(':
			s.at++
			flush(false)
			s.list(')')
		case strings.IndexByte(";&|)", c) >= 0:
			piped := c == '|' && s.next(1) != '|'
			for s.at++; s.next(0) == c || piped && s.next(0) == '&'; s.at++ {
			}
			flush(piped)
		default:
			w := s.word()
			if d := s.next(0); (d == '<' || d == '>') && fileNumber().MatchString(w.text) {
				continue
			}
			if len(cur.words) < maxWords {
				cur.words = append(cur.words, w)
			}
		}
	}
}

var fileNumber = lazily(`^\d+$`)

// redirect reads a redirection or a process substitution.
func (s *scanner) redirect(cur *simple) {
	from := s.at
	for s.next(0) == '&' || s.next(0) == '<' || s.next(0) == '>' || s.next(0) == '|' {
		s.at++
	}
	op := s.line[from:s.at]
	if s.next(0) == '(' && (op == "<" || op == ">") {
		s.at++
		s.list(')')
		cur.words = append(cur.words, word{text: unknown, pattern: "*"})
		return
	}
	if op == "<<" && s.next(0) == '-' {
		s.at++
	}
	for s.next(0) == ' ' || s.next(0) == '\t' {
		s.at++
	}
	from = s.at
	w := s.word()
	switch {
	case s.at == from:
	case op == "<<":
		s.docs = append(s.docs, w.text)
		cur.piped, cur.doc = true, len(s.docs)
	case op == "<<<":
		cur.piped, cur.input = true, w.text
	case strings.HasSuffix(op, "&") && (w.text == "-" || fileNumber().MatchString(w.text)):
	case op == "<":
		cur.reads = append(cur.reads, w)
	default:
		cur.writes = append(cur.writes, w)
	}
}

// documents reads the here-documents that begin here.
func (s *scanner) documents() {
	for len(s.bodies) < len(s.docs) {
		delimiter, from := s.docs[len(s.bodies)], s.at
		to := from
		for s.at < len(s.line) {
			to = s.at
			line, _, _ := strings.Cut(s.line[s.at:], "\n")
			s.at = min(s.at+len(line)+1, len(s.line))
			if strings.TrimLeft(line, "\t") == delimiter {
				break
			}
			to = s.at
		}
		s.bodies = append(s.bodies, s.line[from:to])
	}
}

// lazily returns a function that compiles the expression when it is first called: few stops
// need it, and each start of the program would pay for it.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
