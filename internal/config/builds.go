package config

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// Build names files that programs read without being told, and that decide what they do.
type Build struct {
	Programs []string // words of a command
	Files    []string // locked as they are, and as missing: the programs would use them
	Sections []string // files of which only the sections for pytest are locked
	Scripts  bool     // of package.json only the scripts are locked
	Main     string   // the one of Files that the program needs, if no other is there
}

// PackageJSON is the name of a file in which only the scripts decide what a command does. An agent
// may have to edit the rest.
const PackageJSON = "package.json"

// Conftest is loaded by pytest from the folders of tests and those above.
const Conftest = "conftest.py"

// Builds are the build files that are locked where a command has a program's name as a word.
var Builds = []Build{
	{Programs: []string{"make", "gmake"}, Main: "Makefile", Files: []string{"GNUmakefile", "makefile", "Makefile"}},
	{
		Programs: []string{"npm", "pnpm", "yarn", "bun"}, Scripts: true,
		Files: []string{".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pnpm-workspace.yaml", "bunfig.toml"},
	},
	{
		Programs: []string{"pytest"}, Files: []string{"pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"},
		Sections: []string{"pyproject.toml", "tox.ini", "setup.cfg"},
	},
	{Programs: []string{"tox"}, Files: []string{"tox.ini", "tox.toml"}},
	{Programs: []string{"cargo"}, Files: []string{".cargo/config.toml", ".cargo/config", "rust-toolchain.toml",
		"rust-toolchain"}},
	{Programs: []string{"go"}, Files: []string{"go.work"}},
	{Programs: []string{"gradle", "gradlew"}, Files: []string{"gradle.properties",
		"gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar"}},
	{Programs: []string{"mvn", "mvnw"}, Files: []string{".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml",
		".mvn/wrapper/maven-wrapper.properties"}},
	{Programs: []string{"rake"}, Main: "Rakefile", Files: []string{"Rakefile", "rakefile", "Rakefile.rb",
		"rakefile.rb", "rakelib"}},
	{Programs: []string{"rspec"}, Files: []string{".rspec"}},
	{Programs: []string{"just"}, Main: "justfile", Files: []string{"justfile", "Justfile", ".justfile"}},
	{
		Programs: []string{"task"}, Main: "Taskfile.yml",
		Files: []string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml",
			"Taskfile.dist.yaml", "taskfile.dist.yml", "taskfile.dist.yaml"},
	},
}

// Manifests list what a project needs. The agent may have to add to it, so a command does not lock them.
var Manifests = []string{
	PackageJSON, "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "pyproject.toml", "requirements.txt", "Gemfile",
}

// buildTable has patterns of the build files that are in no row of Builds: where checks run in the project, an agent
// may have to edit them. One that begins with a slash is for the root only. Other files of the shape of jest.config.js,
// such as app.config.ts, are a part of the work.
const buildTable = `
*.mk *.cmake *.ninja *.rake CMakeLists.txt CMake{Cache.txt,Presets.json,UserPresets.json}
configure.ac Makefile.{in,PL} *.am binding.gyp
meson.build meson{_options.txt,.options} SConstruct SConscript wscript xmake.lua premake5.lua Jamroot conanfile.py
mise.toml shellcheckrc compose.override.{yml,yaml}
BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel *.bzl BUCK Earthfile

go.mod vendor/modules.txt magefile.go staticcheck.conf revive.toml
Cargo.toml build.rs clippy.toml rustfmt.toml Makefile.toml
build.zig build.zig.zon Package.swift
*.gradle *.gradle.kts pom.xml build.xml *.sbt project/build.properties project.clj deps.edn
*.{cs,fs,vb,vcx}proj *.proj *.props *.targets *.sln *.slnx *.runsettings Directory.Build.rsp /global.json
{n,N}u{g,G}et.{c,C}onfig
*.cabal cabal.project cabal.project.* stack.yaml package.yaml dune dune-project dune-workspace
mix.exs rebar.config rebar.config.script {test,spec}/{test,spec,rails}_helper.{rb,exs} Gemfile gems.rb *.rockspec
pubspec.yaml dart_test.yaml analysis_options.yaml *.nimble *.nims nim.cfg dub.json dub.sdl shard.yml

package.json npm-shrinkwrap.json {ts,js}config*.json deno.json deno.jsonc biome.json biome.jsonc turbo.json nx.json
lerna.json angular.json cypress.json jasmine.json cucumber.{js,cjs,mjs,json,yml,yaml} setupTests.* gulpfile.*
tslint.json Gruntfile.* Jakefile Jakefile.*
{ava,babel,codecept,cypress,esbuild,eslint,hardhat,jest,karma,metro}.{conf,config,setup,workspace}.*
{nightwatch,nyc,playwright,prettier,rollup,rspack,rstest,stylelint}.{conf,config,setup,workspace}.*
{truffle,tsup,vite,vitest,wdio,webpack,xo}.{conf,config,setup,workspace}.* foundry.toml

{nose2,unittest}.cfg conftest.py setup.py {site,user}customize.py *.pth noxfile.py dodo.py fabfile.py pavement.py
{hatch,pdm,pixi,poetry,uv}.toml ruff.toml mypy.ini pyrightconfig.json pylintrc
{coverage,doctest,nose2,nox,pytest,tox,unittest}.py {coverage,doctest,nose2,nox,pytest,tox,unittest}/__{init,main}__.py
phpunit*.xml phpunit*.xml.dist phpstan*.neon phpstan*.neon.dist psalm.xml psalm.xml.dist phpcs.xml phpcs.xml.dist
composer.json
`

// buildFolders have build files only. ofGit are hidden files that only git reads, of whose rules the room has those of
// trust.
var (
	buildFolders = strings.Fields("node_modules rakelib site-packages .bundle .cargo .config .mvn")
	ofGit        = strings.Fields(".gitignore .gitattributes .gitkeep .keep")
)

// buildSet is what the tables say. A room asks it about each file, so few patterns are tried.
type buildSet struct {
	names map[string]bool     // also with folders before them
	globs map[string][]string // of names, by what stands before the first dot; "" for all others
}

var buildFiles = sync.OnceValue(func() buildSet {
	all := strings.Fields(buildTable)
	for _, row := range Builds {
		all = slices.Concat(all, row.Files, row.Sections)
	}
	set := buildSet{map[string]bool{}, map[string][]string{}}
	for _, text := range all {
		names, _ := expand(text)
		for _, name := range names {
			if !strings.Contains(name, "*") {
				set.names[name] = true
				continue
			}
			first, _, _ := strings.Cut(name, ".")
			if strings.Contains(first, "*") {
				first = ""
			}
			set.globs[first] = append(set.globs[first], name)
		}
	}
	return set
})

// Locks are the files in which package managers keep the versions of what a manifest needs, and the manifest's name.
var Locks = map[string]string{
	"package-lock.json": PackageJSON, "npm-shrinkwrap.json": PackageJSON, "yarn.lock": PackageJSON,
	"pnpm-lock.yaml": PackageJSON, "bun.lock": PackageJSON, "bun.lockb": PackageJSON, "deno.lock": "deno.json",
	"go.sum": "go.mod", "Cargo.lock": "Cargo.toml", "Gemfile.lock": "Gemfile", "gems.locked": "gems.rb",
	"uv.lock": "pyproject.toml", "poetry.lock": "pyproject.toml", "pdm.lock": "pyproject.toml",
	"Pipfile.lock": "Pipfile", "composer.lock": "composer.json", "mix.lock": "mix.exs", "rebar.lock": "rebar.config",
	"pubspec.lock": "pubspec.yaml", "Package.resolved": "Package.swift", "gradle.lockfile": "build.gradle",
}

// BuildsOf returns the rows of Builds for a word of a command.
func BuildsOf(word string) (rows []Build) {
	name := path.Base(word)
	for _, row := range Builds {
		if slices.Contains(row.Programs, name) {
			rows = append(rows, row)
		}
	}
	return rows
}

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
		if within && bare != "" || top && topLevelTool(bare) {
			kept.WriteString(bare + "\n")
		}
	}
	return kept.String()
}

// topLevelTool reports whether a line of TOML may set a key below tool, before any section.
func topLevelTool(line string) bool {
	rest, is := strings.CutPrefix(line, "tool")
	word := rest == "" || strings.ContainsAny(rest[:1], ". =\t")
	return is && word || strings.HasPrefix(line, `"`) || strings.HasPrefix(line, "'")
}
