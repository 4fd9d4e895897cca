package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Source is "source": the commands of a tracker whose items are the feature list.
// Reopen and Show are optional. They act on one item, and PlaceID is one of their words.
type Source struct {
	List   Command // prints all items
	Reopen Command // opens an item again
	Show   Command // prints an item
}

// PlaceID stands for the item's id in the words of a command.
const PlaceID = "${id}"

// IsSet tells whether ralph.json has a source.
func (s Source) IsSet() bool { return s.List.Runs() }

// Commands returns the commands that are set.
func (s Source) Commands() []Command {
	return slices.DeleteFunc([]Command{s.List, s.Reopen, s.Show}, func(c Command) bool { return !c.Runs() })
}

// CheckID refuses an id that no command gets. An id has at most 128 bytes. Each part between
// slashes begins with a letter or a digit, and goes on with these and . _ : -. A program could
// read another id as a flag or as a path that leads elsewhere, and a shell as several words. An
// item without an id has "#3", which is allowed.
func CheckID(id string) error {
	first := true
	odd := strings.ContainsFunc(strings.TrimPrefix(id, "#"), func(r rune) bool {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		ok := letter || !first && strings.ContainsRune("._:-/", r)
		first = r == '/'
		return !ok
	})
	if odd || first || len(id) > 128 || plain.Line(id, 128) != id {
		return fmt.Errorf("the id %q cannot be passed to a command: want letters and digits, with . _ : - / "+
			"between them", plain.Line(id, 80))
	}
	return nil
}

// WithID returns the command with the item's id in the place of PlaceID. It refuses what
// CheckID refuses, and slashes.
func (c Command) WithID(id string) (Command, error) {
	if err := CheckID(id); err != nil {
		return c, err
	}
	if strings.Contains(id, "/") {
		return c, fmt.Errorf("the id %q has a slash, so a tracker's command does not get it", id)
	}
	c.Argv = slices.Clone(c.Argv)
	for i := range c.Argv {
		if c.Argv[i] == PlaceID {
			c.Argv[i] = id
		}
	}
	return c, nil
}

// source reads the commands of a tracker.
func (p *parser) source(v gjson.Result, _ string, c *Config) {
	readObject(p, v, `"source"`, sourceKeys, &c.Source)
	if !c.Source.IsSet() {
		p.fail(v, `"source" must have "list", the command that prints all items`)
	}
	p.trackers(v, "list", c.Source.List, false)
	p.trackers(v, "reopen", c.Source.Reopen, true)
	p.trackers(v, "show", c.Source.Show, true)
}

// trackers refuses a tracker's command that is a line for the shell, or has PlaceID where it cannot be.
func (p *parser) trackers(source gjson.Result, key string, c Command, wantID bool) {
	if !c.Runs() {
		return
	}
	if c.Shell != "" {
		p.fail(source.Get(key), `%q must be an array of words, such as ["bd", "list", "--json"]`, key)
	}
	have := "not have"
	if wantID {
		have = "have"
	}
	within := func(word string) bool { return word != PlaceID && strings.Contains(word, PlaceID) }
	if slices.Contains(c.Argv, PlaceID) != wantID || slices.ContainsFunc(c.Argv, within) {
		p.fail(source.Get(key), `%q must %s %s as a separate word`, key, have, PlaceID)
	}
}

// isFolder reports whether a text can be a folder of "writable".
func isFolder(path string) bool {
	rooted := strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "/")
	return rooted && strings.IndexFunc(path, unicode.IsControl) < 0
}
