package config

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Prepare is an entry of "prepare": a command that runs in a new room, and again when an input has changed.
type Prepare struct {
	Command
	Inputs []Pattern
}

// Needs reports whether the file at path is an input.
func (p Prepare) Needs(path string) bool { return matches(p.Inputs, path) }

// WorkTexts returns the patterns of "work" as they are in ralph.json.
func (c Config) WorkTexts() (texts []string) {
	for _, p := range c.Work {
		texts = append(texts, p.Text)
	}
	return texts
}

// IsWork reports whether changes of the file at path are the agent's work, as far as "work" says.
func (c Config) IsWork(path string) bool { return len(c.Work) == 0 || matches(c.Work, path) }

// Spells reports whether "work" names the file at path, and not only by a pattern of names.
func (c Config) Spells(name string) bool { return c.spells(name, path.Base) }

// SpellsAll reports whether "work" names the whole path of a file, without a pattern.
func (c Config) SpellsAll(name string) bool { return c.spells(name, path.Clean) }

func (c Config) spells(name string, part func(path string) string) bool {
	return slices.ContainsFunc(c.Work, func(p Pattern) bool {
		return !strings.ContainsAny(part(p.Text), "*?[") && p.matchFile(name)
	})
}

// BuildFile reports whether a file decides what a build tool, a test runner or a linter does, so that "work" has to
// spell it: it is of the tables, or it is hidden, as .eslintrc is.
func BuildFile(name string) bool {
	for folder := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains(buildFolders, folder) || strings.HasSuffix(folder, "-info") {
			return true
		}
	}
	is := func(file string) bool { return name == file || strings.HasSuffix(name, "/"+file) }
	for _, row := range Builds {
		if slices.ContainsFunc(row.Files, is) || slices.ContainsFunc(row.Sections, is) {
			return true
		}
	}
	base := path.Base(name)
	hidden := base[0] == '.' && !slices.Contains(ofGit, base)
	return hidden || configures(base) || slices.Contains(buildFiles, base) || is("vendor/modules.txt") ||
		slices.Contains(buildKinds, path.Ext(base))
}

func configures(base string) bool {
	words := strings.Split(base, ".")
	return len(words) > 2 && slices.Contains(configured, words[0]) &&
		slices.Contains([]string{"conf", "config", "setup", "workspace"}, words[1])
}

// configured are the programs whose configuration is in a file such as jest.config.js or vitest.workspace.ts. Others,
// such as app.config.ts, are a part of the work.
var configured = strings.Fields(`ava babel cypress eslint jest karma nyc playwright prettier rollup stylelint vite
	vitest wdio webpack xo`)

// ofGit are hidden files that only git reads, of whose rules the room has those that were trusted.
var ofGit = []string{".gitignore", ".gitattributes", ".gitkeep", ".keep"}

var buildFolders = []string{"node_modules", "rakelib", "site-packages"}

// buildFiles are those that are in no row of Builds: where checks run in the project, an agent may have to edit them.
var buildFiles = []string{
	PackageJSON, Conftest, "go.mod", "Cargo.toml", "build.rs", "clippy.toml", "rustfmt.toml", "CMakeLists.txt",
	"setup.py", "sitecustomize.py", "usercustomize.py", "noxfile.py", "dodo.py", "fabfile.py", "pytest.toml",
	"ruff.toml", "mypy.ini", "phpunit.xml", "phpunit.xml.dist", "composer.json", "pom.xml", "build.xml",
	"build.gradle.kts", "settings.gradle.kts", "tsconfig.json", "deno.json", "deno.jsonc", "biome.json",
	"biome.jsonc", "turbo.json", "nx.json", "lerna.json", "gulpfile.js", "Gruntfile.js", "Jakefile",
	"meson.build", "meson_options.txt", "SConstruct", "SConscript", "wscript", "build.sbt", "build.zig",
	"mix.exs", "Package.swift", "BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel",
	"Gemfile", "setupTests.js", "setupTests.ts",
}

var buildKinds = []string{".mk", ".pth", ".gradle", ".csproj", ".props", ".targets"}

func matches(patterns []Pattern, path string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Match(path) })
}

// prepares reads "prepare".
func (p *parser) prepares(v gjson.Result, key string, c *Config) {
	if !v.IsArray() {
		p.fail(v, `%q must be a list of objects such as {"command": "npm ci"}`, key)
	}
	for _, value := range v.Array() {
		one := Prepare{Command: Command{Timeout: DefaultCheckTimeout}}
		readObject(p, value, "an entry of \"prepare\"", prepareKeys, &one)
		if line := value.Get("command"); line.Exists() {
			one.Shell, one.Argv = p.words(line, key)
		}
		if !one.Runs() {
			p.fail(value, "a command of %q is empty", key)
		}
		c.Prepare = append(c.Prepare, one)
	}
}

// isBelow reports whether a text can be the path of a folder below the project.
func isBelow(path string) bool {
	local := filepath.FromSlash(path)
	return filepath.IsLocal(local) && filepath.Clean(local) != "."
}
