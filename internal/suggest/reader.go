package suggest

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// What is read of all checks, and of one.
const (
	maxSteps = 400
	maxWords = 20_000
	maxTexts = 40 // from one check on
)

// use is a tool with the folders in which it runs.
type use struct {
	tool
	folders []string
}

// reader reads checks and what they run.
type reader struct {
	*tree
	scripts []string
	named   []string // by checks themselves
	uses    []use
	tests   bool // a check may run tests
	git     bool
	cmake   bool     // a check configures CMake's folder
	builds  []string // folders in which CMake builds
	mounts  bool     // the current check runs in a container that has the project
	python  bool     // the current check runs the Python that PATH finds
	manages bool     // a program of the current command has a Python of its own
	inside  bool     // what is read is a script

	steps  []step
	count  int             // of steps
	visits map[string]bool // what the current check has reached
	words  int
	syntax syntax
}

// check reads a check, and what it runs. It reports whether a container has folders of the project.
func (r *reader) check(line string) bool {
	r.mounts = false
	r.python = false
	r.visits = map[string]bool{}
	r.push("", step{text: line, folder: ".", home: "."})
	for len(r.steps) > 0 {
		s := r.steps[0]
		r.steps = r.steps[1:]
		r.step(s)
	}
	return r.mounts
}

// push has a text read once.
func (r *reader) push(key string, s step) {
	if !r.visits[key] && len(r.visits) < maxTexts && r.count < maxSteps {
		r.visits[key] = true
		r.count++
		r.steps = append(r.steps, s)
	}
}

// program reads a program of a command, and its arguments, which may be more programs.
func (r *reader) program(name, word string, args []string, folder, start string) {
	words := append([]string{name}, args...)
	command := strings.Join(words, " ")
	isCompose := strings.HasSuffix(name, "-compose") || hasWord(containers, name) && len(args) > 0 && args[0] == "compose"
	r.mounts = r.mounts || r.syntax.mount.MatchString(command) || hasWord(mounters, name) || isCompose && r.binds(folder)
	r.git = r.git || hasWord(gitTools, name) || hasAny(args, gitFlags)
	r.cmake = r.cmake || r.syntax.cmake.MatchString(command)
	i := slices.IndexFunc(args, func(arg string) bool { return hasWord("--build --test-dir", arg) })
	if hasWord("cmake ctest", name) && i >= 0 && i+1 < len(args) && strings.Trim(args[i+1], plainLetters) == "" {
		r.builds = add(r.builds, r.resolve(folder, args[i+1]))
	}
	r.manages = r.manages || hasWord(pythonManagers, name) || hasWord(pythons, name) && strings.Contains(word, "/")
	r.python = r.python || hasWord(pythons, name) && !r.manages
	isClear := false // what it runs is read
	file := ""
	if strings.Contains(word, "/") || hasWord(batches, path.Ext(word)) { // else it is looked up in PATH
		file = word
	}
	if word == "." || hasWord(interpreters, name) {
		i := r.operand(args)
		isClear = hasAny(args[:max(i, 0)], starters)
		file = ""
		if i >= 0 {
			file = args[i]
		}
		if hasAny(args[:max(i, 0)], "-n --check") { // it is read, and not run
			isClear = true
			file = ""
		}
	}
	if name := r.resolve(folder, file); file != "" && !r.inside && r.isScript(name) {
		r.named = add(r.named, name)
	}
	if file != "" {
		byTest := r.inside && word != "." && name != "source"
		script := r.script(file, folder, start, byTest)
		isClear = byTest && isWork(script, byTest) || r.follow(script, folder) || isClear
	}
	for i, arg := range args {
		if i > 0 && hasWord(fileFlags, args[i-1]) && !strings.Contains(arg, "requirements") {
			r.script(arg, folder, start, false)
		}
	}
	for _, row := range tools {
		if hasWord(row.names, name) || hasWord(row.names, path.Base(file)) { // php artisan
			isClear = true
			r.use(row, words, folder)
		}
	}
	r.tests = r.tests || !isClear
}

// operand returns the index of the first argument that is neither an option nor the value of one; -1: there is none.
func (r *reader) operand(args []string) int {
	for i, arg := range args {
		isValue := i > 0 && (hasWord(fileFlags, args[i-1]) || r.syntax.option.MatchString(args[i-1]))
		if arg[0] != '-' && !isValue {
			return i
		}
	}
	return -1
}

// use takes in that a tool runs.
func (r *reader) use(row tool, words []string, folder string) {
	isQuiet := r.lines(row, words, folder) || row.quiet == "*" || hasAny(words[1:], row.quiet)
	r.tests = r.tests || !isQuiet
	for file := range strings.FieldsSeq(gitFiles) {
		r.git = r.git || r.syntax.git.MatchString(r.read(path.Join(folder, file)))
	}
	i := slices.IndexFunc(r.uses, func(u use) bool { return u.tool == row })
	if i < 0 {
		i = len(r.uses)
		r.uses = append(r.uses, use{tool: row})
	}
	if !slices.Contains(r.uses[i].folders, folder) {
		r.uses[i].folders = append(r.uses[i].folders, folder)
	}
}

// script takes in a file that a command names, and returns its path; "" if it is none, or git ignores it. byTest: a
// script runs it.
func (r *reader) script(word, folder, start string, byTest bool) string {
	name := r.resolve(folder, word)
	if !r.isFileOrLeadsOut(name) {
		name = r.resolve(start, word)
	}
	if !r.isFileOrLeadsOut(name) || r.ignoresPath(name) || hasAny(strings.Split(name, "/"), packageFolders) {
		return ""
	}
	at := name
	for links := 0; at != "" && links < maxDepth; links++ {
		if !isWork(at, byTest) && !strings.ContainsAny(at, `*?[]{}#+`) {
			r.scripts = add(r.scripts, at)
		}
		at = r.target(at)
	}
	return name
}

// isScript reports whether a name is that of a script for a check, which need not exist yet: no folder, nothing that is
// built or installed, and not the work.
func (r *reader) isScript(name string) bool {
	isNamed := (path.Ext(name) != "" || hasAny(nameWords(name), checkWords)) && !strings.ContainsAny(name, `*?[]{}$#+`)
	return isNamed && !r.isFolder(name) && !r.ignoresPath(name) && !isWork(name, false) &&
		!hasAny(strings.Split(name, "/"), packageFolders)
}

// isWork reports whether a script is mostly the work, and not a test of it. byTest: a test runs it, or compares what it
// prints, so only names tell.
func isWork(name string, byTest bool) bool {
	first, _, _ := strings.Cut(name, "/")
	stem, _, _ := strings.Cut(path.Base(name), ".")
	isNamed := hasWord(workNames, stem) || hasWord(workFolders, first) && (byTest || path.Ext(name) != ".sh")
	return isNamed || byTest && !hasAny(nameWords(name), checkWords)
}

// nameWords returns the words of a path, in lower case and without an s at the end.
func nameWords(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c < 'a' || c > 'z' })
	for i := range words {
		words[i] = strings.TrimSuffix(words[i], "s")
	}
	return words
}

// target returns the file of the project to which a link leads; "" if there is none, or name is no link.
func (r *reader) target(name string) string {
	text, err := r.root.Readlink(r.local(name))
	if err != nil {
		return ""
	}
	to := r.resolve(path.Dir(name), filepath.ToSlash(text))
	if !r.isFile(to) || to == name {
		return ""
	}
	return to
}

// follow has a script read that runs in a folder. It reports false if the script is for no shell.
func (r *reader) follow(name, folder string) bool {
	text := r.read(name)
	ext := path.Ext(name)
	isShell := ext == "" || hasWord(".sh .bash .zsh .ksh .mk .env .inc", ext)
	if strings.HasPrefix(text, "#!") {
		isShell = r.syntax.shebang.MatchString(text)
	}
	if text == "" || !isShell {
		r.git = r.git || r.syntax.git.MatchString(text)
		return false
	}
	r.push(name, step{text: text, folder: folder, home: path.Dir(name), isScript: true})
	return true
}

// lines has the lines read that a tool runs of its files, and reports whether there are some.
func (r *reader) lines(row tool, words []string, folder string) bool {
	file, key, isJSON := strings.Cut(row.scripts, "#")
	if isJSON {
		return r.namedScripts(file, key, words, folder)
	}
	files := strings.Fields(row.texts)
	i := slices.IndexFunc(words, func(word string) bool { return hasWord("-f --file --makefile", word) })
	if i >= 0 && i+1 < len(words) && len(files) > 0 {
		files = words[i+1 : i+2]
	}
	for _, file := range files {
		name := r.resolve(folder, file)
		text := r.read(name)
		if text == "" {
			continue
		}
		if hasWord(row.names, "make") {
			text = r.recipes(text, words[1:])
		}
		next := step{text: text, folder: folder, home: path.Dir(name), isLines: true, isScript: r.inside}
		r.push(name+" "+strings.Join(words, " "), next)
		return true
	}
	return false
}

// namedScripts has the scripts of JSON files read that a command names, and reports whether there are some.
func (r *reader) namedScripts(file, key string, words []string, folder string) (isThere bool) {
	files := []string{path.Join(folder, file)}
	if slices.ContainsFunc(words, r.syntax.workspace.MatchString) {
		files = append(files, match(path.Join(folder, "**", file), r.files)...)
	}
	for _, file := range files {
		gjson.Get(r.read(file), key).ForEach(func(script, value gjson.Result) bool {
			if !starts(script.String(), words[1:]) {
				return true
			}
			isThere = true
			text := ""
			for _, line := range value.Array() { // Composer has lists, and @ before the names of others
				text += line.String() + "\n"
			}
			if words[0] == "composer" {
				text = strings.NewReplacer("@php ", "php ", "@composer ", "composer ", "@", "composer ").Replace(text)
			}
			home := path.Dir(file)
			r.push(file+"#"+script.String(), step{text: text, folder: home, home: home, isLines: true, isScript: r.inside})
			return true
		})
	}
	return isThere
}

// starts reports whether arguments of a package manager have it run a script.
func starts(script string, args []string) bool {
	for _, arg := range args {
		arg = strings.TrimPrefix(arg, "npm:")
		isLike, _ := path.Match(arg, script)
		isInstall := hasWord("ci install i", arg) && hasWord("preinstall install postinstall prepare", script)
		if isLike || isInstall || script == "pre"+arg || script == "post"+arg || arg == "t" && script == "test" {
			return true
		}
	}
	return false
}

// binds reports whether a file for containers gives them a folder of the project. If there is no file, it may be so.
func (r *reader) binds(folder string) bool {
	isThere := false
	for _, entry := range r.entries(folder) {
		ext := path.Ext(entry.Name())
		if strings.Contains(entry.Name(), "compose") && (ext == ".yml" || ext == ".yaml") {
			isThere = true
			if r.syntax.bind.MatchString(r.read(path.Join(folder, entry.Name()))) {
				return true
			}
		}
	}
	return !isThere
}

// hasWord reports whether a list has a word.
func hasWord(list, word string) bool {
	for each := range strings.FieldsSeq(list) {
		if each == word {
			return true
		}
	}
	return false
}

// hasAny reports whether a list has one of some words.
func hasAny(words []string, list string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return hasWord(list, word) })
}
