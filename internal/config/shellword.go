package config

import (
	"runtime"
	"strings"
)

// word reads one word.
func (s *scanner) word() word {
	alts := []word{{}}
	add := func(more ...word) { alts = s.product(alts, more) }
	for s.at < len(s.line) {
		switch c := s.line[s.at]; c {
		case ' ', '\t', '\r', '\n', ';', '&', '|', '<', '>', '(', ')':
			return oneOf(alts)
		case '\\':
			if runtime.GOOS == "windows" {
				s.at++
				add(literal("/"))
				continue
			}
			if s.at++; s.at < len(s.line) {
				if s.line[s.at] != '\n' {
					add(literal(s.line[s.at : s.at+1]))
				}
				s.at++
			}
		case '\'':
			text, _, _ := strings.Cut(s.line[s.at+1:], "'")
			s.at = min(s.at+len(text)+2, len(s.line))
			add(literal(text))
		case '"':
			s.at++
			s.quoted(add)
		case '$', '`':
			add(s.expansion()...)
		case '*', '?', '[':
			s.at++
			pattern := string(c)
			if c == '[' && s.next(0) == '!' {
				s.at++
				pattern = "[^"
			}
			add(word{text: s.line[s.at-len(pattern) : s.at], pattern: pattern, glob: true})
		case '{':
			add(s.braces()...)
		default:
			add(s.plain(" \t\r\n;&|<>()\\'\"$`*?[{"))
		}
	}
	return oneOf(alts)
}

func oneOf(alts []word) word {
	w := alts[0]
	w.or = alts[1:]
	return w
}

// product puts each of more behind each of alts.
func (s *scanner) product(alts, more []word) (all []word) {
	for _, a := range alts {
		s.copied += len(a.text) * len(more)
	}
	if len(alts)*len(more) > maxValues || s.copied > maxCopied {
		return []word{{text: unknown, pattern: "*"}}
	}
	for _, a := range alts {
		for _, b := range more {
			all = append(all, a.then(b))
		}
	}
	return all
}

// quoted reads a text to its closing quotation mark.
func (s *scanner) quoted(add func(...word)) {
	for s.at < len(s.line) {
		switch c := s.line[s.at]; c {
		case '"':
			s.at++
			return
		case '$', '`':
			add(s.expansion()...)
		case '\\':
			if strings.IndexByte("$`\"\\\n", s.next(1)) >= 0 && s.next(1) != 0 {
				s.at++
			}
			if s.at < len(s.line) && s.line[s.at] != '\n' {
				add(literal(s.line[s.at : s.at+1]))
			}
			s.at++
		default:
			add(s.plain("\"$`\\"))
		}
	}
}

// plain reads to the next byte of special.
func (s *scanner) plain(special string) word {
	from := s.at
	if end := strings.IndexAny(s.line[from:], special); end >= 0 {
		s.at += end
	} else {
		s.at = len(s.line)
	}
	return literal(s.line[from:s.at])
}

var (
	variable = lazily(`^\$(\w+|[-@*#?$!])`)
	braced   = lazily(`^\$\{(\w+)(?::?[-=]([^{}$"'` + "`" + `]*))?\}`)
	braces   = lazily(`^\{([^{}\s$"'` + "`" + `;&|<>()]*,[^{}\s$"'` + "`" + `;&|<>()]*)\}`)
)

// expansion reads what begins with $ or a backtick.
func (s *scanner) expansion() []word {
	rest, what := s.line[s.at:], []word{{text: unknown, pattern: "*"}}
	switch {
	case rest[0] == '`':
		inner, _, _ := strings.Cut(rest[1:], "`")
		s.at = min(s.at+len(inner)+2, len(s.line))
		if len(s.commands) < maxWords {
			s.commands = append(s.commands, splitShell(inner)...)
		}
	case strings.HasPrefix(rest, "$("):
		s.at += 2
		from := s.at
		s.list(')')
		if strings.Trim(s.line[from:s.at], " )") == "pwd" {
			return s.vars["PWD"]
		}
	case strings.HasPrefix(rest, "$'"):
		s.at += 2
		for s.at < len(s.line) && s.line[s.at] != '\'' {
			if s.line[s.at] == '\\' {
				s.at++
			}
			s.at++
		}
		s.at = min(s.at+1, len(s.line))
		if text := s.line[len(s.line)-len(rest)+2 : s.at]; !strings.Contains(text, `\`) {
			return []word{literal(strings.TrimSuffix(text, "'"))}
		}
	case braced().MatchString(rest):
		m := braced().FindStringSubmatch(rest)
		s.at += len(m[0])
		if values := s.vars[m[1]]; values != nil {
			return values
		}
		if m[2] != "" {
			return append(what, literal(m[2])) // if the variable is not set
		}
	case strings.HasPrefix(rest, "${"):
		end := strings.IndexByte(rest, '}') + 1
		if end == 0 {
			end = len(rest)
		}
		s.at += end
	case variable().MatchString(rest):
		name := variable().FindString(rest)
		s.at += len(name)
		if values := s.vars[name[1:]]; values != nil {
			return values
		}
	default:
		s.at++
		return []word{literal("$")}
	}
	return what
}

// braces reads {a,b}, which some shells take as two words, and others as it is.
func (s *scanner) braces() []word {
	m := braces().FindStringSubmatch(s.line[s.at:])
	if m == nil {
		s.at++
		return []word{literal("{")}
	}
	s.at += len(m[0])
	var all []word
	for part := range strings.SplitSeq(m[1], ",") {
		all = append(all, literal(part))
	}
	return append(all, literal(m[0]))
}

var assignment = lazily(`^(\w+)\+?=`)

// assign notes the values that a command gives to variables.
func (s *scanner) assign(words []word) {
	if len(words) > 2 && words[0].text == "for" && words[2].text == "in" {
		var values []word
		for _, w := range words[3:] {
			values = append(values, w.all()...)
		}
		s.vars[words[1].text] = values
		return
	}
	for _, w := range words {
		m := assignment().FindStringSubmatch(w.text)
		switch {
		case m != nil && !w.glob && len(s.vars[m[1]]) < maxValues:
			for _, w := range w.all() {
				value := word{text: strings.TrimPrefix(w.text, m[0]), pattern: strings.TrimPrefix(w.pattern, m[0])}
				s.vars[m[1]] = append(s.vars[m[1]], value)
			}
		case m == nil && !declares[w.text]:
			return
		}
	}
}

var declares = map[string]bool{
	"export": true, "readonly": true, "local": true, "declare": true, "typeset": true, "then": true, "do": true,
	"else": true, "{": true, "!": true, "-x": true, "-r": true,
}
