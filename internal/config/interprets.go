package config

import (
	"path"
	"slices"
	"strings"
)

// runs adds the files that the programs of a command run or read without being told. The programs
// may also follow timeout, xargs or find -exec.
func (n *namer) runs(s simple, words []word) {
	if len(words) > 0 && looks()[program(words[0].text)] {
		return
	}
	for i, w := range words {
		name := program(w.text)
		_, is := interpreters()[name]
		first := name == "." || name == "source" || name == "eval"
		if is && !w.open() && (i == 0 || !first) && !onlyParses(words[i:]) {
			n.interprets(s, words, i)
		}
		n.reads(words, i)
	}
}

// interprets adds the script of the interpreter at i.
func (n *namer) interprets(s simple, words []word, i int) {
	name := program(words[i].text)
	valued, code, rest := interpreters()[name], codeFlags()[name], words[i+1:]
	python, isShell := name == "python" || name == "pypy", isShell(name)
	if name == "eval" {
		for _, w := range rest {
			if w.open() {
				n.open(s)
			}
		}
		n.nested(simple{words: rest}.text(), false)
		return
	}
	n.modules(rest, name)
	for len(rest) > 0 {
		text := rest[0].text
		switch {
		case text == "-" || text == "-s" && code != nil:
			rest = nil
			continue
		case text == "--run": // of node: a script of package.json
			return
		case text == "--":
			rest = rest[1:]
			if len(rest) == 0 {
				continue
			}
		case slices.Contains(code, text) || (name == "sh" || isShell) && shellCode().MatchString(text):
			n.code(s, rest, name)
			return
		case slices.ContainsFunc(code, func(c string) bool {
			return len(c) == 2 && strings.HasPrefix(text, c) && len(text) > 2
		}) && python:
			n.code(s, append([]word{literal(text[:2]), literal(text[2:])}, rest[1:]...), name)
			return
		case (name == "perl" || name == "ruby") && strings.HasSuffix(text, "e") &&
			strings.Trim(text, "-anlpsw0") == "e": // -lane
			n.code(s, rest, name)
			return
		case slices.Contains(valued, text) || isShell && shellOption().MatchString(text):
			if len(rest) > 1 {
				if value := rest[1].text; strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../") {
					n.script(rest[1], name)
				}
				rest = rest[1:]
			}
			rest = rest[1:]
			continue
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") && isShell,
			(name == "deno" || name == "bun") && !strings.ContainsAny(text, "./"), strings.HasPrefix(name, "busybox"):
			rest = rest[1:]
			continue
		}
		if strings.HasSuffix(name, "awk") || name == "java" {
			return // the first operand is the program's text
		}
		if rest[0].text == "{}" || slices.ContainsFunc(rest[0].all(), word.open) || n.isMade(clean(rest[0].text)) {
			n.open(s)
		}
		n.script(rest[0], name)
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
	case s.input != "" && isShell:
		n.nested(s.input, false)
	case s.piped:
		n.open(s)
	}
}

var loads = programs.Set("loads")

// modules adds the modules that options of an interpreter load, from the folders of its -I options.
func (n *namer) modules(words []word, name string) {
	var names, dirs []string
	for i, w := range words {
		flag, value, _ := strings.Cut(w.text, "=")
		below := strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../")
		if below && slices.Contains(interpreters()[name], flag) {
			n.script(literal(value), name) // --require=./x
		}
		if name != "perl" && name != "ruby" || len(w.text) < 2 || w.text[0] != '-' {
			continue
		}
		flag, value = w.text[:2], w.text[2:]
		if value == "" && i+1 < len(words) {
			value = words[i+1].text
		}
		switch {
		case flag == "-I":
			dirs = append(dirs, value)
		case !loads()[name+":"+flag]:
		case name == "perl":
			value, _, _ = strings.Cut(strings.TrimPrefix(value, "-"), "=")
			value, _, _ = strings.Cut(value, " ")
			names = append(names, strings.ReplaceAll(value, "::", "/")+".pm")
		case strings.HasPrefix(value, "."):
			n.script(literal(value), name)
		default:
			names = append(names, strings.TrimSuffix(value, ".rb")+".rb")
		}
	}
	for _, dir := range dirs {
		for _, file := range names {
			n.add(path.Join(dir, file), File{Decides: true})
		}
	}
}

func isShell(name string) bool { return slices.Contains(interpreters()[name], "--rcfile") }

var (
	shellCode   = lazily(`^-[a-zA-Z]*c[a-zA-Z]*$`) // -lc
	shellOption = lazily(`^[-+][a-zA-Z]*[oO]$`)    // -euo pipefail
)

var imports = lazily(`(?:^|[;:\n])\s*(?:import|from)\s+(\w+)`)

// script adds a script that an interpreter gets, and the files that it would take instead.
func (n *namer) script(w word, name string) {
	if w.text != "{}" {
		n.file(w, File{Decides: true})
	}
	if path.Ext(w.text) == "" && !w.open() && !w.glob && w.text != "{}" {
		for _, suffix := range suffixes()[name] {
			n.add(w.text+suffix, File{Decides: true})
		}
	}
}

// code collects from code in an option: of a shell, or of another language, in which only file
// names can be found.
func (n *namer) code(s simple, rest []word, name string) {
	if len(rest) < 2 {
		return
	}
	text := rest[1]
	switch {
	case rest[0].text == "-m":
		at := strings.ReplaceAll(text.text, ".", "/")
		first, _, _ := strings.Cut(text.text, ".")
		held := !SetPython.Has(first) // else the set records that it is missing
		for _, file := range []string{at + ".py", at + "/__init__.py", at + "/__main__.py"} {
			n.add(file, File{Decides: held})
		}
		n.add(".", File{Set: SetPython})
		n.reads(rest, 1)
	case name == "python" || name == "pypy":
		n.add(".", File{Set: SetPython})
		n.parts(text.text + " ")
		for _, module := range imports().FindAllStringSubmatch(text.text, -1) {
			if !SetPython.Has(module[1]) {
				n.tell(s)
			}
		}
	case isShell(name):
		if text.open() {
			n.open(s)
		}
		n.nested(text.text, false)
	default:
		n.parts(text.text + " ")
	}
}
