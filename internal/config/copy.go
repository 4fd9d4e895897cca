package config

import (
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Prepare is an entry of "prepare": a command that runs in a new copy, and again when an input has changed.
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

// caches are what tools write anywhere, and nobody's work.
var caches = strings.Fields("__pycache__ .pytest_cache .mypy_cache .ruff_cache .turbo .eslintcache")

// packages are the folders that package managers fill.
var packages = strings.Fields("node_modules .venv venv .bundle bower_components .pnpm-store")

// HasPackages reports whether package managers fill a folder.
func HasPackages(folder string) bool { return slices.Contains(packages, path.Base(folder)) }

// OnlyPrepared reports whether the copy has of a folder what "prepare" makes, and nothing that a check leaves there: it
// could be a program that a later check runs.
func (c Config) OnlyPrepared(folder string) bool {
	return len(c.Prepare) > 0 && HasPackages(folder) && !takes(c.Link, folder) && !takes(c.Outputs, folder)
}

// takes reports whether one of some patterns names a file or a folder, or what is in the folder, as "build/" does.
func takes(patterns []Pattern, name string) bool {
	return len(patterns) > 0 && (matches(patterns, name) || matches(patterns, name+"/"))
}

// CopyOwns reports whether the copy has its own of a file or folder that git ignores, instead of the project's.
func (c Config) CopyOwns(name string) bool {
	base := path.Base(name)
	switch {
	case slices.Contains(caches, base), strings.HasSuffix(base, ".pyc"), strings.HasSuffix(base, ".tsbuildinfo"):
		return true
	case takes(c.Link, name):
		return false
	}
	return takes(c.Outputs, name) || c.OnlyPrepared(name)
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
