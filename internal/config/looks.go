package config

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// The agent may edit what it makes, even if a check names it: files that a program compiles or
// only looks at. These lists have programs, without their version, whose operands decide nothing.
// The operands of any other program are held.

// linters are programs that only look at the files that they get, and that another program often
// starts. Modules of python are among them.
var linters = words(`tsc eslint prettier biome standard stylelint jshint oxlint html-validate mypy pyright ruff black
	flake pylint isort pycodestyle pyflakes bandit rubocop yamllint jsonlint markdownlint markdownlint-cli codespell
	sqlfluff py_compile compileall json.tool doctest tabnanny pip`)

// looks are programs that only look at the files that they get. Their operands are not held; the
// values of some of their options are.
var looks = words(`test [ [[ echo printf cat head tail wc ls stat file du diff cmp comm grep egrep fgrep rg ag ack sort
	uniq cut tr nl jq yq xmllint sqlite psql mysql duckdb curl wget cc gcc c++ g++ clang clang++ tcc rustc javac kotlinc
	scalac ghc swiftc gofmt goimports gofumpt golangci-lint staticcheck vet tsc eslint prettier biome standard stylelint
	jshint oxlint html-validate mypy pyright ruff black flake pylint isort pycodestyle pyflakes bandit shellcheck shfmt
	clang-format clang-tidy cppcheck rustfmt rubocop yamllint jsonlint markdownlint markdownlint-cli hadolint
	actionlint hlint sqlfluff codespell vale sha256sum shasum md5sum od hexdump xxd strings nm tar gzip zip unzip case
	which git kill sleep cd pushd popd pip`)

// filesOfLooks are the options whose value is a file of rules, for all programs that look at
// files, or for one.
var filesOfLooks = words(`--file --from-file --config --config-file --config-path --rcfile --settings-file --rules
	--rulesdir --project --plugin -specs -B -init grep:-f egrep:-f fgrep:-f rg:-f jq:-f psql:-f sha256sum:-c shasum:-c
	md5sum:-c eslint:-c oxlint:-c golangci-lint:-c yamllint:-c hadolint:-c markdownlint:-c rubocop:-c bandit:-c tsc:-p
	go:-toolexec go:-overlay go:-modfile go:-vettool go:-exec`)

// launchers are programs that run another one, with the words that may stand between.
var launchers = sync.OnceValue(func() map[string]map[string]bool {
	yes, run := words("--no-install --no --yes -y -- exec"), words("exec dlx x run")
	return map[string]map[string]bool{
		"npx": yes(), "npm": yes(), "pnpm": run(), "pnpx": nil, "yarn": run(), "bun": run(), "bunx": nil,
		"python": {"-m": true}, "poetry": run(), "uv": run(), "uvx": nil, "pdm": run(), "hatch": run(), "pipx": run(),
		"bundle": run(),
	}
})

// compiles are programs that compile their operands and do not run them, by their first word.
var compiles = words("go:build go:vet go:fmt go:list")

// parses are the interpreters that read a script and do not run it, with the first word that
// says so.
var parses = words("node:-c node:--check php:-l php:--syntax-check ruby:-c ruby:-wc sh:-n bash:-n dash:-n " +
	"zsh:-n ksh:-n")

// onlyParses reports whether words are an interpreter that does not run its script.
func onlyParses(words []word) bool {
	return len(words) > 2 && parses()[program(words[0].text)+":"+words[1].text] &&
		!slices.ContainsFunc(words[2:], func(w word) bool { return strings.HasPrefix(w.text, "-") })
}

// looker returns the index of the program that only looks at its operands; -1 if there is none.
func looker(words []word) int {
	if len(words) == 0 {
		return -1
	}
	name := program(words[0].text)
	if looks()[name] || onlyParses(words) || len(words) > 1 && compiles()[name+":"+words[1].text] {
		return 0
	}
	between, is := launchers()[name]
	if !is || name == "python" && (len(words) < 2 || words[1].text != "-m") {
		return -1
	}
	for i, w := range words[1:] {
		switch {
		case linters()[program(w.text)]:
			return i + 1
		case !between[w.text]:
			return -1
		}
	}
	return -1
}

// Manifest reports whether a file lists what a project needs. The agent may have to add to it.
// Programs also read it without being told. So it is not held if a command names it.
func Manifest(p string) bool {
	name := path.Base(p)
	return name == "Cargo.toml" || name == "go.mod" || name == "pom.xml" || name == "pyproject.toml" ||
		strings.HasPrefix(name, "requirements") && path.Ext(name) == ".txt"
}
