package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

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

// object calls, for each member of the object v, the function of its key. name is
// what errors call the object.
func (p *parser) object(v gjson.Result, name string, keys map[string]func(gjson.Result)) {
	if !v.IsObject() {
		p.fail(v, "%s must be an object", name)
		return
	}
	seen := map[string]bool{}
	v.ForEach(func(key, value gjson.Result) bool {
		set := keys[key.Str]
		switch {
		case seen[key.Str]:
			p.fail(key, "the key %q is there twice", key.Str)
		case set == nil:
			p.fail(key, "unknown key %q%s", key.Str, nearest(key.Str, keys))
		default:
			set(value)
		}
		seen[key.Str] = true
		return p.err == nil
	})
}

func (p *parser) str(v gjson.Result, key string) string {
	switch {
	case v.Type != gjson.String:
		p.fail(v, "%q must be text", key)
	case strings.Contains(v.Str, "\x00"):
		p.fail(v, "%q has the character U+0000, which no command and no path can have", key)
	}
	return v.Str
}

func (p *parser) strs(v gjson.Result, key string) (texts []string) {
	for _, text := range v.Array() {
		texts = append(texts, p.str(text, key))
	}
	return texts
}

// headings reads "skip_headings". An empty list is not nil.
func (p *parser) headings(v gjson.Result) []string {
	all := p.strs(v, "skip_headings")
	if !v.IsArray() || slices.Contains(all, "") {
		p.fail(v, `"skip_headings" must be a list of headings, such as ["Optional", "Stretch goals"]`)
	}
	return append([]string{}, all...)
}

// folders reads "writable".
func (p *parser) folders(v gjson.Result) []string {
	all := p.strs(v, "writable")
	bad := slices.ContainsFunc(all, func(path string) bool {
		rooted := strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "/")
		return !rooted || strings.IndexFunc(path, unicode.IsControl) >= 0
	})
	if !v.IsArray() || bad || len(all) > maxWritable {
		p.fail(v, `"writable" must be a list of at most %d folders from / or ~/, such as ["~/.cache/go-build"]`,
			maxWritable)
	}
	return all
}

// maxWritable is how many folders "writable" may name.
const maxWritable = 20

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

func (p *parser) duration(v gjson.Result, key string, least, most time.Duration) time.Duration {
	d, err := time.ParseDuration(p.str(v, key))
	if err != nil || d < least || d > most {
		p.fail(v, `%q must be a duration such as "30s" or "1h", at most a year`, key)
	}
	return d
}

// timeout reads the "timeout" of a command. It must be above 0.
func (p *parser) timeout(v gjson.Result) time.Duration {
	return p.duration(v, "timeout", 1, decide.MaxTime)
}

// commands reads the notifiers of an event: a list, in which a string is a line for
// the shell and an array is a program and its arguments.
func (p *parser) commands(v gjson.Result, key, event string) (list []Command) {
	if !v.IsArray() {
		p.fail(v, `%q must be a list of commands, such as ["./notify.sh"]`, key)
		return nil
	}
	for _, value := range v.Array() {
		c := p.command(value, key)
		c.Event = event
		list = append(list, c)
	}
	return list
}

// command reads one command of key: text, an array, or an object with a timeout.
func (p *parser) command(v gjson.Result, key string) Command {
	c := Command{Timeout: DefaultTimeout}
	if v.IsObject() {
		p.object(v, "a command", map[string]func(gjson.Result){
			"command": func(v gjson.Result) { c.Shell, c.Argv = p.words(v, key) },
			"timeout": func(v gjson.Result) { c.Timeout = p.timeout(v) },
			"env":     func(v gjson.Result) { c.Env = p.strs(v, "env") },
			"on_error": func(v gjson.Result) {
				if c.Stops = p.oneOf(v, "on_error", "continue", "stop") == "stop"; c.Stops && key != "pre_iteration" {
					p.fail(v, `"on_error": "stop" goes with "pre_iteration" alone`)
				}
			},
		})
	} else {
		c.Shell, c.Argv = p.words(v, key)
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

// nearest ends the error of an unknown key: with the known key that is most like
// it, or with all known keys if none is.
func nearest[V any](key string, known map[string]V) string {
	names := slices.Sorted(maps.Keys(known))
	if name := jsontext.Nearest(key, names); name != "" {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return "; known: " + strings.Join(names, ", ")
}
