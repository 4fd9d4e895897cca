package config

import (
	"path"
	"slices"
	"strings"
)

// The flags that name another file for a reader, or another folder to start in.
var (
	fileFlags = []string{"-f", "--file", "--makefile", "--justfile", "--taskfile", "--rakefile", "-c", "--config-file"}
	dirFlags  = []string{"-C", "--directory", "--dir", "--prefix", "--cwd", "--rootdir", "-d", "--working-directory",
		"--chdir", "-D"}
)

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
		if short := flag != "" && flag[0] == '-' && !strings.HasPrefix(flag, "--"); short && flag != "-C" {
			if longFlags()[name] {
				continue
			}
			flag, value = shortFlag(rest[0].text, name == "make" || name == "gmake")
		}
		if value == "" && len(rest) > 1 {
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
		call := Make{Dir: n.at(path.Join(dir, "."))}
		for _, file := range names {
			call.Files = append(call.Files, n.at(path.Join(dir, file)))
		}
		for _, w := range words[i+1:] {
			call.Args = append(call.Args, w.text)
		}
		n.Makes = append(n.Makes, call)
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
		n.workspaces(words[i:], dir)
	}
}

var longFlags = programs.Set("long flags")

// shortFlag splits a word such as -fFILE. Of make's options several may stand together (-sC).
func shortFlag(text string, make bool) (flag, value string) {
	at := 1
	if make {
		at = max(at, strings.IndexAny(text, "CfIoW"))
	}
	if len(text) <= at {
		return text, ""
	}
	return "-" + text[at:at+1], text[at+1:]
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

var workspaceFlags, allWorkspaces = programs.Set("workspace flags"), programs.Set("all workspaces")

// workspaces adds the package.json of a package that is named by its folder. Which folder a name means,
// the line does not tell.
func (n *namer) workspaces(words []word, dir string) {
	for i, w := range words[1:] {
		flag, value, _ := strings.Cut(w.text, "=")
		if value == "" && len(words) > i+2 {
			value = words[i+2].text
		}
		switch {
		case workspaceFlags()[flag] && strings.Contains(value, "/") && !strings.HasPrefix(value, "@"):
			n.add(path.Join(dir, value, PackageJSON), File{Decides: true})
		case workspaceFlags()[flag] || allWorkspaces()[flag] && (i == 0 || flag[0] == '-'):
			n.tell(simple{words: words})
		}
	}
}
