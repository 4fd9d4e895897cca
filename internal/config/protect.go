package config

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tidwall/gjson"
)

// maxAlternatives is the largest number of patterns that braces may stand for.
const maxAlternatives = 100

// Pattern is an entry of "protect", "work" and other keys. It names files by their slash-separated path below the
// project's root.
type Pattern struct {
	Text  string   // as it is in ralph.json
	globs []string // of files, one for each alternative
	below []string // of what is below folders
}

// notSlash keeps "[!a]" from matching a slash.
var notSlash = strings.NewReplacer("[!", "[!/", "[^", "[!/")

// ParsePattern reads a pattern. In it, * matches any part of a name, ? one character, [a-z] one of these, {a,b} both,
// and **/ any number of folders, also none. "dir" and "dir/" are everything below a folder; where the last name has a
// wildcard, only "dir/" is. "./" and "/" at the beginning stand for the project's root.
func ParsePattern(text string) (Pattern, error) {
	fail := func(why string) (Pattern, error) {
		return Pattern{}, fmt.Errorf(`the pattern %q %s`, text, why)
	}
	if strings.Contains(text, `\`) {
		return fail(`has a backslash; write "/" between folders`)
	}
	alternatives, err := expand(text)
	if err != nil {
		return fail(err.Error())
	}
	p := Pattern{Text: text}
	for _, path := range alternatives {
		path, isFolder := strings.CutSuffix(strings.TrimPrefix(strings.TrimPrefix(path, "./"), "/"), "/")
		for name := range strings.SplitSeq(path, "/") {
			switch {
			case name == "" || name == "." || name == "..":
				return fail(`is not a path below the project's root; leave out empty names, "." and ".."`)
			case name != "**" && strings.Contains(name, "**"):
				return fail(`has "**" within a name; write it as a folder of its own, as in "src/**/*.go"`)
			case !doublestar.ValidatePattern(name) || strings.Contains(name, "[[:"):
				return fail(fmt.Sprintf("cannot be read: %q is not a pattern of a name", name))
			}
		}
		glob := notSlash.Replace(fold(path))
		if isFolder || !wildcard(path) {
			p.below = append(p.below, glob+"/**/*")
		}
		if strings.HasSuffix(glob, "**") {
			glob += "/*" // "dir/**" would also match the folder itself
		}
		if !isFolder {
			p.globs = append(p.globs, glob)
		}
	}
	return p, nil
}

// wildcard reports whether the last name of a pattern matches more than one name.
func wildcard(pattern string) bool {
	return strings.ContainsAny(pattern[strings.LastIndex(pattern, "/")+1:], "*?[]")
}

// fold makes letters small where the file system mostly takes them for equal.
func fold(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

// expand returns what the braces in a pattern stand for.
func expand(text string) ([]string, error) {
	begin := strings.IndexAny(text, "{}")
	if begin < 0 {
		return []string{text}, nil
	}
	depth := 0
	from := begin + 1
	var words []string
	for i := begin; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		switch {
		case depth < 0:
			return nil, errors.New("has an unmatched brace")
		case depth == 0:
			return combine(text[:begin], append(words, text[from:i]), text[i+1:])
		case depth == 1 && text[i] == ',':
			words = append(words, text[from:i])
			from = i + 1
		}
	}
	return nil, errors.New("has an unmatched brace")
}

// combine puts each of the words between two texts, and expands what comes of it.
func combine(before string, words []string, after string) (all []string, err error) {
	for _, word := range words {
		more, err := expand(before + word + after)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
		if len(all) > maxAlternatives {
			return nil, fmt.Errorf("stands for more than %d patterns", maxAlternatives)
		}
	}
	return all, nil
}

// Match reports whether the pattern names the file at path, or a folder above it.
func (p Pattern) Match(path string) bool { return matchAny(p.globs, path) || matchAny(p.below, path) }

func matchAny(globs []string, path string) bool {
	path = fold(path)
	if strings.HasSuffix(path, "/") {
		path += "*" // a folder is what is in it, of any name
	}
	return slices.ContainsFunc(globs, func(glob string) bool { return doublestar.MatchUnvalidated(glob, path) })
}

// Protected is an entry of "protect".
type Protected struct {
	Pattern
	KeepsOut bool   // new files do not count, either
	Key      string // of a JSON file: only this is as it was trusted
}

// protect reads "protect".
func (p *parser) protect(v gjson.Result, key string, c *Config) {
	if !v.IsArray() {
		p.fail(v, `%q must be a list of patterns, such as ["tests/**"]`, key)
	}
	for _, value := range v.Array() {
		one, err := parseProtected(p.str(value, key))
		if err != nil {
			p.fail(value, "%q: %v", key, err)
		}
		c.Protect = append(c.Protect, one)
	}
}

func parseProtected(text string) (one Protected, err error) {
	pattern, keepsOut := strings.CutPrefix(text, "+")
	pattern, key, isPart := strings.Cut(pattern, "#")
	one = Protected{KeepsOut: keepsOut, Key: key}
	one.Pattern, err = ParsePattern(pattern)
	one.Text = text
	if err == nil && isPart && (key == "" || keepsOut || !strings.HasSuffix(pattern, ".json")) {
		err = fmt.Errorf(`the pattern %q must have the form FILE.json#KEY, without a +`, text)
	}
	return one, err
}

// Protects reports whether the copy for the checks does without a change of the file at path. added: the file is new.
func (c Config) Protects(path string, added bool) bool {
	return slices.ContainsFunc(c.Protect, func(p Protected) bool {
		return p.Key == "" && (p.KeepsOut || !added) && p.Match(path)
	})
}

// ProtectedPaths returns the paths of "protect" that are no patterns.
func (c Config) ProtectedPaths() (paths []string) {
	for _, p := range c.Protect {
		text := strings.TrimPrefix(p.Text, "+")
		if p.Key == "" && !strings.ContainsAny(text, "*?[]{}") {
			paths = append(paths, path.Clean(strings.TrimPrefix(text, "/")))
		}
	}
	return paths
}

// ProtectedKeys returns the keys of the JSON file at path that are as they were trusted.
func (c Config) ProtectedKeys(path string) (keys []string) {
	for _, p := range c.Protect {
		if p.Key != "" && p.Match(path) {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

func matches(patterns []Pattern, path string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Match(path) })
}
