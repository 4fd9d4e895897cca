package locked

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/tidwall/gjson"
)

// OnlyNeeds reports whether an edit of a manifest changes nothing but what the project needs and, of a package.json,
// its scripts and how it is described. Other parts of a manifest decide, for example, which tests there are. What was
// needed before may get another version, but not come from elsewhere. known is false if a file is of another kind.
func OnlyNeeds(name string, was, is []byte) (only, known bool) {
	var beside func(text, trusted string) string
	switch path.Base(name) {
	case "go.mod":
		beside = besideGo
	case "Cargo.toml":
		beside = besideCargo
	case "pyproject.toml":
		beside = besidePyproject
	case config.PackageJSON:
		if !gjson.ValidBytes(is) {
			return false, true
		}
		beside = besidePackage
	default:
		return false, false
	}
	return beside(string(was), string(was)) == beside(string(is), string(was)), true
}

// besideGo returns the directives of a go.mod but for requirements, the version of Go, and replacements of modules that
// the trusted text does not name. The format is that of https://go.dev/ref/mod#go-mod-file.
func besideGo(text, trusted string) string {
	var kept strings.Builder
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(strings.ReplaceAll(line, "(", " ( "))
		switch {
		case len(words) == 0:
			continue
		case block != "" && words[0] == ")":
			block = ""
			continue
		case block != "":
			words = append([]string{block}, words...)
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		}
		isNew := len(words) > 1 && !strings.ContainsAny(words[1], "\"`\\") && !strings.Contains(trusted, words[1])
		if !slices.Contains(needs, words[0]) && !(words[0] == "replace" && isNew) {
			kept.WriteString(strings.Join(words, " ") + "\n")
		}
	}
	return kept.String()
}

var needs = []string{"require", "go", "toolchain"}

// besideCargo returns the lines of a Cargo.toml that say more than what the project needs.
func besideCargo(text, trusted string) string {
	return besideTOML(text, func(table, line string) bool {
		names := cargoNeeds().FindStringSubmatch(table)
		if names == nil {
			return false
		}
		name := cmp.Or(names[cargoNeeds().SubexpIndex("name")], firstName(line))
		fromElsewhere := elsewhere().MatchString(line) || table == "[features]" && line != table
		return !fromElsewhere || isNew(name, trusted)
	})
}

// besidePyproject returns the lines of a pyproject.toml that say more than what the project needs. The tables are those
// of https://packaging.python.org/en/latest/specifications/pyproject-toml/ and of Poetry.
func besidePyproject(text, trusted string) string {
	return besideTOML(text, func(table, line string) bool {
		fromElsewhere := elsewhere().MatchString(line)
		switch {
		case table == "[project]":
			return projectNeeds().MatchString(line) && !fromElsewhere
		case !pythonNeeds().MatchString(table):
			return false
		case !strings.HasPrefix(table, "[tool."): // a list, whose line may begin with the name of a group
			return !fromElsewhere && !strings.Contains(line, "{")
		}
		return !fromElsewhere || isNew(firstName(line), trusted)
	})
}

// besideTOML returns the lines of a manifest that are not free. A line that could begin a table ends the one before. No
// line is free that may mean something else than it seems to: one with an escape, or in a text of several lines.
func besideTOML(text string, isFree func(table, line string) bool) string {
	var kept strings.Builder
	table := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			table = line
		}
		hides := strings.Contains(line, `\`) || strings.Contains(line, `"""`) || strings.Contains(line, "'''")
		if hides || !isFree(table, line) {
			kept.WriteString(table + " " + line + "\n")
		}
	}
	return kept.String()
}

// firstName returns the name with which a line begins.
func firstName(line string) string {
	line = strings.TrimLeft(line, `"'`)
	if end := strings.IndexFunc(line, isNoName); end >= 0 {
		return line[:end]
	}
	return line
}

func isNoName(r rune) bool {
	return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// isNew reports whether a trusted manifest does not have a name, in any spelling that pip takes for the same. What may
// be a key of a table over several lines is no name.
func isNew(name, trusted string) bool {
	has := func(same *strings.Replacer) bool {
		words := strings.FieldsFunc(same.Replace(strings.ToLower(trusted)), isNoName)
		return slices.Contains(words, same.Replace(strings.ToLower(name)))
	}
	return name != "" && !elsewhere().MatchString(name+"=") &&
		!has(strings.NewReplacer("_", "-")) && !has(strings.NewReplacer("_", "-", ".", "-"))
}

// elsewhere matches a line that says from where a dependency comes.
var elsewhere = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(path|git|url|file|registry|index|source|package|base|develop|editable)["']?\s*=|@|//|file:`)
})

var cargoNeeds = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^\[(workspace\.|target\.('[^']*'|[\w-]+)\.)?((dev-|build-)?dependencies(\.(?P<name>[\w-]+))?|features)\]$`)
})

var pythonNeeds = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[(dependency-groups|project\.optional-dependencies|` +
		`tool\.poetry\.((group\.[\w-]+\.)?dependencies|dev-dependencies))\]$`)
})

// projectNeeds matches a line of the table of a Python project: its version, or texts of the list of what it needs.
var projectNeeds = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(version = "[^"]*"|(dependencies *= *\[)?(\s*("[^"]*"|'[^']*')\s*,?)*\s*\]?)\s*(#.*)?$`)
})

// besidePackage returns what a package.json says beside its scripts, what it needs from a registry, and what describes
// it.
func besidePackage(text, trusted string) string {
	var kept strings.Builder
	keep := func(key, value gjson.Result) { fmt.Fprintf(&kept, "%q %s\n", key.String(), value.Get("@ugly").Raw) }
	was := gjson.Parse(trusted)
	gjson.Parse(text).ForEach(func(key, value gjson.Result) bool {
		switch name := key.String(); {
		case slices.Contains(described, name), name == "name" && value.String() == was.Get(name).String():
		case isDependencies(key, value):
			value.ForEach(func(name, version gjson.Result) bool {
				isPlain := version.Type == gjson.String && !npmElsewhere().MatchString(version.String())
				isNewFolder := ownFolder().MatchString(version.String()) && !hasDependency(was, name.String())
				if !isPlain && !isNewFolder {
					keep(name, version)
				}
				return true
			})
		default:
			keep(key, value)
		}
		return true
	})
	return kept.String()
}

// npmElsewhere matches a version that npm takes for a file, a folder or an address.
var npmElsewhere = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\.|[:/\\]|(?i)\.(tgz|tar|tar.gz)\s*$`)
})

// ownFolder matches a dependency on a folder of the project. Its package.json is one that "work" names, too.
var ownFolder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^file:(\./)?([\w-]+/)*[\w-]+/?$`) })

// NewPackage reports whether a new package.json is one that only describes a package and what it needs. It could bring
// programs that take the place of others.
func NewPackage(text []byte) bool {
	name := gjson.GetBytes(text, "name").Raw
	return gjson.ValidBytes(text) && besidePackage(string(text), `{"name": `+cmp.Or(name, "0")+`}`) == ""
}

func isDependencies(key, value gjson.Result) bool {
	return strings.HasSuffix(strings.ToLower(key.String()), "dependencies") && value.IsObject()
}

// hasDependency reports whether a package.json names a dependency.
func hasDependency(manifest gjson.Result, name string) (has bool) {
	manifest.ForEach(func(key, value gjson.Result) bool {
		if isDependencies(key, value) {
			value.ForEach(func(key, _ gjson.Result) bool {
				has = has || key.String() == name
				return !has
			})
		}
		return !has
	})
	return has
}

// described are the keys of a package.json that describe the work itself. With its name it could pass for another.
var described = strings.Fields(`scripts version description keywords author contributors license repository homepage
	bugs type main module browser types typings exports files engines private sideEffects`)
