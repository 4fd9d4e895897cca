package config

import (
	_ "embed" // for the names of Python's modules
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// interpreter says how a program that runs a script is told which one.
type interpreter struct {
	valued []string // options whose value is the next word
	code   []string // options that give the program itself
	suffix []string // what may be added to a name to find the file
}

var (
	shell = interpreter{
		valued: []string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}, code: []string{"-c"},
	}
	powershell = interpreter{code: []string{"-c", "-Command", "-e", "-EncodedCommand"}}
	javascript = interpreter{
		valued: []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions",
			"--env-file", "--env-file-if-exists", "--test-reporter", "--test-reporter-destination", "--config",
			"--preload", "-c", "--import-map", "--title", "--input-type", "--stack-size"},
		code:   []string{"-e", "--eval", "-p", "--print", "-pe"},
		suffix: []string{".js", ".json", ".node", ".cjs", ".mjs", ".ts", "/package.json", "/index.js"},
	}
	interpreters = sync.OnceValue(func() map[string]interpreter {
		return map[string]interpreter{
			"sh": shell, "bash": shell, "dash": shell, "zsh": shell, "ksh": shell, "fish": shell, "ash": shell,
			"busybox": shell, "source": {}, ".": {}, "eval": {}, "pwsh": powershell, "powershell": powershell,
			"cmd":    {},
			"python": {valued: []string{"-W", "-X", "--check-hash-based-pycs"}, code: []string{"-c", "-m"}},
			"pypy":   {valued: []string{"-W", "-X"}, code: []string{"-c", "-m"}},
			"node":   javascript, "deno": javascript, "bun": javascript, "tsx": javascript, "ts-node": javascript,
			"ruby": {valued: []string{"-r", "-I", "-C", "-E", "-W"}, code: []string{"-e"}, suffix: []string{".rb"}},
			"perl": {valued: []string{"-I"}, code: []string{"-e", "-E"}},
			"php":  {valued: []string{"-c", "-d", "-S", "-t"}, code: []string{"-r"}},
			"lua":  {valued: []string{"-l"}, code: []string{"-e"}},
			"awk":  awk, "gawk": awk, "mawk": awk, "Rscript": {code: []string{"-e"}}, "tclsh": {}, "expect": {},
			"java": {valued: []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "-jar"}},
		}
	})
	awk = interpreter{valued: []string{"-f", "--file", "-v", "-F", "-E", "--exec", "-i", "--include"}}
)

// The files that a program looks for in its folder without being told: the first one that is
// there counts, or each of them.
var (
	makefiles = []string{"GNUmakefile", "makefile", "Makefile"}
	npmFiles  = []string{PackageJSON, ".npmrc", "binding.gyp"}
	readers   = sync.OnceValue(func() map[string][]string {
		return map[string][]string{
			"make":  makefiles,
			"gmake": makefiles,
			"just":  {"justfile", "Justfile", ".justfile"},
			"task":  {"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"},
			"rake":  {"rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"},
			"npm":   npmFiles,
			"npx":   npmFiles,
			"pnpm":  append([]string{"pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs"}, npmFiles...),
			"yarn": {PackageJSON, ".npmrc", "binding.gyp", ".yarnrc.yml", ".yarnrc", ".pnp.cjs", ".pnp.js",
				".pnp.loader.mjs"},
			"bun":       {PackageJSON, ".npmrc", "bunfig.toml"},
			"bunx":      {PackageJSON, ".npmrc", "bunfig.toml"},
			"deno task": {"deno.json", "deno.jsonc"}, "node --run": {PackageJSON},
			"pytest": {"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"},
			"cargo":  {".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"},
			"go":     {"go.work"},
			"gradle": gradle, "gradlew": append([]string{"gradle/wrapper/gradle-wrapper.properties",
				"gradle/wrapper/gradle-wrapper.jar"}, gradle...),
			"mvn": maven, "mvnw": append([]string{".mvn/wrapper/maven-wrapper.properties",
				".mvn/wrapper/maven-wrapper.jar"}, maven...),
			"tox": {"tox.toml"}, "nox": {"noxfile.py"}, "bundle": {".bundle/config"},
			"rspec": {".rspec", ".rspec-local"},
		}
	})
	gradle = []string{"gradle.properties"}
	maven  = []string{".mvn/extensions.xml", ".mvn/maven.config", ".mvn/jvm.config"}
)

// sections are files of which a program reads some sections, so that only these are held.
var sections = map[string][]string{"pytest": {"pyproject.toml", "tox.ini", "setup.cfg"}}

// Section returns what a pytest reads of the text of one of its configuration files: the
// sections whose name has "pytest", and what could mean such a section in another spelling.
func Section(text string) string {
	var kept strings.Builder
	within, top := false, true
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "[") {
			top, within = false, strings.Contains(bare, "pytest") || strings.ContainsAny(bare, `\"'`) ||
				bare == "[tool]"
		}
		if within && bare != "" || top && topLevelTool().MatchString(bare) {
			kept.WriteString(bare + "\n")
		}
	}
	return kept.String()
}

var topLevelTool = lazily(`^(tool\b|"|')`)

// makes are programs that make what they are given, or remove it.
var makes = words("touch mkdir rm rmdir tee truncate")

// builders are programs that make files which their words do not name.
var builders = words(`make gmake ninja cmake meson configure autogen.sh bootstrap bazel just task rake npm pnpm yarn bun
	npx tsc go cargo rustc cc gcc g++ c++ clang clang++ javac gradle gradlew mvn mvnw ant sbt dotnet swift zig stack
	cabal mix tcc webpack vite rollup esbuild babel docker pip poetry uv`)

// generators are programs that write a Makefile.
var generators = words("configure config.status autogen.sh bootstrap autoreconf cmake meson qmake Makefile.PL")

// targets are programs whose operands are names of what they are to do.
var targets = words("make gmake ninja just task rake gradle gradlew mvn mvnw cargo")

func words(text string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for _, word := range strings.Fields(text) {
			all[word] = true
		}
		return all
	})
}

// aliases are other names of a package.json script that npm knows.
var aliases = map[string]string{"t": "test", "tst": "test"}

// lifecycle are the scripts that run when packages are installed, unasked.
var lifecycle = []string{
	"preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish", "dependencies",
	"pnpm:devPreinstall",
}

// installsNothing are the words after which npm and its like run only the script that is named.
var installsNothing = words("test t tst run run-script start stop restart exec x dlx node")

// Set names files of a folder that a program would take if they were there. It is held
// which of them there are.
type Set string

// The sets.
const (
	SetMake   Set = "for make"              // from which make remakes a makefile
	SetKept   Set = "for make to check out" // a makefile, in a folder of an old version control system
	SetPython Set = "for python"            // which python imports in place of its own modules
	SetRake   Set = "for rake"              // which rake loads, in rakelib
)

// Has tells whether the set has a name.
func (s Set) Has(name string) bool {
	switch s {
	case SetMake: // the makefiles are held by themselves, if they are not built
		return remade().MatchString(name) && !slices.Contains(makefiles, name)
	case SetKept:
		return remade().MatchString(name)
	case SetPython:
		stem, _, _ := strings.Cut(name, ".")
		known := pythonTools()[stem] || slices.Contains(pythonModules(), stem)
		return known && (stem == name || pythonFile().MatchString(name))
	case SetRake:
		return path.Ext(name) == ".rake"
	}
	return false
}

//go:embed python.txt
var pythonNames string

// pythonTools are modules that python -m often runs, of names that no project has for its own.
var pythonTools = words("pytest mypy flake8 pylint tox nox pip ruff black isort bandit")

var (
	pythonModules = sync.OnceValue(func() []string { return strings.Fields(pythonNames) })
	pythonFile    = lazily(`\.(py|pyc|pyd|so)$`)
	remade        = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(s\.)?(GNUmakefile|[mM]akefile)(\.(a|o|out|ln|c|cc|C|cpp|p|` +
			`f|F|m|r|y|l|ym|yl|s|S|mod|sym|def|h|info|dvi|tex|texinfo|texi|txinfo|w|ch|web|sh|elc|el))*(,v)?$`)
	})
)

// program returns the name of a program without its folder, its version and its extension.
func program(word string) string {
	name := path.Base(strings.ReplaceAll(word, `\`, "/"))
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd"), ".bat")
	if short := strings.TrimRight(name, "0123456789.-"); short != "" { // python3.12
		return short
	}
	return name
}
