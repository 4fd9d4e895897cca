package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// parser turns JSON into a Config. It keeps the first error, so that a
// caller looks at err once, at the end.
type parser struct {
	text []byte
	err  error
}

func (p *parser) fail(at gjson.Result, format string, args ...any) {
	if p.err == nil {
		p.err = jsontext.ErrorAt(p.text, at.Index, fmt.Sprintf(format, args...))
	}
}

// readObject reads the object v into to, by a table of keys. name is what errors call the object.
func readObject[T any](p *parser, v gjson.Result, name string, keys []key[T], to *T) {
	if !v.IsObject() {
		p.fail(v, "%s must be an object", name)
		return
	}
	p.members(v, func(at, value gjson.Result) {
		i := slices.IndexFunc(keys, func(row key[T]) bool { return row.name == at.Str })
		if i < 0 {
			p.fail(at, "unknown key %q%s", at.Str, nearest(at.Str, keys))
			return
		}
		readKey(p, value, keys[i], to)
	})
}

// members calls read for each member of an object, until something is wrong. No key may be there twice.
func (p *parser) members(v gjson.Result, read func(key, value gjson.Result)) {
	seen := map[string]bool{}
	v.ForEach(func(key, value gjson.Result) bool {
		if seen[key.Str] {
			p.fail(key, "the key %q appears twice", key.Str)
		}
		seen[key.Str] = true
		if p.err == nil {
			read(key, value)
		}
		return p.err == nil
	})
}

// readKey reads the value of a key into its field.
func readKey[T any](p *parser, v gjson.Result, row key[T], to *T) {
	if row.read != nil {
		row.read(p, v, row.name, to)
		return
	}
	if row.field == nil {
		return
	}
	switch field := row.field(to).(type) {
	case *string:
		switch {
		case row.words != nil:
			*field = p.oneOf(v, row.name, row.words...)
		case row.path:
			*field = p.local(v, row.name)
		default:
			*field = p.str(v, row.name)
		}
	case *bool:
		*field = p.yes(v, row.name)
	case *int:
		*field = p.count(v, row.name, row.least, row.most)
	case *float64:
		*field = v.Num
		if v.Type != gjson.Number || v.Num < 0 || v.Num > maxDollars {
			p.fail(v, "%q must be dollars per million tokens, such as 1.25", row.name)
		}
	case *time.Duration:
		*field = p.duration(v, row.name, time.Duration(row.least))
	case *[]string:
		*field = p.strs(v, row.name)
		refused := func(text string) bool { return row.ok != nil && !row.ok(text) }
		tooMany := row.most > 0 && len(*field) > row.most
		if !v.IsArray() || len(*field) < row.least || tooMany || slices.ContainsFunc(*field, refused) {
			p.fail(v, "%q must be %s, such as %s", row.name, row.of, row.example)
		}
	case *[]Pattern:
		*field = p.patterns(v, row.name, row.example)
	case *Command:
		*field = p.command(v, row.name)
	}
}

// Usage returns the help of the flag of 'init' that writes a key of ralph.json.
func Usage(name string) string {
	return keys[slices.IndexFunc(keys, func(row key[Config]) bool { return row.name == name })].usage
}

// nearest ends the error of an unknown key: with the known key that is most like
// it, or with all known keys if none is.
func nearest[T any](name string, keys []key[T]) string {
	if name == "lane_start" { // as before the first release
		return `; it is "prepare" now`
	}
	var names []string
	for _, row := range keys {
		names = append(names, row.name)
	}
	slices.Sort(names)
	if name := jsontext.Nearest(name, names); name != "" {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return "; known: " + strings.Join(names, ", ")
}

// named reads an object with names that a person has chosen.
func (p *parser) named(v gjson.Result, key, example, whose string, read func(name string, value gjson.Result)) {
	if !v.IsObject() {
		p.fail(v, "%q must be an object, such as %s", key, example)
		return
	}
	p.members(v, func(key, value gjson.Result) {
		if !isName(key.Str) {
			p.fail(key, "%s name has letters, digits, - and _; %q has others", whose, key.Str)
		}
		read(key.Str, value)
	})
}

func (p *parser) str(v gjson.Result, key string) string {
	switch {
	case v.Type != gjson.String:
		p.fail(v, "%q must be text", key)
	case strings.Contains(v.Str, "\x00"):
		p.fail(v, "%q contains the character U+0000, which commands and paths cannot contain", key)
	}
	return v.Str
}

// strs reads the texts of a list. An empty list is not nil.
func (p *parser) strs(v gjson.Result, key string) []string {
	texts := []string{}
	for _, text := range v.Array() {
		texts = append(texts, p.str(text, key))
	}
	return texts
}

// local reads a slash-separated path that stays below the project's root.
func (p *parser) local(v gjson.Result, key string) string {
	path := p.str(v, key)
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		p.fail(v, "%q must be a path below the project's root", key)
	}
	return path
}

func (p *parser) yes(v gjson.Result, key string) bool {
	if !v.IsBool() {
		p.fail(v, `"%s" must be true or false`, key)
	}
	return v.Bool()
}

func (p *parser) oneOf(v gjson.Result, key string, words ...string) string {
	if !slices.Contains(words, p.str(v, key)) {
		p.fail(v, `%q must be "%s"`, key, strings.Join(words, `" or "`))
	}
	return v.Str
}

func (p *parser) count(v gjson.Result, key string, least, most int) int {
	n := int(v.Int())
	if v.Type != gjson.Number || float64(n) != v.Num || n < least || n > most {
		p.fail(v, "%q must be a whole number from %d to %d", key, least, most)
	}
	return n
}

func (p *parser) duration(v gjson.Result, key string, least time.Duration) time.Duration {
	d, err := time.ParseDuration(p.str(v, key))
	if err != nil || d < least || d > decide.MaxTime {
		p.fail(v, `%q must be a duration such as "30s" or "1h", at most a year`, key)
	}
	return d
}

// compile reads a regular expression.
func (p *parser) compile(at gjson.Result, pattern string) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err != nil {
		p.fail(at, "the pattern cannot be read: %v", err)
	}
	return re
}

// patterns reads a list of patterns of files.
func (p *parser) patterns(v gjson.Result, key, example string) (patterns []Pattern) {
	if !v.IsArray() {
		p.fail(v, `%q must be a list of patterns, such as %s`, key, example)
	}
	for _, value := range v.Array() {
		pattern, err := ParsePattern(p.str(value, key))
		if err != nil {
			p.fail(value, "%q: %v", key, err)
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// command reads one command of key: text, an array, or an object with a timeout.
func (p *parser) command(v gjson.Result, key string) Command {
	c := Command{Timeout: DefaultTimeout}
	line := v
	if v.IsObject() {
		readObject(p, v, "a command", commandKeys, &c)
		line = v.Get("command")
	}
	if line.Exists() {
		c.Shell, c.Argv = p.words(line, key)
	}
	if !c.Runs() {
		p.fail(v, "a command of %q is empty", key)
	}
	return c
}

// words reads a line for the shell, or a program and its arguments.
func (p *parser) words(v gjson.Result, key string) (shell string, argv []string) {
	if v.Type == gjson.String {
		return p.str(v, key), nil
	}
	if !v.IsArray() {
		p.fail(v, "a command of %q must be text for the shell or an array of words", key)
	}
	return "", p.strs(v, key)
}

// notifiers reads the commands of an event.
func (p *parser) notifiers(v gjson.Result, key string, c *Config) {
	if !v.IsArray() {
		p.fail(v, `%q must be a list of commands, such as ["./notify.sh"]`, key)
		return
	}
	for _, value := range v.Array() {
		command := p.command(value, key)
		command.Event = strings.ReplaceAll(key, "_", "-")
		if command.Stops && command.Event != PreIteration {
			p.fail(value.Get("on_error"), `"on_error": "stop" works only with "pre_iteration"`)
		}
		c.Notifiers = append(c.Notifiers, command)
	}
}

func (p *parser) onError(v gjson.Result, key string, c *Command) {
	c.Stops = p.oneOf(v, key, "continue", "stop") == "stop"
}

// limits reads "limits". Its keys are the rows of decide.LimitTable.
func (p *parser) limits(v gjson.Result, to *decide.Limits) {
	readObject(p, v, `"limits"`, limitKeys(), to)
	if at := v.Get("stagnation"); at.Exists() && to.Stagnation == 1 {
		p.fail(at, `"stagnation" of 1 would end every loop at its first stop; use 0 (off), or 2 or more`)
	}
}

func limitKeys() []key[decide.Limits] {
	var keys []key[decide.Limits]
	for _, row := range decide.LimitTable {
		field := func(l *decide.Limits) any { return row.Count(l) }
		least := row.Min
		if row.Time != nil {
			field = func(l *decide.Limits) any { return row.Time(l) }
			least *= int(time.Second)
		}
		keys = append(keys, key[decide.Limits]{
			name: row.Name, about: row.About, example: row.Example, field: field, least: least, most: row.Max,
		})
	}
	return keys
}

// waitFor reads for what the loop waits beside all work that ends. It always waits for a "subagent".
func (p *parser) waitFor(v gjson.Result, key string, c *Config) {
	if !v.IsArray() {
		p.fail(v, `%q must be ["shell"] or an empty list`, key)
	}
	for _, kind := range v.Array() {
		if p.oneOf(kind, key, "shell", "subagent") == "shell" {
			c.WaitShells = true
		}
	}
}

func notEmpty(text string) bool { return text != "" }

// isName reports whether a text can be the name of an agent or a chain.
func isName(name string) bool { return isSpelled(name, '-') && name[0] != '-' }

// isVariable reports whether a text is a valid name of a shell variable.
func isVariable(name string) bool { return isSpelled(name, '_') && (name[0] < '0' || name[0] > '9') }

// isSpelled reports whether a text has only letters, digits, _ and one more character, and is not empty.
func isSpelled(text string, more rune) bool {
	odd := func(r rune) bool {
		return r != '_' && r != more && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return text != "" && strings.IndexFunc(text, odd) < 0
}
