package config

import (
	"path"
	"slices"
	"strings"
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
		Programs: []string{"pytest"}, Files: []string{"pytest.ini"},
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
	{Programs: []string{"rake"}, Main: "Rakefile", Files: []string{"Rakefile", "rakefile", "rakelib"}},
	{Programs: []string{"rspec"}, Files: []string{".rspec"}},
	{Programs: []string{"just"}, Main: "justfile", Files: []string{"justfile", "Justfile", ".justfile"}},
	{
		Programs: []string{"task"}, Main: "Taskfile.yml",
		Files: []string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"},
	},
}

// Manifests list what a project needs. The agent may have to add to it, so a command does not lock them.
var Manifests = []string{
	PackageJSON, "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "pyproject.toml", "requirements.txt", "Gemfile",
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
