package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
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

// Given tells whether ralph.json has a source.
func (s Source) Given() bool { return s.List.Runs() }

// Commands returns the commands that are set.
func (s Source) Commands() []Command {
	return slices.DeleteFunc([]Command{s.List, s.Reopen, s.Show}, func(c Command) bool { return !c.Runs() })
}

// WithID returns the command with the item's id in the place of PlaceID. It refuses an
// id that is empty, longer than 64 bytes, or has other characters than letters,
// digits, and, after the first character, . _ : and -. A program could read such an
// id as a flag or a path.
func (c Command) WithID(id string) (Command, error) {
	odd := strings.Trim(strings.ToLower(id), "abcdefghijklmnopqrstuvwxyz0123456789._:-") != ""
	if odd || id == "" || len(id) > 64 || strings.IndexByte("._:-", id[0]) >= 0 {
		return c, fmt.Errorf("the id %.80q is none that is handed to a command", id)
	}
	c.Argv = slices.Clone(c.Argv)
	for i := range c.Argv {
		if c.Argv[i] == PlaceID {
			c.Argv[i] = id
		}
	}
	return c, nil
}

func (p *parser) source(v gjson.Result) (s Source) {
	words := func(to *Command, key string, wantID bool) func(gjson.Result) {
		return func(v gjson.Result) {
			if *to = p.command(v, key); to.Shell != "" {
				p.fail(v, `%q must be an array of words, such as ["bd", "list", "--json"]`, key)
			}
			inside := func(word string) bool { return word != PlaceID && strings.Contains(word, PlaceID) }
			if slices.Contains(to.Argv, PlaceID) != wantID || slices.ContainsFunc(to.Argv, inside) {
				have := map[bool]string{true: "have", false: "not have"}[wantID]
				p.fail(v, `%q must %s %s as a word of its own`, key, have, PlaceID)
			}
		}
	}
	p.object(v, `"source"`, map[string]func(gjson.Result){
		"list":   words(&s.List, "list", false),
		"reopen": words(&s.Reopen, "reopen", true),
		"show":   words(&s.Show, "show", true),
	})
	if !s.Given() {
		p.fail(v, `"source" must have "list", the command that prints all items`)
	}
	return s
}
