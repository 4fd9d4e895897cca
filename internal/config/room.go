package config

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
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

// Grants reports whether "work" lets the agent change a file that nothing locks. A build file it has to spell.
func (c Config) Grants(name string) bool {
	return c.IsWork(name) && !c.Protects(name) && (!c.Builds(name) || c.Spells(name))
}

// Builds reports whether "work" has to spell a file: it is a build file, a lock file of a package manager, or one of
// settings in the project's root. Tools have more names for those than a table can.
func (c Config) Builds(name string) bool {
	if len(c.Work) == 0 || BuildFile(name) {
		return BuildFile(name)
	}
	settings := !strings.Contains(name, "/") && slices.Contains(settingsKinds, path.Ext(name))
	return settings || Locks[path.Base(name)] != ""
}

// settingsKinds are how names of settings end.
var settingsKinds = strings.Fields(".json .json5 .jsonc .toml .yaml .yml .ini .cfg .conf .xml .neon .properties .inc")

// WorkBelow reports whether a pattern of "work" can name files below a folder.
func (c Config) WorkBelow(folder string) bool {
	can, _ := below(c.Work, folder)
	return can
}

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
	builds := buildFiles()
	if builds.names[name] || builds.names["/"+name] {
		return true
	}
	base := name
	for above, rest, in := strings.Cut(name, "/"); in; above, rest, in = strings.Cut(rest, "/") {
		if builds.names[rest] || slices.Contains(buildFolders, above) || strings.HasSuffix(above, "-info") {
			return true
		}
		base = rest
	}
	first, _, _ := strings.Cut(base, ".")
	is := func(glob string) bool { return doublestar.MatchUnvalidated(glob, base) }
	return strings.HasPrefix(base, ".") && !slices.Contains(ofGit, base) || slices.ContainsFunc(builds.globs[""], is) ||
		slices.ContainsFunc(builds.globs[first], is)
}

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
